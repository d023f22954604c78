/** One device as it was at a second: what is known of it now, without what changed since. */
import type { DeviceDetail } from '@rollcall/shared/api/inventory';
import type { Part, Vlan } from '../changes.ts';
import { type Scope, unix } from '../platform/db/list.ts';
import type { Sql } from '../platform/db/sql.ts';
import { invalid } from '../platform/problem.ts';
import { readDevice } from './devices.ts';
import { ifTypeName } from './if-type.ts';
import { statusName } from './interfaces.ts';
import { type KeptChange, type PastDevice, type PastNeighbour, type PastPort, takeBack } from './past.ts';

/** Most changes since then that are taken back. */
const CHANGES_MOST = 5000;
const TAKEN_BACK = [
  ...['device.changed', 'device.renumbered', 'device.upgraded', 'device.swapped', 'device.rebooted'],
  ...['device.addresses', 'device.hardware', 'device.vlans', 'neighbour.changed'],
  ...['interface.added', 'interface.removed', 'interface.changed', 'interface.speed', 'interface.duplex'],
  'interface.shut',
];

/** What no history holds. */
const NEVER_KEPT: readonly (readonly [what: string, why: string])[] = [
  ['rttMs, reachable, health', 'they are measurements: /api/measurements has their course'],
  ['operStatus and stp of interfaces', 'changes of them are not kept; alarms are in /api/events'],
  ['links', 'those that only the far end or a forwarding table told are left out'],
  ['monitor, collector, lastScanId, tags, note, fields', 'changes by people are in the audit log'],
];

/**
 * Null where the device does not exist or is not in scope. `at`: Unix seconds.
 * @throws Problem `invalid_request` for a time at which it was not known, or since when too much changed
 */
export async function readDeviceAt(
  sql: Sql,
  id: string,
  { scope, at, now }: { scope: Scope; at: number; now: number },
): Promise<DeviceDetail | null> {
  const device = await readDevice(sql, id, scope, now);
  if (!device) return null;
  if (at * 1000 > now) throw invalid('at', 'must not be in the future');
  if (at < device.firstSeen) throw invalid('at', `the device was first seen at ${utc(device.firstSeen)}`);
  const past = await readPast(sql, device, at);
  takeBack(past, await changesSince(sql, device, at), at * 1000);
  const then = await readThen(sql, device, at);
  if (then.keptSince !== null && at < then.keptSince && device.firstSeen < then.keptSince)
    past.notKnown.set(
      'changes',
      `those before ${utc(then.keptSince)} are no longer kept: it may have been otherwise`,
    );
  return describe(device, past, then, at);
}

/** Unix seconds as people read them. */
const utc = (seconds: number): string => new Date(seconds * 1000).toISOString();

async function changesSince(sql: Sql, { id, siteId }: DeviceDetail, at: number): Promise<KeptChange[]> {
  const rows = await sql.query<KeptChange & Record<string, unknown>>(
    `SELECT e.kind, e.interface_id AS "interfaceId", 
       (extract(epoch FROM CASE WHEN e.close_reason = 'noted' THEN e.first_seen ELSE e.timestamp END) * 1000)::float8 AS "firstAt",
       (extract(epoch FROM e.timestamp) * 1000)::float8 AS "lastAt",
       coalesce(e.details -> 'before', '{}') AS before, coalesce(e.details -> 'after', '{}') AS after
     FROM events e WHERE e.site_id = $1::uuid AND e.device_id = $2::uuid AND e.timestamp > to_timestamp($3::int8)
       AND e.kind = ANY($4::text[]) ORDER BY e.timestamp DESC LIMIT ${CHANGES_MOST + 1}`,
    [siteId, id, at, TAKEN_BACK],
  );
  if (rows.length > CHANGES_MOST) throw invalid('at', `it changed more than ${CHANGES_MOST} times since`);
  return rows;
}

/** What is known now, without what was first seen later. */
async function readPast(sql: Sql, device: DeviceDetail, at: number): Promise<PastDevice> {
  const params = [device.siteId, device.id, at];
  const where = 'site_id = $1::uuid AND device_id = $2::uuid AND first_seen <= to_timestamp($3::int8)';
  const ports = await sql.query<PastPort & Record<string, unknown>>(
    `SELECT id, if_index AS "ifIndex", name, alias, type, speed_bps AS "speedBps", mac_address AS "macAddress", vlan, duplex,
       admin_status AS "adminStatus", mtu, description, coalesce(tagged_vlans, '{}') AS "taggedVlans",
       (SELECT g.name FROM interfaces g WHERE g.site_id = i.site_id AND g.device_id = i.device_id
          AND g.if_index = i.aggregate) AS aggregate
     FROM interfaces i WHERE ${where} AND gone_at IS NULL`,
    params,
  );
  const addresses = await sql.query<{ address: string }>(
    `SELECT host(address) AS address FROM device_addresses WHERE ${where}`,
    params,
  );
  const neighbours = await sql.query<PastNeighbour & Record<string, unknown>>(
    `SELECT coalesce(local_port, 'if' || if_index, '') AS port, chassis_id AS "chassisId", sys_name AS "sysName", port_id AS "remotePort"
     FROM neighbours WHERE ${where} AND protocol <> 'fdb'`,
    params,
  );
  const vlans = await sql.query<Vlan & Record<string, unknown>>(
    `SELECT v.vlan, v.name FROM device_facts f, jsonb_to_recordset(f.data) AS v(vlan int, name text)
     WHERE f.site_id = $1::uuid AND f.device_id = $2::uuid AND (f."group" = 'vlans' OR starts_with(f."group", 'vlans/'))`,
    params.slice(0, 2),
  );
  const parts = device.entities.map(
    ({ index, class: kind, name, model, serialNumber, firmwareRevision }): Part => ({
      ...{ index, class: kind, name, model, serialNumber, firmwareRevision },
    }),
  );
  return {
    fields: {},
    ports: new Map(ports.map((port) => [port.id, port])),
    addresses: new Set(addresses.map(({ address }) => address)),
    ...{ parts, vlans, neighbours, notKnown: new Map(NEVER_KEPT) },
  };
}

interface Then {
  monitored: boolean;
  down: boolean;
  openEvents: number;
  openCases: DeviceDetail['openCases'];
  /** Hardware addresses by ifIndex. */
  learnt: Record<string, number>;
  /** Since when events of the site are kept. */
  keptSince: number | null;
}

/** What the histories of monitoring, events, cases and endpoints hold of that time. */
async function readThen(sql: Sql, { id, siteId }: DeviceDetail, at: number): Promise<Then> {
  const then = 'to_timestamp($3::int8)';
  const open = `e.first_seen <= ${then} AND (e.closed_at IS NULL OR e.closed_at > ${then})`;
  const [row] = await sql.query<Then & Record<string, unknown>>(
    `SELECT EXISTS (SELECT 1 FROM monitoring_history m WHERE m.site_id = $1::uuid AND m.device_id = $2::uuid
         AND m.since <= ${then} AND (m.until IS NULL OR m.until > ${then})) AS monitored,
       EXISTS (SELECT 1 FROM events e WHERE e.site_id = $1::uuid AND e.device_id = $2::uuid
         AND e.kind IN ('device.down', 'device.unreachable') AND ${open}) AS down,
       (SELECT count(*)::int FROM events e WHERE e.site_id = $1::uuid AND e.device_id = $2::uuid AND ${open}) AS "openEvents",
       (SELECT coalesce(jsonb_agg(jsonb_build_object('id', k.id, 'number', k.number, 'title', k.title, 'status', k.status,
           'severity', k.severity, 'priority', k.priority, 'updatedAt', ${unix('k.updated_at')}) ORDER BY k.number), '[]')
         FROM cases k WHERE k.site_id = $1::uuid AND coalesce(k.begun_at, k.created_at) <= ${then}
           AND (k.resolved_at IS NULL OR k.resolved_at > ${then}) AND (k.closed_at IS NULL OR k.closed_at > ${then})
           AND (k.root_device_id = $2::uuid OR k.id IN (SELECT e.case_id FROM events e
             WHERE e.device_id = $2::uuid AND e.case_id IS NOT NULL))) AS "openCases",
       (SELECT coalesce(jsonb_object_agg(l.if_index, l.n), '{}') FROM (
         SELECT e.if_index, count(DISTINCT e.mac)::int AS n FROM endpoints e
         WHERE e.site_id = $1::uuid AND e.device_id = $2::uuid AND e.address = ''
           AND e.since <= ${then} AND (e.until IS NULL OR e.until > ${then}) GROUP BY e.if_index) l) AS learnt,
       (SELECT ${unix('min(e.timestamp)')} FROM events e WHERE e.site_id = $1::uuid) AS "keptSince"`,
    [siteId, id, at],
  );
  return row as Then;
}

function describe(now: DeviceDetail, past: PastDevice, then: Then, at: number): DeviceDetail {
  const { ports, addresses, parts, vlans, neighbours, notKnown } = past;
  const { bootedAt, ...fields } = past.fields;
  const status: DeviceDetail['status'] = then.down ? 'down' : then.monitored ? 'up' : 'unknown';
  if (!then.monitored) notKnown.set('status', 'it was not monitored then');
  const bootedThen = typeof bootedAt === 'number' ? Math.floor(bootedAt / 1000) : null;
  const sinceBoot =
    now.uptimeSeconds === null || bootedThen !== null ? null : now.lastSeen - now.uptimeSeconds;
  const booted = bootedThen ?? (sinceBoot !== null && sinceBoot <= at ? sinceBoot : null);
  if (booted === null) notKnown.set('uptimeSeconds', 'when it had booted is not kept');
  const kept = new Set(neighbours.map(({ port }) => port));
  const whole = new Map(now.entities.map((entity) => [entity.index, entity]));
  return {
    ...now,
    ...(fields as Partial<DeviceDetail>),
    ...{ status, rttMs: null, reachable: { icmp: null, snmp: null }, health: 'unknown' as const },
    uptimeSeconds: booted === null ? null : Math.max(0, at - booted),
    addresses: [...addresses].sort(),
    interfaceCount: ports.size,
    openEvents: then.openEvents,
    openCases: then.openCases,
    lastSeen: Math.min(now.lastSeen, at),
    neighbours: now.neighbours.filter(
      ({ localPort, firstSeen }) => firstSeen <= at && kept.has(localPort ?? ''),
    ),
    links: now.links.filter(({ port }) => port !== null && kept.has(port)),
    entities: parts.map((part) => ({
      ...{ parent: null, position: null, description: null, manufacturer: null, replaceable: null },
      ...{ hardwareRevision: null, softwareRevision: null },
      ...(whole.get(part.index)?.serialNumber === part.serialNumber ? whole.get(part.index) : {}),
      ...part,
    })),
    asOf: {
      at,
      interfaces: [...ports.values()]
        .sort((a, b) => a.ifIndex - b.ifIndex)
        .map(({ type, adminStatus, taggedVlans, ifIndex, ...port }) => ({
          ...{ ...port, ifIndex, type: ifTypeName(type), adminStatus: statusName(adminStatus) },
          taggedVlans: [...taggedVlans],
          endpoints: then.learnt[ifIndex] ?? 0,
        })),
      vlans: vlans
        .toSorted((a, b) => a.vlan - b.vlan)
        .map(({ vlan, name }) => ({ vlan, name: name ?? null })),
      neighbours,
      notKnown: [...notKnown].map(([what, why]) => ({ what, why })),
    },
  };
}
