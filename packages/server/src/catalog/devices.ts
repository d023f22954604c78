/** The device list and one device, each as one statement. */
import type { Annotations } from '@rollcall/shared/api/annotations';
import {
  type DEVICE_SORTS,
  type Device,
  type DeviceDetail,
  type DeviceQuery,
  MERGED_INTO,
} from '@rollcall/shared/api/inventory';
import { CaseStatus, EventStatus, knownClass, knownStatus } from '@rollcall/shared/model';
import { healthOf } from '../platform/db/health.ts';
import {
  inScope,
  orderOf,
  type Page,
  Parameters,
  readPage,
  type Scope,
  seconds,
  unix,
} from '../platform/db/list.ts';
import type { Sql } from '../platform/db/sql.ts';
import { notFound, Problem } from '../platform/problem.ts';
import { DEVICE_FILTERS, requireKnown } from './device-filter.ts';
import { type Overrides, originsOf } from './origins.ts';
import { readLinks } from './topology.ts';

type Sort = (typeof DEVICE_SORTS)[number];
/** Every order ends in a unique column, so that pages neither repeat nor skip. */
const ORDERS: Record<Sort, readonly string[]> = {
  name: ['d.sort_name', 'd.id'],
  address: ['d.address', 'd.id'],
  class: ['d.class', 'd.sort_name', 'd.id'],
  vendor: ['d.vendor', 'd.sort_name', 'd.id'],
  model: ['d.model', 'd.sort_name', 'd.id'],
  status: ['d.status', 'd.sort_name', 'd.id'],
  health: ['d.health', 'd.sort_name', 'd.id'],
  firstSeen: ['d.first_seen', 'd.id'],
  lastSeen: ['v.last_seen', 'd.id'],
};

interface DeviceRow extends Annotations {
  id: string;
  siteId: string;
  site: string;
  collectorId: string | null;
  collector: string | null;
  name: string;
  address: string | null;
  addresses: string[];
  macAddress: string | null;
  class: string;
  vendor: string | null;
  model: string | null;
  os: string | null;
  osVersion: string | null;
  serialNumber: string | null;
  sysName: string | null;
  sysDescr: string | null;
  sysObjectId: string | null;
  location: string | null;
  contact: string | null;
  bootedAt: Date | null;
  monitor: boolean;
  status: string;
  icmp: boolean | null;
  snmp: boolean | null;
  rttMs: number | null;
  interfaceCount: number;
  health: number;
  openEvents: number;
  firstSeen: Date;
  lastSeen: Date;
  lastScanId: string | null;
}

const SIGHTING = 'JOIN sightings v ON v.site_id = d.site_id AND v.device_id = d.id';
const NAMES = 'JOIN sites s ON s.id = d.site_id LEFT JOIN collectors c ON c.id = d.collector_id';

/** Collectors report changes only: a monitored device that is up answered until its collector was heard of last. */
const LAST_ANSWER = `CASE WHEN d.monitor AND d.status = 'up' THEN greatest(v.last_seen, c.last_seen_at) ELSE v.last_seen END`;

/** The columns of a device, over `devices d` with its sighting `v`, site `s` and collector `c`. */
const COLUMNS = `d.id, d.site_id AS "siteId", s.name AS site, d.collector_id AS "collectorId", c.name AS collector,
  d.name, host(d.address) AS address,
  (SELECT coalesce(array_agg(host(a.address) ORDER BY a.address), '{}') FROM device_addresses a
    WHERE a.site_id = d.site_id AND a.device_id = d.id) AS addresses,
  d.mac_address AS "macAddress", d.class, d.vendor, d.model, d.os, d.os_version AS "osVersion",
  d.serial_number AS "serialNumber", d.sys_name AS "sysName", d.sys_descr AS "sysDescr",
  d.sys_object_id AS "sysObjectId", d.location, d.contact, d.booted_at AS "bootedAt", d.monitor, d.status,
  d.icmp_reachable AS icmp, d.snmp_reachable AS snmp, v.rtt_ms AS "rttMs", d.interface_count AS "interfaceCount", d.health,
  (SELECT count(*) FROM events e WHERE e.device_id = d.id AND e.status < ${EventStatus.closed}) AS "openEvents",
  d.first_seen AS "firstSeen", ${LAST_ANSWER} AS "lastSeen", v.last_scan_id AS "lastScanId", d.tags, d.note, d.fields`;

/** Uptime counts on while the device is not known to be down. */
function toDevice(row: DeviceRow, now: number): Device {
  const { bootedAt, icmp, snmp, monitor, firstSeen, lastSeen, ...plain } = row;
  const running = bootedAt !== null && row.status !== 'down';
  return {
    ...plain,
    class: knownClass.parse(row.class),
    status: knownStatus.parse(row.status),
    health: healthOf(row.health),
    uptimeSeconds: running ? Math.max(0, Math.floor((now - bootedAt.getTime()) / 1000)) : null,
    monitor: monitor ? 1 : 0,
    reachable: { icmp, snmp },
    firstSeen: seconds(firstSeen),
    lastSeen: seconds(lastSeen),
  };
}

/** One page of devices and how many there are on all pages. */
export async function listDevices(
  sql: Sql,
  query: DeviceQuery,
  { scope, now }: { scope: Scope; now: number },
): Promise<Page<Device>> {
  const parameters = new Parameters();
  const sort = query.sort ?? 'name';
  const { data, totalCount }: Page<DeviceRow> = await readPage(sql, {
    columns: COLUMNS,
    from: 'devices d',
    key: ['d.site_id', 'd.id'],
    joins: `${SIGHTING} ${NAMES}`,
    where: inScope(parameters, 'd.site_id', scope),
    parameters,
    filters: DEVICE_FILTERS,
    context: scope,
    query,
    order: orderOf(ORDERS, sort),
    ...(sort.endsWith('lastSeen') && { source: () => `devices d ${SIGHTING}` }),
    total: (where) => `SELECT coalesce(sum(d.n), 0)::int8 FROM device_tally d WHERE ${where}`,
    kept: true,
  });
  if (totalCount === 0) await requireKnown(sql, query, scope);
  return { data: data.map((row) => toDevice(row, now)), totalCount };
}

/** Neighbours, hardware and open cases as JSON, in the form of the API. */
const DETAILS = `
  (SELECT coalesce(jsonb_agg(jsonb_build_object(
      'protocol', n.protocol, 'interfaceId', i.id, 'ifIndex', n.if_index,
      'localPort', coalesce(i.name, n.local_port), 'deviceId', r.id,
      'name', coalesce(r.name, nullif(n.sys_name, ''), n.sys_descr), 'sysName', n.sys_name,
      'port', coalesce(ri.name, n.port_id, n.port_description), 'platform', n.platform,
      'addresses', (SELECT coalesce(jsonb_agg(host(a)), '[]') FROM unnest(n.addresses) AS a),
      'firstSeen', ${unix('n.first_seen')}, 'lastSeen', ${unix('n.last_seen')})
      ORDER BY n.if_index NULLS LAST, n.protocol, n.key), '[]')
    FROM neighbours n
    LEFT JOIN interfaces i ON i.site_id = n.site_id AND i.device_id = n.device_id AND i.if_index = n.if_index
    LEFT JOIN devices r ON r.site_id = n.site_id AND r.id = n.remote_device_id
    LEFT JOIN interfaces ri ON ri.site_id = n.site_id AND ri.device_id = r.id AND ri.if_index = n.remote_if_index
    WHERE n.site_id = d.site_id AND n.device_id = d.id) AS neighbours,
  (SELECT coalesce(jsonb_agg(jsonb_build_object(
      'index', x.index, 'parent', x.parent, 'position', x.position, 'class', x.class, 'name', x.name,
      'description', x.description, 'model', x.model, 'serialNumber', x.serial, 'manufacturer', x.manufacturer,
      'hardwareRevision', x.hardware_revision, 'firmwareRevision', x.firmware_revision,
      'softwareRevision', x.software_revision, 'replaceable', x.fru) ORDER BY x.index), '[]')
    FROM entities x WHERE x.site_id = d.site_id AND x.device_id = d.id) AS entities,
  (SELECT coalesce(jsonb_agg(jsonb_build_object(
      'id', k.id, 'number', k.number, 'title', k.title, 'status', k.status, 'severity', k.severity,
      'priority', k.priority, 'updatedAt', ${unix('k.updated_at')}) ORDER BY k.updated_at DESC, k.id), '[]')
    FROM cases k WHERE k.status < ${CaseStatus.resolved} AND k.id IN (
      SELECT e.case_id FROM events e WHERE e.device_id = d.id AND e.case_id IS NOT NULL
      UNION SELECT m.id FROM cases m WHERE m.root_device_id = d.id AND m.status < ${CaseStatus.closed})) AS "openCases"`;

/** What `originsOf` takes. */
const OVERRIDES = `jsonb_build_object('nameOverride', d.name_override, 'classOverride', d.class_override, 'setBy', d.set_by,
    'classifiedBy', d.classified_by, 'hostname', (SELECT nullif(f.data ->> 'hostname', '') FROM device_facts f
      WHERE f.site_id = d.site_id AND f.device_id = d.id AND f."group" = 'identity')) AS overrides`;

type DetailRow = DeviceRow &
  Pick<DeviceDetail, 'neighbours' | 'entities' | 'openCases'> & { overrides: Overrides };

/** One device with what hangs on it; null where it does not exist or is not in scope. */
export async function readDevice(
  sql: Sql,
  id: string,
  scope: Scope,
  now: number,
): Promise<DeviceDetail | null> {
  const p = new Parameters();
  const [row] = await sql.query<DetailRow>(
    `SELECT ${COLUMNS}, ${DETAILS}, ${OVERRIDES}
     FROM devices d ${SIGHTING} ${NAMES}
     WHERE d.id = ${p.add(id)}::uuid AND ${inScope(p, 'd.site_id', scope)}`,
    p.values,
    'kept',
  );
  if (!row) return null;
  const { neighbours, entities, openCases, overrides, ...plain } = row;
  const device = toDevice(plain, now);
  return {
    ...device,
    neighbours,
    links: await readLinks(sql, scope, id),
    entities,
    openCases,
    origins: originsOf(device, overrides),
  };
}

/** Why there is no such device: where its record was merged into another, that one is told, so that old links lead on. */
export async function goneDevice(sql: Sql, id: string, scope: Scope): Promise<Problem> {
  const p = new Parameters();
  const [into] = await sql.query<{ id: string; name: string }>(
    `SELECT d.id, d.name FROM merged_devices m JOIN devices d ON d.site_id = m.site_id AND d.id = m.into_id
     WHERE m.id = ${p.add(id)}::uuid AND ${inScope(p, 'm.site_id', scope)}`,
    p.values,
  );
  if (!into) return notFound('device');
  return new Problem('not_found', `this device was merged into ${into.name}`, {
    details: [{ path: MERGED_INTO, message: into.id }],
  });
}
