import { Writable } from 'node:stream';
import { ManualClock } from '@rollcall/shared/testing/manual-clock';
import { expect, it } from 'vitest';
import { openLog } from './log.ts';
import { startPeriodic } from './periodic.ts';

it('says a failure at once, then once a minute how many there were', async () => {
  const lines: { failures: number }[] = [];
  const destination = new Writable({
    write: (line, _encoding, done) => {
      lines.push(JSON.parse(String(line)));
      done();
    },
  });
  const clock = new ManualClock();
  const log = openLog({ logLevel: 'info' }, { destination, terminal: false });
  let broken = true;
  const stop = startPeriodic({ clock, log }, [
    {
      what: 'deciding what is due',
      everyMs: 100,
      run: async () => {
        if (broken) throw new Error('corrupt');
      },
    },
  ]);
  await clock.pass(120_000);
  expect(lines).toMatchObject([
    {
      level: 'warn',
      msg: 'deciding what is due failed; it is tried again',
      err: { message: 'corrupt' },
      failures: 1,
    },
    { failures: 600 },
  ]);
  broken = false;
  await clock.pass(120_000);
  expect(lines).toHaveLength(2);
  stop();
});
