/** Devices in the forms of other programs: fifty thousand hold up nobody else. */
import { isIPv6 } from 'node:net';
import type { ScrapeTarget } from '@rollcall/shared/api/exports';
import { SNMP_PORT } from '@rollcall/shared/model';
import { inPieces } from '../../platform/pieces.ts';

export interface ExportedDevice {
  id: string;
  site: string;
  name: string;
  address: string;
  class: string;
  status: string;
  vendor: string | null;
  model: string | null;
  os: string | null;
  osVersion: string | null;
  serialNumber: string | null;
  location: string | null;
  /** Name of the credential that its agent answered; null: it was not read by SNMP. */
  credential: string | null;
  /** Of the agents of its site. */
  snmpPort: number;
}

/** Module of snmp_exporter that reads interfaces; a job may set another. */
const MODULE = 'if_mib';

/** Targets of Prometheus' HTTP service discovery; an absent fact is no label. */
export const prometheusTargets = (devices: readonly ExportedDevice[]): Promise<ScrapeTarget[]> =>
  inPieces(devices, ({ address, credential, snmpPort, ...device }) => {
    const facts = { ...device, credential };
    const labels = Object.entries(facts).flatMap(([name, value]) =>
      value ? [[`__meta_rollcall_${snakeCase(name)}`, value]] : [],
    );
    const agent = { __param_target: agentOf(address, snmpPort), __param_module: MODULE };
    const snmp = credential ? { ...agent, __param_auth: credential } : {};
    return { targets: [address], labels: { ...Object.fromEntries(labels), ...snmp } };
  });
/** Whom snmp_exporter asks: it takes port 161 where none is named. */
const agentOf = (address: string, port: number): string =>
  port === SNMP_PORT ? address : `${isIPv6(address) ? `[${address}]` : address}:${port}`;
const snakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** System → `ansible_network_os`, by the collections that have one. */
const ANSIBLE: Record<string, string> = {
  IOS: 'cisco.ios.ios',
  'IOS-XE': 'cisco.ios.ios',
  'IOS-XR': 'cisco.iosxr.iosxr',
  'NX-OS': 'cisco.nxos.nxos',
  ASA: 'cisco.asa.asa',
  JunOS: 'junipernetworks.junos.junos',
  EOS: 'arista.eos.eos',
  FortiOS: 'fortinet.fortios.fortios',
  RouterOS: 'community.routeros.routeros',
  VyOS: 'vyos.vyos.vyos',
};

/** What a device may be called, the shorter first. No two devices have the last: its end is the id. */
const CHOICES: readonly ((device: ExportedDevice) => string)[] = [
  ({ name }) => name,
  ({ name, address }) => `${name} (${address})`,
  ({ name, address, site }) => `${name} (${address}, ${site})`,
  ({ name, id }) => `${name} (${id})`,
];

/**
 * A name for each device that no other has. Where two would have one, neither gets it: devices choose their names
 * themselves, and none may receive what is meant for another.
 * @param write how the reader can take a name
 * @param same two names are one where this says the same of both
 */
async function namesApart(
  devices: readonly ExportedDevice[],
  write: (name: string) => string,
  same = (name: string, _device: ExportedDevice) => name,
): Promise<string[]> {
  const named = await inPieces(devices, (device) => ({ device, name: write(device.name), choice: 0 }));
  for (;;) {
    const counts = new Map<string, number>();
    const keys = await inPieces(named, ({ name, device }) => {
      const key = same(name, device);
      counts.set(key, (counts.get(key) ?? 0) + 1);
      return key;
    });
    let longer = 0;
    await inPieces(named, (one, i) => {
      const next = CHOICES[one.choice + 1];
      if (!next || counts.get(keys[i] as string) === 1) return;
      Object.assign(one, { name: write(next(one.device)), choice: one.choice + 1 });
      longer += 1;
    });
    if (longer === 0) return named.map(({ name }) => name);
  }
}

/**
 * What an inventory script prints for `--list`. Devices choose their texts themselves, and Ansible runs what stands
 * between two braces: no name of a host has any, and a value that has is marked as one that is no template.
 */
export async function ansibleInventory(devices: readonly ExportedDevice[]): Promise<Record<string, unknown>> {
  const names = await namesApart(devices, (name) => name.replace(/[{}]/g, '_'));
  const hosts = new Map<string, Record<string, unknown>>();
  const groups = new Map<string, string[]>();
  await inPieces(devices, (device, i) => {
    const host = names[i] as string;
    hosts.set(host, hostVariables(device));
    for (const group of groupsOf(device)) {
      const members = groups.get(group) ?? [];
      groups.set(group, members);
      members.push(host);
    }
  });
  return {
    _meta: { hostvars: Object.fromEntries(hosts) },
    all: { children: [...groups.keys()].sort() },
    ...Object.fromEntries(
      [...groups].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, of]) => [name, { hosts: of }]),
    ),
  };
}

function hostVariables(device: ExportedDevice): Record<string, unknown> {
  const network = device.os ? ANSIBLE[device.os] : undefined;
  const { credential: _, name: __, address, snmpPort: ___, ...told } = device;
  const facts = Object.entries(told).flatMap(([name, value]) =>
    value ? [[`rollcall_${snakeCase(name)}`, asText(value)]] : [],
  );
  return {
    ansible_host: address,
    ...(network ? { ansible_network_os: network } : {}),
    ...Object.fromEntries(facts),
  };
}

const asText = (value: string): unknown => (value.includes('{') ? { __ansible_unsafe: value } : value);

/** Names of groups are words of letters, digits and `_`. */
const groupsOf = ({ site, class: is, os }: ExportedDevice): string[] =>
  [`site_${site}`, `class_${is}`, ...(os ? [`os_${os}`] : [])].map((name) =>
    name.toLowerCase().replace(/[^a-z0-9]+/g, '_'),
  );

/** System → model of Oxidized. */
const OXIDIZED: Record<string, string> = {
  IOS: 'ios',
  'IOS-XE': 'ios',
  'IOS-XR': 'iosxr',
  'NX-OS': 'nxos',
  ASA: 'asa',
  JunOS: 'junos',
  EOS: 'eos',
  FortiOS: 'fortios',
  'PAN-OS': 'panos',
  RouterOS: 'routeros',
  VyOS: 'vyos',
  VRP: 'vrp',
  Comware: 'comware',
  ProCurve: 'procurve',
  'ArubaOS-CX': 'aoscx',
  ArubaOS: 'aosw',
  ExtremeXOS: 'xos',
  OS10: 'os10',
  SonicOS: 'sonicos',
  IronWare: 'ironware',
  'AlliedWare Plus': 'awplus',
  GAiA: 'gaiaos',
  OPNsense: 'opnsense',
  pfSense: 'pfsense',
  TiMOS: 'timos',
  EdgeOS: 'edgeos',
};

/**
 * Lines of `router.db`. Oxidized finds a device by its name, and makes a file of that name, or one in Git: two of one name would
 * overwrite each other's configuration.
 */
export async function oxidizedLines(devices: readonly ExportedDevice[]): Promise<string> {
  const known = devices.filter(({ os }) => os !== null && Object.hasOwn(OXIDIZED, os));
  const names = await namesApart(known, asFileName);
  const lines = await inPieces(known, ({ address, os, site }, i) => {
    const name = names[i] as string;
    // A colon would begin the next member: devices with IPv6 alone it reads by name.
    return [name, isIPv6(address) ? name : address, OXIDIZED[os as string], asFileName(site)].join(':');
  });
  const left = devices.length - known.length;
  const head =
    left > 0 ? [`# ${left} of ${devices.length} left out: Oxidized has no model for their system`] : [];
  return `${[...head, ...lines].join('\n')}\n`;
}
/** A member of a line that is no comment, and a file in no other folder. */
const asFileName = (text: string): string =>
  text.replace(/[:\s()#/\\]+/g, '-').replace(/^[-.]+|-+$/g, '') || 'unnamed';

const NETBOX = ['name', 'role', 'manufacturer', 'device_type', 'platform', 'serial', 'site', 'status'];

/** CSV for NetBox' import of devices (RFC 4180). It refuses two of one name in a site, whatever their case. */
export async function netboxCsv(devices: readonly ExportedDevice[]): Promise<string> {
  const names = await namesApart(
    devices,
    (name) => name,
    (name, { site }) => `${name.toLowerCase()}\n${site}`,
  );
  const rows = await inPieces(devices, (device, i) =>
    [
      names[i] as string,
      device.class,
      device.vendor ?? 'Unknown',
      device.model ?? 'Unknown',
      device.os ?? '',
      device.serialNumber ?? '',
      device.site,
      device.status === 'down' ? 'offline' : 'active',
    ]
      .map(asCell)
      .join(','),
  );
  return `${[NETBOX.join(','), ...rows].join('\r\n')}\r\n`;
}
const asCell = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
