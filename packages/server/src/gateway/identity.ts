/**
 * Who a collector is: an Ed25519 key that only it has, and a generation that is counted up at every connection. A copy
 * of its state counts from where it was copied: the first of the two to connect gets ahead, the other one shows an old
 * number at its next hello, and both are locked out until a person decides.
 */
import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import {
  CloseCode,
  type CollectorMessage,
  PROTOCOL_OLDEST,
  PROTOCOL_VERSION,
  signedHello,
  signedKey,
} from '@rollcall/shared/protocol';
import type { Database, Sql } from '../platform/db/db.ts';
import { announce, notifyLinks, notifyWatch } from '../platform/db/notify.ts';
import type { Raise } from '../ports.ts';

export type Hello = Extract<CollectorMessage, { type: 'hello' }>;
export interface Through {
  state: number;
  event: number;
}
export interface Admitted {
  id: string;
  name: string;
  site: { id: string; name: string };
  version: number;
  /** To be written down and confirmed. */
  generation: number;
  /** Highest committed sequence of each stream of the hello's epoch. */
  through: Through;
}
export type Admission = { ok: true; collector: Admitted } | { ok: false; code: CloseCode; reason: string };

/** Where a quarantine came from; stands at the start of `status_reason`. */
const COPIED = 'copied key';
const WENT_BACK = 'outbox went back';

interface Row {
  id: string;
  name: string;
  site_id: string;
  site: string;
  public_key: Uint8Array;
  pending_key: Uint8Array | null;
  status: 'active' | 'quarantined' | 'revoked';
  status_reason: string;
  generation: number;
  pending_generation: number | null;
  connected: boolean;
  last_seen_at: Date | null;
  software: string;
}

/** SubjectPublicKeyInfo of Ed25519 (RFC 8410) up to the 32 bytes of the key. */
const SPKI_PREFIX = Buffer.from('302a300506032b6570032100', 'hex');

const keyOf = (raw: Uint8Array): KeyObject =>
  createPublicKey({ key: Buffer.concat([SPKI_PREFIX, raw]), format: 'der', type: 'spki' });

/** Whether `signature` (base64) over `text` was made with the private half of `raw`. */
export function signedBy(raw: Uint8Array, text: string, signature: string): boolean {
  try {
    return raw.length === 32 && verify(null, Buffer.from(text), keyOf(raw), Buffer.from(signature, 'base64'));
  } catch {
    return false;
  }
}

type Verdict =
  | { kind: 'admit' }
  | { kind: 'refuse'; code: CloseCode; reason: string }
  | { kind: 'quarantine'; reason: string };

/** What becomes of a hello whose signature is right. Pure. */
export function judgeHello(
  row: Pick<Row, 'status' | 'status_reason' | 'generation'>,
  hello: Pick<Hello, 'version' | 'oldest' | 'generation' | 'last'>,
  through: Through,
): Verdict {
  if (row.status === 'revoked') return { kind: 'refuse', code: CloseCode.revoked, reason: 'revoked' };
  if (row.status === 'quarantined')
    return { kind: 'refuse', code: CloseCode.quarantined, reason: `quarantined: ${row.status_reason}` };
  if (hello.generation < row.generation)
    return {
      kind: 'quarantine',
      reason: `${COPIED}: generation ${hello.generation} was shown after ${row.generation} had been confirmed`,
    };
  for (const stream of ['state', 'event'] as const)
    if (hello.last[stream] < through[stream])
      return {
        kind: 'quarantine',
        reason: `${WENT_BACK}: ${stream} ${hello.last[stream]} after ${through[stream]} had been committed; restored from a backup?`,
      };
  if (hello.oldest > PROTOCOL_VERSION || hello.version < PROTOCOL_OLDEST)
    return {
      kind: 'refuse',
      code: CloseCode.version,
      reason: `this server speaks versions ${PROTOCOL_OLDEST} to ${PROTOCOL_VERSION}, the collector ${hello.oldest} to ${hello.version}`,
    };
  return { kind: 'admit' };
}

/** Generations stay far below what the column holds, so that nobody can count it up to its end. */
const GENERATION_MOST = 2_000_000_000;

const READ = `SELECT c.id, c.name, c.site_id, s.name AS site, c.public_key, c.pending_key, c.status, c.status_reason,
    c.generation, c.pending_generation, c.connected_at IS NOT NULL AS connected, c.last_seen_at, c.software
  FROM collectors c JOIN sites s ON s.id = c.site_id WHERE c.id = $1::uuid FOR NO KEY UPDATE OF c`;

async function throughOf(sql: Sql, collectorId: string, epoch: string): Promise<Through> {
  const rows = await sql.query<{ stream: 'state' | 'event'; through: number }>(
    'SELECT stream, through FROM collector_streams WHERE collector_id = $1::uuid AND epoch = $2::uuid',
    [collectorId, epoch],
  );
  const through = { state: -1, event: -1 };
  for (const row of rows) through[row.stream] = row.through;
  return through;
}

export type Identities = ReturnType<typeof createIdentities>;

export function createIdentities(deps: { db: Database; raise: Raise; instance: string; now: () => number }) {
  const { db, raise, instance, now } = deps;
  const about = (row: { id: string; name: string; site_id: string }) => ({
    siteId: row.site_id,
    at: now(),
    collectorId: row.id,
    collectorName: row.name,
  });

  const quarantine = async (sql: Sql, row: Row, reason: string): Promise<void> => {
    await sql.query(
      `UPDATE collectors SET status = 'quarantined', status_reason = $2 WHERE id = $1::uuid AND status = 'active'`,
      [row.id, reason],
    );
    await raise(sql, [{ kind: 'collector.quarantined', ...about(row), reason }]);
    await notifyLinks(sql, { verb: 'check', collector: row.id });
    await announce(sql, row.site_id, 'collector', [row.id]);
  };

  return {
    /** Two connections of one collector were alive at once: whoever they are, neither is trusted any more. */
    quarantineDuplicate: (id: string): Promise<void> =>
      db.transaction(async (sql) => {
        const [row] = await sql.query<Row>(READ, [id]);
        if (row?.status === 'active')
          await quarantine(sql, row, `${COPIED}: two holders of it were connected at the same time`);
      }),

    /** Checks a hello against the challenge of its connection. Whoever is not told apart by its key reads the same. */
    admit: (hello: Hello, challenge: { nonce: string; host: string }): Promise<Admission> =>
      db.transaction(async (sql): Promise<Admission> => {
        const refuse = (code: CloseCode, reason: string): Admission => ({ ok: false, code, reason });
        const [row] = await sql.query<Row>(READ, [hello.collector]);
        const text = signedHello({ ...challenge, ...hello });
        const signedWith = [row?.public_key, row?.pending_key].find(
          (key) => key && signedBy(key, text, hello.signature),
        );
        if (!row || !signedWith || hello.generation > GENERATION_MOST)
          return refuse(CloseCode.unauthorized, 'unknown collector or wrong signature');
        const through = await throughOf(sql, row.id, hello.epoch);
        const verdict = judgeHello(row, hello, through);
        if (verdict.kind === 'quarantine') {
          await quarantine(sql, row, verdict.reason);
          return refuse(CloseCode.quarantined, `quarantined: ${verdict.reason}`);
        }
        if (verdict.kind === 'refuse') {
          if (verdict.code === CloseCode.version)
            await raise(sql, [
              { kind: 'collector.version', ...about(row), software: hello.software, ok: false },
            ]);
          return refuse(verdict.code, verdict.reason);
        }
        // Handed out once and never again: of two holders that got one each, only one can be confirmed.
        const generation = Math.max(hello.generation, row.pending_generation ?? 0) + 1;
        const rotated = row.pending_key !== null && signedWith === row.pending_key;
        await sql.query(
          `UPDATE collectors SET generation = $2, pending_generation = $3,
             public_key = CASE WHEN $4 THEN pending_key ELSE public_key END,
             pending_key = CASE WHEN $4 THEN NULL ELSE pending_key END
           WHERE id = $1::uuid`,
          [row.id, hello.generation, generation, rotated],
        );
        if (row.software !== '' && row.software !== hello.software)
          await raise(sql, [
            { kind: 'collector.version', ...about(row), software: hello.software, ok: true },
          ]);
        const version = Math.min(hello.version, PROTOCOL_VERSION);
        const site = { id: row.site_id, name: row.site };
        return { ok: true, collector: { id: row.id, name: row.name, site, version, generation, through } };
      }),

    /**
     * The new generation is on the collector's disk: the old one is dead, and this connection is the collector's.
     * False when another connection got further meanwhile.
     */
    confirm: (collector: Admitted, hello: Hello, clockOffsetMs: number): Promise<boolean> =>
      db.transaction(async (sql) => {
        const [row] = await sql.query<Row>(READ, [collector.id]);
        if (row?.status !== 'active' || row.pending_generation !== collector.generation) return false;
        await sql.query(
          `UPDATE collectors SET generation = $2, pending_generation = NULL, instance = $3, connected_at = now(),
             last_seen_at = now(), hostname = $4, software = $5, clock_offset_ms = $6, health = health || $7::jsonb,
             protocol = $8
           WHERE id = $1::uuid`,
          [
            row.id,
            collector.generation,
            instance,
            hello.hostname,
            hello.software,
            clampInt(clockOffsetMs),
            JSON.stringify({ engines: hello.engines, capacity: hello.capacity }),
            collector.version,
          ],
        );
        if (!row.connected && row.last_seen_at !== null)
          await raise(sql, [{ kind: 'collector.online', ...about(row) }]);
        await notifyLinks(sql, { verb: 'check', collector: row.id });
        await announce(sql, row.site_id, 'collector', [row.id]);
        await notifyWatch(sql, row.site_id);
        return true;
      }),

    /** Keeps the key that a collector made when it was asked to; it counts from the first hello it signs. */
    storeKey: async (
      collectorId: string,
      nonce: string,
      key: { publicKey: string; signature: string },
    ): Promise<boolean> => {
      const raw = Buffer.from(key.publicKey, 'base64');
      const text = signedKey({ nonce, collector: collectorId, publicKey: key.publicKey });
      if (raw.toString('base64') !== key.publicKey || !signedBy(raw, text, key.signature)) return false;
      await db.query('UPDATE collectors SET pending_key = $2 WHERE id = $1::uuid', [collectorId, raw]);
      return true;
    },
  };
}

/** The column is an int4; a clock may be off by more than its 24 days. */
export const clampInt = (value: number): number =>
  Math.max(-2_147_483_648, Math.min(2_147_483_647, Math.round(value)));
