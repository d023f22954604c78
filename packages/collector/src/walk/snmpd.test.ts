import { networkInterfaces } from 'node:os';
import { systemClock } from '@rollcall/shared/clock';
import type { InterfaceRow, Observation } from '@rollcall/shared/observation';
import { BUILT_IN_PROFILES } from '@rollcall/shared/profile';
import { parseObservation } from '@rollcall/shared/protocol';
import { Secret } from '@rollcall/shared/secret';
import { skipped } from '@rollcall/shared/testing/skipped';
import { discover, type Found } from '@rollcall/snmp/discover';
import { SnmpEngine } from '@rollcall/snmp/engine/engine';
import { Session } from '@rollcall/snmp/engine/session';
import { haveSnmpd, type Snmpd, startSnmpd, tool } from '@rollcall/snmp/testing/snmpd';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { takeInventory } from './inventory.ts';

/** The inventory of an agent that is not ours, against what `snmpwalk` and the host itself say. */
const available = haveSnmpd();
if (!available) skipped('agents of net-snmp itself: install snmp and snmpd');

const settings = BUILT_IN_PROFILES.deep.snmp as NonNullable<typeof BUILT_IN_PROFILES.deep.snmp>;
const credential = {
  id: '018f0000-0000-7000-8000-000000000001',
  version: 'v2c',
  community: new Secret('public'),
} as const;

describe.skipIf(!available)('the inventory of a real snmpd', () => {
  let snmpd: Snmpd;
  let engine: SnmpEngine;
  let facts: Observation[];
  const rows = (table: string) =>
    facts.flatMap((fact) => (fact.kind === 'rows' && fact.table === table ? (fact.rows as object[]) : []));
  const walked = (oid: string) =>
    new Map(
      tool('snmpbulkwalk', ['-v2c', '-c', 'public', `${snmpd.address}:${snmpd.port}`, oid])
        .split('\n')
        .filter((line) => line.startsWith('.'))
        .map((line) => {
          const [left = '', right = ''] = line.split(' = ');
          return [left.slice(oid.length + 2), right] as const;
        }),
    );
  const hexText = (text: string | undefined) =>
    Buffer.from((text ?? '').replace(/[" ]/g, ''), 'hex')
      .toString('utf8')
      .replace(/\0+$/, '');

  beforeAll(async () => {
    snmpd = await startSnmpd(['rocommunity public', 'sysName keller-1', 'sysLocation Regal 3']);
    engine = await SnmpEngine.open({ clock: systemClock });
    const options = { port: snmpd.port, timeoutMs: 1000, tries: 2 };
    const found: Found[] = [];
    const attempts = { left: () => 10, spend: () => undefined, accepted: () => undefined };
    await discover(
      engine,
      [{ address: snmpd.address }],
      { ...options, credentials: [credential], attempts },
      (f) => found.push(f),
    );
    const [first] = found;
    if (first?.outcome !== 'snmp') throw new Error(`not found: ${JSON.stringify(first)}`);
    facts = await takeInventory({
      session: new Session(engine, { address: snmpd.address, port: snmpd.port }, credential, options),
      system: first.system,
      settings,
      extra: [],
      now: () => systemClock.now(),
    });
  });
  afterAll(async () => {
    await engine?.close();
    snmpd?.stop();
  });

  it('is made of valid observations, every table reported whole', () => {
    for (const fact of facts)
      expect(parseObservation(fact).ok, JSON.stringify(fact).slice(0, 300)).toBe(true);
    const last = facts.filter((fact) => fact.kind === 'rows' && fact.last);
    expect(last.map((fact) => fact.kind === 'rows' && fact.complete)).toEqual(last.map(() => true));
    expect(last.length).toBe(settings.groups.length);
  });

  it('has the system group', () => {
    const device = facts[0];
    expect(device).toMatchObject({ kind: 'device', system: { sysName: 'keller-1', sysLocation: 'Regal 3' } });
    if (device?.kind !== 'device') return;
    expect(device.engineId).toMatch(/^80001f88/);
    expect(device.system.sysDescr).toMatch(/^Linux/);
  });

  it('has the interfaces that snmpwalk sees, and no other', () => {
    const names = walked('1.3.6.1.2.1.31.1.1.1.1');
    const descriptions = walked('1.3.6.1.2.1.2.2.1.2');
    const types = walked('1.3.6.1.2.1.2.2.1.3');
    const mtus = walked('1.3.6.1.2.1.2.2.1.4');
    const found = rows('interfaces') as InterfaceRow[];
    expect(found.map((row) => String(row.ifIndex)).sort()).toEqual([...descriptions.keys()].sort());
    for (const row of found) {
      const index = String(row.ifIndex);
      expect([row.ifName, row.ifDescr, String(row.ifType), String(row.mtu)]).toEqual([
        hexText(names.get(index)),
        hexText(descriptions.get(index)),
        types.get(index),
        mtus.get(index),
      ]);
    }
  });

  it('has the addresses of this host', () => {
    const here = Object.values(networkInterfaces())
      .flatMap((list) => list ?? [])
      .filter((address) => address.family === 'IPv4')
      .map((address) => address.address);
    const found = (rows('addresses') as { address: string }[]).map((row) => row.address);
    const snmp = [...walked('1.3.6.1.2.1.4.20.1.1').keys()];
    expect(found.filter((address) => !address.includes(':')).sort()).toEqual(snmp.sort());
    expect(found).toEqual(expect.arrayContaining(here));
  });
});
