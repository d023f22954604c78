/** What is said of devices that no rule knows. */
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { classifier } from './classify.ts';
import type { DeviceFacts } from './facts.ts';
import { loadRules } from './rules.ts';

const all = loadRules([fileURLToPath(new URL('../../../../../rules/', import.meta.url))]);
/** Makers' numbers and names alone. */
const classify = classifier({ ...all, rules: [] });
const agent = (sysObjectId: string, sysDescr: string, vendor: Record<string, string> = {}): DeviceFacts => ({
  system: { sysObjectId, sysDescr },
  chassis: [],
  vendor,
});

const BROADCOM = '1.3.6.1.4.1.4413';
const NET_SNMP = '1.3.6.1.4.1.8072.3.2.10';

describe('a maker’s name in the words of an agent', () => {
  it.each([
    ['chip maker’s number', BROADCOM, 'Quanta LB6M, 1.2.0.18, Linux 2.6.21', 'Quanta', 'switch'],
    ['net-snmp’s number', NET_SNMP, 'Barracuda Spam Firewall', 'Barracuda', 'firewall'],
    ['Realtek’s number', '1.3.6.1.4.1.27282.1', 'D-Link DGS-1100-08 Gigabit Switch', 'D-Link', 'switch'],
  ])('counts behind a %s', (_, oid, text, vendor, is) => {
    expect(classify(agent(oid, text))).toMatchObject({ vendor, class: is, by: { vendor: 'brand' } });
  });

  it('says nothing against a maker’s own number, nor inside other words', () => {
    expect(classify(agent('1.3.6.1.4.1.11.2.3.7', 'Switch with Cisco optics')).vendor).toBe('HP');
    expect(classify(agent(NET_SNMP, 'Linux cisco-lab.example.net 6.1.0 x86_64')).vendor).toBeNull();
    expect(classify(agent(BROADCOM, 'FASTPATH switching')).vendor).toBe('Broadcom');
  });
});

describe('four numbers with dots among a maker’s objects', () => {
  const said = (text: string) =>
    classify(agent('1.3.6.1.4.1.99999.1', 'Box', { '1.3.6.1.4.1.99999.1.1.0': text })).osVersion;
  it.each(['8.3.5.4', '3.9.0.4', '2.75.0.3', '25.1.2.3', '3.99.0.1', '1.0.0.4'])(
    'are the version %s',
    (text) => {
      expect(said(text)).toBe(text);
    },
  );
  it.each(['192.168.1.1', '10.0.0.1', '255.255.255.0', '0.0.0.0', '172.16.4.9', '26.1.2.3', '3.100.0.1'])(
    'are the address %s',
    (text) => {
      expect(said(text)).toBeNull();
    },
  );
});

describe('a printer in HOST-RESOURCES-MIB', () => {
  const PRINTER = {
    '1.3.6.1.2.1.25.3.2.1.2.1': '1.3.6.1.2.1.25.3.1.5',
    '1.3.6.1.2.1.25.3.2.1.3.1': 'Laser 4200dn; firmware 3',
  };
  it('is the device, and names it', () => {
    expect(classify(agent('1.3.6.1.4.1.99999.1', 'Print engine', PRINTER))).toMatchObject({
      class: 'printer',
      model: 'Laser 4200dn',
    });
  });
  it('is not a computer that prints on it', () => {
    expect(classify(agent(NET_SNMP, 'Software: Windows Version 6.3', PRINTER)).class).toBe('server');
  });
});

describe('what a box with Linux on it does', () => {
  const CAPABILITIES = '1.0.8802.1.1.2.1.3.6.0';
  it.each<[string, string, Record<string, string>]>([
    ['speaks OSPF', 'router', { '1.3.6.1.2.1.14.1.2.0': '1' }],
    ['has OSPF disabled', 'server', { '1.3.6.1.2.1.14.1.2.0': '2' }],
    ['speaks BGP', 'router', { '1.3.6.1.2.1.15.2.0': '64512' }],
    ['has no autonomous system', 'server', { '1.3.6.1.2.1.15.2.0': '0' }],
    ['tells its neighbours that it bridges', 'switch', { [CAPABILITIES]: ' ' }],
    ['tells its neighbours that it routes', 'router', { [CAPABILITIES]: '0x08' }],
    ['does both, as a host of containers does', 'server', { [CAPABILITIES]: '(' }],
    ['is an end station', 'server', { [CAPABILITIES]: '0x01' }],
  ])('%s: %s', (_, is, values) => {
    expect(classify(agent(NET_SNMP, 'Linux box-1 6.1.0 x86_64', values)).class).toBe(is);
  });
});

describe('the words of sysDescr', () => {
  const said = (sysDescr: string, sysObjectId = '1.3.6.1.4.1.99999.1') =>
    classify({ system: { sysObjectId, sysDescr }, chassis: [], vendor: {} });

  it.each([
    ['an internet router, kernel JUNOS 18.2R1.9, Build date: 2018-06-28', '18.2R1.9'],
    ['Secure box, VSOS-V0600R0705B20180507', 'V0600R0705B20180507'],
    ['Ring switch, HW: Version 3, FW: Version V04.02.00', 'V04.02.00'],
    ['Platform Software LSQ1WCMD0. Product Version Release 2509P61', '2509P61'],
    ['OpenBSD gate.example.org 7.1 GENERIC.MP#465 amd64', '7.1'],
  ])('of the version: %s', (text, version) => {
    expect(said(text).osVersion).toBe(version);
  });

  it.each([
    ['BoxOS RB760iGS', 'RB760iGS'],
    ['Room Alert 4E v4.2.4', 'Room Alert 4E'],
    ['"Hardware: Intel64 Family 6 Model 106 Stepping 6 AT/AT COMPATIBLE - Software: Windows', null],
    ['Unit (MB:v4.1.0 PN:apc_hw05_aos_708.bin)', null],
    ['"BoxOS-C-22.10.R11 cpm/x86hops64 Nokia 7250 IXR', 'Nokia 7250'],
    ['3Com SuperStack 3', 'SuperStack 3'],
  ])('of the model: %s', (text, model) => {
    expect(said(text, text.startsWith('3Com') ? '1.3.6.1.4.1.43.99' : undefined).model).toBe(model);
  });
});

describe('the number that a chassis is ordered by', () => {
  const model = (description: string) =>
    classify({
      system: { sysObjectId: '1.3.6.1.4.1.99999.1' },
      chassis: [{ index: 1, class: 'chassis', model: 'JL635A', description }],
      vendor: {},
    }).model;
  it('is the model only where no description names one', () => {
    expect(model('Aruba 8325-48Y8C')).toBe('Aruba 8325-48Y8C');
    expect(model('Chassis')).toBe('JL635A');
  });
});

describe('a chassis of ENTITY-MIB', () => {
  const model = (text: string) =>
    classify({
      system: { sysObjectId: '1.3.6.1.4.1.99999.1' },
      chassis: [{ index: 1, class: 'chassis', model: text }],
      vendor: {},
    }).model;
  it.each([
    ['JL661A Aruba 6300M 48G PoE CLS 4 /4SFP56 Swch', '6300M 48G PoE CLS 4 /4SFP56'],
    ['R8N85A Aruba 6000 48G', '6000 48G'],
    ['J9146A', 'J9146A'],
    ['710-030012', null],
    ['CHASSIS', null],
    ['4.4.2', null],
  ])('of the model %s', (text, expected) => {
    expect(model(text)).toBe(expected);
  });
});

describe('rows of ENTITY-MIB', () => {
  const UPS_MODEL = '1.3.6.1.2.1.33.1.1.2.0';
  const model = (chassis: DeviceFacts['chassis'], vendor: Record<string, string> = {}) =>
    classify({ system: { sysObjectId: '1.3.6.1.4.1.99999.1' }, chassis, vendor }).model;
  it('of the chassis count more than other MIBs, those of parts less', () => {
    const row = (kind: string, text: string) => ({ index: 1, class: kind, model: text }) as never;
    expect(model([row('chassis', 'CH-100')], { [UPS_MODEL]: 'UP-200' })).toBe('CH-100');
    expect(model([row('module', 'MO-300')], { [UPS_MODEL]: 'UP-200' })).toBe('UP-200');
    expect(model([row('module', 'MO-300'), row('chassis', 'CH-100')])).toBe('CH-100');
    expect(model([row('stack', 'ST-400'), row('module', 'MO-300')])).toBe('MO-300');
  });
  it('with words come before those without', () => {
    const row = (more: object) => ({ index: 1, class: 'module', ...more }) as never;
    const { serial } = classify({
      system: { sysObjectId: '1.3.6.1.4.1.99999.1' },
      chassis: [row({ serial: 'AA11' }), row({ model: 'MO-300', serial: 'BB22' })],
      vendor: {},
    });
    expect(serial).toBe('AA11');
    expect(model([row({}), row({ model: 'MO-300' }), row({ model: 'MO-301' })])).toBe('MO-300');
  });
  it.each<[string, string | undefined, string | undefined, string]>([
    ['a number without letters', '24', undefined, 'J9146A'],
    ['letters without a number', 'Chassis', undefined, 'J9146A'],
    ['the name where the description is none', 'Chassis', 'Edge 24G', 'Edge 24G'],
    ['too long', `Edge 24G ${'x'.repeat(60)}`, undefined, 'J9146A'],
  ])('of an order number are described: %s', (_what, description, name, expected) => {
    const row = { index: 1, class: 'chassis', model: 'J9146A', description, name };
    expect(model([row as never])).toBe(expected);
  });
});

describe('a product that its maker published', () => {
  it.each([
    ['1.3.6.1.4.1.12356.101.1.10', 'firewall'],
    ['1.3.6.1.4.1.3375.2.1.3.4.2', 'load-balancer'],
    ['1.3.6.1.4.1.171.10.37', 'wireless'],
    ['1.3.6.1.4.1.25506.1.2', 'switch'],
  ])('%s has its class', (oid, kind) => {
    expect(classify(agent(oid, 'Thing')).class).toBe(kind);
  });
});

describe('an agent that names no maker', () => {
  const told = (vendor: Record<string, string>) =>
    classify({ system: { sysDescr: 'Thing' }, chassis: [], vendor });
  it('is of whose objects it has, but for those that anybody has', () => {
    expect(told({ '1.3.6.1.4.1.8072.1.0': 'x', '1.3.6.1.4.1.2636.3.1.2.0': 'y' }).vendor).toBe('Juniper');
    expect(told({ '1.3.6.1.4.1.8072.1.0': 'x' }).vendor).toBeNull();
    expect(told({}).vendor).toBeNull();
  });
});

describe('an agent without a sysObjectID whose words name a maker', () => {
  const whole = classifier(all);
  const said = (sysDescr: string, sysObjectId?: string) =>
    whole({ system: { sysDescr, ...(sysObjectId ? { sysObjectId } : {}) }, chassis: [], vendor: {} });
  const IOS = 'Cisco IOS Software, C2960X Software (C2960X-UNIVERSALK9-M), Version 15.2(7)E9';
  it('is read by the rules of the maker that hold by words', () => {
    expect(said(IOS)).toMatchObject({ vendor: 'Cisco', os: 'IOS', osVersion: '15.2(7)E9', class: 'switch' });
  });
  it('of FreeBSD in a product says the version of that, whole', () => {
    const text = 'boxSense gate 2.4.5-RELEASE-p1 boxSense FreeBSD 11.3-STABLE amd64';
    expect(said(text, '1.3.6.1.4.1.8072.3.2.8').osVersion).toBe('2.4.5-RELEASE-p1');
  });
  it('is not where it has the number of another maker', () => {
    expect(said(IOS, '1.3.6.1.4.1.99999.1').by.os).not.toBe('cisco-ios');
  });
});

describe('what an agent does', () => {
  const IP_FORWARDING = '1.3.6.1.2.1.4.1.0';
  const is = (system: Partial<DeviceFacts['system']>, vendor: Record<string, string> = {}) =>
    classify({
      system: { sysObjectId: '1.3.6.1.4.1.99999.1', sysDescr: 'Thing', ...system },
      chassis: [],
      vendor,
    }).class;
  it.each<[string, number, string]>([
    ['forwards by addresses', 4, 'router'],
    ['bridges', 2, 'switch'],
    ['bridges and forwards', 6, 'router'],
    ['serves applications', 64, 'server'],
    ['serves applications and bridges', 66, 'switch'],
  ])('%s: sysServices tells its class', (_what, sysServices, kind) => {
    expect(is({ sysServices })).toBe(kind);
  });
  it.each([
    ['a root of its spanning tree', '1.3.6.1.2.1.17.2.5.0'],
    ['ports of a bridge', '1.3.6.1.2.1.17.1.4.1.2'],
    ['names of VLANs', '1.3.6.1.2.1.17.7.1.4.3.1.1'],
  ])('bridges where it serves %s', (_what, oid) => {
    expect(is({}, { [oid]: '1' })).toBe('switch');
    expect(is({ sysDescr: 'Access point' }, { [oid]: '1' })).toBe('wireless');
  });
  it('is network equipment where nothing else tells and it has a chassis of ENTITY-MIB', () => {
    const told = (sysServices?: number) =>
      classify({
        system: {
          sysObjectId: '1.3.6.1.4.1.99999.1',
          sysDescr: 'Thing',
          ...(sysServices ? { sysServices } : {}),
        },
        chassis: [{ index: 1, class: 'chassis' }],
        vendor: {},
      });
    expect(told()).toMatchObject({ class: 'switch', by: { class: 'entity-mib' } });
    expect(told(64).class).toBe('server');
  });
  it('forwards packets by IP-MIB', () => {
    expect(is({}, { [IP_FORWARDING]: '1' })).toBe('router');
    expect(is({}, { [IP_FORWARDING]: '2' })).not.toBe('router');
  });
  it('says nothing of layers that are no class', () => {
    expect(is({ sysServices: 8 })).toBe('unknown');
    expect(is({})).toBe('unknown');
  });
});

describe('a serial number', () => {
  const serial = (text: string) =>
    classify({
      system: { sysObjectId: '1.3.6.1.4.1.99999.1', sysDescr: 'Thing' },
      chassis: [{ index: 1, class: 'chassis', serial: text }],
      vendor: {},
    }).serial;
  it.each<[string, string | null]>([
    ['ABC', 'ABC'],
    ['AB', null],
    ['S/N: FOC1234', 'FOC1234'],
    ['Serial Number: 12345', '12345'],
    ['n/a', null],
    ['not specified', null],
    ['x'.repeat(80), 'x'.repeat(64)],
  ])('of "%s" is %s', (text, told) => {
    expect(serial(text)).toBe(told);
  });
});

describe('a UPS by its MIB', () => {
  const UPS = '1.3.6.1.2.1.33.1.1';
  it('has maker, model and the version of its agent before that of itself', () => {
    const told = (vendor: Record<string, string>) => classify(agent('1.3.6.1.4.1.99999.1', 'Thing', vendor));
    expect(told({ [`${UPS}.1.0`]: 'Acme Power', [`${UPS}.2.0`]: 'AP 3000' })).toMatchObject({
      class: 'ups',
      vendor: 'Acme Power',
      model: 'AP 3000',
    });
    expect(told({ [`${UPS}.1.0`]: 'Acme' }).class).toBe('ups');
    expect(told({ [`${UPS}.3.0`]: '1.2.3', [`${UPS}.2.0`]: 'AP 3000' })).toMatchObject({
      class: 'ups',
      osVersion: '1.2.3',
    });
    expect(
      told({ [`${UPS}.3.0`]: '1.2.3', [`${UPS}.4.0`]: '7.8.9', [`${UPS}.2.0`]: 'AP 3000' }).osVersion,
    ).toBe('7.8.9');
  });
});

describe('a host that only answers ping', () => {
  it.each([
    ['sw-3', 'switch'],
    ['access-2.example.net', 'switch'],
    ['gw', 'router'],
    ['esx04', 'hypervisor'],
    ['nas', 'storage'],
    ['laptop-ab12', 'workstation'],
    ['switchboard', 'unknown'],
    ['webshop', 'unknown'],
  ])('is by its name %s: %s', (name, kind) => {
    expect(
      classify({ system: {}, chassis: [], vendor: {}, host: { name, mac: null } } as unknown as DeviceFacts)
        .class,
    ).toBe(kind);
  });
});
