import { BUILT_IN_PROFILES } from '@rollcall/shared/profile';
import { Secret } from '@rollcall/shared/secret';
import { Session } from '@rollcall/snmp/engine/session';
import { community, honest, useEngine } from '@rollcall/snmp/testing/fake-agent';
import { expect, it } from 'vitest';
import { systemOf, takeInventory } from './inventory.ts';

const { used, agentThat } = useEngine();
const credential = {
  id: '018f0000-0000-7000-8000-000000000001',
  version: 'v2c',
  community: new Secret('public'),
} as const;
const settings = BUILT_IN_PROFILES.deep.snmp as NonNullable<typeof BUILT_IN_PROFILES.deep.snmp>;

it('attack: an anycast address, which every box of its service has, is listed and is no evidence of identity', async () => {
  const [ifIndex, type] = ['1.3.6.1.2.1.4.34.1.3.1.4', '1.3.6.1.2.1.4.34.1.4.1.4'];
  const integer = (value: number) => ({ type: 'integer' as const, value });
  const agent = await agentThat(
    community(
      honest({
        [`${ifIndex}.10.0.0.1`]: integer(1),
        [`${ifIndex}.10.53.53.53`]: integer(1),
        [`${type}.10.0.0.1`]: integer(1),
        [`${type}.10.53.53.53`]: integer(2),
      }),
    ),
  );
  const target = { address: agent.address, port: agent.port };
  const facts = await takeInventory({
    session: new Session(used.engine, target, credential, { timeoutMs: 1000, tries: 2 }),
    system: {},
    settings: { ...settings, groups: ['addresses'] },
    extra: [],
    now: () => 0,
  });
  const listed = facts.flatMap((fact): unknown[] => (fact.kind === 'rows' ? [...fact.rows] : []));
  expect(listed).toMatchObject([{ address: '10.0.0.1' }, { address: '10.53.53.53', type: 'anycast' }]);
  expect(facts.find(({ kind }) => kind === 'device')).toMatchObject({ addresses: ['10.0.0.1'] });
});

it('uptime goes on between the reading of the system group and the end of the walk', () => {
  expect(systemOf({ sysUpTime: 100 }, 180_000)).toEqual({ sysUpTime: 18_100 });
  expect(systemOf({ sysUpTime: 2 ** 32 - 1 }, 20)).toEqual({ sysUpTime: 1 });
  expect(systemOf({}, 20)).toEqual({});
});
