/** What availability is computed from: events, and the histories of monitoring, connections, backlogs and maintenance. */
import { maintenanceScope, maintenanceTimes } from '@rollcall/shared/api/maintenance';
import type { Sql } from '../../platform/db/sql.ts';
import { Problem } from '../../platform/problem.ts';
import { common, type Span, union, without } from '../../platform/time-spans.ts';
import { WINDOW_MS } from '../conditions/condition.ts';
import type { EventCode } from '../kinds/kinds.ts';
import { devicesOf } from '../maintenance/covered.ts';
import { spansBetween } from '../maintenance/recurrence.ts';
import type { SpansOfOne } from './spans.ts';

/** Most events of one site that one answer is made of. */
const EVENTS_MOST = 200_000;
/** Most spans of maintenance windows of one site in one answer. */
const WINDOW_SPANS_MOST = 20_000;

/** What an event says about its time: of which thing, or that its interfaces were not read. */
const SAYS: Partial<Record<EventCode, 'device' | 'interface' | 'unread'>> = {
  'device.down': 'device',
  'device.unreachable': 'device',
  'interface.down': 'interface',
  'snmp.unreachable': 'unread',
  'snmp.auth-failed': 'unread',
};
/** As in the index `events_outages`, word for word: else it is not used. */
const OUTAGES = `e.kind IN ('device.down', 'device.unreachable', 'interface.down', 'flapping', 'snmp.unreachable', 'snmp.auth-failed')`;

const FOR_EVER = Number.MAX_SAFE_INTEGER;
const second = (time: Date): number => Math.floor(time.getTime() / 1000);
const spanOf = ({ since, until }: { since: Date; until: Date | null }): Span => ({
  from: second(since),
  until: until === null ? FOR_EVER : second(until),
});

/** An interface, and when it was there. */
export interface Port {
  id: string;
  deviceId: string;
  there: Span;
}

export interface Facts {
  /** Devices that were monitored at some time in the period. */
  devices: string[];
  ofDevice(id: string): SpansOfOne;
  ofInterface(port: Port): SpansOfOne;
}

interface Asked {
  siteId: string;
  /** Null: all of the site. */
  deviceIds: readonly string[] | null;
  /** Whether interfaces are asked for as well. */
  interfaces: boolean;
  period: Span;
}

export async function readFacts(sql: Sql, asked: Asked): Promise<Facts> {
  const [connected, monitored, backlog, outages] = [
    await readConnections(sql, asked),
    await readHistory(sql, 'monitoring_history', asked),
    await readHistory(sql, 'backlog_history', asked),
    await readOutages(sql, asked),
  ];
  const known = [...new Set([...monitored.keys(), ...backlog.keys()])];
  const devices = asked.deviceIds ?? known;
  const windows = await readMaintenance(sql, asked, devices);
  const ofDevice = (id: string): SpansOfOne => ({
    maintenance: windows.flatMap(({ spans, covers }) => (covers === null || covers.has(id) ? spans : [])),
    observed: union([...common(connected, union(monitored.get(id) ?? [])), ...(backlog.get(id) ?? [])]),
    down: outages.get(`device ${id}`) ?? [],
  });
  return {
    devices: known,
    ofDevice,
    ofInterface: ({ id, deviceId, there }) => {
      const { maintenance, observed, down } = ofDevice(deviceId);
      const unread = union(outages.get(`unread ${deviceId}`) ?? []);
      return {
        maintenance,
        // While it answers no SNMP nobody sees its ports, but when it is down they are down with it.
        observed: common(without(observed, without(unread, union(down))), [there]),
        down: [...down, ...(outages.get(`interface ${id}`) ?? [])],
      };
    },
  };
}

/** That a row with `since` and `until` reaches into the period of the parameters $2 and $3. */
const REACHES = "since < to_timestamp($3::int8) AND coalesce(until, 'infinity') > to_timestamp($2::int8)";

async function readConnections(sql: Sql, { siteId, period }: Asked): Promise<Span[]> {
  const rows = await sql.query<{ since: Date; until: Date | null }>(
    `SELECT since, until FROM connection_history WHERE site_id = $1::uuid AND ${REACHES}`,
    [siteId, period.from, period.until],
  );
  return union(rows.map(spanOf));
}

async function readHistory(
  sql: Sql,
  table: 'monitoring_history' | 'backlog_history',
  { siteId, deviceIds, period }: Asked,
): Promise<Map<string, Span[]>> {
  const rows = await sql.query<{ deviceId: string; since: Date; until: Date | null }>(
    `SELECT device_id AS "deviceId", since, until FROM ${table}
     WHERE site_id = $1::uuid AND ${REACHES} AND ($4::uuid[] IS NULL OR device_id = ANY($4::uuid[]))`,
    [siteId, period.from, period.until, deviceIds],
  );
  return collected(rows.map((row) => [row.deviceId, spanOf(row)]));
}

interface OutageRow extends Record<string, unknown> {
  deviceId: string | null;
  interfaceId: string | null;
  key: string;
  flapping: boolean;
  since: Date;
  until: Date | null;
}

/** Spans by what they are of: `device ID`, `interface ID`, `unread ID`. */
async function readOutages(
  sql: Sql,
  { siteId, deviceIds, interfaces, period }: Asked,
): Promise<Map<string, Span[]>> {
  const rows = await sql.query<OutageRow>(
    `SELECT e.device_id AS "deviceId", e.interface_id AS "interfaceId", e.dedup_key AS key, e.kind = 'flapping' AS flapping,
       e.first_seen AS since, e.closed_at AS until FROM events e
     WHERE e.site_id = $1::uuid AND ${OUTAGES}
       AND coalesce(e.closed_at, 'infinity') > to_timestamp($2::int8) AND e.first_seen < to_timestamp($3::int8)
       AND ($4::uuid[] IS NULL OR e.device_id = ANY($4::uuid[]))
       AND ($5 OR e.kind IN ('device.down', 'device.unreachable') OR e.dedup_key LIKE 'flapping:device.%')
     LIMIT ${EVENTS_MOST + 1}`,
    [siteId, period.from, period.until, deviceIds, interfaces],
  );
  if (rows.length > EVENTS_MOST)
    throw new Problem(
      'invalid_request',
      `more than ${EVENTS_MOST} events of a site tell of this period: ask for less time`,
    );
  return collected(
    rows.flatMap((row): [string, Span][] => {
      const [kind = ''] = row.key.replace(/^flapping:/, '').split(':');
      const says = SAYS[kind as EventCode];
      const id = says === 'interface' ? row.interfaceId : row.deviceId;
      return says && id ? [[`${says} ${id}`, outageOf(row)]] : [];
    }),
  );
}

/** What flapped is told as over when it kept still for a while, which was no outage. */
function outageOf(row: OutageRow): Span {
  const { from, until } = spanOf(row);
  if (!row.flapping || until === FOR_EVER) return { from, until };
  return { from, until: Math.max(from, until - WINDOW_MS / 1000) };
}

interface Window {
  spans: Span[];
  /** Null: the whole site. */
  covers: ReadonlySet<string> | null;
}

async function readMaintenance(
  sql: Sql,
  { siteId, period }: Asked,
  devices: readonly string[],
): Promise<Window[]> {
  const rows = await sql.query<{
    since: Date;
    until: Date | null;
    scope: unknown;
    timezone: string;
    times: unknown;
  }>(
    `SELECT since, until, scope, timezone, times FROM maintenance_history WHERE site_id = $1::uuid AND ${REACHES}`,
    [siteId, period.from, period.until],
  );
  const windows: Window[] = [];
  let left = WINDOW_SPANS_MOST;
  for (const { scope, timezone, times, ...row } of rows) {
    const [within] = common([spanOf(row)], [period]);
    if (!within) continue;
    const found = spansBetween({ times: maintenanceTimes.parse(times), timezone }, within, left);
    if (found === null)
      throw new Problem(
        'invalid_request',
        `maintenance windows of a site come more than ${WINDOW_SPANS_MOST} times in this period: ask for less time`,
      );
    left -= found.length;
    if (found.length === 0) continue;
    const of = maintenanceScope.parse(scope);
    const covers = Object.keys(of).length === 0 ? null : await devicesOf(sql, siteId, of, devices);
    windows.push({ spans: common(union(found), [within]), covers });
  }
  return windows;
}

function collected(pairs: readonly (readonly [string, Span])[]): Map<string, Span[]> {
  const spans = new Map<string, Span[]>();
  for (const [key, span] of pairs) {
    const some = spans.get(key);
    if (some) some.push(span);
    else spans.set(key, [span]);
  }
  return spans;
}
