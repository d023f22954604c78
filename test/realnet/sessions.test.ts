import { setTimeout as sleep } from 'node:timers/promises';
import { enterOwnNetwork } from '@rollcall/host/testing/own-network';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { until } from '../system/harness.ts';
import { type Member, Plant } from '../system/plant.ts';
import { haveDaemons } from './daemons.ts';
import { addressOf, Peers, PORT, ROUTERS, SESSIONS } from './peers.ts';

/**
 * FRR routers whose cable is cut under forty BGP sessions, while both are reached another way: one case that names the
 * cable, and nothing else.
 */
const possible = haveDaemons() && enterOwnNetwork();

/** See `network.test.ts`. */
const HOLD = { 'device.down': 15, 'interface.down': 15, 'snmp.unreachable': 15 };
const RECOVERY = 30;
/** From the cut to its case. */
const CASE_MS = 45_000;
/** A session that nothing explains is told after 90 s. */
const SESSION_TOLD_MS = 95_000;

interface Sensor {
  component: string;
  state: string | null;
}

describe.skipIf(!possible)('a cable under forty BGP sessions', () => {
  let peers: Peers;
  let plant: Plant<Member>;

  beforeAll(async () => {
    peers = await Peers.build();
    await until(60_000, 'all sessions are established', async () => peers.converged());
    plant = new Plant(
      ROUTERS.map((name) => ({
        sysName: name,
        address: addressOf(name),
        startSnmpd: () => undefined,
        remove: async () => undefined,
      })),
    );
    await plant.discover({}, { holdSeconds: HOLD, recoverySeconds: RECOVERY });
    await plant.watch();
  }, 200_000);
  afterAll(async () => {
    await plant?.stop();
    await peers?.remove();
  });

  const poll = <T>(read: () => Promise<T>, timeout = 60_000) => expect.poll(read, { timeout, interval: 250 });
  /** Sessions as both routers told last: all, and those that are established. */
  const sessions = async () => {
    const sensors = await plant.world.all<Sensor>('/api/sensors');
    const states = sensors.filter(({ component }) => component === 'session').map(({ state }) => state);
    return [states.length, states.filter((state) => state === 'established').length];
  };
  /** Sensors are read every five minutes, and at once by a collector that starts. */
  const readSessions = async (established: number) => {
    await plant.collector.stop();
    plant.collector.start();
    await poll(sessions).toEqual([2 * SESSIONS, established]);
  };
  /** Events of before the outage. */
  const earlier = new Set<string>();
  const told = async () => (await plant.events()).filter(({ id }) => !earlier.has(id));
  const linesOf = async () =>
    (await told()).map(({ kind, message, status, caseId }) =>
      [kind, message, status < 2 ? 'open' : 'closed', caseId ?? 'no case'].join(' | '),
    );
  const casesNow = async () =>
    (await plant.cases()).map(({ id, title, status }) => [id, title, status] as const);

  /** Trouble that is known and of which no event tells, by kind. */
  const keptSilent = async () => {
    const rows = await plant.world.server.db.query<{ kind: string; n: number }>(
      `SELECT kind, count(*)::int AS n FROM conditions WHERE present AND event_id IS NULL GROUP BY kind ORDER BY kind`,
    );
    return rows.map(({ kind, n }) => `${n} ${kind}`);
  };

  it('all of them are known from both ends, and nothing is told', async () => {
    await poll(sessions).toEqual([2 * SESSIONS, 2 * SESSIONS]);
    expect(await plant.neighbours('r1')).toEqual([plant.id('r2')]);
    expect(await plant.cases()).toEqual([]);
    for (const { id } of await plant.events()) earlier.add(id);
  }, 90_000);

  it('it is cut: one case names it, and nothing else is told until it is back', async () => {
    onTestFinished(async ({ task }) => {
      if (task.result?.state === 'fail') process.stdout.write(`${(await linesOf()).join('\n')}\n`);
    });
    const began = Date.now();
    peers.cut(true);
    await poll(async () => (await plant.cases()).length, CASE_MS).toBeGreaterThan(0);
    const toldAfter = Date.now() - began;
    const [one] = await plant.cases();
    expect(one?.title).toMatch(new RegExp(`^${PORT} of r[12] is down$`));
    expect(ROUTERS.map((name) => plant.id(name))).toContain(one?.rootDeviceId);
    const ports = (state: string) =>
      ROUTERS.map((name) => `interface.down | ${PORT} of ${name} is down | ${state} | ${one?.id}`);
    await poll(async () => (await linesOf()).sort()).toEqual(ports('open'));

    await readSessions(0);
    await poll(keptSilent).toContain(`${2 * SESSIONS} session.down`);
    await sleep(SESSION_TOLD_MS);
    expect((await linesOf()).sort()).toEqual(ports('open'));
    expect(await casesNow()).toEqual([[one?.id, one?.title, 0]]);
    const kept = await keptSilent();

    peers.cut(false);
    const returned = Date.now();
    await poll(async () => (await linesOf()).sort()).toEqual(ports('closed'));
    const clearedAfter = Date.now() - returned;
    await until(60_000, 'all sessions are back', async () => peers.converged());
    await readSessions(2 * SESSIONS);
    expect(await casesNow()).toEqual([[one?.id, one?.title, 2]]);
    const figures = [toldAfter, clearedAfter].map((ms) => Math.round(ms / 1000));
    process.stdout.write(
      `one case after ${figures.join(' s, cleared after ')} s; ${(await told()).length} events, kept silent: ${kept.join(', ')}\n`,
    );
  }, 400_000);

  it('nothing is told afterwards', async () => {
    await sleep(10_000);
    expect((await told()).map(({ kind }) => kind)).toEqual(['interface.down', 'interface.down']);
    expect((await plant.cases()).map(({ status }) => status)).toEqual([2]);
  });
});
