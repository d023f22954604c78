import { systemClock } from '@rollcall/shared/clock';
import { Secret } from '@rollcall/shared/secret';
import { sensorReading } from '@rollcall/shared/sensors';
import { skipped } from '@rollcall/shared/testing/skipped';
import { SnmpEngine } from '@rollcall/snmp/engine/engine';
import { Session } from '@rollcall/snmp/engine/session';
import type { Value } from '@rollcall/snmp/message/pdu';
import { community, FakeAgent, honest } from '@rollcall/snmp/testing/fake-agent';
import { haveSnmpd, startSnmpd } from '@rollcall/snmp/testing/snmpd';
import { afterEach, describe, expect, it } from 'vitest';
import { readSensors } from './read.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const budget = { rows: 1000, bytes: 8 << 20, ms: 20_000 };
const integer = (value: number): Value => ({ type: 'integer', value });
const text = (value: string): Value => ({ type: 'octets', value: Buffer.from(value) });

async function sessionTo(target: { address: string; port: number }, version: 'v1' | 'v2c' = 'v2c') {
  const engine = await SnmpEngine.open({ clock: systemClock });
  closing.push(() => engine.close());
  const credential = { id: '018f0000-0000-7000-8000-000000000001', version, community: new Secret('public') };
  return new Session(engine, target, credential, { timeoutMs: 1000, tries: 2 });
}

const SENSOR = '1.3.6.1.2.1.99.1.1.1';
const box = (celsius: number): Record<string, Value> => ({
  '1.3.6.1.2.1.1.1.0': text('box'),
  '1.3.6.1.2.1.1.2.0': { type: 'oid', value: '1.3.6.1.4.1.318.1.3.27' },
  '1.3.6.1.2.1.47.1.1.1.1.7.5': text('Inlet'),
  [`${SENSOR}.1.5`]: integer(8),
  [`${SENSOR}.2.5`]: integer(9),
  [`${SENSOR}.3.5`]: integer(0),
  [`${SENSOR}.4.5`]: integer(celsius),
  [`${SENSOR}.5.5`]: integer(1),
  // PowerNet-MIB: upsAdvBatteryCapacity and upsAdvBatteryTemperature.
  '1.3.6.1.4.1.318.1.1.1.2.2.1.0': { type: 'gauge32', value: 100 },
  '1.3.6.1.4.1.318.1.1.1.2.2.2.0': { type: 'gauge32', value: 31 },
});

async function agentWith(objects: Record<string, Value>) {
  const agent = await FakeAgent.start(community((request) => honest(objects)(request)));
  closing.push(() => agent.close());
  return agent;
}

describe('reading an agent', () => {
  it.each(['v1', 'v2c'] as const)(
    'finds what standard and maker tell, and with few requests the second time (%s)',
    async (version) => {
      const objects = box(24);
      const agent = await agentWith(objects);
      const session = await sessionTo(agent, version);
      const subject = {
        memory: { plan: null, learntAt: 0, levels: new Set<string>() },
        budget,
      };
      const first = await readSensors(session, subject);
      expect(first.complete).toBe(true);
      expect(first.sensors).toMatchObject([
        { kind: 'temperature', name: 'Inlet', value: 24 },
        { kind: 'charge', value: 100 },
        { kind: 'temperature', value: 31, component: 'battery' },
      ]);
      const learnt = agent.received;
      objects[`${SENSOR}.4.5`] = integer(61);
      const second = await readSensors(session, subject);
      expect(second.sensors[0]).toMatchObject({ name: 'Inlet', value: 61 });
      if (version === 'v2c') expect(agent.received - learnt).toBeLessThan(6);
      expect(agent.received - learnt).toBeLessThan(learnt);
    },
  );

  it('looks again where a part that was there is gone', async () => {
    const objects = box(24);
    const agent = await agentWith(objects);
    const session = await sessionTo(agent);
    const subject = {
      sysObjectId: '1.3.6.1.4.1.318.1.3.27',
      memory: { plan: null, learntAt: 0, levels: new Set<string>() },
      budget,
    };
    await readSensors(session, subject);
    for (const column of [1, 2, 3, 4, 5]) delete objects[`${SENSOR}.${column}.5`];
    expect((await readSensors(session, subject)).sensors).toHaveLength(2);
    objects['1.3.6.1.2.1.33.1.2.4.0'] = integer(80);
    expect((await readSensors(session, subject)).sensors).toContainEqual(
      expect.objectContaining({ key: '1.3.6.1.2.1.33.1.2.4.0', kind: 'charge', value: 80 }),
    );
  });

  it('says that it is not complete where the agent does not answer', async () => {
    const agent = await FakeAgent.start(() => undefined);
    closing.push(() => agent.close());
    const session = await sessionTo(agent);
    const read = await readSensors(session, {
      budget: { ...budget, ms: 500 },
      memory: { plan: null, learntAt: 0, levels: new Set<string>() },
    });
    expect(read).toEqual({ sensors: [], complete: false });
  });
});

const available = haveSnmpd();
if (!available) skipped('agents of net-snmp itself: install snmp and snmpd');

describe.skipIf(!available)('reading a real snmpd', () => {
  it('finds memory and storage of this host', async () => {
    const snmpd = await startSnmpd(['rocommunity public']);
    closing.push(() => snmpd.stop());
    const session = await sessionTo(snmpd);
    const subject = {
      sysObjectId: '1.3.6.1.4.1.8072.3.2.10',
      memory: { plan: null, learntAt: 0, levels: new Set<string>() },
      budget,
    };
    const { sensors, complete } = await readSensors(session, subject);
    expect(complete).toBe(true);
    for (const sensor of sensors)
      expect(sensorReading.safeParse(sensor).success, JSON.stringify(sensor)).toBe(true);
    const kinds = new Set(sensors.map(({ kind }) => kind));
    expect(kinds).toContain('memory');
    expect(kinds).toContain('storage');
    const memory = sensors.find(({ name }) => name === 'Physical memory');
    expect(memory?.value).toBeGreaterThan(0);
    expect(memory?.value).toBeLessThanOrEqual(100);
  }, 30_000);
});
