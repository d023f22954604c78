/**
 * From what happened to cases (`case_outbox`, written with the case) to deliveries, one for each subscription that
 * wants it. One instance at a time, in order. A change that waits to be told takes a newer one in, so that a case that
 * changes a hundred times while a target is away is one message when it is back.
 */

import { NOTICE_EVENTS_MOST, type NoticeType } from '@rollcall/shared/api/notices';
import type { SubscriptionHours } from '@rollcall/shared/api/subscriptions';
import { EventStatus } from '@rollcall/shared/model';
import { uuidv7 } from '@rollcall/shared/uuid';
import { meantBy } from '../../platform/db/custom-fields.ts';
import type { Database } from '../../platform/db/db.ts';
import { unix } from '../../platform/db/list.ts';
import { tryLock } from '../../platform/db/lock.ts';
import { announce } from '../../platform/db/notify.ts';
import type { Sql } from '../../platform/db/sql.ts';
import type { Payload } from '../channels/message.ts';
import { isWithin } from './hours.ts';

/** Entries per transaction. */
const BATCH = 200;
/** Deliveries that wait for one subscription, at most; what comes on top is in the log as failed. */
export const WAITING_MOST = 5_000;
/** A change waits this long for more of them. */
const SETTLE_MS = 3_000;

interface Entry {
  id: number;
  siteId: string;
  caseId: string;
  type: NoticeType;
  at: Date;
}
interface Subscriber {
  id: string;
  types: NoticeType[];
  severity: number;
  allSites: boolean;
  siteIds: string[];
  tags: string[];
  fields: string[];
  classes: string[];
  eventKinds: string[];
  hours: SubscriptionHours | null;
  waiting: number;
}

/** Makes deliveries of what is in the outbox. @returns entries taken out. */
export const fanOut = (db: Database, now: number, publicUrl?: string): Promise<number> =>
  db.transaction(async (sql) => {
    if (!(await tryLock(sql, 'deliveries'))) return 0;
    const entries = await sql.query<Entry>(
      `SELECT id, site_id AS "siteId", case_id AS "caseId", type, at FROM case_outbox ORDER BY id LIMIT ${BATCH}`,
    );
    if (entries.length === 0) return 0;
    const subscribers = await sql.query<Subscriber>(
      `SELECT s.id, s.types, s.severity, s.all_sites AS "allSites", s.site_ids AS "siteIds", s.tags, s.fields, s.classes,
         s.event_kinds AS "eventKinds", s.hours,
         (SELECT count(*) FROM deliveries d WHERE d.subscription_id = s.id AND d.status = 'queued') AS waiting
       FROM subscriptions s WHERE s.enabled AND (s.all_sites OR s.site_ids && $1::uuid[]) ORDER BY s.id
       -- One that is deleted at this moment is waited for, and then told nothing.
       FOR KEY SHARE`,
      [[...new Set(entries.map(({ siteId }) => siteId))]],
    );
    if (subscribers.length > 0) await deliver(sql, entries, subscribers, now, publicUrl);
    await sql.query('DELETE FROM case_outbox WHERE id = ANY($1::int8[])', [entries.map(({ id }) => id)]);
    return entries.length;
  });

interface Draft {
  id: string;
  subscriptionId: string;
  siteId: string;
  caseId: string;
  type: NoticeType;
  payload: Payload;
  status: 'queued' | 'failed';
  error: string;
  nextAt: string;
}

async function deliver(
  sql: Sql,
  entries: readonly Entry[],
  subscribers: readonly Subscriber[],
  now: number,
  publicUrl: string | undefined,
): Promise<void> {
  const caseIds = [...new Set(entries.map(({ caseId }) => caseId))];
  const told = await readCases(sql, caseIds, publicUrl);
  const concerns = await readConcerns(sql, caseIds, subscribers);
  const drafts: Draft[] = [];
  for (const { siteId, caseId, type, at } of latest(entries)) {
    const data = told.get(caseId);
    if (!data) continue;
    const payload: Payload = { type, timestamp: Math.floor(at.getTime() / 1000), data };
    for (const to of subscribers) {
      if (!to.types.includes(type)) continue;
      if (!to.allSites && !to.siteIds.includes(siteId)) continue;
      const concern = concerns.get(`${to.id} ${caseId}`);
      if (!concern) continue;
      const isChosen = concern.fits && data.case.severity <= to.severity && isWithin(to.hours, at.getTime());
      if (!concern.told && !isChosen) continue;
      concern.told = true;
      const full = to.waiting >= WAITING_MOST;
      if (!full) to.waiting += 1;
      drafts.push({
        id: uuidv7(now),
        subscriptionId: to.id,
        siteId,
        caseId,
        type,
        payload,
        status: full ? 'failed' : 'queued',
        error: full ? `${WAITING_MOST} deliveries wait already` : '',
        nextAt: new Date(now + (type === 'case.changed' ? SETTLE_MS : 0)).toISOString(),
      });
    }
  }
  await store(sql, drafts, now);
  for (const site of new Set(drafts.map(({ siteId }) => siteId)))
    await announce(
      sql,
      site,
      'delivery',
      drafts.filter(({ siteId }) => siteId === site).map(({ id }) => id),
    );
}

/** Of several changes of a case, the last; everything else as it came. */
function latest(entries: readonly Entry[]): Entry[] {
  const last = new Map(entries.map((entry) => [`${entry.caseId} ${entry.type}`, entry.id]));
  return entries.filter((e) => e.type !== 'case.changed' || last.get(`${e.caseId} ${e.type}`) === e.id);
}

async function store(sql: Sql, drafts: readonly Draft[], now: number): Promise<void> {
  if (drafts.length === 0) return;
  const rows = `jsonb_to_recordset($1::jsonb) AS r(id uuid, "subscriptionId" uuid, "siteId" uuid, "caseId" uuid,
    type text, payload jsonb, status text, error text, "nextAt" timestamptz, n int)`;
  const taken = await sql.query<{ id: string }>(
    `UPDATE deliveries d SET payload = r.payload FROM ${rows}
     WHERE r.type = 'case.changed' AND d.subscription_id = r."subscriptionId" AND d.case_id = r."caseId"
       AND d.type = r.type AND d.status = 'queued' AND d.attempts = 0 AND d.claimed_until IS NULL
     RETURNING r.id`,
    [JSON.stringify(drafts)],
  );
  const known = new Set(taken.map(({ id }) => id));
  await sql.query(
    `INSERT INTO deliveries (id, subscription_id, site_id, case_id, type, payload, status, error, next_at, begun_at,
       created_at, finished_at)
     SELECT r.id, r."subscriptionId", r."siteId", r."caseId", r.type, r.payload, r.status, r.error,
       CASE WHEN r.status = 'queued' THEN r."nextAt" END, $2::timestamptz, $2::timestamptz,
       CASE WHEN r.status <> 'queued' THEN $2::timestamptz END
     FROM ${rows} ORDER BY r.n`,
    [
      JSON.stringify(drafts.filter(({ id }) => !known.has(id)).map((draft, n) => ({ ...draft, n }))),
      new Date(now),
    ],
  );
}

interface Concern {
  /** One of its events is what the subscription names. */
  fits: boolean;
  /** The subscription was told of the case. */
  told: boolean;
}

/**
 * What cases are to subscriptions, by `SUBSCRIPTION CASE`. One that was told of a case stays concerned: an alarm that a pager
 * has must end there, also when the tag was taken away meanwhile, at night, or when what is left of the case is less severe.
 */
async function readConcerns(
  sql: Sql,
  caseIds: readonly string[],
  subscribers: readonly Subscriber[],
): Promise<Map<string, Concern>> {
  const chosen = subscribers.map(({ id, fields }) => ({
    id,
    has: fields.map(meantBy).flatMap(({ name, values = [] }) => values.map((value) => ({ [name]: value }))),
  }));
  const rows = await sql.query<Concern & { id: string; caseId: string }>(
    `SELECT s.id, c.id AS "caseId",
       (s.tags = '{}' AND s.fields = '{}' AND s.classes = '{}' AND s.event_kinds = '{}')
       OR EXISTS (SELECT 1 FROM events e LEFT JOIN devices d ON d.site_id = e.site_id AND d.id = e.device_id
                    LEFT JOIN interfaces i ON i.site_id = e.site_id AND i.id = e.interface_id
                  WHERE e.case_id = c.id
                    AND (s.tags = '{}' OR lower_all(d.tags || coalesce(i.tags, '{}')) && lower_all(s.tags))
                    AND (s.fields = '{}' OR d.fields @> ANY(chosen.has) OR i.fields @> ANY(chosen.has))
                    AND (s.classes = '{}' OR d.class = ANY(s.classes))
                    AND (s.event_kinds = '{}' OR e.kind = ANY(s.event_kinds))) AS fits,
       EXISTS (SELECT 1 FROM deliveries d WHERE d.case_id = c.id AND d.subscription_id = s.id) AS told
     FROM jsonb_to_recordset($1::jsonb) AS chosen(id uuid, has jsonb[]) JOIN subscriptions s ON s.id = chosen.id, cases c
     WHERE c.id = ANY($2::uuid[])`,
    [JSON.stringify(chosen), caseIds],
  );
  return new Map(rows.map(({ id, caseId, ...concern }) => [`${id} ${caseId}`, concern]));
}

/** What is told of some cases, as they are now. */
async function readCases(
  sql: Sql,
  ids: readonly string[],
  publicUrl: string | undefined,
): Promise<Map<string, Payload['data']>> {
  const rows = await sql.query<{
    id: string;
    case: Payload['data']['case'];
    site: Payload['data']['site'];
    events: Payload['data']['events'];
  }>(
    `SELECT c.id,
       jsonb_build_object('id', c.id, 'number', c.number, 'siteId', c.site_id, 'title', c.title, 'status', c.status,
         'severity', c.severity, 'priority', c.priority, 'assignee', u.name, 'tags', c.tags,
         'eventCount', (SELECT count(*) FROM events e WHERE e.case_id = c.id),
         'openEventCount', (SELECT count(*) FROM events e WHERE e.case_id = c.id AND e.status < ${EventStatus.closed}),
         'rootDeviceId', c.root_device_id, 'createdAt', ${unix('c.created_at')},
         'resolvedAt', ${unix('c.resolved_at')}) AS "case",
       jsonb_build_object('id', s.id, 'name', s.name) AS site,
       (SELECT coalesce(jsonb_agg(w), '[]') FROM (
          SELECT e.id, e.kind, e.severity, e.message, ${unix('e.first_seen')} AS "firstSeen" FROM events e
          WHERE e.case_id = c.id AND e.status < ${EventStatus.closed} ORDER BY e.severity, e.first_seen, e.id LIMIT ${NOTICE_EVENTS_MOST}) w) AS events
     FROM cases c JOIN sites s ON s.id = c.site_id LEFT JOIN users u ON u.id = c.assignee_id
     WHERE c.id = ANY($1::uuid[])`,
    [ids],
  );
  return new Map(
    rows.map(({ id, events, ...row }) => [
      id,
      { ...row, events, ...(publicUrl !== undefined && { url: `${publicUrl}/cases/${id}` }) },
    ]),
  );
}
