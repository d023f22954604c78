/** Devices and the links between them, as far as the caller sees. */
import { TOPOLOGY_NODES, type Topology } from '@rollcall/shared/api/interfaces';
import type { DeviceLink } from '@rollcall/shared/api/inventory';
import { EventStatus, knownClass, knownStatus } from '@rollcall/shared/model';
import { inScope, Parameters, type Scope, unix } from '../platform/db/list.ts';
import type { Sql } from '../platform/db/sql.ts';
import { inPieces } from '../platform/pieces.ts';
import { linksOf, type NeighbourReport } from './links.ts';

/** Most neighbour rows read for one answer. */
const REPORTS_MOST = 5 * TOPOLOGY_NODES;

interface NodeRow {
  id: string;
  siteId: string;
  name: string;
  address: string | null;
  class: string;
  status: string;
  monitor: boolean;
  worstSeverity: number | null;
}
interface ReportRow extends Omit<NeighbourReport, 'remoteId'> {
  remoteId: string | null;
  name: string | null;
  deviceName: string;
  remoteName: string | null;
}

export async function readTopology(sql: Sql, scope: Scope): Promise<Topology> {
  const nodes = await readNodes(sql, scope);
  const reports = await readReports(sql, scope);
  const shown = nodes.slice(0, TOPOLOGY_NODES);
  const ids = new Set(shown.map((node) => node.id));
  const known = reports.filter((report) => ids.has(report.deviceId));
  return {
    nodes: await inPieces(shown, (node) => ({
      ...node,
      class: knownClass.parse(node.class),
      status: knownStatus.parse(node.status),
      monitor: node.monitor ? 1 : 0,
    })),
    links: linksOf(
      known.flatMap((r) =>
        r.remoteId !== null && ids.has(r.remoteId) ? [{ ...r, remoteId: r.remoteId }] : [],
      ),
    ),
    strangers: known
      .filter((report) => report.remoteId === null)
      .map(({ deviceId, interfaceId, ifIndex, port, name, remotePort, protocol, lastSeen }) => ({
        from: { deviceId, interfaceId, ifIndex, port },
        name,
        port: remotePort,
        protocol,
        lastSeen,
      })),
    truncated: nodes.length > TOPOLOGY_NODES || reports.length >= REPORTS_MOST,
  };
}

function readNodes(sql: Sql, scope: Scope): Promise<NodeRow[]> {
  const p = new Parameters();
  return sql.query<NodeRow>(
    `SELECT d.id, d.site_id AS "siteId", d.name, host(d.address) AS address, d.class, d.status, d.monitor,
       worst.severity AS "worstSeverity"
     FROM devices d
     LEFT JOIN (SELECT e.device_id, min(e.severity) AS severity FROM events e
       WHERE e.status < ${EventStatus.closed} AND e.device_id IS NOT NULL GROUP BY e.device_id) worst ON worst.device_id = d.id
     WHERE ${inScope(p, 'd.site_id', scope)}
     ORDER BY d.sort_name, d.id LIMIT ${TOPOLOGY_NODES + 1}`,
    p.values,
  );
}

/** Links of one device, by what it said of others and what they said of it. */
export async function readLinks(sql: Sql, scope: Scope, deviceId: string): Promise<DeviceLink[]> {
  const reports = await readReports(sql, scope, deviceId);
  const names = new Map(
    reports.flatMap((r) => [[r.deviceId, r.deviceName] as const, [r.remoteId ?? '', r.remoteName] as const]),
  );
  const known = reports.flatMap((r) => (r.remoteId === null ? [] : [{ ...r, remoteId: r.remoteId }]));
  return linksOf(known)
    .map(({ a, b, protocols, status, lastSeen }) => {
      const [near, far] = a.deviceId === deviceId ? [a, b] : [b, a];
      const { interfaceId, port } = near;
      const name = names.get(far.deviceId) ?? '';
      return {
        ...{ interfaceId, port, deviceId: far.deviceId, name, farPort: far.port },
        ...{ protocols, status, lastSeen },
      };
    })
    .sort((x, y) => natural.compare(x.port ?? '', y.port ?? '') || natural.compare(x.name, y.name));
}

const natural = new Intl.Collator('en', { numeric: true });

function readReports(sql: Sql, scope: Scope, deviceId?: string): Promise<ReportRow[]> {
  const p = new Parameters();
  const one = deviceId === undefined ? null : p.add(deviceId);
  return sql.query<ReportRow>(
    `SELECT n.device_id AS "deviceId", i.id AS "interfaceId", n.if_index AS "ifIndex",
       coalesce(i.name, n.local_port) AS port, i.oper_status AS "operStatus", i.speed_bps AS "speedBps", n.protocol,
       r.id AS "remoteId", ri.id AS "remoteInterfaceId", n.remote_if_index AS "remoteIfIndex",
       coalesce(ri.name, n.port_id, n.port_description) AS "remotePort", n.sys_name AS name,
       d.name AS "deviceName", r.name AS "remoteName", ${unix('n.last_seen')} AS "lastSeen"
     FROM neighbours n
     JOIN devices d ON d.site_id = n.site_id AND d.id = n.device_id
     LEFT JOIN interfaces i ON i.site_id = n.site_id AND i.device_id = n.device_id AND i.if_index = n.if_index
     LEFT JOIN devices r ON r.site_id = n.site_id AND r.id = n.remote_device_id
     LEFT JOIN interfaces ri ON ri.site_id = n.site_id AND ri.device_id = r.id AND ri.if_index = n.remote_if_index
     WHERE ${inScope(p, 'n.site_id', scope)} ${
       one === null
         ? ''
         : `AND (n.site_id, n.device_id, n.protocol, n.key) IN (
         SELECT m.site_id, m.device_id, m.protocol, m.key FROM devices o JOIN neighbours m ON m.site_id = o.site_id
           AND (m.device_id = o.id OR m.remote_device_id = o.id) WHERE o.id = ${one}::uuid)`
     }
     ORDER BY n.site_id, n.device_id, n.protocol, n.key LIMIT ${REPORTS_MOST}`,
    p.values,
  );
}
