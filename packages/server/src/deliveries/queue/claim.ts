/** Which deliveries an instance of the server makes next. A claim falls to another instance when its time is over. */
import type { Recipient } from '@rollcall/shared/api/deliveries';
import type { ShownHeader, WebhookFormat } from '@rollcall/shared/api/subscriptions';
import type { SubscriptionKind } from '@rollcall/shared/model';
import type { Sql } from '../../platform/db/sql.ts';
import type { Payload } from '../channels/message.ts';
import { ACKNOWLEDGEABLE } from '../links.ts';

/** A delivery that an instance took is its own for so long; then another may try it. */
const CLAIM_MS = 90_000;

export interface Claimed {
  id: string;
  attempts: number;
  type: Payload['type'];
  payload: Payload;
  /** Null: a test. */
  siteId: string | null;
  /** Whose live streams hear of it; null: of those who see every site. */
  audience: string | null;
  begunAt: Date;
  subscription: string;
  name: string;
  kind: SubscriptionKind;
  url: string | null;
  format: WebhookFormat | null;
  template: string | null;
  channel: string | null;
  headers: ShownHeader[];
  facility: number | null;
  appName: string | null;
  authority: string | null;
  acknowledge: boolean;
  /** Its case has something to acknowledge now. */
  acknowledgeable: boolean;
  linkVersion: number;
  addresses: string[];
  /** Of a mail, as far as is known. */
  recipients: Recipient[];
  allowPrivate: boolean;
  sealed: Uint8Array | null;
  keyId: string | null;
  failingSince: Date | null;
  /** What the receiver calls the message that opened the thread of the case. */
  thread: string | null;
}

const CLAIMED = `d.id, d.attempts, d.type, d.payload, d.site_id AS "siteId",
  coalesce(d.site_id, s.site_ids[1]) AS audience, d.begun_at AS "begunAt", d.recipients,
  s.id AS subscription, s.name, s.kind, s.url, s.format, s.template, s.channel, s.headers, s.addresses,
  s.facility, s.app_name AS "appName", s.authority, s.acknowledge, s.link_version AS "linkVersion",
  EXISTS (SELECT 1 FROM cases c WHERE c.site_id = d.site_id AND c.id = d.case_id AND ${ACKNOWLEDGEABLE}) AS acknowledgeable,
  s.allow_private AS "allowPrivate", s.sealed, s.key_id AS "keyId", s.failing_since AS "failingSince",
  (SELECT t.thread FROM deliveries t WHERE t.subscription_id = s.id AND t.case_id = d.case_id AND t.thread IS NOT NULL
   ORDER BY t.position DESC LIMIT 1) AS thread`;
const DUE = `d.status = 'queued' AND d.next_at <= $1::timestamptz
    AND (d.claimed_until IS NULL OR d.claimed_until <= $1::timestamptz)`;
/** The next of a subscription `s`: the oldest that is due and has none of its case before it. */
const NEXT = `SELECT d.id FROM deliveries d
  WHERE d.subscription_id = s.id AND ${DUE}
    AND NOT EXISTS (SELECT 1 FROM deliveries b WHERE b.subscription_id = s.id AND b.case_id = d.case_id
      AND b.status = 'queued' AND b.position < d.position)
  ORDER BY d.next_at, d.position LIMIT 1`;
/** Whether it is due is looked at again: another instance may have claimed it since this statement's snapshot was taken. */
const MARK = `UPDATE deliveries d SET claimed_until = $2::timestamptz, attempts = d.attempts + 1
  FROM turn JOIN subscriptions s ON s.id = turn.subscription WHERE d.id = turn.id AND ${DUE} RETURNING ${CLAIMED}`;
/**
 * Subscriptions are locked while their next is chosen: of two instances one gets it, the other takes another. Who locks
 * a subscription and its deliveries locks the subscription first (else two of them can wait for each other).
 */
const CLAIM = `WITH free AS (
    SELECT s.id FROM subscriptions s
    WHERE s.enabled AND NOT s.id = ANY($3::uuid[])
      AND EXISTS (SELECT 1 FROM deliveries d WHERE d.subscription_id = s.id AND d.status = 'queued' AND d.next_at <= $1::timestamptz)
      AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.subscription_id = s.id AND d.status = 'queued' AND d.claimed_until > $1::timestamptz)
    ORDER BY random() LIMIT $4 FOR NO KEY UPDATE SKIP LOCKED),
  turn AS (SELECT s.id AS subscription, n.id FROM free s, LATERAL (${NEXT}) n)
  ${MARK}`;
const CLAIM_OF = `WITH free AS (SELECT s.id FROM subscriptions s WHERE s.id = $3::uuid AND s.enabled FOR NO KEY UPDATE SKIP LOCKED),
  turn AS (SELECT s.id AS subscription, n.id FROM free s, LATERAL (${NEXT}) n)
  ${MARK}`;

/** The next of subscriptions that are not served at the moment, one of each. */
export const claimSome = (
  sql: Sql,
  now: number,
  { except, most }: { except: readonly string[]; most: number },
): Promise<Claimed[]> =>
  sql.query<Claimed & Record<string, unknown>>(CLAIM, [
    new Date(now),
    new Date(now + CLAIM_MS),
    except,
    most,
  ]);

/** The next of one subscription. */
export async function claimNext(sql: Sql, now: number, subscription: string): Promise<Claimed | undefined> {
  const [next] = await sql.query<Claimed & Record<string, unknown>>(CLAIM_OF, [
    new Date(now),
    new Date(now + CLAIM_MS),
    subscription,
  ]);
  return next;
}
