/**
 * What distinguishes one device from another, taken out of an observation and cleaned: values that many devices share (factory
 * engine ids, placeholder serials, virtual-router MACs) are left out here, once, so that identity can trust the rest.
 */
import { createHash } from 'node:crypto';
import { identifiesADevice } from '@rollcall/shared/address-worth';
import type { DeviceObservation, HostObservation } from '@rollcall/shared/observation';

export const EVIDENCE_KINDS = [
  /** A person's decision: value is `kind:value` of the evidence it binds. */
  'manual',
  /** snmpEngineID, hex. */
  'engine-id',
  /** Enterprise number and chassis serial. */
  'serial',
  /** Base MAC: LLDP chassis id of subtype macAddress, or dot1dBaseBridgeAddress. */
  'chassis-mac',
  /** LLDP chassis id of another subtype: found by neighbours, too weak to merge by. */
  'lldp-chassis',
  /** Hash of all hardware addresses. */
  'mac-set',
  /** Hardware address of a host without SNMP. */
  'mac',
  /** sysObjectID and sysName. */
  'sys-name',
  /** An address it was reached on. */
  'address',
  /** Value is `kind:value` of evidence that several devices were seen with: no longer evidence. */
  'shared',
] as const;
export type EvidenceKind = (typeof EVIDENCE_KINDS)[number];
/**
 * How much a kind of evidence says: `strong` ones that agree make two records one device unless others contradict, `supporting` ones
 * weigh in where none does; a person's `decision` wins over all.
 */
export const STRENGTH = {
  manual: 'decision',
  'engine-id': 'strong',
  serial: 'strong',
  'chassis-mac': 'strong',
  'lldp-chassis': 'supporting',
  'mac-set': 'supporting',
  mac: 'supporting',
  'sys-name': 'supporting',
  address: 'supporting',
  shared: 'decision',
} as const satisfies Record<EvidenceKind, 'strong' | 'supporting' | 'decision'>;
export const strengthOf = (kind: string) => STRENGTH[kind as EvidenceKind] ?? 'supporting';
export interface EvidenceKey {
  kind: EvidenceKind;
  value: string;
}
export const keyText = (key: EvidenceKey): string => `${key.kind}:${key.value}`;

/** All that identity compares. Kept with the device as facts of group `identity`. */
export interface Fingerprint {
  /** Reached on. */
  address: string;
  /** An agent answered and was read. */
  snmp: boolean;
  /** Where the same sweep read the agent of this device, which lists `address` as its own. */
  aliasOf?: string;
  /** The agent's own addresses that can tell devices apart. */
  addresses: string[];
  macs: string[];
  engineId: string | null;
  /** Chassis serials, the main one first. */
  serials: string[];
  /** Base MACs. */
  chassis: string[];
  lldpChassisId: string | null;
  sysName: string | null;
  sysObjectId: string | null;
  hostname: string | null;
}

/** IANA private enterprise number of an OID below 1.3.6.1.4.1, else null. */
export const enterpriseOf = (oid: string | null | undefined): number | null => {
  const match = /^\.?1\.3\.6\.1\.4\.1\.(\d+)/.exec(oid ?? '');
  return match ? Number(match[1]) : null;
};

/** Agents that run on anybody's hardware: their enterprise number says nothing about the device. */
const GENERIC_ENTERPRISES = new Set([2021, 8072]);
export const vendorEnterprise = (oid: string | null | undefined): number | null => {
  const enterprise = enterpriseOf(oid);
  return enterprise === null || GENERIC_ENTERPRISES.has(enterprise) ? null : enterprise;
};

const NO_SERIAL =
  /^(none|n\.?\/?a\.?|null|nil|empty|default|default string|unknown|unavailable|not (available|applicable|specified|set|defined)|undefined|invalid|private|<private>|no serial( number)?|serial( number)?|system serial number|to be filled by o\.?e\.?m\.?|o\.?e\.?m\.?|chassis|0?123456789a?b?c?d?e?f?|1234567890|12345678|x+|-+|\.+|\*+|#+)$/i;
/** A serial number that is the same on every device of a kind, or none at all. */
export const placeholderSerial = (serial: string): boolean => {
  const text = serial.trim();
  return text.length < 4 || NO_SERIAL.test(text) || /^(.)\1*$/.test(text.replace(/[\s:._-]/g, ''));
};

/**
 * Hardware addresses that move between devices or are the same in many: VRRP and CARP (RFC 5798), HSRP, GLBP, FGCP, VSS,
 * vPC, cluster firewalls, Docker's default bridge, VMware's host-only adapters, and everything that is no unicast address.
 */
const VIRTUAL_MAC = new RegExp(
  `^(${[
    '00:00:5e:00:0[12]:',
    '00:00:0c:07:ac:',
    '00:00:0c:9f:f',
    '00:05:73:a0:0',
    '00:07:b4:0',
    '00:09:0f:09:',
    'e0:23:ff:fc:',
    '00:1b:17:00:0',
    '00:08:e3:ff:fc:',
    '00:23:04:ee:be:',
    '00:10:db:ff:',
    '02:42:ac:1',
    '02:00:4c:4f:4f:50',
    '02:1c:7f:',
    '00:50:56:c0:00:0[18]',
    '20:41:53:59:4e:ff',
    '00:00:00:00:00:',
    'ff:ff:ff:ff:ff:ff',
    '[0-9a-f][13579bdf]:',
  ].join('|')})`,
);
export const virtualMac = (mac: string): boolean => VIRTUAL_MAC.test(mac);

/** Of bridges for containers, the same in many devices. */
const CONTAINER_BRIDGE = /^172\.1[78]\.0\.1$/;
/** An address that distinguishes the device that has it from others. */
const isIdentifying = (address: string, reached: string): boolean =>
  identifiesADevice(address, reached) && !CONTAINER_BRIDGE.test(address);

/** An engine id without a part that could be one device's own (RFC 3411, SnmpEngineID: 5 octets of header). */
const worthlessEngineId = (hex: string): boolean => {
  if (hex.length < 10 || hex.length % 2 !== 0) return true;
  const own = hex.slice(10) || hex.slice(8);
  if (/^(00)*$|^(ff)*$/.test(own) || own.length < 4) return true;
  // Format 1 is an IPv4 address (loopback or none), format 3 a MAC.
  const format = hex.slice(8, 10);
  if (format === '01') return /^(7f|00|a9fe)/.test(own) || own.length !== 8;
  if (format === '03') return virtualMac(own.slice(0, 12).replace(/(..)(?!$)/g, '$1:'));
  return /^(0?102030405|0123456789|1234567890)/.test(own);
};

const cleanMacs = (macs: readonly string[]): string[] =>
  [...new Set(macs)].filter((mac) => !virtualMac(mac)).sort();

const LLDP_MAC = /^macAddress:([0-9a-f]{2}(?::[0-9a-f]{2}){5})$/;

type Macs = Pick<DeviceObservation, 'macs' | 'bridgeMac' | 'lldpChassisId'>;

const chassisMacs = ({ bridgeMac, lldpChassisId }: Macs): string[] =>
  cleanMacs([LLDP_MAC.exec(lldpChassisId ?? '')?.[1], bridgeMac].filter((mac) => mac !== undefined));

type Addresses = Pick<DeviceObservation, 'address' | 'addresses'>;

const ownAddresses = ({ address, addresses }: Addresses): string[] =>
  [...new Set(addresses)].filter((each) => isIdentifying(each, address)).sort();

/** What a host without an agent may be known by that then proves to be this agent's. */
export const hostKeys = (o: Macs & Addresses): EvidenceKey[] => [
  ...[...chassisMacs(o), ...cleanMacs(o.macs).slice(0, LOOKED_UP_MACS)].map((value) => ({
    kind: 'mac' as const,
    value,
  })),
  ...ownAddresses(o).map((value) => ({ kind: 'address' as const, value })),
];

/**
 * Where a walked agent is: at the address that it was read at, or, read at one that stands for no device (the collector's own
 * host at 127.0.0.1), at the first that it lists. Null: nowhere that is known.
 */
const placeOf = (o: DeviceObservation): string | null =>
  identifiesADevice(o.address, o.address) ? o.address : (ownAddresses(o)[0] ?? null);

/**
 * Fingerprint of a walked agent. `serialNumber`: what classification found, where ENTITY-MIB names none. Null where no
 * address is known that stands for the device.
 */
export function deviceFingerprint(o: DeviceObservation, serialNumber: string | null): Fingerprint | null {
  const address = placeOf(o);
  if (address === null) return null;
  const serials = [serialNumber, ...chassisSerials(o.chassis)]
    .filter((serial): serial is string => Boolean(serial) && !placeholderSerial(serial ?? ''))
    .map((serial) => serial.trim().toUpperCase());
  return {
    address,
    snmp: true,
    addresses: ownAddresses(o),
    macs: cleanMacs(o.macs),
    engineId: o.engineId && !worthlessEngineId(o.engineId) ? o.engineId : null,
    serials: [...new Set(serials)],
    chassis: chassisMacs(o),
    lldpChassisId: o.lldpChassisId ?? null,
    sysName: o.system.sysName?.trim() || null,
    sysObjectId: o.system.sysObjectId ?? null,
    hostname: null,
  };
}

/** Serials of chassis rows, lowest position first. The row of a stack repeats its master's and is left out. */
const chassisSerials = (rows: DeviceObservation['chassis']): string[] =>
  rows
    .filter((row) => row.class !== 'stack')
    .sort((a, b) => (a.position ?? 0) - (b.position ?? 0) || a.index - b.index)
    .flatMap((row) => (row.serial ? [row.serial] : []));

type Host = Pick<HostObservation, 'address' | 'aliasOf' | 'hostname'> & { mac?: string | null | undefined };

/** Null where the address stands for no device. */
export const hostFingerprint = (host: Host): Fingerprint | null =>
  identifiesADevice(host.address, host.address) ? fingerprintOfHost(host) : null;

/** Of a device without an agent. */
export const fingerprintOfHost = ({ address, aliasOf, mac, hostname }: Host): Fingerprint => ({
  address,
  snmp: false,
  ...(aliasOf ? { aliasOf } : {}),
  addresses: [],
  macs: cleanMacs(mac ? [mac] : []),
  engineId: null,
  serials: [],
  chassis: [],
  lldpChassisId: null,
  sysName: null,
  sysObjectId: null,
  hostname: hostname ?? null,
});

/** What a fingerprint claims for its device: at most one device of a site holds each. */
export function claims(print: Fingerprint): EvidenceKey[] {
  const keys: EvidenceKey[] = [{ kind: 'address', value: print.address }];
  const add = (kind: EvidenceKind, value: string | null | undefined) => {
    if (value) keys.push({ kind, value: value.slice(0, 512) });
  };
  add('engine-id', print.engineId);
  add('serial', print.serials[0] && `${enterpriseOf(print.sysObjectId) ?? ''}:${print.serials[0]}`);
  for (const mac of print.chassis) add('chassis-mac', mac);
  if (print.lldpChassisId && !LLDP_MAC.test(print.lldpChassisId)) add('lldp-chassis', print.lldpChassisId);
  if (!print.snmp) add('mac', print.macs[0]);
  else if (print.macs.length > 0) {
    add('mac-set', createHash('sha256').update(print.macs.join()).digest('hex').slice(0, 32));
  }
  if (print.sysName) add('sys-name', `${print.sysObjectId ?? ''}|${print.sysName.toLowerCase()}`);
  return keys;
}

/** A host that is known by MAC only is found by one of these of its agent's. */
const LOOKED_UP_MACS = 32;

/** Every key worth looking up: its claims, what a stack member, a host without SNMP or a person may hold, and its own table. */
export function lookups(print: Fingerprint): EvidenceKey[] {
  const enterprise = enterpriseOf(print.sysObjectId) ?? '';
  const own = claims(print);
  return [
    ...own,
    ...own.flatMap((key) => [
      { kind: 'manual' as const, value: keyText(key) },
      { kind: 'shared' as const, value: keyText(key) },
    ]),
    ...print.serials
      .slice(1, 16)
      .map((serial) => ({ kind: 'serial' as const, value: `${enterprise}:${serial}` })),
    ...[...print.chassis, ...print.macs.slice(0, LOOKED_UP_MACS)].map((mac) => ({
      kind: 'mac' as const,
      value: mac,
    })),
    ...[...print.chassis, ...(print.snmp ? [] : print.macs)].map((mac) => ({
      kind: 'chassis-mac' as const,
      value: mac,
    })),
    ...[print.aliasOf ?? [], print.addresses].flat().map((value) => ({ kind: 'address' as const, value })),
  ];
}
