/** Which device a neighbour's report means. Pure: reports and what the site knows in, devices and ports out. */
import { findPort, type LinkPort } from './ports.ts';

/** A row of `neighbours` as LLDP, CDP and their kin told it. */
export interface Report {
  deviceId: string;
  protocol: string;
  key: string;
  ifIndex: number | null;
  chassisId: string | null;
  portId: string | null;
  portDescription: string | null;
  sysName: string | null;
  addresses: readonly string[];
}

export interface FarEnd {
  deviceId: string;
  ifIndex: number | null;
}

/** What the site knows of its devices; each answer names one device or none, never one of several. */
export interface Directory {
  /** Holder of a hardware address. */
  ofMac(mac: string): string | null;
  /** Holder of an LLDP chassis id of another subtype than MAC and address. */
  ofChassis(chassisId: string): string | null;
  ofAddress(address: string): string | null;
  /** Devices whose sysName has this first label, with the whole name in lower case. */
  named(label: string): readonly { deviceId: string; name: string }[];
  /** The device's own LLDP chassis id. */
  chassisOf(deviceId: string): string | null;
  portsOf(deviceId: string): readonly LinkPort[];
}

/** The far end of a report, null where nothing or not exactly one device fits, or it is the reporting device itself. */
export function farEnd(report: Report, directory: Directory): FarEnd | null {
  const deviceId = farDevice(report, directory);
  if (deviceId === null || deviceId === report.deviceId) return null;
  const words = { id: report.portId, description: report.portDescription };
  return { deviceId, ifIndex: findPort(directory.portsOf(deviceId), words) };
}

function farDevice(report: Report, directory: Directory): string | null {
  const [subtype, value] = split(report.chassisId);
  if (subtype === 'macAddress') {
    const holder = directory.ofMac(value);
    if (holder) return holder;
  } else if (subtype === 'networkAddress') {
    const holder = directory.ofAddress(value);
    if (holder) return holder;
  } else if (report.chassisId) {
    const holder = directory.ofChassis(report.chassisId);
    if (holder && nameAllows(report, holder, directory)) return holder;
  }
  const byPort = report.portId && directory.ofMac(report.portId);
  if (byPort) return byPort;
  const holders = new Set(report.addresses.flatMap((address) => directory.ofAddress(address) ?? []));
  const [byAddress] = holders;
  if (byAddress && holders.size === 1) return byAddress;
  return holders.size > 1 ? null : byName(report, directory);
}

const split = (chassisId: string | null): [string, string] => {
  const colon = chassisId?.indexOf(':') ?? -1;
  return chassisId && colon > 0 ? [chassisId.slice(0, colon), chassisId.slice(colon + 1)] : ['', ''];
};

/** A name that one device has; not where that device says another chassis id than the report. */
function byName(report: Report, directory: Directory): string | null {
  const name = plainName(report.sysName);
  if (name === '') return null;
  const found = directory.named(labelOf(name)).filter((other) => sameName(other.name, name));
  const [only] = found;
  if (!only || found.length > 1) return null;
  const own = directory.chassisOf(only.deviceId);
  const comparable = own !== null && split(own)[0] === split(report.chassisId)[0];
  return comparable && own !== report.chassisId ? null : only.deviceId;
}

/** Chassis ids such as `local:1` are many devices' own: a name that differs rules the holder out. */
function nameAllows(report: Report, holder: string, directory: Directory): boolean {
  const name = plainName(report.sysName);
  if (name === '') return true;
  const others = directory.named(labelOf(name)).filter((other) => sameName(other.name, name));
  return others.some(({ deviceId }) => deviceId === holder);
}

/** CDP names may carry a serial number in brackets behind the name. */
export const plainName = (name: string | null): string =>
  (name ?? '')
    .trim()
    .replace(/\([^)]*\)$/, '')
    .replace(/\.$/, '')
    .toLowerCase();

export const labelOf = (name: string): string => name.split('.')[0] ?? '';

/** `sw1` and `sw1.example.org` are one name, `sw1.example.org` and `sw1.example.net` are two. */
const sameName = (a: string, b: string): boolean =>
  a === b || (labelOf(a) === labelOf(b) && (a === labelOf(a) || b === labelOf(b)));
