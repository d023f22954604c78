/** Figures of the whole installation for Prometheus: read from the database at a scrape, counted by this process between. */

import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { CaseStatus, EventStatus } from '@rollcall/shared/model';
import { STREAMS } from '@rollcall/shared/observation';
import { Counter, Gauge, type Registry } from 'prom-client';
import type { Sql } from '../platform/db/sql.ts';
import { online } from '../platform/ops/online.ts';
import { version } from '../platform/ops/version.ts';

export interface FiguresDeps {
  db: Sql;
  registry: Registry;
  /** PEM; undefined: plain HTTP. */
  certFile: string | undefined;
  /** What this process turned away, by why, since its start: join tokens, connections of collectors. */
  turnedAway: () => {
    joins: Readonly<Record<string, number>>;
    connections: Readonly<Record<string, number>>;
  };
}

interface Row {
  collectors: {
    site: string;
    collector: string;
    online: boolean;
    quarantined: boolean;
    depth: number;
    oldest: number;
    dropped: number;
    offset: number;
  }[];
  devices: { status: string; n: number }[];
  events: { severity: string; n: number }[];
  jobs: { status: string; n: number; oldest: number }[];
  deliveries: { status: string; n: number }[];
  openCases: number;
  deadLetters: number;
  gaps: number;
  eventsLate: number;
}

const rows = (select: string) => `(SELECT coalesce(jsonb_agg(x), '[]') FROM (${select}) x)`;
const QUESTION = `SELECT
  ${rows(`SELECT s.name AS site, c.name AS collector, ${online('c')} AS online, c.status = 'quarantined' AS quarantined,
      coalesce((c.health->'outbox'->>'depth')::float8, 0) AS depth,
      coalesce(greatest(0, extract(epoch FROM now()) - (c.health->'outbox'->>'oldest')::float8), 0) AS oldest,
      coalesce((SELECT sum(value::float8) FROM jsonb_each_text(c.health->'drops')), 0) AS dropped,
      c.clock_offset_ms / 1000.0 AS "offset"
    FROM collectors c JOIN sites s ON s.id = c.site_id WHERE c.status <> 'revoked'`)} AS collectors,
  ${rows(`SELECT status, sum(n)::float8 AS n FROM device_tally GROUP BY 1`)} AS devices,
  ${rows(`SELECT severity::text AS severity, count(*)::float8 AS n FROM events WHERE status < ${EventStatus.closed} GROUP BY 1`)} AS events,
  ${rows(`SELECT j.status, count(*)::float8 AS n, max(extract(epoch FROM now() - s.created_at))::float8 AS oldest
    FROM jobs j JOIN scans s ON s.id = j.scan_id WHERE j.status IN ('queued', 'leased', 'deferred') GROUP BY 1`)} AS jobs,
  ${rows(`SELECT status, count(*)::float8 AS n FROM deliveries WHERE status <> 'delivered' GROUP BY 1`)} AS deliveries,
  (SELECT count(*)::float8 FROM cases WHERE status < ${CaseStatus.resolved}) AS "openCases",
  (SELECT count(*)::float8 FROM dead_letters) AS "deadLetters",
  (SELECT coalesce(sum(count), 0)::float8 FROM gaps) AS gaps,
  (SELECT coalesce(greatest(0, extract(epoch FROM now() - min(due_at))), 0)::float8 FROM conditions
    WHERE due_at IS NOT NULL) AS "eventsLate"`;

export type Figures = ReturnType<typeof openFigures>;

export function openFigures({ db, registry, certFile, turnedAway }: FiguresDeps) {
  const gauge = <Label extends string = never>(name: string, help: string, labelNames: Label[] = []) =>
    new Gauge({ name: `rollcall_${name}`, help, labelNames, registers: [registry] });
  const ofCollector = ['site', 'collector'] as ('site' | 'collector')[];

  gauge('info', 'Always 1; the version is a label.', ['version', 'part']).set({ version, part: 'server' }, 1);
  const databaseUp = gauge('database_up', '1 when the database answered this scrape, else 0.');
  const expires = gauge('certificate_expires_timestamp_seconds', 'When the certificate runs out, Unix time.');
  const up = gauge('collector_online', '1 while the collector is connected, else 0.', ofCollector);
  const quarantined = gauge('collector_quarantined', '1 while it is quarantined, else 0.', ofCollector);
  const depth = gauge(
    'collector_outbox_observations',
    'Observations that wait at the collector.',
    ofCollector,
  );
  const oldest = gauge('collector_outbox_oldest_seconds', 'Age of the oldest that waits there.', ofCollector);
  const dropped = gauge('collector_dropped', 'What it dropped on purpose since its start.', ofCollector);
  const offset = gauge('collector_clock_offset_seconds', 'Server clock minus its clock.', ofCollector);
  const devices = gauge('devices', 'Devices of the inventory, by state.', ['status']);
  const events = gauge('events_open', 'Events that are not closed, by severity (1 is the worst).', [
    'severity',
  ]);
  const cases = gauge('cases_open', 'Cases that nobody resolved yet.');
  const late = gauge(
    'events_late_seconds',
    'How long what has to be decided about events is overdue; taking in slows down above 1.',
  );
  const jobs = gauge('jobs', 'Jobs of scans that are not at their end, by state.', ['status']);
  const waited = gauge('job_oldest_seconds', 'Time since the scan of the oldest such job was asked for.', [
    'status',
  ]);
  const deliveries = gauge('deliveries', 'Messages to subscribers that did not arrive (yet), by state.', [
    'status',
  ]);
  const deadLetters = gauge('dead_letters', 'Observations that could not be stored and are kept apart.');
  const gaps = gauge('gap_observations', 'Observations that collectors dropped on purpose and told of.');
  const joins = gauge('join_attempts', 'Attempts to join since the start, by result.', ['result']);
  const refused = gauge('collector_connections_refused', 'Connections turned away or cut, by why.', [
    'reason',
  ]);
  const stored = new Counter({
    name: 'rollcall_observations_stored_total',
    help: 'Observations committed by this process, by stream.',
    labelNames: ['stream'] as const,
    registers: [registry],
  });
  for (const stream of STREAMS) stored.inc({ stream }, 0);
  const perCollector = [up, quarantined, depth, oldest, dropped, offset];

  const show = (row: Row): void => {
    for (const each of [...perCollector, events]) each.reset();
    // A figure that is absent cannot be told from one that nobody asks.
    for (const status of ['up', 'down', 'unknown']) devices.set({ status }, 0);
    for (const status of ['queued', 'partial', 'failed']) deliveries.set({ status }, 0);
    for (const status of ['queued', 'leased', 'deferred']) {
      jobs.set({ status }, 0);
      waited.set({ status }, 0);
    }
    for (const { site, collector, ...is } of row.collectors) {
      const name = { site, collector };
      up.set(name, is.online ? 1 : 0);
      quarantined.set(name, is.quarantined ? 1 : 0);
      depth.set(name, is.depth);
      oldest.set(name, is.oldest);
      dropped.set(name, is.dropped);
      offset.set(name, is.offset);
    }
    for (const { status, n } of row.devices) devices.set({ status }, n);
    for (const { severity, n } of row.events) events.set({ severity }, n);
    for (const { status, n, oldest: seconds } of row.jobs) {
      jobs.set({ status }, n);
      waited.set({ status }, seconds);
    }
    for (const { status, n } of row.deliveries) deliveries.set({ status }, n);
    cases.set(row.openCases);
    deadLetters.set(row.deadLetters);
    gaps.set(row.gaps);
    late.set(row.eventsLate);
  };

  return {
    /** An observation batch was committed. */
    stored: (stream: string, count: number): void => stored.inc({ stream }, count),

    /** Brings everything up to date; a database that is away is a figure too. */
    refresh: async (): Promise<void> => {
      const { joins: tokens, connections } = turnedAway();
      for (const [result, count] of Object.entries(tokens)) joins.set({ result }, count);
      for (const [reason, count] of Object.entries(connections)) refused.set({ reason }, count);
      if (certFile !== undefined)
        expires.set(Date.parse(new X509Certificate(readFileSync(certFile)).validTo) / 1000);
      try {
        const [row] = await db.query<Row>(QUESTION);
        if (row) show(row);
        databaseUp.set(1);
      } catch {
        databaseUp.set(0);
      }
    },
  };
}
