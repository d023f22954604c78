import { type NoisyBox, noisyEcho, noisyEngine } from '@rollcall/collector/testing/noisy-network';
import { SteppedClock } from '@rollcall/collector/testing/stepped-clock';
import { Watch } from '@rollcall/collector/watch/watch';
import type { Change } from '@rollcall/server/changes';
import { crossings } from '@rollcall/server/measurements/thresholds';
import { closeDatabases, databases } from '@rollcall/server/testing/database';
import { Scene } from '@rollcall/server/testing/incident-scene';
import { Monitored } from '@rollcall/server/testing/outages/monitored';
import { randomOf } from '@rollcall/server/testing/outages/network';
import { THRESHOLDS, type Threshold } from '@rollcall/shared/api/sites';
import type { Observation } from '@rollcall/shared/observation';
import { uuidv7 } from '@rollcall/shared/uuid';
import type { Value } from '@rollcall/snmp/message/pdu';
import { afterAll, describe, expect, it } from 'vitest';

/**
 * A day of a network that works and is noisy, on a simulated clock: what the collector's monitoring makes of it goes to
 * what decides about events. `TEST_QUIET_DAYS=20` plays so many, each with other noise.
 */
const HOUR = 3_600_000;
const SEEDS = Array.from({ length: Number(process.env.TEST_QUIET_DAYS ?? 1) }, (_, i) => i + 1);
/** The one true outage: from, to. */
const OUTAGE = [15 * HOUR, 15 * HOUR + 180_000] as const;

afterAll(closeDatabases);

const integer = (value: number): Value => ({ type: 'integer', value });
/** An agent with two ports that are up. */
function agent(): Record<string, Value> {
  const entry = '1.3.6.1.2.1.2.2.1';
  const objects: Record<string, Value> = {
    '1.3.6.1.2.1.1.3.0': { type: 'timeticks', value: 100 },
    '1.3.6.1.6.3.10.2.1.2.0': integer(3),
  };
  for (const port of [1, 2]) for (const column of [7, 8]) objects[`${entry}.${column}.${port}`] = integer(1);
  return objects;
}

/** Routers that answer few pings, switches with slow agents, hosts that renew their leases; r2 with its hosts is away once. */
function boxes(random: () => number): Record<string, NoisyBox> {
  const box = (n: number, more: Partial<NoisyBox>): NoisyBox => ({
    address: `10.0.0.${n}`,
    agent: null,
    pingEveryMs: 0,
    slowMs: 0,
    isThere: () => true,
    ...more,
  });
  const away = (at: number) => at >= OUTAGE[0] && at < OUTAGE[1];
  /** A lease is renewed every half hour; the address is gone for two seconds meanwhile. */
  const renews = () => {
    const phase = Math.floor(random() * 1_800_000);
    return (at: number) => (at + phase) % 1_800_000 >= 2000;
  };
  const dhcp = [renews(), renews(), renews(), renews()] as const;
  return {
    r1: box(1, { agent: agent(), pingEveryMs: 1000, slowMs: 200 }),
    r2: box(2, { agent: agent(), pingEveryMs: 1000, slowMs: 200, isThere: (at) => !away(at) }),
    s1: box(3, { agent: agent(), slowMs: 1550 }),
    s2: box(4, { agent: agent(), slowMs: 1550 }),
    h1: box(11, { isThere: dhcp[0] }),
    h2: box(12, { isThere: dhcp[1] }),
    h3: box(13, { isThere: (at) => !away(at) && dhcp[2](at) }),
    h4: box(14, { agent: agent(), slowMs: 1000, isThere: (at) => !away(at) && dhcp[3](at) }),
  };
}
const CABLES = ['r1>r2', 'r1>s1', 'r1>s2', 's1>h1', 's2>h2', 'r2>h3', 'r2>h4'];

/** Thresholds of loss that are exceeded, by device. */
const present = new Map<string, Set<Threshold>>();
function crossed(
  scene: Scene,
  name: string,
  at: number,
  { sent, lost }: { sent: number; lost: number },
): Change[] {
  const own = present.get(name) ?? new Set();
  present.set(name, own);
  const series = { end: [at], over: [60_000], columns: { sent: [sent], lost: [lost] } };
  return crossings(series, { limits: () => THRESHOLDS, present: own }).map(
    ({ kind, at: _, ...after }) => ({ ...scene.about(name), kind, before: {}, after }) as Change,
  );
}

/** When there is something to decide without an observation. */
async function nextDue({ db, site }: Scene): Promise<number> {
  const [row] = await db.query<{ at: Date | null }>(
    'SELECT min(due_at) AS at FROM conditions WHERE site_id = $1',
    [site],
  );
  return row?.at?.getTime() ?? Number.POSITIVE_INFINITY;
}

describe.each(databases().slice(0, 1))('a quiet and noisy network on %s', (_name, open) => {
  it.each(SEEDS)(
    'has in a day no events but the true ones (noise %i)',
    async (seed) => {
      present.clear();
      const scene = new Scene();
      await scene.begin(open);
      const clock = new SteppedClock(scene.now);
      const noise = { clock, random: randomOf(seed), loss: 0.01 };
      const network = boxes(noise.random);
      await scene.network(Object.keys(network), CABLES);
      const monitored = new Monitored(scene);
      for (const [name, { agent }] of Object.entries(network))
        monitored.add(name, { ping: true, snmp: !!agent });

      const seen: Observation[] = [];
      const list = Object.values(network);
      const watch = new Watch({
        tools: { echo: noisyEcho(list, noise), snmp: async () => noisyEngine(list, noise) },
        outbox: { append: async (items: readonly Observation[]) => void seen.push(...items) },
        clock,
        log: scene.log,
        pace: { take: () => undefined },
        scope: { allows: () => true },
        linked: () => true,
      } as unknown as ConstructorParameters<typeof Watch>[0]);
      const credential = { id: uuidv7(), version: 'v2c' as const, community: 'public' };
      watch.take({
        type: 'watch',
        revision: 1,
        full: true,
        set: Object.entries(network).map(([name, { address, agent }]) => ({
          deviceId: scene.devices.get(name) ?? '',
          address,
          ...(agent ? { credentialId: credential.id } : {}),
        })),
        remove: [],
        credentials: [credential],
        intervals: { icmpMs: 15_000, snmpMs: 60_000 },
      });

      const names = new Map([...scene.devices].map(([name, id]) => [id, name]));
      let due = Number.POSITIVE_INFINITY;
      let pings = { sent: 0, lost: 0 };
      for (let second = 0; second < 24 * 3600; second++) {
        await clock.run(1000);
        scene.now = clock.now();
        const changes: Change[] = [];
        for (const each of seen.splice(0)) {
          if (each.kind === 'watch')
            changes.push(...(await monitored.report(names.get(each.deviceId) ?? '', each)));
          if (each.kind !== 'samples' || !each.ping) continue;
          pings = { sent: pings.sent + each.ping.sent, lost: pings.lost + each.ping.lost };
          changes.push(...crossed(scene, names.get(each.deviceId) ?? '', each.at, each.ping));
        }
        if (changes.length > 0) await scene.tell(...changes);
        if (scene.now >= due) await scene.recorder.evaluateDue();
        if (changes.length > 0 || scene.now >= due) due = await nextDue(scene);
      }
      watch.stop();
      // The noise was there.
      expect(pings.lost / pings.sent).toBeGreaterThan(0.01);
      const told = (await scene.events()).map(({ kind, device }) => `${kind} ${device}`);
      expect(told.sort()).toEqual(['device.down r2', 'device.unreachable h3', 'device.unreachable h4']);
      expect(await scene.cases()).toMatchObject([{ title: 'r2 does not answer', status: 2 }]);
    },
    300_000,
  );
});
