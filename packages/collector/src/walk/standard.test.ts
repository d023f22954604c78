import { systemClock } from '@rollcall/shared/clock';
import { BUILT_IN_PROFILES } from '@rollcall/shared/profile';
import { Secret } from '@rollcall/shared/secret';
import { SnmpEngine } from '@rollcall/snmp/engine/engine';
import { Session } from '@rollcall/snmp/engine/session';
import { community, FakeAgent, honest } from '@rollcall/snmp/testing/fake-agent';
import { expect, it } from 'vitest';
import { takeInventory } from './inventory.ts';

const integer = (value: number) => ({ type: 'integer' as const, value });

it('a standard scan reads what bridges do with their ports', async () => {
  const objects = {
    '1.3.6.1.2.1.2.2.1.8.11': integer(1),
    '1.3.6.1.2.1.2.2.1.8.12': integer(1),
    '1.3.6.1.2.1.17.1.4.1.2.1': integer(11),
    '1.3.6.1.2.1.17.2.15.1.3.1': integer(2),
    '1.2.840.10006.300.43.1.2.1.1.13.12': integer(50),
  };
  const agent = await FakeAgent.start(community(honest(objects)));
  const engine = await SnmpEngine.open({ clock: systemClock });
  const credential = { id: 'c', version: 'v2c', community: new Secret('public') } as const;
  const where = { address: '127.0.0.1', port: agent.port };
  try {
    const facts = await takeInventory({
      session: new Session(engine, where, credential, { timeoutMs: 1000, tries: 2 }),
      system: {},
      settings: BUILT_IN_PROFILES.standard.snmp as NonNullable<typeof BUILT_IN_PROFILES.standard.snmp>,
      extra: [],
      now: () => systemClock.now(),
    });
    const ports = facts.flatMap((fact) =>
      fact.kind === 'rows' && fact.table === 'interfaces' ? fact.rows : [],
    );
    expect(ports).toMatchObject([
      { ifIndex: 11, stp: 'blocking', aggregate: null },
      { ifIndex: 12, stp: null, aggregate: { ifIndex: 50, active: true } },
    ]);
  } finally {
    await engine.close();
    await agent.close();
  }
});
