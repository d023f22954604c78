import { Agent } from '@rollcall/lab/agent';
import { mibOf, parseRecording } from '@rollcall/lab/testing/recording';
import { PUBLIC, responderOf } from '@rollcall/lab/testing/replay';
import { type Responder, Wire } from '@rollcall/lab/wire';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Installation, oneDatabase, type RunningCollector, until } from './harness.ts';

const PORT = 16_207;
const SOUND = '127.43.0.1';
const POISON = '127.43.0.2';
/** ifTable, encoded: the first that a collector asks of an agent it reads. */
const IF_TABLE = Buffer.from([0x2b, 6, 1, 2, 1, 2, 2]);

/** B37: a device that ends the collector whenever it is read. */
describe.each(oneDatabase)('a poison device on %s', (_name, url) => {
  let world: Installation;
  let collector: RunningCollector;
  let deaths = 0;
  const wire = new Wire(PORT);
  beforeAll(async () => {
    world = await Installation.start({ databaseUrl: await url() });
    world.onStop(() => wire.stop());
    const sound = agent('sound box');
    const poison = agent('poison box');
    let dying = false;
    await wire.attach(SOUND, sound);
    await wire.attach(POISON, (datagram, send, from) => {
      if (!datagram.includes(IF_TABLE)) poison(datagram, send, from);
      else if (!dying) {
        dying = true;
        void collector.kill().then(() => {
          deaths += 1;
          dying = false;
          collector.start();
        });
      }
    });
    const credential = { name: 'public', version: 'v2c', community: 'public' };
    collector = await world.collector(await world.site('north', PORT, [credential]), 'north-1');
  }, 120_000);
  afterAll(() => world?.stop());

  it('is given up after three deaths, with an event; everything else is read', async () => {
    const { scanId } = await world.api('POST', '/api/discovery/scan', {
      targets: `${SOUND}, ${POISON}`,
      profile: 'standard',
      site: 'north',
    });
    expect(await world.scanEnd(scanId, 120_000)).toMatchObject({ status: 'completed', devicesNew: 2 });
    expect(deaths).toBe(3);
    const { data: addresses } = await world.api<{ address: string; outcome: string; note: string }[]>(
      'GET',
      `/api/discovery/scans/${scanId}/addresses`,
    );
    expect(addresses).toMatchObject([
      { address: SOUND, outcome: 'snmp' },
      { address: POISON, outcome: 'error', note: expect.stringContaining('ended the collector 3 times') },
    ]);
    await until(5000, 'the event', async () => {
      const events = await world.all<{ kind: string; message: string }>('/api/events?Source=discovery');
      return events.some(
        ({ kind, message }) =>
          kind === 'device.unread' && message.startsWith(`${POISON} is not read: reading it ended`),
      );
    });
  }, 150_000);
});

function agent(sysDescr: string): Responder {
  const recording = parseRecording(
    `1.3.6.1.2.1.1.1.0|4|${sysDescr}\n1.3.6.1.2.1.1.2.0|6|1.3.6.1.4.1.99999.7\n1.3.6.1.2.1.2.2.1.2.1|4|port 1`,
  );
  const mib = mibOf(recording, { uptime: () => 1 });
  return responderOf(
    new Agent({
      contexts: () => new Map([['', mib]]),
      access: [PUBLIC],
      engineId: Buffer.from('80001f8804', 'hex'),
      seconds: () => 1,
      maxMessageSize: 1400,
    }),
  );
}
