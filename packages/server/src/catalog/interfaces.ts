/** The interfaces of one device. */
import type { Annotations } from '@rollcall/shared/api/annotations';
import type { InterfaceQuery, NetworkInterface } from '@rollcall/shared/api/interfaces';
import { type INTERFACE_SORTS, INTERFACE_STATUSES } from '@rollcall/shared/api/interfaces';
import { farEndOf } from '@rollcall/shared/far-end';
import { tagged, withFields } from '../platform/db/annotated.ts';
import { requireFilterFields } from '../platform/db/custom-fields.ts';
import {
  type FilterOf,
  type Filters,
  oneOf,
  orderOf,
  type Page,
  Parameters,
  readPage,
  seconds,
} from '../platform/db/list.ts';
import type { Sql } from '../platform/db/sql.ts';
import type { MakerOf } from '../ports.ts';
import { ifTypeName } from './if-type.ts';

/** IANAifType numbers of sockets: Ethernet in its kinds, Fibre Channel, InfiniBand. */
export const PORT_TYPES = '6, 7, 26, 56, 62, 69, 117, 199';
/**
 * Names of what has no socket, and the type of Ethernet all the same: VLANs of another interface (`eth0.10`; a socket is
 * `port1.0.1`, `P1.1`, `1.1`), those of switches, and most of it Linux makes (ip-link(8)). Of 1,149 recorded devices it names no socket.
 */
const SOFTWARE_NAMES = [
  '([A-Za-z]{2,}[A-Za-z0-9/_-]*|p[0-9]+p[0-9]+)[.][0-9]+$',
  '[Vv][Ll][Aa][Nn][ -]?(I[Ff]|[Ii]nterface)?[ -]?[0-9]*$',
  'br-|veth|wl[0-9]|wlan-?[0-9]|wl[px][0-9a-f]',
  '(ath|bond|docker|dummy|(ip6)?gre(tap)?|ifb|macv(lan|tap)?|tap|team|tun|(lxc|lxd|vir|vm)?br|vnet|vxlan|wifi)[0-9]',
];
/** Of an interface of such a type. */
export const HAS_SOCKET = `i.name !~ '^(${SOFTWARE_NAMES.join('|')})'`;
const IS_PORT = `coalesce(i.type IN (${PORT_TYPES}) AND ${HAS_SOCKET}, false)`;
/** Of one that is not up. A device says of a port that never was up when it changed last, or nothing. */
export const NOT_UP_SINCE = 'coalesce(i.last_up_at, least(i.last_change, i.first_seen))';
/**
 * ifOperStatus of a port without a link: down, notPresent, lowerLayerDown. Of one that is dormant or in a test nothing is said.
 */
export const NO_LINK = 'i.oper_status IN (2, 6, 7)';
const UNUSED_SINCE = `CASE WHEN ${NO_LINK} THEN ${NOT_UP_SINCE} END`;

const DAY_MS = 86_400_000;

type Sort = (typeof INTERFACE_SORTS)[number];
const ORDERS: Record<Sort, readonly string[]> = {
  ifIndex: ['i.if_index'],
  name: ['natural_order(i.name)', 'i.if_index'],
  type: ['i.type', 'i.if_index'],
  speedBps: ['i.speed_bps', 'i.if_index'],
  adminStatus: ['i.admin_status', 'i.if_index'],
  operStatus: ['i.oper_status', 'i.if_index'],
  lastChange: ['i.last_change', 'i.if_index'],
  vlan: ['i.vlan', 'i.if_index'],
  unusedSince: [UNUSED_SINCE, 'i.if_index'],
};

/** What a far end tells of itself. */
type Said = { capabilities: string[]; platform: string | null; sysDescr: string | null };
type Neighbour = NonNullable<NetworkInterface['neighbour']>;

interface InterfaceRow extends Annotations {
  id: string;
  deviceId: string;
  ifIndex: number;
  name: string;
  description: string | null;
  alias: string | null;
  type: number | null;
  speedBps: number | null;
  mtu: number | null;
  macAddress: string | null;
  adminStatus: number | null;
  operStatus: number | null;
  lastChange: Date | null;
  lastUsed: Date | null;
  unusedSince: Date | null;
  isPort: boolean;
  addresses: string[];
  vlan: number | null;
  duplex: NetworkInterface['duplex'];
  taggedVlans: number[];
  stp: NetworkInterface['stp'];
  aggregate: NetworkInterface['aggregate'];
  neighbour: (Omit<Neighbour, 'kind'> & Said) | null;
  endpoints: { count: number; shown: Omit<NetworkInterface['endpoints']['shown'][number], 'maker'>[] };
  firstSeen: Date;
  lastSeen: Date;
}

/** Endpoints of an interface that are counted, and that are described. */
const COUNTED = 1000;
const DESCRIBED = 3;

/** What the port has learnt; the device that has an address, and its IP address by any ARP table. */
const ENDPOINTS = `(SELECT jsonb_build_object('count', count(*), 'shown', coalesce(jsonb_agg(jsonb_build_object('mac', l.mac,
      'deviceId', o.id, 'name', o.name, 'address', a.address) ORDER BY l.mac) FILTER (WHERE l.place <= ${DESCRIBED}), '[]'))
    FROM (SELECT m.mac, row_number() OVER (ORDER BY m.mac) AS place FROM (
      SELECT DISTINCT e.mac FROM endpoints e WHERE e.site_id = i.site_id AND e.device_id = i.device_id AND e.if_index = i.if_index
        AND e.until IS NULL AND e.address = '' ORDER BY e.mac LIMIT ${COUNTED}) m) l
    LEFT JOIN LATERAL (SELECT d.id, d.name FROM evidence v JOIN devices d ON d.site_id = v.site_id AND d.id = v.device_id
      WHERE l.place <= ${DESCRIBED} AND v.site_id = i.site_id AND v.kind IN ('mac', 'chassis-mac') AND v.value = l.mac LIMIT 1) o ON true
    LEFT JOIN LATERAL (SELECT e.address FROM endpoints e WHERE l.place <= ${DESCRIBED} AND e.site_id = i.site_id AND e.mac = l.mac
      AND e.until IS NULL AND e.address <> '' ORDER BY e.address LIMIT 1) a ON true) AS endpoints`;

const COLUMNS = `i.id, i.device_id AS "deviceId", i.if_index AS "ifIndex", i.name, i.description, i.alias, i.type,
  i.speed_bps AS "speedBps", i.mtu, i.mac_address AS "macAddress", i.admin_status AS "adminStatus",
  i.oper_status AS "operStatus", i.last_change AS "lastChange", i.vlan, coalesce(i.tagged_vlans, '{}') AS "taggedVlans", i.duplex, i.stp,
  CASE WHEN i.aggregate IS NOT NULL THEN (SELECT jsonb_build_object('interfaceId', g.id, 'name', g.name,
      'active', CASE WHEN i.aggregate_active THEN 1 ELSE 0 END)
    FROM (SELECT 1) one LEFT JOIN interfaces g ON g.site_id = i.site_id AND g.device_id = i.device_id
      AND g.if_index = i.aggregate) END AS aggregate, ${IS_PORT} AS "isPort",
  CASE WHEN i.oper_status = 1 THEN i.last_seen ELSE i.last_up_at END AS "lastUsed", ${UNUSED_SINCE} AS "unusedSince",
  (SELECT coalesce(array_agg(host(a.address) ORDER BY a.address), '{}') FROM device_addresses a
    WHERE a.site_id = i.site_id AND a.device_id = i.device_id AND a.if_index = i.if_index) AS addresses,
  (SELECT jsonb_build_object('deviceId', r.id, 'name', coalesce(r.name, nullif(n.sys_name, ''), n.sys_descr),
      'port', coalesce(ri.name, n.port_id, n.port_description), 'protocol', n.protocol,
      'capabilities', coalesce(n.capabilities, '{}'), 'platform', n.platform, 'sysDescr', n.sys_descr)
    FROM neighbours n
    LEFT JOIN devices r ON r.site_id = n.site_id AND r.id = n.remote_device_id
    LEFT JOIN interfaces ri ON ri.site_id = n.site_id AND ri.device_id = r.id AND ri.if_index = n.remote_if_index
    WHERE n.site_id = i.site_id AND n.device_id = i.device_id AND n.if_index = i.if_index
    -- A port has one far end to show: one that is known as a device, then the one seen last.
    ORDER BY (r.id IS NULL), n.last_seen DESC, n.protocol, n.key LIMIT 1) AS neighbour,
  ${ENDPOINTS},
  i.first_seen AS "firstSeen", i.last_seen AS "lastSeen", i.tags, i.note, i.fields`;

/** IF-MIB ifAdminStatus and ifOperStatus in words. */
export const statusName = (number: number | null) =>
  number === null ? null : (INTERFACE_STATUSES[number - 1] ?? 'unknown');

const neighbourOf = ({
  deviceId,
  name,
  port,
  protocol,
  ...said
}: NonNullable<InterfaceRow['neighbour']>): Neighbour => ({
  ...{ deviceId, name, port, protocol, kind: farEndOf(said) },
});

function toInterface(row: InterfaceRow, makerOf: MakerOf): NetworkInterface {
  return {
    ...row,
    isPort: row.isPort ? 1 : 0,
    lastUsed: seconds(row.lastUsed),
    unusedSince: seconds(row.unusedSince),
    type: ifTypeName(row.type),
    adminStatus: statusName(row.adminStatus),
    operStatus: statusName(row.operStatus),
    lastChange: seconds(row.lastChange),
    neighbour: row.neighbour && neighbourOf(row.neighbour),
    endpoints: {
      count: row.endpoints.count,
      shown: row.endpoints.shown.map((each) => ({ ...each, maker: makerOf(each.mac) })),
    },
    firstSeen: seconds(row.firstSeen),
    lastSeen: seconds(row.lastSeen),
  };
}

export type InterfaceFilters = FilterOf<InterfaceQuery>;
/** Over `interfaces i`. */
export const INTERFACE_FILTERS: Filters<InterfaceFilters, { now: number }> = {
  // Never absent: it stands in what always holds.
  deviceId: () => null,
  ids: (p, ids) => oneOf(p, 'i.id', 'uuid', ids),
  unusedDays: (p, days, { now }) =>
    `${IS_PORT} AND ${UNUSED_SINCE} < ${p.add(new Date(now - days * DAY_MS))}::timestamptz`,
  tag: (p, tags) => tagged(p, 'i', tags),
  field: (p, fields) => withFields(p, 'i', fields),
};

/** One page of a device's interfaces, those of its last complete walk. The device must be in the caller's scope. */
export async function listInterfaces(
  sql: Sql,
  query: InterfaceQuery,
  { makerOf, now }: { makerOf: MakerOf; now: number },
): Promise<Page<NetworkInterface>> {
  const parameters = new Parameters();
  const device = parameters.add(query.deviceId);
  const { data, totalCount }: Page<InterfaceRow> = await readPage(sql, {
    columns: COLUMNS,
    from: 'interfaces i',
    key: ['i.site_id', 'i.id'],
    where: `i.site_id = (SELECT site_id FROM devices WHERE id = ${device}::uuid) AND i.device_id = ${device}::uuid
      AND i.gone_at IS NULL`,
    parameters,
    filters: INTERFACE_FILTERS,
    context: { now },
    query,
    order: orderOf(ORDERS, query.sort ?? 'ifIndex'),
    kept: true,
  });
  if (totalCount === 0) await requireFilterFields(sql, 'interface', query);
  return { data: data.map((row) => toInterface(row, makerOf)), totalCount };
}
