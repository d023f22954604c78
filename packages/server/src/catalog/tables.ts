/** The VLAN, VRF and ARP tables of a device, as its agent told them last. */
import type { ArpEntry, ArpQuery, DeviceVlans, DeviceVrfs } from '@rollcall/shared/api/tables';
import type { ArpRow, VlanRow, VrfRow } from '@rollcall/shared/observation';
import { type Page, Parameters, readPage, unix } from '../platform/db/list.ts';
import type { Sql } from '../platform/db/sql.ts';
import type { MakerOf } from '../ports.ts';

interface Facts<Row> {
  rows: Row[];
  seenAt: number | null;
  complete: boolean;
}
type Ports = ReadonlyMap<number, { interfaceId: string; port: string }>;

/** A table that is kept as facts, all its parts together. */
async function readFacts<Row>(sql: Sql, deviceId: string, group: 'vlans' | 'vrfs'): Promise<Facts<Row>> {
  const parts = await sql.query<{ data: Row[]; seenAt: number; complete: boolean }>(
    `SELECT f.data, ${unix('f.seen_at')} AS "seenAt", f.complete FROM device_facts f
     WHERE f.site_id = (SELECT site_id FROM devices WHERE id = $1::uuid) AND f.device_id = $1::uuid
       AND (f."group" = $2::text OR starts_with(f."group", $2::text || '/')) ORDER BY f."group"`,
    [deviceId, group],
  );
  return {
    rows: parts.flatMap(({ data }) => data),
    seenAt: parts.length === 0 ? null : Math.max(...parts.map(({ seenAt }) => seenAt)),
    complete: parts.every(({ complete }) => complete),
  };
}

async function readPorts(sql: Sql, deviceId: string): Promise<Ports> {
  const rows = await sql.query<{ interfaceId: string; ifIndex: number; port: string }>(
    `SELECT id AS "interfaceId", if_index AS "ifIndex", name AS port FROM interfaces
     WHERE site_id = (SELECT site_id FROM devices WHERE id = $1::uuid) AND device_id = $1::uuid AND gone_at IS NULL`,
    [deviceId],
  );
  return new Map(rows.map(({ ifIndex, ...port }) => [ifIndex, port]));
}

const portOf = (ports: Ports, ifIndex: number) => ({
  ifIndex,
  interfaceId: ports.get(ifIndex)?.interfaceId ?? null,
  port: ports.get(ifIndex)?.port ?? null,
});

/** The device must be in the caller's scope. */
export async function readVlans(sql: Sql, deviceId: string): Promise<DeviceVlans> {
  const { rows, seenAt, complete } = await readFacts<VlanRow>(sql, deviceId, 'vlans');
  const ports = await readPorts(sql, deviceId);
  const vlans = rows
    .toSorted((a, b) => a.vlan - b.vlan)
    .map(({ vlan, name, egress = [], untagged = [] }) => ({
      ...{ vlan, name: name ?? null },
      untagged: untagged.map((ifIndex) => portOf(ports, ifIndex)),
      tagged: egress
        .filter((ifIndex) => !untagged.includes(ifIndex))
        .map((ifIndex) => portOf(ports, ifIndex)),
    }));
  return { seenAt, complete, vlans };
}

/** The device must be in the caller's scope. */
export async function readVrfs(sql: Sql, deviceId: string): Promise<DeviceVrfs> {
  const { rows, seenAt, complete } = await readFacts<VrfRow>(sql, deviceId, 'vrfs');
  const ports = await readPorts(sql, deviceId);
  const entry = ({ ifIndex, address, mac }: ArpRow) => ({ ...portOf(ports, ifIndex), address, mac });
  const vrfs = rows.map(({ name, addresses = [], arp = [], more = 0 }) => ({
    ...{ name, more },
    addresses: addresses.map(({ address, prefixLength }) => ({
      address,
      prefixLength: prefixLength ?? null,
    })),
    arp: arp.map(entry),
  }));
  return { seenAt, complete, vrfs };
}

/** One page of the ARP and ND tables, by address. The device must be in the caller's scope. */
export async function listArp(
  sql: Sql,
  deviceId: string,
  query: ArpQuery,
  makerOf: MakerOf,
): Promise<Page<ArpEntry>> {
  const parameters = new Parameters();
  const device = parameters.add(deviceId);
  const { data, totalCount }: Page<Omit<ArpEntry, 'maker'>> = await readPage(sql, {
    columns: `e.address, e.mac, e.if_index AS "ifIndex", i.id AS "interfaceId", i.name AS port, ${unix('e.since')} AS since`,
    from: 'endpoints e',
    key: ['e.site_id', 'e.mac', 'e.device_id', 'e.if_index', 'e.vlan', 'e.address', 'e.since'],
    joins:
      'LEFT JOIN interfaces i ON i.site_id = e.site_id AND i.device_id = e.device_id AND i.if_index = e.if_index',
    where: `e.device_id = ${device}::uuid AND e.site_id = (SELECT site_id FROM devices WHERE id = ${device}::uuid)
      AND e.until IS NULL AND e.address <> ''`,
    parameters,
    filters: {},
    query,
    order: 'e.address::inet, e.if_index, e.mac, e.vlan, e.since',
  });
  return { data: data.map((entry) => ({ ...entry, maker: makerOf(entry.mac) })), totalCount };
}
