/**
 * Who a collector is: an Ed25519 key that only it has, and a generation that is counted up at every connection. A copy
 * of its state counts from where it was copied: the first of the two to connect gets ahead, the other one shows an old
 * number at its next hello, and both are locked out until a person decides. So are both when a key signs that was
 * replaced: who took the key over by changing it has the new one, the other one has the old one.
 */
import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto';
import { ofStreams, STREAMS, type Stream } from '@rollcall/shared/observation';
import {
  CloseCode,
  type CollectorMessage,
  PROTOCOL_OLDEST,
  PROTOCOL_VERSION,
} from '@rollcall/shared/protocol';
import { signedHello, signedKey } from '@rollcall/shared/signed-texts';
import type { Database, Sql } from '../platform/db/db.ts';
import { announce, notifyLinks, notifyWatch } from '../platform/db/notify.ts';
import type { Audit, RecordChanges } from '../ports.ts';

export type Hello = Extract<CollectorMessage, { type: 'hello' }>;
export type Through = Record<Stream, number>;
export interface Admitted {
  id: string;
  name: string;
  site: { id: string; name: string };
  version: number;
  /** To be written down and confirmed. */
  generation: number;
  /** The next key signed the hello: it becomes the key with the confirmation. */
  changesKey: boolean;
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
  row: Pick<Row, 'status' | 'status_reason' | 'generation' | 'pending_generation'>,
  hello: Pick<Hello, 'version' | 'oldest' | 'generation' | 'last'> & { retired: boolean },
  through: Through,
): Verdict {
  if (row.status === 'revoked') return { kind: 'refuse', code: CloseCode.revoked, reason: 'revoked' };
  if (row.status === 'quarantined')
    return { kind: 'refuse', code: CloseCode.quarantined, reason: `quarantined: ${row.status_reason}` };
  if (hello.retired)
    return {
      kind: 'quarantine',
      reason: `${COPIED}: a key signed that had been replaced by a new one`,
    };
  if (hello.generation < row.generation)
    return {
      kind: 'quarantine',
      reason: `${COPIED}: generation ${hello.generation} was shown after ${row.generation} had been confirmed`,
    };
  for (const stream of STREAMS) {
    // An earlier version says nothing of a stream that it does not have.
    const last = hello.last[stream] ?? through[stream];
    if (last < through[stream])
      return {
        kind: 'quarantine',
        reason: `${WENT_BACK}: ${stream} ${last} after ${through[stream]} had been committed; restored from a backup?`,
      };
  }
  if (
    hello.generation >
    Math.min(GENERATION_MOST, Math.max(row.generation, row.pending_generation ?? 0) + AHEAD_MOST)
  )
    return {
      kind: 'refuse',
      code: CloseCode.unauthorized,
      reason: `generation ${hello.generation} was never given out`,
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
/** So far ahead a database may be behind that was restored; who shows more never got it from a server. */
const AHEAD_MOST = 1_000_000;
/** Retired keys of a collector that are kept, the latest. */
const RETIRED_MOST = 100;

const READ = `SELECT c.id, c.name, c.site_id, s.name AS site, c.public_key, c.pending_key, c.status, c.status_reason,
    c.generation, c.pending_generation, c.connected_at IS NOT NULL AS connected, c.last_seen_at, c.software
  FROM collectors c JOIN sites s ON s.id = c.site_id WHERE c.id = $1::uuid FOR NO KEY UPDATE OF c`;

async function throughOf(sql: Sql, collectorId: string, epoch: string): Promise<Through> {
  const rows = await sql.query<{ stream: Stream; through: number }>(
    'SELECT stream, through FROM collector_streams WHERE collector_id = $1::uuid AND epoch = $2::uuid',
    [collectorId, epoch],
  );
  const through = ofStreams(() => -1);
  for (const row of rows) through[row.stream] = row.through;
  return through;
}

/**
 * Whose key signed a text: the collector's own, the next one, or one that it had before. Null: nobody's that is known.
 */
async function signerOf(
  sql: Sql,
  row: Row,
  text: string,
  signature: string,
): Promise<'own' | 'next' | 'retired' | null> {
  if (signedBy(row.public_key, text, signature)) return 'own';
  if (row.pending_key && signedBy(row.pending_key, text, signature)) return 'next';
  const retired = await sql.query<{ public_key: Uint8Array }>(
    'SELECT public_key FROM retired_keys WHERE collector_id = $1::uuid',
    [row.id],
  );
  return retired.some((each) => signedBy(each.public_key, text, signature)) ? 'retired' : null;
}

/** The next key is the key from now on; the one before is kept, to know it again. */
async function changeKey(sql: Sql, collectorId: string): Promise<void> {
  await sql.query(
    `INSERT INTO retired_keys (collector_id, public_key) SELECT id, public_key FROM collectors WHERE id = $1::uuid
     ON CONFLICT (collector_id, public_key) DO UPDATE SET retired_at = now()`,
    [collectorId],
  );
  await sql.query(
    `DELETE FROM retired_keys WHERE collector_id = $1::uuid AND public_key NOT IN (
       SELECT public_key FROM retired_keys WHERE collector_id = $1::uuid ORDER BY retired_at DESC LIMIT ${RETIRED_MOST})`,
    [collectorId],
  );
  await sql.query(
    'UPDATE collectors SET public_key = pending_key, pending_key = NULL WHERE id = $1::uuid AND pending_key IS NOT NULL',
    [collectorId],
  );
}

/** A key as people can compare it: SHA-256 of its 32 bytes, hex. */
const fingerprintOf = (key: Uint8Array): string => createHash('sha256').update(key).digest('hex');

interface Deps {
  db: Database;
  recordChanges: RecordChanges;
  audit: Audit;
  instance: string;
  now: () => number;
}

export type Identities = ReturnType<typeof createIdentities>;

export const createIdentities = (deps: Deps) => ({
  quarantineDuplicate: quarantineDuplicate.bind(null, deps),
  admit: admit.bind(null, deps),
  confirm: confirm.bind(null, deps),
  storeKey: storeKey.bind(null, deps),
});

/** What every change of a collector names. @param at Unix milliseconds */
export const about = (row: { id: string; name: string; site_id: string }, at: number) => ({
  siteId: row.site_id,
  at,
  collectorId: row.id,
  collectorName: row.name,
});

async function quarantine({ recordChanges, now }: Deps, sql: Sql, row: Row, reason: string): Promise<void> {
  await sql.query(
    `UPDATE collectors SET status = 'quarantined', status_reason = $2 WHERE id = $1::uuid AND status = 'active'`,
    [row.id, reason],
  );
  await recordChanges(sql, [{ kind: 'collector.quarantined', ...about(row, now()), reason }]);
  await notifyLinks(sql, { verb: 'check', collector: row.id });
  await announce(sql, row.site_id, 'collector', [row.id]);
}

/** Two connections of one collector were alive at once: neither is trusted any more. */
const quarantineDuplicate = (deps: Deps, id: string): Promise<void> =>
  deps.db.transaction(async (sql) => {
    const [row] = await sql.query<Row>(READ, [id]);
    if (row?.status === 'active')
      await quarantine(deps, sql, row, `${COPIED}: two holders of it were connected at the same time`);
  });

/** Checks a hello against the challenge of its connection. An unknown collector and a wrong key are answered alike. */
const admit = (deps: Deps, hello: Hello, challenge: { nonce: string; host: string }): Promise<Admission> =>
  deps.db.transaction(async (sql): Promise<Admission> => {
    const { recordChanges, now } = deps;
    const refuse = (code: CloseCode, reason: string): Admission => ({ ok: false, code, reason });
    const [row] = await sql.query<Row>(READ, [hello.collector]);
    const text = signedHello({ ...challenge, ...hello });
    const signer = row && (await signerOf(sql, row, text, hello.signature));
    if (!row || !signer) return refuse(CloseCode.unauthorized, 'unknown collector or wrong signature');
    const through = await throughOf(sql, row.id, hello.epoch);
    const verdict = judgeHello(row, { ...hello, retired: signer === 'retired' }, through);
    if (verdict.kind === 'quarantine') {
      await quarantine(deps, sql, row, verdict.reason);
      return refuse(CloseCode.quarantined, `quarantined: ${verdict.reason}`);
    }
    if (verdict.kind === 'refuse') {
      if (verdict.code === CloseCode.version)
        await recordChanges(sql, [
          { kind: 'collector.version', ...about(row, now()), software: hello.software, ok: false },
        ]);
      return refuse(verdict.code, verdict.reason);
    }
    // Handed out once and never again: of two holders that got one each, only one can be confirmed.
    const generation = Math.max(hello.generation, row.pending_generation ?? 0) + 1;
    await sql.query('UPDATE collectors SET generation = $2, pending_generation = $3 WHERE id = $1::uuid', [
      row.id,
      hello.generation,
      generation,
    ]);
    if (row.software !== '' && row.software !== hello.software)
      await recordChanges(sql, [
        { kind: 'collector.version', ...about(row, now()), software: hello.software, ok: true },
      ]);
    const version = Math.min(hello.version, PROTOCOL_VERSION);
    const site = { id: row.site_id, name: row.site };
    const changesKey = signer === 'next';
    const { id, name } = row;
    return { ok: true, collector: { id, name, site, version, generation, changesKey, through } };
  });

/**
 * The new generation is on the collector's disk: the old one is dead, and this connection is the collector's.
 * False when another connection got further meanwhile.
 */
const confirm = (
  { db, recordChanges, audit, instance, now }: Deps,
  collector: Admitted,
  hello: Hello,
  { clockOffsetMs, address }: { clockOffsetMs: number; address: string },
): Promise<boolean> =>
  db.transaction(async (sql) => {
    const [row] = await sql.query<Row>(READ, [collector.id]);
    if (row?.status !== 'active' || row.pending_generation !== collector.generation) return false;
    // Not before: until it is confirmed that the collector forgot the old key, either may sign its next hello.
    if (collector.changesKey && row.pending_key) {
      const { name, site_id: siteId } = row;
      await changeKey(sql, row.id);
      const detail = { from: fingerprintOf(row.public_key), to: fingerprintOf(row.pending_key) };
      const subject = `collector ${name}`;
      await audit(sql, {
        actor: { name: subject },
        address,
        action: 'collector.key',
        subject,
        siteId,
        detail,
      });
      await recordChanges(sql, [
        { kind: 'collector.key-changed', ...about(row, now()), address, fingerprint: detail.to },
      ]);
    }
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
      await recordChanges(sql, [{ kind: 'collector.online', ...about(row, now()) }]);
    await notifyLinks(sql, { verb: 'check', collector: row.id });
    await announce(sql, row.site_id, 'collector', [row.id]);
    await notifyWatch(sql, row.site_id);
    return true;
  });

/** Keeps the key (base64) that a collector made when it was asked to; it counts from the first hello it signs. */
async function storeKey(
  { db }: Deps,
  collectorId: string,
  nonce: string,
  key: { publicKey: string; signature: string },
): Promise<boolean> {
  const raw = Buffer.from(key.publicKey, 'base64');
  const text = signedKey({ nonce, collector: collectorId, publicKey: key.publicKey });
  if (raw.toString('base64') !== key.publicKey || !signedBy(raw, text, key.signature)) return false;
  await db.query('UPDATE collectors SET pending_key = $2 WHERE id = $1::uuid', [collectorId, raw]);
  return true;
}

/** The column is an int4; a clock may be off by more than its 24 days. */
export const clampInt = (value: number): number =>
  Math.max(-2_147_483_648, Math.min(2_147_483_647, Math.round(value)));
