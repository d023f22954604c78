import { describe, expect, it } from 'vitest';
import type { ChangeOf } from '../../changes.ts';
import { TRAP_NAMES, VARIABLES } from './trap-names.ts';
import { trapName, trapWords } from './traps.ts';
import { WATCH_KINDS } from './watch.ts';

describe('names of traps', () => {
  it.each([
    ['1.3.6.1.2.1.14.16.2.2', 'ospfNbrStateChange'],
    ['1.3.6.1.2.1.14.16.2.0.2', 'ospfNbrStateChange'],
    ['1.3.6.1.2.1.15.0.2', 'bgpBackwardTransNotification'],
    ['1.3.6.1.2.1.15.7.0.2', 'bgpBackwardTransition'],
    ['1.0.8802.1.1.2.0.0.1', 'lldpRemTablesChange'],
    ['1.3.6.1.2.1.47.2.0.1', 'entConfigChange'],
    ['1.3.6.1.2.1.33.2.1', 'upsTrapOnBattery'],
    ['1.3.6.1.2.1.33.2.0.3', 'upsTrapAlarmEntryAdded'],
    ['1.3.6.1.2.1.17.0.1', 'newRoot'],
    ['1.3.6.1.2.1.17.0.2', 'topologyChange'],
    ['1.3.6.1.2.1.68.0.1', 'vrrpTrapNewMaster'],
    ['1.3.6.1.2.1.105.0.1', 'pethPsePortOnOffNotification'],
    ['1.3.6.1.2.1.88.2.0.1', 'mteTriggerFired'],
    ['1.3.6.1.4.1.9.9.1', '1.3.6.1.4.1.9.9.1'],
  ])('%s is %s', (oid, name) => {
    expect(trapName(oid)).toBe(name);
  });

  it('are OIDs, and each names one notification', () => {
    for (const oid of [...TRAP_NAMES.keys(), ...VARIABLES.keys()]) expect(oid).toMatch(/^1(\.\d+)+$/);
    expect(new Set(TRAP_NAMES.values()).size).toBe(TRAP_NAMES.size);
  });
});

it('puts the variables that it knows into words, with an index of any length', () => {
  const varbinds = [
    { oid: '1.3.6.1.2.1.14.10.1.1.10.0.0.2.0', value: '10.0.0.2' },
    { oid: '1.3.6.1.2.1.14.10.1.6.10.0.0.2.0', value: '8' },
    { oid: '1.3.6.1.2.1.33.1.6.2.1.2.4', value: '1.3.6.1.2.1.33.1.6.3.3' },
    { oid: '1.3.6.1.2.1.15.3.1.2.10.0.0.9', value: '99' },
    { oid: '1.3.6.1.2.1.88.2.1.5.0', value: '71' },
    { oid: '1.3.6.1.4.1.9.9.1', value: 'own' },
    { oid: '', value: '' },
  ];
  expect(trapWords(varbinds)).toEqual([
    'ospfNbrIpAddr 10.0.0.2',
    'ospfNbrState full',
    'upsAlarmDescr upsAlarmLowBattery',
    'bgpPeerState 99',
    'mteHotValue 71',
  ]);
  expect(trapWords(varbinds, true)).not.toContain('mteHotValue 71');
  expect(
    trapWords(Array.from({ length: 500 }, () => ({ oid: '1.3.6.1.2.1.1.5.0', value: 'x'.repeat(999) }))),
  ).toEqual(Array.from({ length: 16 }, () => `sysName ${'x'.repeat(100)}`));
});

describe('the event of a trap', () => {
  const opening = (deviceId: string | null, state: string, neighbour = '10.0.0.2') => {
    const change: ChangeOf<'trap.received'> = {
      siteId: 's',
      at: 0,
      collectorId: 'c',
      deviceId,
      deviceName: deviceId === null ? '' : 'r1',
      address: '10.0.0.1',
      monitor: true,
      kind: 'trap.received',
      before: {},
      after: {
        source: '10.0.0.1',
        trapOid: '1.3.6.1.2.1.14.16.2.2',
        dropped: 0,
        varbinds: [
          { oid: `1.3.6.1.2.1.14.10.1.1.${neighbour}.0`, type: 'ipAddress', value: neighbour },
          { oid: `1.3.6.1.2.1.14.10.1.6.${neighbour}.0`, type: 'integer', value: state },
        ],
      },
    };
    return WATCH_KINDS.trap?.opens['trap.received']?.(change);
  };

  it('says by name who lost whom', () => {
    expect(opening('d', '1')).toMatchObject({
      message: 'r1 sent trap ospfNbrStateChange: ospfNbrIpAddr 10.0.0.2, ospfNbrState down',
      details: { words: ['ospfNbrIpAddr 10.0.0.2', 'ospfNbrState down'] },
    });
  });

  it('is another one for another neighbour and state, the same for the same', () => {
    const subjects = [opening('d', '1'), opening('d', '8'), opening('d', '1', '10.0.0.3')].map(
      (o) => o?.subject,
    );
    expect(new Set(subjects).size).toBe(3);
    expect(opening('d', '1')?.subject).toBe(subjects[0]);
  });

  it('of an unknown sender is one for each trap, whatever it claims', () => {
    expect(opening(null, '1')?.subject).toBe(opening(null, '8', '10.9.9.9')?.subject);
    expect(opening(null, '1')?.message).toBe(
      '10.0.0.1, which is no known device, sent trap ospfNbrStateChange',
    );
  });
});
