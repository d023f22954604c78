/** Changing the key: what older keys sealed is sealed anew, row by row, at every start; the old key can go afterwards. */
import { randomBytes } from 'node:crypto';
import { chmodSync, chownSync, renameSync, statSync } from 'node:fs';
import { writeNew } from '@rollcall/host/synced-file';
import type { Logger } from 'pino';
import type { Database } from '../db/db.ts';
import { type Keyring, keyring, readKeyLines, SealBroken } from './keyring.ts';

/** Everything that is sealed: `row` names its row, in SQL, as it was named when it was sealed. */
const SEALED = [
  { table: 'credentials', row: 'id::text', fingerprint: true },
  { table: 'subscriptions', row: 'id::text', fingerprint: false },
  { table: 'second_factors', row: 'user_id::text', fingerprint: false },
  { table: 'mail_settings', row: `'mail'`, fingerprint: false },
] as const;

interface Row {
  row: string;
  sealed: Uint8Array;
  key_id: string;
}

/**
 * Seals with the present key what an older one sealed; may be stopped at any point and run again. What cannot be opened is
 * said and left as it is. @returns how many were sealed anew.
 */
export async function reseal(db: Pick<Database, 'query'>, keys: Keyring, log: Logger): Promise<number> {
  let resealed = 0;
  for (const { table, row: name, fingerprint } of SEALED) {
    const rows = await db.query<Row>(
      `SELECT ${name} AS row, sealed, key_id FROM ${table} WHERE key_id <> $1 AND sealed IS NOT NULL ORDER BY 1`,
      [keys.keyId],
    );
    for (const { row, sealed, key_id } of rows) {
      const place = { table, row };
      try {
        const plain = keys.open(place, key_id, sealed);
        const anew = keys.seal(place, plain);
        const also = fingerprint ? `, facts = facts || jsonb_build_object('fingerprint', $5::text)` : '';
        await db.query(
          `UPDATE ${table} SET sealed = $1, key_id = $2${also} WHERE ${name} = $3 AND sealed = $4`,
          [anew.sealed, anew.keyId, row, sealed, ...(fingerprint ? [keys.fingerprint(plain)] : [])],
        );
        resealed += 1;
      } catch (error) {
        if (!(error instanceof SealBroken)) throw error;
        log.error({ table, row, reason: error.message }, 'a sealed secret could not be opened');
      }
    }
  }
  if (resealed > 0) log.info({ resealed }, 'secrets were sealed anew with the present key');
  return resealed;
}

/** Values that another key than this one seals. */
async function sealedByOthers(db: Pick<Database, 'query'>, keyId: string): Promise<number> {
  const each = SEALED.map(({ table }) => `SELECT 1 FROM ${table} WHERE sealed IS NOT NULL AND key_id <> $1`);
  const [row] = await db.query<{ n: number }>(`SELECT count(*) AS n FROM (${each.join(' UNION ALL ')}) s`, [
    keyId,
  ]);
  return Number(row?.n ?? 0);
}

/**
 * Changes the key of a key file while no server uses it: puts a new one above the old, seals everything anew, drops the
 * old one. The file is replaced whole and always opens everything: killed anywhere, the next call goes on where it was.
 * `withDatabase` runs its work on the database.
 * @returns how many were sealed anew, and how many an old key still seals because they cannot be opened; then it stays.
 */
export async function rotate(
  file: string,
  withDatabase: <T>(work: (db: Pick<Database, 'query'>) => Promise<T>) => Promise<T>,
  log: Logger,
): Promise<{ resealed: number; left: number }> {
  const present = readKeyLines(file);
  const lines = present.length > 1 ? present : [randomBytes(32).toString('base64'), ...present];
  if (present.length === 1) replace(file, lines);
  const ring = keyring(lines.map((line) => Buffer.from(line, 'base64')));
  const result = await withDatabase(async (db) => ({
    resealed: await reseal(db, ring, log),
    left: await sealedByOthers(db, ring.keyId),
  }));
  if (result.left === 0) replace(file, lines.slice(0, 1));
  return result;
}

/** Writes the file as it was for whom it was, whole or not at all. */
function replace(file: string, lines: readonly string[]): void {
  const draft = `${file}.new`;
  const { mode, uid, gid } = statSync(file);
  writeNew(draft, `${lines.join('\n')}\n`, 0o600);
  chownSync(draft, uid, gid);
  chmodSync(draft, mode & 0o777);
  renameSync(draft, file);
}
