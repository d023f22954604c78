import type { Endpoint } from '@rollcall/shared/api/endpoints';
import { ManualClock } from '@rollcall/shared/testing/manual-clock';
import { afterAll, expect, it } from 'vitest';
import type { Database } from '../platform/db/db.ts';
import { openLog } from '../platform/ops/log.ts';
import { closeDatabases, databases } from '../testing/database.ts';
import { type At, type Fabric, fabricOf, type Station } from '../testing/fabric.ts';
import { addDevices, addSite, asCaller, caller, insert } from '../testing/rows.ts';
import { endpointHandlers } from './feature.ts';
import { recordEndpointChanges } from './record.ts';

const log = openLog({ logLevel: 'silent' });
afterAll(closeDatabases);

const T1 = Date.parse('2026-11-20T12:00:00Z') / 1000;
const T2 = T1 + 7200;
const time = (reading: 1 | 2) => new Date((reading === 1 ? T1 : T2) * 1000).toISOString();
const SEEN = { first_seen: time(1), last_seen: time(1) };
/** Of the fast suite. `CAMPUS_STATIONS=5000` is the size that docs/endpoints.md gives the figures of. */
const USUAL = 500;
const STATIONS = Number(process.env.CAMPUS_STATIONS ?? USUAL);
/** Another campus. */
const SEED = Number(process.env.CAMPUS_SEED ?? 28);
/** Whether the figures are printed. */
const ASKED = process.env.CAMPUS_STATIONS !== undefined || process.env.CAMPUS_SEED !== undefined;
/** Rows of one statement. */
const CHUNK = 10_000;

/** Writes a fabric as ingest and the linker would, and calls `between` after the first reading. */
async function store(
  db: Database,
  site_id: string,
  { bridges, cables, learnt }: Fabric,
  between: () => Promise<void>,
): Promise<void> {
  const ids = await addDevices(
    db,
    bridges.map(({ name, class: kind }) => ({ site_id, name, class: kind })),
  );
  const idOf = new Map(bridges.map(({ name }, i) => [name, ids[i] ?? '']));
  await insert(
    db,
    'evidence',
    bridges.map(({ name, mac }) => ({
      ...SEEN,
      site_id,
      kind: 'mac',
      value: mac,
      device_id: idOf.get(name),
    })),
  );
  const told = (near: At, far: At) =>
    idOf.has(near.bridge) && idOf.has(far.bridge)
      ? [
          {
            ...{ ...SEEN, site_id, device_id: idOf.get(near.bridge), protocol: 'lldp', addresses: [] },
            ...{
              key: `${near.port} ${far.bridge}`,
              if_index: near.port,
              remote_device_id: idOf.get(far.bridge),
            },
          },
        ]
      : [];
  await insert(
    db,
    'neighbours',
    cables.flatMap(({ a, b }) => [...told(a, b), ...told(b, a)]),
  );
  const rows = new Map(
    learnt.map(({ bridge, port, mac, vlan, since, until }) => [
      `${bridge} ${port} ${mac} ${vlan} ${since}`,
      {
        ...{ site_id, device_id: idOf.get(bridge), if_index: port, mac, vlan, address: '' },
        ...{ since: time(since), until: until === null ? null : time(until) },
      },
    ]),
  );
  const all = [...rows.values()];
  const write = async (some: readonly (typeof all)[number][]) => {
    for (let i = 0; i < some.length; i += CHUNK) await insert(db, 'endpoints', some.slice(i, i + CHUNK));
  };
  await write(all.filter(({ since }) => since === time(1)).map((row) => ({ ...row, until: null })));
  await between();
  const ended = all.filter(({ until }) => until !== null);
  await db.query(
    `UPDATE endpoints e SET until = $5::timestamptz
     FROM unnest($2::uuid[], $3::int8[], $4::text[]) AS r(device, port, mac)
     WHERE e.site_id = $1::uuid AND e.device_id = r.device AND e.if_index = r.port AND e.mac = r.mac AND e.until IS NULL`,
    [
      ...[site_id, ended.map((row) => row.device_id), ended.map((row) => row.if_index)],
      ...[ended.map(({ mac }) => mac), time(2)],
    ],
  );
  await write(all.filter(({ since }) => since === time(2)));
}

/** What changes of endpoints say, by address. */
async function changesOf(db: Database, clock: ManualClock): Promise<Map<string, Told>> {
  await db.query('DELETE FROM endpoint_changes');
  let written = 1;
  while (written > 0) written = await recordEndpointChanges({ db, clock, log });
  const side = (name: string) =>
    `ARRAY(SELECT (p ->> 'device') || ' ' || (p ->> 'ifIndex') FROM jsonb_array_elements(${name} -> 'ports') p)`;
  const rows = await db.query<Told & { mac: string }>(
    `SELECT mac, kind, ${side('before')} AS was, ${side('after')} AS is FROM endpoint_changes`,
  );
  return new Map(rows.map(({ mac, ...told }) => [mac, told]));
}

interface Told {
  kind: string;
  was: string[];
  is: string[];
}
const keyOf = ({ bridge, port }: At): string => `${bridge} ${port}`;

/** What is said of each station, beside what is true. */
function judge(stations: readonly Station[], said: ReadonlyMap<string, Endpoint>, when: 'was' | 'is') {
  const figures = { placed: 0, alternatives: 0, unknown: 0, wrong: [] as string[] };
  for (const station of stations) {
    const { verdict = 'unknown', ports = [] } = said.get(station.mac) ?? {};
    const named = ports.map(({ device, ifIndex }) => keyOf({ bridge: device, port: ifIndex }));
    const truth = station[when].map(keyOf);
    figures[verdict] += 1;
    if (verdict !== 'unknown' && !truth.some((port) => named.includes(port)))
      figures.wrong.push(`${station.kind} ${station.mac} at ${truth}: ${verdict} ${named}`);
  }
  return figures;
}

/** Each that moved and is forgotten where it was is told once, from there to where it is; nothing else is. */
function expectMoves(stations: readonly Station[], told: ReadonlyMap<string, Told>): void {
  const moved = stations.filter(({ was, is }) => was.map(keyOf).join() !== is.map(keyOf).join());
  const truth = new Map(
    moved.map(({ mac, was: [was], is: [is] }) => [mac, [was, is].map((at) => at && keyOf(at))]),
  );
  // Of a pair, or of ports towards a switch that nobody reads, it names both.
  const isRight = ([mac, { kind, was, is }]: [string, Told]) => {
    const [from = '-', to = '-'] = truth.get(mac) ?? [];
    return kind === 'endpoint.moved' && was.includes(from) && is.includes(to);
  };
  const wrong = [...told].filter((each) => !isRight(each));
  if (ASKED) process.stdout.write(`${moved.length} moved, ${told.size} told, ${wrong.length} wrong\n`);
  expect(wrong).toEqual([]);
  expect(told.size / moved.length).toBeGreaterThan(0.6);
}

it('finds the port of every station of a campus, or says that it may be one of several, and never a wrong one', async () => {
  const [, open] = databases().at(-1) ?? [];
  const db = (await open?.()) as Database;
  const site = await addSite(db, 'campus');
  const fabric = fabricOf({ seed: SEED, stations: STATIONS, moves: STATIONS / 5 });
  const clock = new ManualClock(T1 * 1000 + 60_000);
  await store(db, site, fabric, async () => {
    await db.query('ANALYZE');
    const came = await changesOf(db, clock);
    const known = fabric.stations.filter(({ mac }) => came.get(mac)?.kind === 'endpoint.added');
    // The switch that nobody reads is an endpoint as well.
    expect(came.size).toBeLessThanOrEqual(known.length + 1);
    expect(known.length / fabric.stations.length).toBeGreaterThan(0.99);
  });
  // As the server's autovacuum does.
  await db.query('ANALYZE');
  expect(fabric.bridges.filter((each) => each.class === 'switch').length).toBeGreaterThanOrEqual(59);
  clock.set(T2 * 1000 + 60_000);
  expectMoves(fabric.stations, await changesOf(db, clock));
  const ask = asCaller(
    endpointHandlers({
      ...{ clock, db },
      makers: { of: () => null, prefixes: () => [] } as never,
    }),
    caller('viewer', [site]),
  );
  const said = async (more: Record<string, string>) => {
    const all: Endpoint[] = [];
    for (let page = 1; all.length === (page - 1) * 1000; page += 1) {
      const query = { page: String(page), pageSize: '1000', ...more };
      all.push(...(await ask('endpoints.list', { query })).data);
    }
    return new Map(all.map((each) => [each.mac, each]));
  };
  for (const [when, more] of [
    ['is', { current: '1' }],
    ['was', { at: String(T1 + 60) }],
  ] as const) {
    const { placed, alternatives, unknown, wrong } = judge(fabric.stations, await said(more), when);
    if (ASKED)
      process.stdout.write(
        `${when}: ${fabric.stations.length} stations, ${placed} placed, ${alternatives} alternatives, ${unknown} unknown, ${wrong.length} wrong\n`,
      );
    expect(wrong, when).toEqual([]);
    expect(
      (placed + alternatives) / fabric.stations.length,
      `${placed} ${alternatives} ${unknown}`,
    ).toBeGreaterThanOrEqual(0.99);
    expect(placed / fabric.stations.length, `${placed} ${alternatives} ${unknown}`).toBeGreaterThan(0.85);
  }
}, 600_000);
