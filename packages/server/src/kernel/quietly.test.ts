import { Writable } from 'node:stream';
import { ManualClock } from '@rollcall/shared/testing/manual-clock';
import { expect, it } from 'vitest';
import { openLog } from './log.ts';
import { quietly } from './quietly.ts';

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
  const round = quietly({ clock, log }, 'tending', async () => {
    if (broken) throw new Error('corrupt');
  });
  const rounds = async (n: number) => {
    for (let i = 0; i < n; i++) {
      await round();
      await clock.pass(100);
    }
  };
  await rounds(1200);
  expect(lines).toMatchObject([
    { level: 'warn', msg: 'tending: this round failed', err: { message: 'corrupt' }, failures: 1 },
    { failures: 600 },
  ]);
  broken = false;
  await rounds(1200);
  expect(lines).toHaveLength(2);
});
