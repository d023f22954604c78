/** The second factor of an account in the database. */
import { rightsChanged } from '../../platform/access/auth.ts';
import type { Sql, Transaction } from '../../platform/db/db.ts';
import type { Keyring } from '../../platform/keys/keyring.ts';
import type { AuditRecord } from '../../ports.ts';
import { audit } from '../audit.ts';
import { newSecret, recoveryHash, stepOf } from './codes.ts';

const place = (userId: string) => ({ table: 'second_factors', row: userId });

/** Stores a new secret that is not confirmed yet; null where the account has a second factor. */
export async function beginFactor(
  { query }: Transaction,
  keyring: Keyring,
  user: { id: string; name: string },
): Promise<{ secret: string; uri: string } | null> {
  const made = newSecret(user.name);
  const { sealed, keyId } = keyring.seal(place(user.id), made.secret);
  const stored = await query(
    `INSERT INTO second_factors (user_id, sealed, key_id) VALUES ($1, $2, $3)
     ON CONFLICT (user_id) DO UPDATE SET sealed = $2, key_id = $3 WHERE second_factors.confirmed_at IS NULL
     RETURNING 1`,
    [user.id, sealed, keyId],
  );
  return stored.length === 1 ? made : null;
}

/** Confirms it by a code; false where the code is wrong or nothing is being set up. */
export async function confirmFactor(
  sql: Transaction,
  keyring: Keyring,
  { userId, code, recovery }: { userId: string; code: string; recovery: readonly Buffer[] },
  now: number,
): Promise<boolean> {
  const step = await appStep(sql, keyring, { userId, code, confirmed: false }, now);
  if (step === null) return false;
  const done = await sql.query(
    `UPDATE second_factors SET confirmed_at = $2, used_step = $3, recovery = $4::bytea[]
     WHERE user_id = $1 AND confirmed_at IS NULL RETURNING 1`,
    [userId, new Date(now), step, recovery],
  );
  return done.length === 1;
}

export type Accepted = 'code' | 'recovery code';

/** Accepts a code once, no matter who asks at the same time; null where it is wrong or was used. */
export async function spendCode(
  sql: Transaction,
  keyring: Keyring,
  { userId, code }: { userId: string; code: string },
  now: number,
): Promise<Accepted | null> {
  const step = await appStep(sql, keyring, { userId, code, confirmed: true }, now);
  const spent =
    step === null
      ? await sql.query(
          `UPDATE second_factors SET recovery = array_remove(recovery, $2::bytea)
           WHERE user_id = $1 AND confirmed_at IS NOT NULL AND $2::bytea = ANY(recovery) RETURNING 1`,
          [userId, recoveryHash(code)],
        )
      : await sql.query(
          'UPDATE second_factors SET used_step = $2 WHERE user_id = $1 AND used_step < $2 RETURNING 1',
          [userId, step],
        );
  if (spent.length === 0) return null;
  return step === null ? 'recovery code' : 'code';
}

/** The interval of a code of the app; its secret stays until the transaction ends. @throws SealBroken */
async function appStep(
  { query }: Sql,
  keyring: Keyring,
  { userId, code, confirmed }: { userId: string; code: string; confirmed: boolean },
  now: number,
): Promise<number | null> {
  const [row] = await query<{ sealed: Uint8Array; key_id: string }>(
    'SELECT sealed, key_id FROM second_factors WHERE user_id = $1 AND (confirmed_at IS NOT NULL) = $2 FOR UPDATE',
    [userId, confirmed],
  );
  return row ? stepOf(keyring.open(place(userId), row.key_id, row.sealed), code, now) : null;
}

/**
 * Removes it and ends the sessions of its account, but for one to keep. False: there was none, or one that was not confirmed
 * and never counted.
 */
export async function removeFactor(
  sql: Transaction,
  user: { id: string; name: string },
  { keep, ...by }: Pick<AuditRecord, 'actor' | 'address' | 'action'> & { keep?: string | undefined },
): Promise<boolean> {
  const [row] = await sql.query<{ confirmed: boolean }>(
    'DELETE FROM second_factors WHERE user_id = $1 RETURNING confirmed_at IS NOT NULL AS confirmed',
    [user.id],
  );
  if (!row?.confirmed) return false;
  await sql.prisma.session.deleteMany({
    where: { userId: user.id, ...(keep !== undefined && { NOT: { id: keep } }) },
  });
  await rightsChanged(sql, user.id);
  const detail = { id: user.id, state: 'removed' };
  await audit(sql, { ...by, subject: `user ${user.name}`, detail });
  return true;
}
