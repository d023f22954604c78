/** A month of events: `GET /api/availability` against a program of its own that counts the seconds (`availability.py`). */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { addDevices, insert } from '@rollcall/server/testing/rows';
import { skipped } from '@rollcall/shared/testing/skipped';
import { uuidv7 } from '@rollcall/shared/uuid';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Random } from '../chaos/random.ts';
import { databases, Installation } from './harness.ts';

const python = spawnSync('python3', ['-c', '']).status === 0;
if (!python) skipped('the count of availability: install python3');

const DAY_S = 86_400;
const PROGRAM = fileURLToPath(new URL('availability.py', import.meta.url));
const SEED = 'a month of availability';
const DEVICES = 5;
const PORTS = 2;
const EVENTS = 400;
/** Of devices and of interfaces; traps say nothing of availability. */
const KINDS = ['device.down', 'device.unreachable', 'snmp.unreachable', 'snmp.auth-failed', 'trap'];

interface Entry {
  deviceId: string;
  interfaceId: string | null;
  up: number;
  down: number;
  maintenance: number;
  notObserved: number;
}
interface Event {
  kind: string;
  deviceId: string | null;
  interfaceId: string | null;
  firstSeen: number;
  closedAt: number | null;
  details: object;
}
const secondsOf = ({ up, down, maintenance, notObserved }: Entry) => [up, down, maintenance, notObserved];

describe.skipIf(!python).each(databases)('a month of availability on %s', (_name, url) => {
  let installation: Installation;
  let siteId: string;
  const to = Math.floor(Date.now() / 1000) - 3600;
  const from = to - 30 * DAY_S;
  const random = new Random(SEED);
  /** Begins and ends also before and after the month, and between two seconds. */
  const moment = () => random.whole((from - 2 * DAY_S) * 1000, (to + 600) * 1000);
  const span = (mostS: number): [since: number, until: number] => {
    const since = moment();
    return [since, since + random.whole(0, mostS * 1000)];
  };
  const whole = ([since, until]: readonly [number, number | null]) => [
    Math.floor(since / 1000),
    until === null ? null : Math.floor(until / 1000),
  ];
  const time = (ms: number | null) => (ms === null ? null : new Date(ms));

  const devices = Array.from({ length: DEVICES }, () => ({
    id: uuidv7(),
    /** Not monitored for a while, in the middle. */
    monitored: [
      [(from - 9 * DAY_S) * 1000, (from + random.whole(1, 20) * DAY_S) * 1000 + 500],
      [(from + random.whole(20, 25) * DAY_S) * 1000 + 999, null],
    ] as [number, number | null][],
    /** Measured while the collector was cut off. */
    backlog: Array.from({ length: 3 }, () => span(7200)),
    interfaces: Array.from({ length: PORTS }, (_, i) => ({
      id: uuidv7(),
      there: [i === 0 ? (from - DAY_S) * 1000 : moment(), null] as [number, number | null],
    })),
  }));
  const connected: [number, number | null][] = [];
  for (let at = (from - DAY_S) * 1000; at < to * 1000; ) {
    const until = at + random.whole(3600, 5 * DAY_S) * 1000;
    connected.push([at, until]);
    at = until + random.whole(1, 7200) * 1000 + 250;
  }
  const windows = Array.from({ length: 6 }, (_, i) => ({
    span: span(6 * 3600),
    devices: i === 0 ? null : devices.slice(0, i).map(({ id }) => id),
  }));

  beforeAll(async () => {
    installation = await Installation.start({ databaseUrl: await url() });
    const { db } = installation.server;
    siteId = await installation.site('month', 161, []);
    const own = { site_id: siteId };
    const seen = { first_seen: new Date(from * 1000), last_seen: new Date(to * 1000) };
    await addDevices(
      db,
      devices.map(({ id }, i) => ({ site_id: siteId, id, name: `box-${i}` })),
    );
    await insert(
      db,
      'interfaces',
      devices.flatMap(({ id, interfaces }) =>
        interfaces.map((port, i) => ({
          ...{ ...own, ...seen, id: port.id, device_id: id, if_index: i + 1, name: `eth${i}` },
          first_seen: time(port.there[0]),
        })),
      ),
    );
    await insert(
      db,
      'monitoring_history',
      devices.flatMap(({ id, monitored }) =>
        monitored.map(([since, until]) => ({
          ...own,
          device_id: id,
          since: time(since),
          until: time(until),
        })),
      ),
    );
    await insert(
      db,
      'backlog_history',
      devices.flatMap(({ id, backlog }) =>
        backlog.map(([since, until]) => ({
          ...{ ...own, device_id: id, since: time(since), until: time(until) },
        })),
      ),
    );
    await insert(
      db,
      'connection_history',
      connected.map(([since, until]) => ({
        ...{ ...own, collector_id: uuidv7(), since: time(since), until: time(until) },
      })),
    );
    await insert(
      db,
      'maintenance_history',
      windows.map(({ span: [since, until], devices: ids }) => ({
        ...{ ...own, window_id: uuidv7(), since: time(0), until: null, timezone: 'UTC' },
        scope: ids === null ? {} : { deviceIds: ids },
        times: { kind: 'once', from: Math.floor(since / 1000), until: Math.floor(until / 1000) },
      })),
    );
    await insert(db, 'events', Array.from({ length: EVENTS }, makeEvent));
  }, 120_000);
  afterAll(() => installation?.stop());

  function makeEvent(_: unknown, i: number) {
    const device = random.pick(devices);
    const port = random.chance(0.3) ? random.pick(device.interfaces) : undefined;
    const of = port ? 'interface.down' : random.pick(KINDS);
    const subject = `${of}:${port?.id ?? device.id}`;
    const isFlapping = of !== 'trap' && random.chance(0.2);
    const [since, until] = span(random.chance(0.1) ? 3 * DAY_S : 5400);
    const isOpen = i % 40 === 0;
    return {
      ...{ site_id: siteId, id: uuidv7(), device_id: device.id, interface_id: port?.id ?? null },
      ...{ kind: isFlapping ? 'flapping' : of, source: 'icmp', severity: 1, status: isOpen ? 0 : 2 },
      ...{ message: '-', details: isFlapping ? { of } : {}, count: 1 },
      // Of one key one event is open.
      dedup_key: isFlapping ? `flapping:${subject}` : isOpen ? `${subject}:${i}` : subject,
      ...{ first_seen: time(since), timestamp: time(since), closed_at: isOpen ? null : time(until) },
    };
  }

  async function allEvents(): Promise<Event[]> {
    const events: Event[] = [];
    for (let page = 1; ; page++) {
      const { data } = await installation.api<Event[]>(
        'GET',
        `/api/events?site=${siteId}&pageSize=100&page=${page}`,
      );
      events.push(...data);
      if (data.length < 100) return events;
    }
  }

  it('is, to the second, what follows from the list of events', async () => {
    const events = await allEvents();
    expect(events).toHaveLength(EVENTS);
    const input = {
      ...{ from, to, events, connected: connected.map(whole) },
      windows: windows.map((window) => ({ ...window, span: whole(window.span) })),
      devices: devices.map((device) => ({
        ...device,
        monitored: device.monitored.map(whole),
        backlog: device.backlog.map(whole),
        interfaces: device.interfaces.map((port) => ({ ...port, there: whole(port.there) })),
      })),
    };
    const counted = spawnSync('python3', [PROGRAM], { input: JSON.stringify(input), encoding: 'utf8' });
    expect(counted.stderr).toBe('');
    const theirs: Record<string, number[]> = JSON.parse(counted.stdout);
    const ask = async (of: string) =>
      (await installation.api<Entry[]>('GET', `/api/availability?${of}&from=${from}&to=${to}&pageSize=100`))
        .data;
    const ours = await ask(`of=devices&site=${siteId}`);
    for (const { id } of devices) ours.push(...(await ask(`of=interfaces&deviceId=${id}`)));
    expect(ours).toHaveLength(DEVICES * (1 + PORTS));
    const shown = ours.map((entry) => [entry.interfaceId ?? entry.deviceId, secondsOf(entry)]);
    expect(Object.fromEntries(shown)).toEqual(theirs);
    for (const entry of ours) expect(secondsOf(entry).reduce((sum, one) => sum + one)).toBe(30 * DAY_S);
    // A month in which each state occurs.
    for (const state of [0, 1, 2, 3])
      expect(ours.some((entry) => (secondsOf(entry)[state] ?? 0) > 0)).toBe(true);
    const [site] = await ask(`of=sites&site=${siteId}`);
    const sum = (state: number) => devices.reduce((total, { id }) => total + (theirs[id]?.[state] ?? 0), 0);
    expect(site && secondsOf(site)).toEqual([0, 1, 2, 3].map(sum));
  }, 120_000);
});
