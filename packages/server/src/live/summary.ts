/** How everything is, in one statement of sums and partial indexes. */
import type { Summary } from '@rollcall/shared/api/service';
import { CaseStatus, DEVICE_CLASSES, EventStatus } from '@rollcall/shared/model';
import { rankOf } from '../platform/db/health.ts';
import { inScope, Parameters, type Scope } from '../platform/db/list.ts';
import type { Sql } from '../platform/db/sql.ts';

interface DeviceCounts {
  siteId: string;
  class: string;
  monitor: boolean;
  status: string;
  n: number;
}
interface EventCounts {
  siteId: string;
  severity: number;
  status: number;
  n: number;
}
interface Counts {
  siteId: string;
  status: string | number;
  n: number;
}
interface SiteRow {
  id: string;
  name: string;
}
interface Facts {
  devices: DeviceCounts[];
  events: EventCounts[];
  cases: Counts[];
  collectors: Counts[];
  scans: Counts[];
  /** Devices that are unhealthy, by the rank of their health. */
  unhealthy: Counts[];
  sites: SiteRow[];
}

const SITES_MOST = 1_000;

export async function readSummary(sql: Sql, scope: Scope, now: number): Promise<Summary> {
  const p = new Parameters();
  const rows = (select: string) => `(SELECT coalesce(jsonb_agg(x), '[]') FROM (${select}) x)`;
  const counted = (column: string, table: string, where = 'true') =>
    rows(`SELECT t.site_id AS "siteId", ${column} AS status, count(*) AS n FROM ${table} t
      WHERE ${inScope(p, 't.site_id', scope)} AND ${where} GROUP BY 1, 2`);
  const [facts] = await sql.query<Facts>(
    `SELECT
      ${rows(`SELECT t.site_id AS "siteId", t.class, t.monitor, t.status, sum(t.n)::int8 AS n FROM device_tally t
        WHERE ${inScope(p, 't.site_id', scope)} GROUP BY 1, 2, 3, 4 HAVING sum(t.n) > 0`)} AS devices,
      ${rows(`SELECT t.site_id AS "siteId", t.severity, t.status, count(*) AS n FROM events t
        WHERE ${inScope(p, 't.site_id', scope)} AND t.status < ${EventStatus.closed} GROUP BY 1, 2, 3`)} AS events,
      ${counted('t.status', 'cases', `t.status < ${CaseStatus.closed}`)} AS cases,
      ${counted(
        `CASE WHEN t.status = 'quarantined' THEN 'quarantined' WHEN t.instance IS NULL THEN 'offline' ELSE 'online' END`,
        'collectors',
        `t.status <> 'revoked'`,
      )} AS collectors,
      ${counted('t.status', 'scans', `t.status IN ('queued', 'running')`)} AS scans,
      ${counted('t.health', 'devices', 't.health < 2')} AS unhealthy,
      ${rows(`SELECT t.id, t.name FROM sites t WHERE ${inScope(p, 't.id', scope)} ORDER BY t.name LIMIT ${SITES_MOST}`)} AS sites`,
    p.values,
  );
  return summaryOf(
    facts ?? { devices: [], events: [], cases: [], collectors: [], scans: [], unhealthy: [], sites: [] },
    now,
  );
}

/** Adds up. Pure. */
export function summaryOf(facts: Facts, now: number): Summary {
  const { devices, events, cases, collectors, scans, unhealthy } = facts;
  const sum = <Row extends { n: number }>(rows: readonly Row[], fits: (row: Row) => boolean = () => true) =>
    rows.reduce((total, row) => (fits(row) ? total + row.n : total), 0);
  const by = (rows: readonly Counts[], status: string | number) => sum(rows, (row) => row.status === status);
  const states = (rows: readonly DeviceCounts[]) => ({
    up: sum(rows, (row) => row.status === 'up'),
    down: sum(rows, (row) => row.status === 'down'),
    unknown: sum(rows, (row) => row.status === 'unknown'),
  });
  const own = grouped(facts);
  return {
    at: Math.floor(now / 1000),
    devices: { total: sum(devices), monitored: sum(devices, (row) => row.monitor), ...states(devices) },
    health: { critical: by(unhealthy, rankOf('critical')), warning: by(unhealthy, rankOf('warning')) },
    classes: DEVICE_CLASSES.map((name) => ({ class: name, count: sum(devices, (row) => row.class === name) }))
      .filter(({ count }) => count > 0)
      .sort((a, b) => b.count - a.count),
    events: {
      open: sum(events, (row) => row.status === 0),
      acknowledged: sum(events, (row) => row.status === 1),
      bySeverity: [1, 2, 3, 4, 5].map((severity) => ({
        severity,
        open: sum(events, (row) => row.status === 0 && row.severity === severity),
        acknowledged: sum(events, (row) => row.status === 1 && row.severity === severity),
      })),
    },
    cases: { open: by(cases, 0), investigating: by(cases, 1), resolved: by(cases, 2) },
    collectors: {
      online: by(collectors, 'online'),
      offline: by(collectors, 'offline'),
      quarantined: by(collectors, 'quarantined'),
    },
    scans: { queued: by(scans, 'queued'), running: by(scans, 'running') },
    sites: facts.sites.map(({ id, name }) => {
      const site = own.get(id) ?? NOTHING;
      const open = site.events.filter((row) => row.status === 0);
      return {
        id,
        name,
        devices: states(site.devices),
        collectors: { online: by(site.collectors, 'online'), offline: by(site.collectors, 'offline') },
        openEvents: sum(open),
        worstSeverity: open.length > 0 ? Math.min(...open.map((row) => row.severity)) : null,
        openCases: by(site.cases, 0) + by(site.cases, 1),
      };
    }),
  };
}

type Own = Pick<Facts, 'devices' | 'events' | 'cases' | 'collectors'>;
const NOTHING: Own = { devices: [], events: [], cases: [], collectors: [] };

/** The rows of each site. */
function grouped(facts: Own): Map<string, Own> {
  const sites = new Map<string, Own>();
  const of = (siteId: string): Own => {
    const known = sites.get(siteId) ?? { devices: [], events: [], cases: [], collectors: [] };
    sites.set(siteId, known);
    return known;
  };
  for (const row of facts.devices) of(row.siteId).devices.push(row);
  for (const row of facts.events) of(row.siteId).events.push(row);
  for (const row of facts.cases) of(row.siteId).cases.push(row);
  for (const row of facts.collectors) of(row.siteId).collectors.push(row);
  return sites;
}
