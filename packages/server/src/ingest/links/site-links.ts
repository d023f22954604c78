/** All links of a site from what was read of it. Pure, but for reading. */
import type { Sql } from '../../platform/db/sql.ts';
import { LINK_KEPT_MS } from '../tables/rows.ts';
import { type Directory, type FarEnd, farEnd, labelOf, plainName } from './far-ends.ts';
import { type BridgeTable, type ForwardingLink, forwardingLinks } from './forwarding.ts';
import { type LinkPort, portOfMac } from './ports.ts';
import * as read from './read.ts';

/** A link that forwarding tables prove, as a row of `neighbours`. */
export interface ProvenLink {
  deviceId: string;
  key: string;
  ifIndex: number;
  chassisId: string | null;
  far: FarEnd;
}

/** Where a station hangs: a port of a bridge. */
export interface Attachment {
  deviceId: string;
  ifIndex: number;
  port: string;
}

export interface SiteLinks {
  /** Reports whose far end is another than the stored one. */
  resolved: { report: read.StoredReport; far: FarEnd | null }[];
  proven: ProvenLink[];
  /** Stored links of forwarding tables that are no longer so. */
  outdated: read.StoredReport[];
  /** Stations that hang on exactly one port of a bridge. */
  attachments: Map<string, Attachment>;
}

const FDB = 'fdb';

const isMac = (text: string): boolean => /^[0-9a-f]{2}(:[0-9a-f]{2}){5}$/.test(text);
const pairOf = (a: string, b: string): string => (a < b ? `${a} ${b}` : `${b} ${a}`);
const place = (deviceId: string, ifIndex: number): string => `${deviceId} ${ifIndex}`;

/** Reads a site and finds its links. `now`: Unix milliseconds. */
export async function findLinks(sql: Sql, siteId: string, now: number): Promise<SiteLinks> {
  const stored = await read.readReports(sql, siteId);
  const reports = stored.filter(({ protocol }) => protocol !== FDB);
  const macs = new read.Macs();
  const bridges = await read.readForwarding(sql, siteId, macs);
  for (const { chassisId, portId } of reports) {
    for (const mac of [chassisId?.replace(/^macAddress:/, ''), portId])
      if (mac && isMac(mac)) macs.numberOf(mac);
  }
  const holders = await read.readHolders(sql, siteId, macs.all());
  const directory = await openDirectory(sql, siteId, reports, bridges, holders);
  const crowded = crowdedPorts(reports);
  const far = new Map(
    reports.map((report) => [report, crowded(report) ? null : farEnd(report, directory)] as const),
  );
  const known = discovered(far, directory);
  const owners = await ownersOf(sql, siteId, macs, holders);
  const owner = (mac: number) => owners[mac] ?? null;
  const links = forwardingLinks({ bridges, owner, ...known });
  const told = stored.filter(({ protocol }) => protocol === FDB);
  return {
    resolved: [...far].flatMap(([report, end]) => (sameEnd(report.far, end) ? [] : [{ report, far: end }])),
    proven: links.map((link) => provenLink(link, macs, directory)),
    outdated: outdated(told, { links, bridges, owner, ...known }, now),
    attachments: attachmentsOf(far, links, bridges, directory),
  };
}

const sameEnd = (a: FarEnd | null, b: FarEnd | null): boolean =>
  a?.deviceId === b?.deviceId && (a?.ifIndex ?? null) === (b?.ifIndex ?? null);

/**
 * MNDP is broadcast, so a port hears everybody in its network: two neighbours by it are none. Tells whether a report is
 * one of such.
 */
function crowdedPorts(reports: readonly read.StoredReport[]): (report: read.StoredReport) => boolean {
  const portOf = ({ deviceId, ifIndex }: read.StoredReport) => `${deviceId} ${ifIndex}`;
  const heard = new Map<string, number>();
  const broadcast = reports.filter(({ protocol }) => protocol === 'mndp');
  for (const report of broadcast) heard.set(portOf(report), (heard.get(portOf(report)) ?? 0) + 1);
  return (report) => report.protocol === 'mndp' && (heard.get(portOf(report)) ?? 0) > 1;
}

async function openDirectory(
  sql: Sql,
  siteId: string,
  reports: readonly read.StoredReport[],
  bridges: readonly BridgeTable[],
  holders: ReadonlyMap<string, readonly read.Holder[]>,
): Promise<Directory> {
  const addresses = [
    ...new Set(
      reports.flatMap(({ addresses, chassisId }) => [
        ...addresses,
        ...(chassisId?.startsWith('networkAddress:') ? [chassisId.slice('networkAddress:'.length)] : []),
      ]),
    ),
  ].filter((address) => /^[\da-f.:]+$/i.test(address));
  const labels = [...new Set(reports.map(({ sysName }) => labelOf(plainName(sysName))))].filter(Boolean);
  const chassisIds = [...new Set(reports.flatMap(({ chassisId }) => chassisId ?? []))];
  const byAddress = await read.readEvidence(sql, siteId, 'address', addresses);
  const listed = await read.readListed(sql, siteId, addresses);
  const byChassis = await read.readEvidence(sql, siteId, 'lldp-chassis', chassisIds);
  const names = await read.readNames(sql, siteId, labels);
  const candidates = new Set([
    ...bridges.map(({ deviceId }) => deviceId),
    ...[...holders.values()].flatMap((list) => list.map(({ deviceId }) => deviceId)),
    ...byAddress.values(),
    ...listed.values(),
    ...byChassis.values(),
    ...[...names.values()].flatMap((list) => list.map(({ deviceId }) => deviceId)),
  ]);
  const own = await read.readChassisIds(sql, siteId, [...candidates]);
  const ports = await read.readPorts(sql, siteId, [...candidates]);
  return {
    ofMac: (mac) => {
      const list = holders.get(mac) ?? [];
      return onlyOne(list) ?? onlyOne(list.filter(({ port }) => port === null));
    },
    ofChassis: (chassisId) => byChassis.get(chassisId) ?? null,
    ofAddress: (address) => byAddress.get(address) ?? listed.get(address) ?? null,
    named: (label) => names.get(label) ?? [],
    chassisOf: (deviceId) => own.get(deviceId) ?? null,
    portsOf: (deviceId) => ports.get(deviceId) ?? [],
  };
}

function onlyOne(list: readonly { deviceId: string }[]): string | null {
  const [first] = list;
  return first && list.every(({ deviceId }) => deviceId === first.deviceId) ? first.deviceId : null;
}

/** Device of each MAC number; what no device says of itself, routers may know by its address. */
async function ownersOf(
  sql: Sql,
  siteId: string,
  macs: read.Macs,
  holders: ReadonlyMap<string, readonly read.Holder[]>,
): Promise<(string | null)[]> {
  const unknownMacs = macs.all().some((mac) => !holders.has(mac));
  const arp = unknownMacs ? await read.readArp(sql, siteId) : new Map<string, Set<string>>();
  const asked = macs.all().flatMap((mac) => (holders.has(mac) ? [] : [...(arp.get(mac) ?? [])]));
  const byAddress = await read.readEvidence(sql, siteId, 'address', [...new Set(asked)]);
  return macs.all().map((mac) => {
    const known = holders.get(mac);
    if (known) return onlyOne(known);
    const devices = [...(arp.get(mac) ?? [])].flatMap((address) => byAddress.get(address) ?? []);
    return onlyOne(devices.map((deviceId) => ({ deviceId })));
  });
}

interface Discovered {
  spokenFor: (deviceId: string, ifIndex: number) => boolean;
  linked: (a: string, b: string) => boolean;
}

/** IANA ifTypes of aggregates: ieee8023adLag, and propVirtual, which many agents say instead. */
const AGGREGATES = new Set([161, 53]);

/** What LLDP, CDP and their kin speak for. */
function discovered(far: ReadonlyMap<read.StoredReport, FarEnd | null>, directory: Directory): Discovered {
  const ports = new Set<string>();
  const pairs = new Set<string>();
  const withUnknownEnds = new Set<string>();
  for (const [report, end] of far) {
    if (report.protocol === 'mndp' && !end) continue;
    if (report.ifIndex !== null) ports.add(place(report.deviceId, report.ifIndex));
    if (!end) withUnknownEnds.add(report.deviceId);
    else {
      pairs.add(pairOf(report.deviceId, end.deviceId));
      if (end.ifIndex !== null) ports.add(place(end.deviceId, end.ifIndex));
    }
  }
  // Neighbours are heard on an aggregate's members, addresses are learnt on the aggregate: it may be an unknown device's.
  for (const deviceId of withUnknownEnds) {
    for (const port of directory.portsOf(deviceId)) {
      if (AGGREGATES.has(port.type ?? 0)) ports.add(place(deviceId, port.ifIndex));
    }
  }
  return {
    spokenFor: (deviceId, ifIndex) => ports.has(place(deviceId, ifIndex)),
    linked: (a, b) => pairs.has(pairOf(a, b)),
  };
}

function provenLink(link: ForwardingLink, macs: read.Macs, directory: Directory): ProvenLink {
  const mac = link.mac === null ? null : macs.nameOf(link.mac);
  return {
    deviceId: link.deviceId,
    key: `${link.ifIndex}|${link.remoteId}`,
    ifIndex: link.ifIndex,
    chassisId: mac && `macAddress:${mac}`,
    far: {
      deviceId: link.remoteId,
      ifIndex: mac === null ? link.remoteIfIndex : portOfMac(directory.portsOf(link.remoteId), mac),
    },
  };
}

interface Tables extends Discovered {
  links: readonly ForwardingLink[];
  bridges: readonly BridgeTable[];
  owner: (mac: number) => string | null;
}

/**
 * Stored links to take back: something else is told or seen at the port, the far end is seen elsewhere, or nothing has
 * confirmed it for long. What merely lacks proof at this moment stays.
 */
function outdated(
  stored: readonly read.StoredReport[],
  { links, bridges, owner, spokenFor, linked }: Tables,
  now: number,
): read.StoredReport[] {
  const proven = new Set(links.map((link) => `${place(link.deviceId, link.ifIndex)} ${link.remoteId}`));
  const taken = new Set(links.map((link) => place(link.deviceId, link.ifIndex)));
  const placed = new Set(links.flatMap(({ remoteId, mac }) => (mac === null ? [] : remoteId)));
  const tables = new Map(bridges.map((bridge) => [bridge.deviceId, bridge.ports]));
  return stored.filter(({ deviceId, ifIndex, far, lastSeen }) => {
    if (far === null || ifIndex === null || now - lastSeen > LINK_KEPT_MS) return true;
    const here = place(deviceId, ifIndex);
    if (proven.has(`${here} ${far.deviceId}`)) return false;
    if (taken.has(here) || placed.has(far.deviceId)) return true;
    if (spokenFor(deviceId, ifIndex) || linked(deviceId, far.deviceId)) return true;
    const ports = tables.get(deviceId) ?? new Map<number, readonly number[]>();
    const isFar = (mac: number) => owner(mac) === far.deviceId;
    if ([...ports].some(([port, macs]) => port !== ifIndex && macs.some(isFar))) return true;
    const seen = ports.get(ifIndex) ?? [];
    return tables.has(far.deviceId) ? seen.length > 0 && !seen.some(isFar) : !seen.every(isFar);
  });
}

function attachmentsOf(
  far: ReadonlyMap<read.StoredReport, FarEnd | null>,
  links: readonly ForwardingLink[],
  bridges: readonly BridgeTable[],
  directory: Directory,
): Map<string, Attachment> {
  const isBridge = new Set(bridges.map(({ deviceId }) => deviceId));
  const places = new Map<string, Map<string, [bridge: string, ifIndex: number]>>();
  const add = (station: string, bridge: string, ifIndex: number | null) => {
    if (isBridge.has(station) || !isBridge.has(bridge) || ifIndex === null) return;
    places.set(station, (places.get(station) ?? new Map()).set(place(bridge, ifIndex), [bridge, ifIndex]));
  };
  for (const [report, end] of far) {
    if (!end) continue;
    add(end.deviceId, report.deviceId, report.ifIndex);
    add(report.deviceId, end.deviceId, end.ifIndex);
  }
  for (const link of links) add(link.remoteId, link.deviceId, link.ifIndex);
  const attachments = new Map<string, Attachment>();
  for (const [station, found] of places) {
    const [only] = found.values();
    if (!only || found.size > 1) continue;
    const [deviceId, ifIndex] = only;
    const port = directory.portsOf(deviceId).find((each: LinkPort) => each.ifIndex === ifIndex)?.name;
    attachments.set(station, { deviceId, ifIndex, port: port ?? `if${ifIndex}` });
  }
  return attachments;
}
