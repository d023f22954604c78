import { exportOperations } from '@rollcall/shared/api/exports';
import { uuidv7 } from '@rollcall/shared/uuid';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '../../platform/db/db.ts';
import { closeDatabases, databases } from '../../testing/database.ts';
import { addDevices, addSite, asCaller, caller, insert } from '../../testing/rows.ts';
import { exportHandlers } from './feature.ts';
import {
  ansibleInventory,
  type ExportedDevice,
  netboxCsv,
  oxidizedLines,
  prometheusTargets,
} from './formats.ts';

afterAll(closeDatabases);

const device = (more: Partial<ExportedDevice> = {}): ExportedDevice => ({
  ...{ id: 'd1', site: 'Head Office', name: 'core-1', address: '10.0.0.1', class: 'switch', status: 'up' },
  ...{ vendor: 'Cisco', model: 'C9300', os: 'IOS-XE', osVersion: '17.9.4', serialNumber: 'FOC1' },
  ...{ location: null, credential: 'read-only', snmpPort: 161, ...more },
});

describe('devices for Prometheus', () => {
  it('name the module and the credential of an agent that was read; what is not known is no label', async () => {
    expect(await prometheusTargets([device(), device({ credential: null, os: null })])).toEqual([
      {
        targets: ['10.0.0.1'],
        labels: {
          ...{
            __meta_rollcall_id: 'd1',
            __meta_rollcall_site: 'Head Office',
            __meta_rollcall_name: 'core-1',
          },
          ...{
            __meta_rollcall_class: 'switch',
            __meta_rollcall_status: 'up',
            __meta_rollcall_vendor: 'Cisco',
          },
          ...{
            __meta_rollcall_model: 'C9300',
            __meta_rollcall_os: 'IOS-XE',
            __meta_rollcall_os_version: '17.9.4',
          },
          ...{ __meta_rollcall_serial_number: 'FOC1', __meta_rollcall_credential: 'read-only' },
          ...{ __param_target: '10.0.0.1', __param_module: 'if_mib', __param_auth: 'read-only' },
        },
      },
      { targets: ['10.0.0.1'], labels: expect.not.objectContaining({ __param_auth: expect.anything() }) },
    ]);
  });
});

describe('devices for Prometheus at another port', () => {
  it.each([
    ['10.0.0.1', '10.0.0.1:1161'],
    ['2001:db8::1', '[2001:db8::1]:1161'],
  ])('%s is asked at %s', async (address, target) => {
    const [told] = await prometheusTargets([device({ address, snmpPort: 1161 })]);
    expect(told).toMatchObject({ targets: [address], labels: { __param_target: target } });
  });
});

describe('devices for Ansible', () => {
  it('are hosts with variables, in groups by site, class and system', async () => {
    const inventory = await ansibleInventory([device(), device({ name: 'srv', os: null, class: 'server' })]);
    expect(inventory).toMatchObject({
      _meta: {
        hostvars: { 'core-1': { ansible_host: '10.0.0.1', ansible_network_os: 'cisco.ios.ios' }, srv: {} },
      },
      all: { children: ['class_server', 'class_switch', 'os_ios_xe', 'site_head_office'] },
      site_head_office: { hosts: ['core-1', 'srv'] },
      os_ios_xe: { hosts: ['core-1'] },
    });
  });

  it('have no template in any text', async () => {
    const { _meta } = (await ansibleInventory([device({ name: '{{ 1 }}', location: '{{ 1 }}' })])) as {
      _meta: object;
    };
    expect(_meta).toMatchObject({
      hostvars: {
        '__ 1 __': { rollcall_location: { __ansible_unsafe: '{{ 1 }}' }, rollcall_vendor: 'Cisco' },
      },
    });
  });

  it('of one name are told apart, and a name that objects have of themselves is a host as any', async () => {
    const two = [
      device(),
      device({ address: '10.0.0.2' }),
      device({ name: '__proto__', address: '10.0.0.3' }),
    ];
    const { _meta } = JSON.parse(JSON.stringify(await ansibleInventory(two)));
    expect(Object.keys(_meta.hostvars)).toEqual(['core-1 (10.0.0.1)', 'core-1 (10.0.0.2)', '__proto__']);
  });

  const hosts = async (devices: Partial<ExportedDevice>[]) => {
    const inventory = (await ansibleInventory(
      devices.map((each, at) => device({ id: `d${at}`, ...each })),
    )) as {
      _meta: { hostvars: Record<string, { ansible_host: string }> };
      class_switch: { hosts: string[] };
    };
    expect(inventory.class_switch.hosts).toEqual(Object.keys(inventory._meta.hostvars));
    return Object.entries(inventory._meta.hostvars).map(([name, { ansible_host }]) => [name, ansible_host]);
  };

  it.each([
    ['core{1', 'core_1'],
    ['core_1', 'core}1'],
  ])('of names that are one without braces are told apart: %s and %s', async (one, two) => {
    const both = [
      { name: one, address: '10.0.0.1' },
      { name: two, address: '10.0.0.2' },
    ];
    expect(await hosts(both)).toEqual([
      ['core_1 (10.0.0.1)', '10.0.0.1'],
      ['core_1 (10.0.0.2)', '10.0.0.2'],
    ]);
  });

  it('of one name and one address are told apart by site, and in one site by id', async () => {
    expect(await hosts([{ site: 'north' }, { site: 'south' }, { site: 'south' }])).toEqual([
      ['core-1 (10.0.0.1, north)', '10.0.0.1'],
      ['core-1 (d1)', '10.0.0.1'],
      ['core-1 (d2)', '10.0.0.1'],
    ]);
  });

  it('attack: a device that names itself as another would be told apart receives nothing of it', async () => {
    const core = [{ address: '10.0.0.1' }, { address: '10.0.0.2' }];
    const attackers = [
      { name: 'core-1 (10.0.0.1)', address: '10.6.6.1' },
      { name: 'core-1 (10.0.0.1, Head Office)', address: '10.6.6.2' },
      { name: 'core-1 (d0)', address: '10.6.6.3' },
    ];
    const named = await hosts([...core, ...attackers]);
    expect(named.slice(0, 2)).toEqual([
      ['core-1 (d0)', '10.0.0.1'],
      ['core-1 (10.0.0.2)', '10.0.0.2'],
    ]);
    expect(named.slice(2)).toEqual(attackers.map(({ name, address }) => [`${name} (${address})`, address]));
  });
});

describe('devices for Oxidized', () => {
  it('are lines of four members, without those that it has no model for, which are counted', async () => {
    const devices = [device(), device({ os: null }), device({ name: 'a:b c', address: '2001:db8::1' })];
    expect(await oxidizedLines(devices)).toBe(
      '# 1 of 3 left out: Oxidized has no model for their system\ncore-1:10.0.0.1:ios:Head-Office\na-b-c:a-b-c:ios:Head-Office\n',
    );
  });

  const namesIn = async (devices: ExportedDevice[]) =>
    (await oxidizedLines(devices))
      .trim()
      .split('\n')
      .map((line) => line.split(':')[0]);

  it('of one name are told apart, in two sites too: Oxidized finds them by name', async () => {
    const devices = [device(), device({ address: '10.0.0.2', site: 'Other' }), device({ name: 'edge' })];
    expect(await namesIn(devices)).toEqual(['core-1-10.0.0.1', 'core-1-10.0.0.2', 'edge']);
    const written = [device({ name: 'a b' }), device({ name: 'a:b', address: '10.0.0.2' })];
    expect(await namesIn(written)).toEqual(['a-b-10.0.0.1', 'a-b-10.0.0.2']);
  });

  it('attack: a device names no file in another folder, and no line is a comment', async () => {
    const devices = ['../../etc/passwd', '#x', '.git', '..'].map((name, at) =>
      device({ name, id: `d${at}`, address: `10.0.0.${at}` }),
    );
    expect(await namesIn(devices)).toEqual(['etc-passwd', 'x', 'git', 'unnamed']);
  });
});

describe('devices for NetBox', () => {
  it('of one name in a site are told apart, whatever their case; in two sites they keep it', async () => {
    const devices = [
      device(),
      device({ name: 'CORE-1', address: '10.0.0.2' }),
      device({ site: 'Other', address: '10.0.0.3' }),
    ];
    const [, ...rows] = (await netboxCsv(devices)).trim().split('\r\n');
    expect(rows.map((row) => row.split(',')[0])).toEqual([
      'core-1 (10.0.0.1)',
      'CORE-1 (10.0.0.2)',
      'core-1',
    ]);
  });

  it('are rows of CSV, quoted where a name says so', async () => {
    expect(await netboxCsv([device({ name: 'core "a", 1', status: 'down', model: null })])).toBe(
      'name,role,manufacturer,device_type,platform,serial,site,status\r\n' +
        '"core ""a"", 1",switch,Cisco,Unknown,IOS-XE,FOC1,Head Office,offline\r\n',
    );
  });
});

describe('devices in the form of another program', () => {
  const forms = { prometheusTargets, ansibleInventory, oxidizedLines, netboxCsv };

  it.each(Object.entries(forms))('%s: many hold up no other work', async (_form, make) => {
    const devices = Array.from({ length: 20_000 }, (_, i) =>
      device({ id: `d${i}`, name: `host-${i % 5000}` }),
    );
    let turns = 0;
    let working = true;
    const otherWork = () => {
      turns += 1;
      if (working) setImmediate(otherWork);
    };
    setImmediate(otherWork);
    await make(devices);
    working = false;
    expect(turns).toBeGreaterThan(3);
  });
});

describe.each(databases())('exports on %s', (_name, open) => {
  let db: Database;
  let site: string;
  let other: string;
  beforeAll(async () => {
    db = await open();
    site = await addSite(db, 'north');
    other = await addSite(db, 'south');
    const credential = uuidv7();
    await insert(db, 'credentials', [
      {
        id: credential,
        name: 'read-only',
        version: 'v2c',
        sealed: Buffer.from('x'),
        key_id: 'k',
        site_ids: '{}',
      },
    ]);
    await addDevices(db, [
      { site_id: site, name: 'core', address: '10.0.0.1', class: 'router', credential_id: credential },
      { site_id: site, name: 'printer', address: '10.0.0.9', class: 'printer' },
      { site_id: site, name: 'nowhere', address: null },
      { site_id: other, name: 'secret', address: '10.9.0.1', class: 'router' },
    ]);
  });

  const ask = async (id: keyof typeof exportOperations, query: object, who = caller('admin')) =>
    (await asCaller(exportHandlers({ db }), who)(id, { query: query as never })).data;
  const names = async (query: object, who = caller('admin')) =>
    (await ask('export.prometheus', query, who)).map(
      ({ labels }: { labels: Record<string, string> }) => labels.__meta_rollcall_name,
    );

  it('hold the devices with an address, in their order, by the filters of the list', async () => {
    expect(await names({})).toEqual(['core', 'printer', 'secret']);
    expect(await names({ class: ['router'], site })).toEqual(['core']);
    expect(await names({ snmp: 1 })).toEqual(['core']);
    expect(await names({ snmp: 0, site })).toEqual(['printer']);
  });

  it('end at the sites of the caller', async () => {
    expect(await names({}, caller('viewer', [site]))).toEqual(['core', 'printer']);
    expect(await ask('export.netbox', {}, caller('viewer', [site]))).not.toContain('secret');
  });

  it('are what their operations describe', async () => {
    const targets = await ask('export.prometheus', {});
    expect(exportOperations['export.prometheus'].data.parse(targets)).toEqual(targets);
    expect(targets[0].labels).toMatchObject({ __param_auth: 'read-only' });
    const inventory = await ask('export.ansible', {});
    expect(exportOperations['export.ansible'].data.parse(inventory)).toEqual(inventory);
  });
});
