/** What happened to a device, why it is one, and why it is what it is. */

import type { DeviceExplanation, DeviceHistoryEntry } from '@rollcall/shared/api/inventory';
import { EventStatus } from '@rollcall/shared/model';
import {
  inScope,
  type Page,
  type PageRequest,
  Parameters,
  readPage,
  type Scope,
  seconds,
  unix,
} from '../platform/db/list.ts';
import type { Sql } from '../platform/db/sql.ts';

type HistoryRow = Omit<DeviceHistoryEntry, 'at' | 'lastAt' | 'closedAt'> & {
  at: Date;
  lastAt: Date;
  closedAt: Date | null;
};

/** Whether a device exists in scope. */
export async function deviceExists(sql: Sql, id: string, scope: Scope): Promise<boolean> {
  const p = new Parameters();
  const rows = await sql.query(
    `SELECT 1 FROM devices d WHERE d.id = ${p.add(id)}::uuid AND ${inScope(p, 'd.site_id', scope)}`,
    p.values,
  );
  return rows.length > 0;
}

/** When something happened last to an event: trouble that is over was over then. */
const LATEST = `CASE WHEN e.close_reason = 'cleared' THEN e.closed_at ELSE e.timestamp END`;

/** One page of a device's events, what happened last first, with both sides of what changed. */
export async function deviceHistory(
  sql: Sql,
  id: string,
  query: PageRequest,
  scope: Scope,
): Promise<Page<DeviceHistoryEntry>> {
  const parameters = new Parameters();
  const { data, totalCount }: Page<HistoryRow> = await readPage(sql, {
    columns: `e.id AS "eventId", e.first_seen AS at, e.kind, e.severity, e.status, e.message,
      e.interface_id AS "interfaceId", e.count, e.timestamp AS "lastAt", e.closed_at AS "closedAt",
      e.close_reason AS "closeReason", e.details -> 'before' AS before, e.details -> 'after' AS after`,
    from: 'events e',
    key: ['e.site_id', 'e.id'],
    where: `e.device_id = ${parameters.add(id)}::uuid AND ${inScope(parameters, 'e.site_id', scope)}`,
    parameters,
    filters: {},
    query,
    order: `${LATEST} DESC, e.id DESC`,
  });
  return {
    data: data.map((row) => ({
      ...row,
      at: seconds(row.at),
      lastAt: seconds(row.lastAt),
      closedAt: seconds(row.closedAt),
      before: row.before ?? null,
      after: row.after ?? null,
    })),
    totalCount,
  };
}

type Evidence = DeviceExplanation['evidence'][number];
/** How much a kind of evidence says, as identity weighs it. */
export type StrengthOf = (kind: string) => Evidence['strength'];

/** Null where the device does not exist or is not in scope. */
export async function explainDevice(
  sql: Sql,
  id: string,
  { scope, strengthOf }: { scope: Scope; strengthOf: StrengthOf },
): Promise<DeviceExplanation | null> {
  const p = new Parameters();
  const [row] = await sql.query<DeviceExplanation>(
    `SELECT d.id AS "deviceId",
       (SELECT coalesce(jsonb_agg(jsonb_build_object('kind', v.kind, 'value', v.value,
           'firstSeen', ${unix('v.first_seen')}, 'lastSeen', ${unix('v.last_seen')}) ORDER BY v.kind, v.value), '[]')
         FROM evidence v WHERE v.site_id = d.site_id AND v.device_id = d.id) AS evidence,
       (SELECT coalesce(jsonb_agg(jsonb_build_object('id', w.id, 'verb', w.verb,
           'otherId', CASE WHEN w.device_id = d.id THEN w.other_id ELSE w.device_id END, 'other', o.name,
           'by', u.name, 'at', ${unix('w.at')}, 'undoneAt', ${unix('w.undone_at')}, 'evidence', w.evidence)
           ORDER BY w.at DESC, w.id), '[]')
         FROM identity_decisions w
         LEFT JOIN users u ON u.id = w.user_id
         LEFT JOIN devices o ON o.site_id = w.site_id AND o.id = CASE WHEN w.device_id = d.id THEN w.other_id ELSE w.device_id END
         WHERE w.site_id = d.site_id AND (w.device_id = d.id OR w.other_id = d.id)) AS decisions,
       (SELECT coalesce(jsonb_agg(jsonb_build_object('eventId', e.id, 'message', e.message, 'at', ${unix('e.timestamp')})
           ORDER BY e.timestamp DESC, e.id), '[]')
         FROM events e WHERE e.device_id = d.id AND e.status < ${EventStatus.closed}
           AND e.kind IN ('identity.conflict', 'address.conflict')) AS conflicts,
       d.classified_by AS classification,
       jsonb_build_object('name', d.name_override, 'class', d.class_override) AS overrides,
       (SELECT coalesce(jsonb_agg(jsonb_build_object('group', f."group", 'seenAt', ${unix('f.seen_at')},
           'complete', f.complete) ORDER BY f."group"), '[]')
         FROM device_facts f WHERE f.site_id = d.site_id AND f.device_id = d.id) AS facts,
       coalesce((SELECT f.data FROM device_facts f
         WHERE f.site_id = d.site_id AND f.device_id = d.id AND f."group" = 'raw'), '{}') AS raw
     FROM devices d WHERE d.id = ${p.add(id)}::uuid AND ${inScope(p, 'd.site_id', scope)}`,
    p.values,
  );
  if (!row) return null;
  const evidence = row.evidence.map((claim) => ({ ...claim, strength: strengthOf(claim.kind) }));
  return { ...row, evidence };
}
