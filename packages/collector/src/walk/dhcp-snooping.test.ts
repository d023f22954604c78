import type { FdbRow } from '@rollcall/shared/observation';
import { BUILT_IN_PROFILES } from '@rollcall/shared/profile';
import { Secret } from '@rollcall/shared/secret';
import { Session } from '@rollcall/snmp/engine/session';
import type { Value } from '@rollcall/snmp/message/pdu';
import { community, honest, useEngine } from '@rollcall/snmp/testing/fake-agent';
import { expect, it } from 'vitest';
import { takeInventory } from './inventory.ts';

const { used, agentThat } = useEngine();
const credential = { id: 'c', version: 'v2c', community: new Secret('public') } as const;
const settings = BUILT_IN_PROFILES.deep.snmp as NonNullable<typeof BUILT_IN_PROFILES.deep.snmp>;
const CISCO = '1.3.6.1.4.1.9.1.2494';
const BINDING = '1.3.6.1.4.1.9.9.380.1.4.1.1';
const FDB = '1.3.6.1.2.1.17.7.1.2.2.1';
const integer = (value: number): Value => ({ type: 'integer', value });
const text = (value: string): Value => ({ type: 'octets', value: Buffer.from(value) });

/** A station in VLAN 10 at bridge port 7. */
const station = (last: number) => {
  const index = `10.0.27.33.60.0.${last}`;
  return { [`${FDB}.2.${index}`]: integer(7), [`${FDB}.3.${index}`]: integer(3) };
};
const binding = (name: Value | null, index = '10.0.27.33.60.0.1', status: Value | null = integer(1)) => ({
  ...(status && { [`${BINDING}.7.${index}`]: status }),
  ...(name && { [`${BINDING}.8.${index}`]: name }),
});
const PORT = { '1.3.6.1.2.1.17.1.4.1.2.7': integer(7) };

async function read(objects: Record<string, Value>, sysObjectId = CISCO, rows = settings.rows) {
  const agent = await agentThat(community(honest({ ...PORT, ...objects })));
  const facts = await takeInventory({
    session: new Session(used.engine, agent, credential, { timeoutMs: 1000, tries: 2 }),
    system: { sysObjectId },
    settings: { ...settings, rows, groups: ['fdb'] },
    extra: [],
    now: () => 0,
  });
  const tables = facts.flatMap((fact) => (fact.kind === 'rows' ? [fact] : []));
  return {
    rows: tables.flatMap(({ rows }) => rows as FdbRow[]),
    complete: tables.at(-1)?.complete,
    /** Of each part, whether a row without a name says that its station has none. */
    named: tables.map((each) => each.table === 'fdb' && each.hostnames === true),
  };
}

const entry = (last: number) => ({ mac: `00:1b:21:3c:00:0${last}`, bridgePort: 7, ifIndex: 7, vlan: 10 });

it('stations of the forwarding table have the names that they told by DHCP', async () => {
  const { rows, complete } = await read({ ...station(1), ...station(2), ...binding(text('PC-1.')) });
  expect(rows).toEqual([{ ...entry(1), hostname: 'pc-1' }, entry(2)]);
  expect(complete).toBe(true);
});

it('a binding whose station is not in the forwarding table says nothing', async () => {
  const { rows } = await read({ ...station(2), ...binding(text('pc-1')) });
  expect(rows).toEqual([entry(2)]);
});

it('the agent of another maker is not asked', async () => {
  const { rows, named } = await read({ ...station(1), ...binding(text('pc-1')) }, '1.3.6.1.4.1.90.1');
  expect(rows).toEqual([entry(1)]);
  expect(named).toEqual([false]);
});

it('a binding that ended is told: rows without a name are of stations without one', async () => {
  expect(await read({ ...station(1), ...binding(text('pc-1')) })).toMatchObject({ named: [true] });
  expect(await read(station(1))).toEqual({ rows: [entry(1)], complete: true, named: [true] });
});

it('every part of a large table tells it', async () => {
  const many = Array.from({ length: 1500 }, (_, n) => {
    const index = `10.0.27.33.60.${n >> 8}.${n & 255}`;
    return { [`${FDB}.2.${index}`]: integer(7), [`${FDB}.3.${index}`]: integer(3) };
  });
  const { named } = await read(Object.assign({}, ...many));
  expect(named.length).toBeGreaterThan(1);
  expect(new Set(named)).toEqual(new Set([true]));
});

it('bindings that were not read to their end say nothing of stations without a name', async () => {
  const two = { ...binding(text('pc-1')), ...binding(text('pc-2'), '10.0.27.33.60.0.2') };
  const { rows, complete, named } = await read({ ...station(2), ...two }, CISCO, 1);
  expect(rows).toEqual([entry(2)]);
  expect([complete, named]).toEqual([true, [false]]);
});

it.each<[what: string, objects: Record<string, Value>]>([
  ['is not in service', binding(text('pc-1'), undefined, integer(2))],
  ['has no status', binding(text('pc-1'), undefined, null)],
  ['has no name', binding(null)],
  ['is of another VLAN', binding(text('pc-1'), '11.0.27.33.60.0.1')],
  ['has an index that is too short', binding(text('pc-1'), '10.0.27.33.60.0')],
  ['has an index that is too long', binding(text('pc-1'), '10.0.27.33.60.0.1.1')],
  ['has an index that is no octets', binding(text('pc-1'), '10.0.27.33.60.0.257')],
  ...[
    "Anna's iPhone",
    'x\u0000y',
    '<script>',
    'pc\n1',
    '\ud83d\ude00',
    'a'.repeat(254),
    '-pc',
    '...',
    '',
  ].map((name): [string, Record<string, Value>] => [
    `has the name ${JSON.stringify(name)}`,
    binding(text(name)),
  ]),
])('attack: a binding that %s names nobody', async (_what, objects) => {
  const { rows, complete } = await read({ ...station(1), ...objects });
  expect(rows).toEqual([entry(1)]);
  expect(complete).toBe(true);
});
