/** What is sealed of subscriptions and of the mail server. */
import { Secret } from '@rollcall/shared/secret';
import { z } from 'zod';
import type { Transaction } from '../platform/db/db.ts';
import type { Keyring } from '../platform/keys/keyring.ts';
import type { MailServer } from './send.ts';
import { newSecret } from './signature.ts';

/** A secret that was replaced signs along this long. */
const OLD_MS = 24 * 3600_000;

const hookSecrets = z.object({
  current: z.string(),
  previous: z.string().optional(),
  /** Unix milliseconds. */
  previousUntil: z.number().optional(),
  /** Of the receiver: a format may want one. */
  key: z.string().optional(),
});
type HookSecrets = z.infer<typeof hookSecrets>;

export interface SealedRow {
  id: string;
  sealed: Uint8Array;
  keyId: string;
}

const place = (id: string) => ({ table: 'subscriptions', row: id });

/** A new secret of a webhook, sealed. With `row` it replaces that one's. */
export function makeSecret(
  keyring: Keyring,
  id: string,
  now: number,
  { row, key }: { row?: SealedRow; key?: string | undefined } = {},
) {
  const secret = newSecret();
  const before = row && open(keyring, row);
  const kept = key ?? before?.key;
  const parts: HookSecrets = {
    current: secret,
    ...(before && { previous: before.current, previousUntil: now + OLD_MS }),
    ...(kept !== undefined && { key: kept }),
  };
  return { secret, ...keyring.seal(place(id), JSON.stringify(parts)) };
}

const open = (keyring: Keyring, { id, keyId, sealed }: SealedRow): HookSecrets =>
  hookSecrets.parse(JSON.parse(keyring.open(place(id), keyId, sealed)));

/** The same secrets with another key of the receiver. @throws SealBroken */
export const withKey = (keyring: Keyring, row: SealedRow, key: string) =>
  keyring.seal(place(row.id), JSON.stringify({ ...open(keyring, row), key }));

/** The secrets that sign now, the newest first, and the key of the receiver. @throws SealBroken */
export function secretsOf(
  keyring: Keyring,
  row: SealedRow,
  now: number,
): { signing: string[]; key: string | undefined } {
  const { current, previous, previousUntil = 0, key } = open(keyring, row);
  return { signing: previous !== undefined && now < previousUntil ? [current, previous] : [current], key };
}

export const MAIL_PLACE = { table: 'mail_settings', row: 'mail' };

/** The mail server; null while none is set. @throws SealBroken */
export async function readMailServer({ prisma }: Transaction, keyring: Keyring): Promise<MailServer | null> {
  const row = await prisma.mailSettings.findFirst({ where: { host: { not: '' } } });
  if (!row) return null;
  const { host, port, user, sender, sealed, keyId } = row;
  const security = row.security as MailServer['security'];
  const password = sealed && keyId ? new Secret(keyring.open(MAIL_PLACE, keyId, sealed)) : null;
  return { host, port, security, user, from: sender, password };
}
