/** What is sealed of subscriptions and of the mail server. */
import { Secret } from '@rollcall/shared/secret';
import { z } from 'zod';
import type { Transaction } from '../../platform/db/db.ts';
import type { Keyring } from '../../platform/keys/keyring.ts';
import type { MailServer } from '../channels/mail.ts';
import { newSecret } from '../channels/signature.ts';

/** A secret that was replaced signs along this long. */
const OLD_MS = 24 * 3600_000;

const hookSecrets = z.object({
  current: z.string(),
  previous: z.string().optional(),
  /** Unix milliseconds. */
  previousUntil: z.number().optional(),
  /** Of the receiver: a format may want one. */
  key: z.string().optional(),
  /** Values of its secret headers, by name in lower case. */
  headers: z.record(z.string(), z.string()).optional(),
});
type HookSecrets = z.infer<typeof hookSecrets>;

/** What a request gives of them. */
export interface Given {
  key?: string | undefined;
  headers?: Record<string, string | undefined> | undefined;
}

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
  { row, ...given }: { row?: SealedRow } & Given = {},
) {
  const secret = newSecret();
  const before = row && open(keyring, row);
  const parts: HookSecrets = {
    ...before,
    current: secret,
    ...(before && { previous: before.current, previousUntil: now + OLD_MS }),
  };
  return { secret, ...seal(keyring, id, combined(parts, given)) };
}

const seal = (keyring: Keyring, id: string, secrets: HookSecrets) =>
  keyring.seal(place(id), JSON.stringify(secrets));
const open = (keyring: Keyring, { id, keyId, sealed }: SealedRow): HookSecrets =>
  hookSecrets.parse(JSON.parse(keyring.open(place(id), keyId, sealed)));

/** The same secrets with others of the receiver. @throws SealBroken */
export const withGiven = (keyring: Keyring, row: SealedRow, given: Given) =>
  seal(keyring, row.id, combined(open(keyring, row), given));

/** A header that is named without a value keeps the one it has. */
function combined(before: HookSecrets, { key, headers }: Given): HookSecrets {
  const values = Object.entries(headers ?? {}).flatMap(([name, value = before.headers?.[name]]) =>
    value === undefined ? [] : [[name, value] as const],
  );
  return {
    ...before,
    ...(key !== undefined && { key }),
    ...(headers && { headers: Object.fromEntries(values) }),
  };
}

/** The secrets that sign now, the newest first, and those of the receiver. @throws SealBroken */
export function secretsOf(
  keyring: Keyring,
  row: SealedRow,
  now: number,
): { signing: string[]; key: string; headers: Record<string, string> } {
  const { current, previous, previousUntil = 0, key = '', headers = {} } = open(keyring, row);
  const signing = previous !== undefined && now < previousUntil ? [current, previous] : [current];
  return { signing, key, headers };
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
