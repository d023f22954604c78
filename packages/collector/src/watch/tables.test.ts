import type { Observation, RowsObservation } from '@rollcall/shared/observation';
import type { WatchTarget } from '@rollcall/shared/protocol';
import { uuidv7 } from '@rollcall/shared/uuid';
import { SnmpEngine } from '@rollcall/snmp/engine/engine';
import { decodeCommunityMessage } from '@rollcall/snmp/message/message';
import type { Value } from '@rollcall/snmp/message/pdu';
import { community, FakeAgent, honest } from '@rollcall/snmp/testing/fake-agent';
import { pino } from 'pino';
import { afterEach, expect, it } from 'vitest';
import { AddressNames, reverseDns } from '../sweep/names.ts';
import { echoOf } from '../testing/fake-network.ts';
import { fastClock } from '../testing/fast-clock.ts';
import { nameServer } from '../testing/name-server.ts';
import { Watch } from './watch.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const FDB = '1.3.6.1.2.1.17.4.3.1';
const BASE_PORT = '1.3.6.1.2.1.17.1.4.1.2';
const STP_STATE = '1.3.6.1.2.1.17.2.15.1.3';
const AGGREGATE = '1.2.840.10006.300.43.1.2.1.1.13';
const ARP = '1.3.6.1.2.1.4.22.1.2';
const IF_ENTRY = '1.3.6.1.2.1.2.2.1';
const IF_X_ENTRY = '1.3.6.1.2.1.31.1.1.1';
const LLDP = '1.0.8802.1.1.2.1';
const POLLED = /^1\.3\.6\.1\.2\.1\.(1\.3|2\.2\.1\.[78])(\.|$)/;
const TABLES = /^1\.(3\.6\.1\.2\.1\.(17|4\.22|4\.35)|0\.8802)(\.|$)/;
const STATIONS = 120;
const integer = (value: number): Value => ({ type: 'integer', value });

const text = (value: string): Value => ({ type: 'octets', value: Buffer.from(value) });

/** A bridge with so many stations at port 2, one ARP entry, and a switch at the port that LLDP calls 7. */
function bridge(): Record<string, Value> {
  const objects: Record<string, Value> = {
    '1.3.6.1.2.1.1.2.0': { type: 'oid', value: '1.3.6.1.4.1.8072.3.2.10' },
    '1.3.6.1.2.1.1.3.0': { type: 'timeticks', value: 100 },
    [`${BASE_PORT}.2`]: integer(12),
    [`${STP_STATE}.2`]: integer(5),
    [`${AGGREGATE}.11`]: integer(50),
    [`${ARP}.12.10.0.0.7`]: { type: 'octets', value: Buffer.from('001b213c9df8', 'hex') },
  };
  Object.assign(objects, {
    [`${LLDP}.3.7.1.2.7`]: integer(5),
    [`${LLDP}.3.7.1.3.7`]: text('Gi0/11'),
    [`${LLDP}.4.1.1.4.0.7.1`]: integer(7),
    [`${LLDP}.4.1.1.5.0.7.1`]: text('core'),
    [`${LLDP}.4.1.1.9.0.7.1`]: text('core-1'),
    [`${IF_X_ENTRY}.1.11`]: text('Gi0/11'),
  });
  for (const port of [11, 12])
    for (const column of [7, 8]) objects[`${IF_ENTRY}.${column}.${port}`] = integer(1);
  for (let i = 1; i <= STATIONS; i += 1) {
    objects[`${FDB}.2.0.27.33.60.0.${i}`] = integer(2);
    objects[`${FDB}.3.0.27.33.60.0.${i}`] = integer(3);
  }
  return objects;
}

/** Its agent takes a while for each answer; `met`: requests for a table and for states that were under way together. */
async function slowAgent() {
  const under = { polls: 0, tables: 0 };
  const seen = { polls: 0, tables: 0, met: 0, open: true };
  const answer = community(honest(bridge()));
  const agent = await FakeAgent.start((bytes, send, from) => {
    const { pdu } = decodeCommunityMessage(bytes);
    const first = pdu.type === 'trapV1' ? '' : (pdu.varbinds[0]?.oid ?? '');
    const kind = POLLED.test(first) ? 'polls' : TABLES.test(first) ? 'tables' : null;
    if (!kind) return answer(bytes, send, from);
    seen[kind] += 1;
    under[kind] += 1;
    if (under.polls > 0 && under.tables > 0) seen.met += 1;
    setTimeout(() => {
      under[kind] -= 1;
      if (seen.open) answer(bytes, send, from);
    }, 4);
  });
  closing.push(() => {
    seen.open = false;
    return agent.close();
  });
  return { agent, seen };
}

async function watching(more: Partial<WatchTarget>, tablesMs: number | undefined, namesMs?: number) {
  const clock = fastClock(10);
  const engine = await SnmpEngine.open({ clock });
  closing.push(() => engine.close());
  const { agent, seen } = await slowAgent();
  const server = await nameServer(() => ['Printer.example.net']);
  closing.push(() => server.close());
  const names = new AddressNames({ clock, nameOf: reverseDns({ servers: [server.server] }) });
  const told: Observation[] = [];
  const watch = new Watch({
    tools: { echo: echoOf(new Map([['127.0.0.1', 1]])), snmp: async () => engine, names: async () => names },
    outbox: { append: async (items: readonly Observation[]) => void told.push(...items) },
    clock,
    log: pino({ level: 'silent' }),
    pace: { take: async () => undefined },
    scope: { allows: () => true },
    linked: () => true,
  } as unknown as ConstructorParameters<typeof Watch>[0]);
  closing.push(() => watch.stop());
  const credential = { id: uuidv7(), version: 'v2c' as const, community: 'public' };
  const deviceId = uuidv7();
  watch.take({
    type: 'watch',
    revision: 1,
    full: true,
    set: [{ deviceId, address: '127.0.0.1', credentialId: credential.id, ...more }],
    remove: [],
    credentials: [credential],
    intervals: {
      ...{ icmpMs: 1000, snmpMs: 1000 },
      ...(tablesMs === undefined ? {} : { tablesMs }),
      ...(namesMs === undefined ? {} : { namesMs }),
    },
    port: agent.port,
  });
  const rows = (table: string) =>
    told.filter((o): o is RowsObservation => o.kind === 'rows' && o.table === table);
  const states = () =>
    told
      .flatMap((o) => (o.kind === 'watch' ? (o.interfaces ?? []) : []))
      .filter(({ stp }) => stp !== undefined);
  return { seen, rows, states, deviceId, asked: server.asked };
}

it('a bridge is read for what it has learnt and who is beside it, again and again, and never while its states are polled', async () => {
  const { seen, rows, states, deviceId, asked } = await watching({ tables: true }, 3000);
  await expect.poll(() => rows('fdb').length, { timeout: 15_000, interval: 10 }).toBeGreaterThan(2);
  expect(rows('fdb')[0]).toMatchObject({ deviceId, address: '127.0.0.1', complete: true });
  expect(rows('fdb').map((each) => each.rows.length)).toEqual(rows('fdb').map(() => STATIONS));
  expect(rows('fdb')[0]?.rows[0]).toMatchObject({ mac: '00:1b:21:3c:00:01', ifIndex: 12, bridgePort: 2 });
  expect(rows('arp')[0]?.rows).toEqual([{ ifIndex: 12, address: '10.0.0.7', mac: '00:1b:21:3c:9d:f8' }]);
  expect(rows('neighbours')[0]?.rows).toEqual([
    { protocol: 'lldp', ifIndex: 11, localPort: 'Gi0/11', chassisId: 'local:core', sysName: 'core-1' },
  ]);
  expect(rows('neighbours').length).toBeGreaterThan(2);
  expect(new Set(rows('fdb').map(({ walk }) => walk)).size).toBe(rows('fdb').length);
  expect(states(), 'once: they did not change').toEqual([
    { ifIndex: 11, stp: null, aggregate: { ifIndex: 50, active: true } },
    { ifIndex: 12, stp: 'forwarding', aggregate: null },
  ]);
  expect(seen.polls).toBeGreaterThan(5);
  expect(seen.tables).toBeGreaterThan(5);
  expect(seen.met).toBe(0);
  expect(asked, 'no name is looked up where the server wants none').toEqual([]);
}, 30_000);

it('the addresses of its ARP table are told with their names, from the first reading on', async () => {
  const { rows, asked } = await watching({ tables: true }, 3000, 3_600_000);
  await expect.poll(() => rows('arp').length, { timeout: 15_000, interval: 10 }).toBeGreaterThan(1);
  const entry = { ifIndex: 12, address: '10.0.0.7', mac: '00:1b:21:3c:9d:f8', name: 'printer.example.net' };
  expect(rows('arp').map((each) => each.rows)).toEqual(rows('arp').map(() => [entry]));
  expect(asked).toEqual(['7.0.0.10.in-addr.arpa']);
}, 30_000);

it.each<[who: string, more: Partial<WatchTarget>, tablesMs: number | undefined]>([
  ['a device that learns nothing', {}, 1000],
  ['a bridge of a site that does not want it', { tables: true }, undefined],
])(
  '%s is not',
  async (_who, more, tablesMs) => {
    const { seen } = await watching(more, tablesMs);
    await expect.poll(() => seen.polls, { timeout: 10_000, interval: 10 }).toBeGreaterThan(6);
    expect(seen.tables).toBe(0);
  },
  30_000,
);
