import type { Change } from '@rollcall/shared/api/changes';
import type { Clock } from '@rollcall/shared/clock';
import { afterAll, describe, expect, it } from 'vitest';
import { changeHandlers } from './incidents/changes/handlers.ts';
import { createRecorder } from './incidents/record.ts';
import { asked, NOW, openSite, port, table } from './ingest/testing/site.ts';
import type { Database } from './platform/db/db.ts';
import { closeDatabases, databases } from './testing/database.ts';
import { randomOf } from './testing/outages/network.ts';
import { asCaller, caller } from './testing/rows.ts';

afterAll(closeDatabases);

const CHANGES = 100;
/** From which the order of the scripts and their boxes follow: `TEST_CHANGES=1-20`, or one. */
const [first = 1, last = first] = (process.env.TEST_CHANGES ?? '1').split('-').map(Number);
const SEEDS = Array.from({ length: last - first + 1 }, (_, i) => first + i);
/** Scripts that put back what they did before. */
const TO_AND_FRO = [
  'a port is shut, or opened',
  'the speed of a port',
  'a VLAN of a trunk',
  'a port into an aggregate, or out of it',
];

/** A switch as it is: what its tables say. */
interface Box {
  name: string;
  address: string;
  location: string;
  ports: {
    ifIndex: number;
    name: string;
    alias: string;
    vlan: number;
    tagged: number[];
    mtu: number;
    aggregate: number | null;
    shut: boolean;
    speedBps: number;
  }[];
  addresses: string[];
  parts: { index: number; serial: string; name: string }[];
  vlans: { vlan: number; name: string }[];
  neighbours: { port: string; name: string }[];
}
interface Told {
  kind: string;
  before: unknown;
  after: unknown;
}
type Script = readonly [what: string, alter: (box: Box, n: number) => Told[]];

/** ifIndex of the aggregate that each box has. */
const PORT_CHANNEL = 900;
const portOf = (ifIndex: number, name: string): Box['ports'][number] => ({
  ...{
    ifIndex,
    name,
    alias: 'a',
    vlan: 10,
    tagged: [],
    mtu: 1500,
    aggregate: null,
    shut: false,
    speedBps: 1e9,
  },
});
const pick = (box: Box, n: number) => box.ports[n % box.ports.length] as Box['ports'][number];

const part = ({ index, serial, name }: Box['parts'][number]) => ({
  ...{ index, class: 'module', name, model: null, serialNumber: serial, firmwareRevision: null },
});
const facts = (row: Box['ports'][number]) =>
  expect.objectContaining({ name: row.name, ifIndex: row.ifIndex });
const far = ({ port: at, name }: Box['neighbours'][number]) =>
  expect.objectContaining({ port: at, sysName: name });

/** Each alters a box and says what must be told of it, and nothing else. */
const SCRIPTS: readonly Script[] = [
  ['nothing', () => []],
  [
    'its location',
    (box, n) => {
      const before = box.location;
      box.location = `room ${n}`;
      return [{ kind: 'device.changed', before: { location: before }, after: { location: box.location } }];
    },
  ],
  [
    'an alias',
    (box, n) => {
      const row = pick(box, n);
      const before = row.alias;
      row.alias = `to ${n}`;
      return [{ kind: 'interface.changed', before: { alias: before }, after: { alias: row.alias } }];
    },
  ],
  [
    'the VLAN of a port',
    (box, n) => {
      const row = pick(box, n);
      const before = row.vlan;
      row.vlan = box.vlans.find(({ vlan }) => vlan !== before && !row.tagged.includes(vlan))?.vlan ?? before;
      if (row.vlan === before) return [];
      return [{ kind: 'interface.changed', before: { vlan: before }, after: { vlan: row.vlan } }];
    },
  ],
  [
    'a VLAN of a trunk',
    (box, n) => {
      const row = pick(box, n);
      const vlan = box.vlans.find((each) => each.vlan !== row.vlan)?.vlan ?? 1;
      const left = row.tagged.includes(vlan);
      row.tagged = left ? row.tagged.filter((each) => each !== vlan) : [...row.tagged, vlan];
      const [before, after] = left ? [[vlan], []] : [[], [vlan]];
      return [{ kind: 'interface.changed', before: { taggedVlans: before }, after: { taggedVlans: after } }];
    },
  ],
  [
    'the MTU of a port',
    (box, n) => {
      const row = pick(box, n);
      const before = row.mtu;
      row.mtu = 1500 + n;
      return [{ kind: 'interface.changed', before: { mtu: before }, after: { mtu: row.mtu } }];
    },
  ],
  [
    'a port into an aggregate, or out of it',
    (box, n) => {
      const row = pick(box, n);
      const name = (at: number | null) => (at === null ? null : 'Po1');
      const before = row.aggregate;
      row.aggregate = before === null ? PORT_CHANNEL : null;
      const sides = { before: { aggregate: name(before) }, after: { aggregate: name(row.aggregate) } };
      return [{ kind: 'interface.changed', ...sides }];
    },
  ],
  [
    'a port is shut, or opened',
    (box, n) => {
      const row = pick(box, n);
      const status = () => ({ adminStatus: row.shut ? 2 : 1 });
      const before = status();
      row.shut = !row.shut;
      return [{ kind: 'interface.shut', before, after: status() }];
    },
  ],
  [
    'the speed of a port',
    (box) => {
      const row = box.ports.findLast(({ shut }) => !shut);
      if (!row) return [];
      const before = row.speedBps;
      row.speedBps = before === 1e9 ? 1e8 : 1e9;
      return [{ kind: 'interface.speed', before: { speedBps: before }, after: { speedBps: row.speedBps } }];
    },
  ],
  [
    'a port more',
    (box, n) => {
      const row = { ...portOf(1000 + n, `Gi9/${n}`), alias: 'new', vlan: box.vlans[0]?.vlan ?? 1 };
      box.ports.push(row);
      return [{ kind: 'interface.added', before: {}, after: facts(row) }];
    },
  ],
  [
    'a port less',
    (box) => {
      if (box.ports.length < 4) return [];
      const row = box.ports.pop() as Box['ports'][number];
      return [{ kind: 'interface.removed', before: facts(row), after: {} }];
    },
  ],
  [
    'an address for another',
    (box, n) => {
      const [before = ''] = box.addresses.splice(0, 1, `10.1.${n}.1`);
      const after = { addresses: [`10.1.${n}.1`] };
      return [{ kind: 'device.addresses', before: { addresses: [before] }, after }];
    },
  ],
  [
    'a part for another',
    (box, n) => {
      const before = box.parts[0] as Box['parts'][number];
      const after = { ...before, serial: `S${n}` };
      box.parts[0] = after;
      return [
        { kind: 'device.hardware', before: { parts: [part(before)] }, after: { parts: [part(after)] } },
      ];
    },
  ],
  [
    'a VLAN more',
    (box, n) => {
      const vlan = { vlan: 100 + n, name: `vlan ${n}` };
      box.vlans.push(vlan);
      return [{ kind: 'device.vlans', before: { vlans: [] }, after: { vlans: [vlan] } }];
    },
  ],
  [
    'a neighbour for another',
    (box, n) => {
      const before = box.neighbours[0] as Box['neighbours'][number];
      const after = { ...before, name: `far ${n}` };
      box.neighbours[0] = after;
      return [{ kind: 'neighbour.changed', before: far(before), after: far(after) }];
    },
  ],
];

const boxOf = (n: number): Box => ({
  ...{ name: `sw${n}`, address: `10.0.0.${n}`, location: 'first', addresses: [`10.1.0.${n}`] },
  ports: [1, 2, 3, 4, 5].map((ifIndex) => portOf(ifIndex, `Gi0/${ifIndex}`)),
  parts: [{ index: 2, serial: `P${n}`, name: 'line card' }],
  vlans: [10, 20].map((vlan) => ({ vlan, name: `vlan ${vlan}` })),
  neighbours: [{ port: 'Gi0/1', name: 'first' }],
});

/** All that a deep scan reads of it. */
function walkOf(box: Box, at: number): object[] {
  const chassis = { index: 1, class: 'chassis', serial: `FCW${box.name}` };
  const identity = {
    sysName: box.name,
    chassis: [chassis],
    macs: [`00:1b:54:00:00:${box.name.slice(2).padStart(2, '0')}`],
  };
  const device = { ...asked(identity, box.address), at };
  device.system.sysLocation = box.location;
  const rows = (name: Parameters<typeof table>[1], list: unknown[]) => ({ ...table(device, name, list), at });
  return [
    device,
    rows('interfaces', [
      port(PORT_CHANNEL, 'Po1', { aggregate: null }),
      ...box.ports.map(({ ifIndex, name, alias, mtu, aggregate, shut, speedBps }) =>
        port(ifIndex, name, {
          ...{ ifAlias: alias, mtu, speedBps, ...(shut && { adminStatus: 2, operStatus: 2 }) },
          aggregate: aggregate === null ? null : { ifIndex: aggregate, active: true },
        }),
      ),
    ]),
    rows(
      'addresses',
      [box.address, ...box.addresses].map((address) => ({ address, prefixLength: 24, ifIndex: 1 })),
    ),
    rows('entities', [chassis, ...box.parts.map((each) => ({ ...each, class: 'module' }))]),
    rows(
      'neighbours',
      box.neighbours.map(({ port: localPort, name }) => ({
        ...{
          protocol: 'lldp',
          ifIndex: 1,
          localPort,
          sysName: name,
          chassisId: `local:${name}`,
          portId: '1',
        },
      })),
    ),
    rows(
      'vlans',
      box.vlans.map(({ vlan, name }) => {
        const members = (within: (port: Box['ports'][number]) => boolean) =>
          box.ports.filter(within).map(({ ifIndex }) => ifIndex);
        return {
          ...{ vlan, name },
          egress: members((each) => each.vlan === vlan || each.tagged.includes(vlan)),
          untagged: members((each) => each.vlan === vlan),
        };
      }),
    ),
  ];
}

/** A site of which ingest takes observations in and changes become events, as in a running server. */
async function openServer(db: Database) {
  let now = NOW;
  const clock: Clock = {
    ...{ now: () => now, monotonic: () => now },
    ...{ sleep: async () => undefined, every: () => () => undefined },
  };
  const { recordChanges } = createRecorder({ db, clock });
  const { send, siteId } = await openSite(db, { deps: { clock, recordChanges } });
  const call = asCaller(changeHandlers({ db, clock }), caller('viewer', [siteId]));
  return {
    async send(at: number, walks: readonly object[]): Promise<void> {
      now = at;
      await send([...walks]);
    },
    /** What changed after `from`, newest first. */
    async list(from: number) {
      const range = { from: `${Math.floor(from / 1000) + 1}`, to: `${Math.ceil(now / 1000)}` };
      const { data, totalCount } = await call('changes.list', { query: { ...range, pageSize: '1000' } });
      expect(totalCount).toBe(data.length);
      return data.map(({ at, device, kind, before, after }: Change) => ({ at, device, kind, before, after }));
    },
  };
}

type Listed = Told & { at: number; device: string };
const byTime = (a: Listed, b: Listed) => a.at - b.at || a.device.localeCompare(b.device);

/** Scripts and boxes in an order that follows from the seed: every script once, then every script again. */
function dealer(seed: number) {
  const random = randomOf(seed);
  const below = (most: number) => Math.floor(random() * most);
  let left: Script[] = [];
  return {
    script(): Script {
      if (left.length === 0) left = [...SCRIPTS];
      return left.splice(below(left.length), 1)[0] as Script;
    },
    /** One box; every third time or so two, which differ at once. */
    places(count: number): number[] {
      const one = below(count);
      return below(3) > 0 ? [one] : [one, (one + 1 + below(count - 1)) % count];
    },
  };
}

describe.each(databases())('a hundred changes from a script on %s', (_name, open) => {
  const what = 'are what GET /api/changes lists: each once, with both sides and its time, and nothing else';
  it.each(SEEDS)(`${what} (seed %i)`, async (seed) => {
    const server = await openServer(await open());
    const deal = dealer(seed);
    const boxes = [1, 2, 3, 4, 5].map(boxOf);
    await server.send(
      NOW,
      boxes.flatMap((box) => walkOf(box, NOW)),
    );
    const expected: Listed[] = [];
    let changes = 0;
    for (let n = 1; changes < CHANGES; n += 1) {
      const at = NOW + n * 60_000;
      const walks = deal.places(boxes.length).flatMap((which) => {
        const box = boxes[which] as Box;
        for (const told of deal.script()[1](box, n))
          expected.push({ ...told, at: at / 1000, device: box.name });
        return walkOf(box, at);
      });
      changes = expected.length;
      await server.send(at, walks);
    }
    const told = (await server.list(NOW)).sort(byTime);
    for (const [i, each] of expected.sort(byTime).entries()) expect(told[i]).toEqual(each);
    expect(told).toHaveLength(expected.length);
    if (process.env.TEST_CHANGES)
      process.stdout.write(`seed ${seed}: ${expected.length} changes, ${told.length} told\n`);
  });

  it('the same again and again within hours is told each time: to and fro of what is information and what is an alarm', async () => {
    const server = await openServer(await open());
    const box = boxOf(1);
    await server.send(NOW, walkOf(box, NOW));
    const expected: Listed[] = [];
    const again = SCRIPTS.filter(([what]) => TO_AND_FRO.includes(what));
    expect(again).toHaveLength(TO_AND_FRO.length);
    for (let hour = 1; hour <= 6; hour += 1) {
      const at = NOW + hour * 3_600_000;
      for (const [i, [, alter]] of again.entries()) {
        const then = at + i * 60_000;
        for (const told of alter(box, 0)) expected.push({ ...told, at: then / 1000, device: box.name });
        await server.send(then, walkOf(box, then));
      }
    }
    expect(expected).toHaveLength(6 * TO_AND_FRO.length);
    expect(await server.list(NOW)).toEqual(expected.sort(byTime).toReversed());
  });
});
