/** What linking reads of a site: reports, forwarding and ARP tables, and who holds which hardware address. */
import type { ArpRow, FdbRow } from '@rollcall/shared/observation';
import type { Sql } from '../../platform/db/sql.ts';
import { virtualMac } from '../identity/fingerprint.ts';
import type { FarEnd, Report } from './far-ends.ts';
import type { BridgeTable } from './forwarding.ts';
import type { LinkPort } from './ports.ts';

/** Most rows of neighbours and of forwarding tables that one pass takes; a site with more is linked in part. */
export const REPORTS_MOST = 200_000;
export const FORWARDING_MOST = 2_000_000;
/** Devices whose tables are in memory as JSON at once. */
const PAGE = 50;

export interface StoredReport extends Report {
  far: FarEnd | null;
  /** Unix milliseconds. */
  lastSeen: number;
}

/** Reports and the links that forwarding tables gave last time. */
export async function readReports(sql: Sql, siteId: string): Promise<StoredReport[]> {
  const rows = await sql.query<
    Report & { remoteId: string | null; remoteIfIndex: number | null; lastSeen: Date }
  >(
    `SELECT device_id AS "deviceId", protocol, key, if_index AS "ifIndex", chassis_id AS "chassisId",
       port_id AS "portId", port_description AS "portDescription", sys_name AS "sysName",
       addresses::text[] AS addresses, remote_device_id AS "remoteId", remote_if_index AS "remoteIfIndex",
       last_seen AS "lastSeen"
     FROM neighbours WHERE site_id = $1::uuid ORDER BY device_id, protocol, key LIMIT ${REPORTS_MOST}`,
    [siteId],
  );
  return rows.map(({ remoteId, remoteIfIndex, lastSeen, ...report }) => ({
    ...report,
    addresses: report.addresses.map((address) => address.replace(/\/\d+$/, '')),
    lastSeen: lastSeen.getTime(),
    far: remoteId === null ? null : { deviceId: remoteId, ifIndex: remoteIfIndex },
  }));
}

/** Numbers for MACs: tables of millions of entries are kept as numbers. */
export class Macs {
  readonly #numbers = new Map<string, number>();
  readonly #names: string[] = [];

  numberOf(mac: string): number {
    const known = this.#numbers.get(mac);
    if (known !== undefined) return known;
    this.#numbers.set(mac, this.#names.length);
    return this.#names.push(mac) - 1;
  }
  nameOf(number: number): string {
    return this.#names[number] ?? '';
  }
  all(): readonly string[] {
    return this.#names;
  }
}

/** Forwarding tables of the site, MACs that move between devices left out. */
export async function readForwarding(sql: Sql, siteId: string, macs: Macs): Promise<BridgeTable[]> {
  const bridges = new Map<string, Map<number, Set<number>>>();
  let entries = 0;
  for await (const { deviceId, rows } of tableFacts<FdbRow>(sql, siteId, 'fdb')) {
    const ports = bridges.get(deviceId) ?? new Map<number, Set<number>>();
    bridges.set(deviceId, ports);
    for (const { mac, ifIndex } of rows) {
      if (ifIndex === undefined || virtualMac(mac)) continue;
      const seen = ports.get(ifIndex) ?? new Set();
      ports.set(ifIndex, seen.add(macs.numberOf(mac)));
      entries += 1;
    }
    if (entries > FORWARDING_MOST) break;
  }
  return [...bridges]
    .filter(([, ports]) => ports.size > 0)
    .map(([deviceId, ports]) => ({
      deviceId,
      ports: new Map([...ports].map(([ifIndex, seen]) => [ifIndex, [...seen]])),
    }));
}

/** MAC → addresses that routers know it by. */
export async function readArp(sql: Sql, siteId: string): Promise<Map<string, Set<string>>> {
  const found = new Map<string, Set<string>>();
  for await (const { rows } of tableFacts<ArpRow>(sql, siteId, 'arp')) {
    for (const { mac, address } of rows) {
      if (virtualMac(mac)) continue;
      found.set(mac, (found.get(mac) ?? new Set()).add(address));
    }
    if (found.size > REPORTS_MOST) break;
  }
  return found;
}

/** Rows of a table that is kept as facts, a few devices at a time. */
async function* tableFacts<Row>(
  sql: Sql,
  siteId: string,
  table: string,
): AsyncGenerator<{ deviceId: string; rows: readonly Row[] }> {
  const ids = await sql.query<{ id: string }>(
    `SELECT DISTINCT device_id AS id FROM device_facts
     WHERE site_id = $1::uuid AND ("group" = $2 OR "group" LIKE $2 || '/%') ORDER BY device_id`,
    [siteId, table],
  );
  for (let i = 0; i < ids.length; i += PAGE) {
    yield* await sql.query<{ deviceId: string; rows: Row[] }>(
      `SELECT device_id AS "deviceId", data AS rows FROM device_facts
       WHERE site_id = $1::uuid AND device_id = ANY($2::uuid[]) AND ("group" = $3 OR "group" LIKE $3 || '/%')
         AND jsonb_typeof(data) = 'array'
       ORDER BY device_id, "group"`,
      [siteId, ids.slice(i, i + PAGE).map(({ id }) => id), table],
    );
  }
}

export interface Holder {
  deviceId: string;
  /** Interface that sends from it, where it is one. */
  port: LinkPort | null;
}

/** Every device that has one of the MACs: its interfaces', its base address, what a host without SNMP is known by. */
export async function readHolders(
  sql: Sql,
  siteId: string,
  macs: readonly string[],
): Promise<Map<string, Holder[]>> {
  const rows = await sql.query<LinkPort & { mac: string; deviceId: string }>(
    `WITH wanted AS (SELECT unnest($2::text[]) AS mac)
     SELECT w.mac, i.device_id AS "deviceId", i.if_index AS "ifIndex", i.name, i.description, i.alias,
       i.mac_address AS "macAddress", i.type, i.oper_status AS "operStatus"
     FROM wanted w JOIN interfaces i ON i.site_id = $1::uuid AND i.mac_address = w.mac AND i.gone_at IS NULL
     UNION ALL
     SELECT w.mac, e.device_id, NULL, NULL, NULL, NULL, NULL, NULL, NULL
     FROM wanted w JOIN evidence e ON e.site_id = $1::uuid AND e.kind IN ('chassis-mac', 'mac') AND e.value = w.mac`,
    [siteId, macs],
  );
  const holders = new Map<string, Holder[]>();
  for (const { mac, deviceId, ...port } of rows) {
    const list = holders.get(mac) ?? [];
    holders.set(mac, list);
    list.push({ deviceId, port: (port.ifIndex as number | null) === null ? null : port });
  }
  return holders;
}

/** Evidence of some kinds → its device. */
export async function readEvidence(
  sql: Sql,
  siteId: string,
  kind: 'address' | 'lldp-chassis',
  values: readonly string[],
): Promise<Map<string, string>> {
  if (values.length === 0) return new Map();
  const rows = await sql.query<{ value: string; deviceId: string }>(
    `SELECT value, device_id AS "deviceId" FROM evidence
     WHERE site_id = $1::uuid AND kind = $2 AND value = ANY($3::text[])`,
    [siteId, kind, values],
  );
  return new Map(rows.map(({ value, deviceId }) => [value, deviceId]));
}

/** Addresses that exactly one device's own table lists. */
export async function readListed(
  sql: Sql,
  siteId: string,
  addresses: readonly string[],
): Promise<Map<string, string>> {
  if (addresses.length === 0) return new Map();
  const rows = await sql.query<{ address: string; deviceId: string }>(
    `SELECT host(address) AS address, min(device_id::text) AS "deviceId" FROM device_addresses
     WHERE site_id = $1::uuid AND address = ANY($2::inet[]) GROUP BY address HAVING count(*) = 1`,
    [siteId, addresses],
  );
  return new Map(rows.map(({ address, deviceId }) => [address, deviceId]));
}

/** Devices by the first label of their sysName. */
export async function readNames(
  sql: Sql,
  siteId: string,
  labels: readonly string[],
): Promise<Map<string, { deviceId: string; name: string }[]>> {
  const names = new Map<string, { deviceId: string; name: string }[]>();
  if (labels.length === 0) return names;
  const rows = await sql.query<{ deviceId: string; name: string; label: string }>(
    `SELECT id AS "deviceId", lower(sys_name) AS name, split_part(lower(sys_name), '.', 1) AS label FROM devices
     WHERE site_id = $1::uuid AND split_part(lower(sys_name), '.', 1) = ANY($2::text[])`,
    [siteId, labels],
  );
  for (const { label, ...device } of rows) names.set(label, [...(names.get(label) ?? []), device]);
  return names;
}

/** What devices say of themselves in LLDP. */
export async function readChassisIds(
  sql: Sql,
  siteId: string,
  deviceIds: readonly string[],
): Promise<Map<string, string>> {
  if (deviceIds.length === 0) return new Map();
  const rows = await sql.query<{ deviceId: string; chassisId: string }>(
    `SELECT device_id AS "deviceId", data ->> 'lldpChassisId' AS "chassisId" FROM device_facts
     WHERE site_id = $1::uuid AND device_id = ANY($2::uuid[]) AND "group" = 'identity'
       AND data ->> 'lldpChassisId' IS NOT NULL`,
    [siteId, deviceIds],
  );
  return new Map(rows.map(({ deviceId, chassisId }) => [deviceId, chassisId]));
}

/** Interfaces of some devices. */
export async function readPorts(
  sql: Sql,
  siteId: string,
  deviceIds: readonly string[],
): Promise<Map<string, LinkPort[]>> {
  const ports = new Map<string, LinkPort[]>();
  for (let i = 0; i < deviceIds.length; i += PAGE * 10) {
    const rows = await sql.query<LinkPort & { deviceId: string }>(
      `SELECT device_id AS "deviceId", if_index AS "ifIndex", name, description, alias,
         mac_address AS "macAddress", type, oper_status AS "operStatus"
       FROM interfaces WHERE site_id = $1::uuid AND device_id = ANY($2::uuid[]) AND gone_at IS NULL
       ORDER BY device_id, if_index`,
      [siteId, deviceIds.slice(i, i + PAGE * 10)],
    );
    for (const { deviceId, ...port } of rows) {
      const list = ports.get(deviceId);
      if (list) list.push(port);
      else ports.set(deviceId, [port]);
    }
  }
  return ports;
}

export interface LinkedDevice {
  id: string;
  name: string;
  address: string | null;
  monitor: boolean;
}

export async function readDevices(
  sql: Sql,
  siteId: string,
  ids: readonly string[],
): Promise<Map<string, LinkedDevice>> {
  if (ids.length === 0) return new Map();
  const rows = await sql.query<LinkedDevice>(
    `SELECT id, name, host(address) AS address, monitor FROM devices
     WHERE site_id = $1::uuid AND id = ANY($2::uuid[])`,
    [siteId, ids],
  );
  return new Map(rows.map((row) => [row.id, row]));
}
