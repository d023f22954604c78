import { afterAll, describe, expect, it } from 'vitest';
import { closeDatabases, databases } from '../testing/database.ts';
import { asked, NOW, openSite, port, table } from './testing/site.ts';

afterAll(closeDatabases);

const STEPS = 100;

/** A switch as it is: what its tables say. */
interface Box {
  name: string;
  address: string;
  location: string;
  ports: { ifIndex: number; name: string; alias: string; vlan: number }[];
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
      const row = box.ports[n % box.ports.length] as Box['ports'][number];
      const before = row.alias;
      row.alias = `to ${n}`;
      return [{ kind: 'interface.changed', before: { alias: before }, after: { alias: row.alias } }];
    },
  ],
  [
    'the VLAN of a port',
    (box, n) => {
      const row = box.ports[n % box.ports.length] as Box['ports'][number];
      const before = row.vlan;
      row.vlan = box.vlans.find(({ vlan }) => vlan !== before)?.vlan ?? before;
      return [{ kind: 'interface.changed', before: { vlan: before }, after: { vlan: row.vlan } }];
    },
  ],
  [
    'a port more',
    (box, n) => {
      const row = { ifIndex: 1000 + n, name: `Gi9/${n}`, alias: 'new', vlan: box.vlans[0]?.vlan ?? 1 };
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
  ports: [1, 2, 3, 4, 5].map((ifIndex) => ({ ifIndex, name: `Gi0/${ifIndex}`, alias: 'a', vlan: 10 })),
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
    rows(
      'interfaces',
      box.ports.map(({ ifIndex, name, alias }) => port(ifIndex, name, { ifAlias: alias })),
    ),
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
        const members = box.ports.filter((each) => each.vlan === vlan).map(({ ifIndex }) => ifIndex);
        return { vlan, name, egress: members, untagged: members };
      }),
    ),
  ];
}

describe.each(databases())('a hundred changes from a script on %s', (_name, open) => {
  it('are told, each once, with both sides, and nothing else is', async () => {
    const site = await openSite(await open());
    const boxes = [1, 2, 3, 4, 5].map(boxOf);
    await site.send(boxes.flatMap((box) => walkOf(box, NOW)));
    site.changes.length = 0;
    for (let n = 1; n <= STEPS; n += 1) {
      const box = boxes[(n * 7) % boxes.length] as Box;
      const [what, alter] = SCRIPTS[(n * 3 + Math.floor(n / 10)) % SCRIPTS.length] as Script;
      const expected = alter(box, n);
      const at = NOW + n * 60_000;
      site.clock.set(at);
      await site.send(walkOf(box, at));
      const told = site.changes.splice(0).map((change) => {
        const { kind, before, after } = change as Told;
        return { kind, before, after };
      });
      expect(told, `${n}: ${what} of ${box.name}`).toEqual(expected);
    }
  });
});
