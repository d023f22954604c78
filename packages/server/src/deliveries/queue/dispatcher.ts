/**
 * Makes the deliveries: claims what is due, sends it outside of any transaction, notes what came of it. Any number of
 * instances; a claim lasts longer than the longest attempt and then falls to the next. One subscription has one
 * delivery under way at a time, and the deliveries of a case go out in their order: what is behind waits for what is
 * before.
 */
import type { Delivery, Recipient } from '@rollcall/shared/api/deliveries';
import { isChannelFormat } from '@rollcall/shared/api/subscriptions';
import { CaseStatus, type SubscriptionKind } from '@rollcall/shared/model';
import { announce } from '../../platform/db/notify.ts';
import type { Sql } from '../../platform/db/sql.ts';
import { SealBroken } from '../../platform/keys/keyring.ts';
import { startPeriodic } from '../../platform/ops/periodic.ts';
import { headersOf, requestOf } from '../channels/formats.ts';
import { sendMail } from '../channels/mail.ts';
import { failed, type Outcome } from '../channels/outcome.ts';
import type { Request } from '../channels/request.ts';
import { sendSyslog } from '../channels/syslog.ts';
import { TemplateRefused } from '../channels/template.ts';
import { postToThread } from '../channels/threads.ts';
import { postWebhook } from '../channels/webhook.ts';
import type { DeliveryDeps } from '../deps.ts';
import { withLink } from '../links.ts';
import { readMailServer, secretsOf } from '../subscriptions/secrets.ts';
import { type Claimed, claimNext, claimSome } from './claim.ts';
import { fanOut } from './fan-out.ts';
import { DISABLE_MS, GIVE_UP_MS, isReported, nextAttempt } from './retry.ts';

/** Subscriptions served at once by one instance: the rest waits, and a slow one holds up itself alone. */
const CONCURRENT_MOST = 16;
/** How often deliveries that are due are looked for. */
const LOOK_MS = 1_000;
/** Of the addresses that never got a mail, and what was said of each. */
const MISSED_CHARACTERS = 1_000;
/** Attempts kept in the log of one delivery. */
const LOG_MOST = 40;
/**
 * Finished deliveries are kept this long; the last to each subscription until as long after the end of its case, as it says
 * who is to hear the end; and what opened a thread as long as a later one: it says where the thread is.
 */
export const KEPT_MS = 30 * 24 * 3600_000;
/** How often finished deliveries that are old enough are looked for. */
const PURGE_MS = 60_000;
const PURGE_MOST = 5_000;

export interface Dispatcher {
  /** One look: fans out, claims what is due, sends it all. @returns deliveries attempted. */
  round(): Promise<number>;
  /** Looks every second until the answer is called, which waits for what is under way. */
  start(): () => Promise<void>;
}

export function createDispatcher(deps: DeliveryDeps): Dispatcher {
  const { db, clock, log } = deps;
  const busy = new Set<string>();
  const running = new Set<Promise<void>>();
  const stopping = new AbortController();

  /** One subscription's turn: its due deliveries one after the other. */
  const serve = async (first: Claimed): Promise<number> => {
    let made = 0;
    let next: Claimed | undefined = first;
    while (next && !stopping.signal.aborted) {
      const outcome = await attempt(deps, next, stopping.signal);
      await settle(deps, next, outcome);
      made += 1;
      // After a failure the subscription steps back in the queue behind the others.
      if (!outcome.ok) break;
      next = await claimNext(db, clock.now(), first.subscription);
    }
    return made;
  };

  const launch = async (): Promise<Promise<number>[]> => {
    while ((await fanOut(db, clock.now(), deps.publicUrl)) > 0);
    if (busy.size >= CONCURRENT_MOST) return [];
    return (await claimSome(db, clock.now(), { except: [...busy], most: CONCURRENT_MOST - busy.size })).map(
      (claimed) => {
        busy.add(claimed.subscription);
        const done = serve(claimed)
          .catch((error: unknown) => {
            log.warn(
              { err: error instanceof Error ? error.message : String(error) },
              'a delivery was not settled',
            );
            return 0;
          })
          .finally(() => busy.delete(claimed.subscription));
        const tracked = done.then(() => undefined).finally(() => running.delete(tracked));
        running.add(tracked);
        return done;
      },
    );
  };

  return {
    round: async () => (await Promise.all(await launch())).reduce((sum, n) => sum + n, 0),
    start: () => {
      const stop = startPeriodic({ clock, log }, [
        { what: 'making deliveries', everyMs: LOOK_MS, run: launch },
        { what: 'giving up and deleting deliveries', everyMs: PURGE_MS, run: () => purge(db, clock.now()) },
      ]);
      return async () => {
        stop();
        stopping.abort();
        await Promise.all(running);
      };
    },
  };
}

async function attempt(
  deps: DeliveryDeps,
  claimed: Claimed,
  signal: AbortSignal,
): Promise<Outcome & { ms: number }> {
  const began = deps.clock.monotonic();
  const outcome = await send(deps, claimed, signal);
  return { ...outcome, ms: Math.round(deps.clock.monotonic() - began) };
}

type Send = (deps: DeliveryDeps, claimed: Claimed, signal: AbortSignal) => Promise<Outcome>;

const SEND: Readonly<Record<SubscriptionKind, Send>> = {
  email: async ({ db, keyring }, { id, addresses, recipients, payload }, signal) => {
    const server = await readMailServer(db, keyring);
    if (!server) return failed('no mail server is set');
    const only = recipients.flatMap(({ address, state }) => (state === 'deferred' ? address : []));
    return sendMail({ id, server, addresses, only, payload, signal });
  },
  syslog: async (_deps, { url, facility, appName, authority, allowPrivate, payload }, signal) => {
    const target = {
      url: url ?? '',
      facility: facility ?? 16,
      appName: appName ?? '',
      authority: authority ?? '',
    };
    return sendSyslog({ target, payload, allowPrivate, signal });
  },
  webhook: async ({ keyring, clock }, claimed, signal) => {
    const { id, url, allowPrivate, payload, sealed, keyId, subscription, format, template } = claimed;
    const now = clock.now();
    const { signing, key, headers } =
      sealed && keyId
        ? secretsOf(keyring, { id: subscription, sealed, keyId }, now)
        : { signing: [], key: '', headers: {} };
    const { channel, thread } = claimed;
    const target = { url: url ?? '', key, template, channel, headers: headersOf(claimed.headers, headers) };
    const posting = { id, allowPrivate, secrets: signing, now, signal };
    const send = (request: Request) => postWebhook({ ...posting, request, hears: true });
    if (format && isChannelFormat(format)) return postToThread({ format, payload, target, thread, send });
    return postWebhook({ ...posting, request: requestOf(format ?? 'rollcall', payload, target) });
  },
};

async function send(deps: DeliveryDeps, claimed: Claimed, signal: AbortSignal): Promise<Outcome> {
  try {
    return await SEND[claimed.kind](deps, { ...claimed, payload: withLink(deps, claimed) }, signal);
  } catch (error) {
    if (error instanceof TemplateRefused) return failed(`its template makes no body: ${error.message}`);
    if (!(error instanceof SealBroken)) throw error;
    return failed(`its secret cannot be opened any more (${error.message}): give it a new one`);
  }
}

/** Writes down what came of an attempt. */
async function settle(
  deps: DeliveryDeps,
  claimed: Claimed,
  outcome: Outcome & { ms: number },
): Promise<void> {
  const { db, clock, log } = deps;
  const now = clock.now();
  const begunAt = claimed.begunAt.getTime();
  const next =
    outcome.ok || outcome.final
      ? null
      : nextAttempt({
          attempts: claimed.attempts,
          begunAt,
          now,
          retryAfterMs: outcome.retryAfterMs,
          random: Math.random(),
        });
  const latest = new Map(
    [...claimed.recipients, ...(outcome.recipients ?? [])].map((of) => [of.address, of]),
  );
  const { status, error } = conclude(outcome, next !== null, [...latest.values()]);
  // Somebody has it: a single address that nobody serves any more is no reason to tell the others nothing.
  const reached = outcome.ok || (outcome.recipients ?? []).some(({ state }) => state === 'delivered');
  const nobody = !reached && ![...latest.values()].some(({ state }) => state === 'delivered');
  const entry = { at: Math.floor(now / 1000), status: outcome.status, error: outcome.error, ms: outcome.ms };
  if (!outcome.ok)
    log.info(
      { delivery: claimed.id, subscription: claimed.name, error: outcome.error, again: next !== null },
      'not delivered',
    );
  await db.transaction(async (sql) => {
    await sql.query(
      reached
        ? 'UPDATE subscriptions SET failing_since = NULL, last_delivered_at = $2 WHERE id = $1::uuid'
        : 'UPDATE subscriptions SET failing_since = coalesce(failing_since, $2) WHERE id = $1::uuid',
      [claimed.subscription, new Date(now)],
    );
    await sql.query(
      `UPDATE deliveries SET status = $3, next_at = $4, claimed_until = NULL, response_status = $5, error = $6,
         finished_at = $7, recipients = $9::jsonb, thread = coalesce($10, thread),
         log = CASE WHEN jsonb_array_length(log) < ${LOG_MOST} THEN log || $8::jsonb ELSE log END
       WHERE id = $1::uuid AND attempts = $2 AND status = 'queued'`,
      [
        claimed.id,
        claimed.attempts,
        status,
        next === null ? null : new Date(next),
        outcome.status,
        error,
        next === null ? new Date(now) : null,
        JSON.stringify([entry]),
        JSON.stringify([...latest.values()]),
        outcome.thread ?? null,
      ],
    );
    await announce(sql, claimed.audience, 'delivery', [claimed.id]);
    const since = claimed.failingSince?.getTime() ?? now;
    const long = !reached && now - since >= DISABLE_MS;
    if (long || outcome.gone) await disable(deps, sql, claimed, outcome, now);
    else if (nobody && isReported({ again: claimed.failingSince !== null, begunAt, next, ms: outcome.ms }))
      await reportFailing(deps, sql, claimed, error, now);
  });
}

/** What is to be said of a delivery after an attempt: of a mail, by what became of all its addresses. */
function conclude(
  outcome: Outcome,
  again: boolean,
  recipients: readonly Recipient[],
): { status: Delivery['status']; error: string } {
  if (again) return { status: 'queued', error: outcome.error };
  const missed = recipients.filter(({ state }) => state !== 'delivered');
  if (recipients.length === 0 || missed.length === 0 || missed.length === recipients.length)
    return { status: outcome.ok ? 'delivered' : 'failed', error: outcome.error };
  const without = missed.map(({ address, said }) => `${address}: ${said}`).join('; ');
  return { status: 'partial', error: `not delivered to ${without}`.slice(0, MISSED_CHARACTERS) };
}

async function reportFailing(
  { recordChanges }: DeliveryDeps,
  sql: Sql,
  { subscription, name, siteId }: Claimed,
  error: string,
  now: number,
): Promise<void> {
  if (siteId === null) return;
  await recordChanges(sql, [
    { kind: 'subscription.failing', siteId, at: now, subscriptionId: subscription, name, error },
  ]);
}

/** Nobody hears it any more: people are told by an event instead. */
async function disable(
  { recordChanges }: DeliveryDeps,
  sql: Sql,
  { subscription, name, siteId }: Claimed,
  { gone, error }: Outcome,
  now: number,
): Promise<void> {
  const reason = gone ? error : `nothing was delivered for ${DISABLE_MS / 3600_000} hours: ${error}`;
  const rows = await sql.query(
    'UPDATE subscriptions SET enabled = false, disabled_reason = $2 WHERE id = $1::uuid AND enabled RETURNING 1',
    [subscription, reason],
  );
  // A test is about no site, and who made it looks on.
  if (rows.length === 0 || siteId === null) return;
  await recordChanges(sql, [
    { kind: 'subscription.disabled', siteId, at: now, subscriptionId: subscription, name, reason },
  ]);
}

/** Gives up what nobody fetched within its day, and forgets what is old. */
export async function purge(sql: Sql, now: number): Promise<void> {
  await sql.query(
    `UPDATE deliveries SET next_at = NULL, finished_at = $1::timestamptz,
       status = CASE WHEN recipients @> '[{"state": "delivered"}]' THEN 'partial' ELSE 'failed' END,
       error = CASE WHEN error = '' THEN 'its subscription was disabled for a day' ELSE error END
     WHERE id IN (SELECT id FROM deliveries WHERE status = 'queued' AND begun_at < $2::timestamptz
       AND (claimed_until IS NULL OR claimed_until < $1::timestamptz) LIMIT ${PURGE_MOST})`,
    [new Date(now), new Date(now - GIVE_UP_MS - PURGE_MS)],
  );
  await sql.query(
    `DELETE FROM deliveries WHERE id IN (
       SELECT d.id FROM deliveries d LEFT JOIN cases c ON c.site_id = d.site_id AND c.id = d.case_id,
         LATERAL (SELECT EXISTS (SELECT 1 FROM deliveries l WHERE l.case_id = d.case_id
           AND l.subscription_id = d.subscription_id AND l.position > d.position)) AS later(exists)
       WHERE d.status <> 'queued' AND d.created_at < $1::timestamptz
         AND (c.id IS NULL OR later.exists
           OR c.status >= ${CaseStatus.resolved} AND greatest(c.resolved_at, c.closed_at) < $1::timestamptz)
         AND (d.thread IS NULL OR NOT later.exists)
       LIMIT ${PURGE_MOST})`,
    [new Date(now - KEPT_MS)],
  );
}
