/** How mail is sent, as an administrator sets it. */
import type { MailSettings } from '@rollcall/shared/api/deliveries';
import { unix } from '../platform/db/page.ts';
import type { Sql } from '../platform/db/sql.ts';
import type { Actor, Handlers } from '../platform/http/handler.ts';
import { Problem } from '../platform/problem.ts';
import type { DeliveryDeps } from './deps.ts';
import { MAIL_PLACE } from './secrets.ts';

const UNSET: MailSettings = {
  host: '',
  port: 587,
  security: 'starttls',
  user: '',
  password: 'none',
  from: '',
  updatedAt: null,
};

export function mailHandlers({
  db,
  clock,
  audit,
  keyring,
}: DeliveryDeps): Handlers<'mail.get' | 'mail.update'> {
  const ownerOnly = ({ sites }: Actor): void => {
    if (sites !== 'all')
      throw new Problem('forbidden', 'only an administrator who sees every site sets how mail is sent');
  };
  const read = async (sql: Sql): Promise<MailSettings> => {
    const [row] = await sql.query<MailSettings>(
      `SELECT host, port, security, "user", CASE WHEN sealed IS NULL THEN 'none' ELSE 'set' END AS password,
         sender AS "from", ${unix('updated_at')} AS "updatedAt" FROM mail_settings`,
    );
    return row ?? UNSET;
  };
  return {
    'mail.get': async ({ actor }) => {
      ownerOnly(actor);
      return { data: await read(db) };
    },
    'mail.update': async ({ actor, body, address }) => {
      ownerOnly(actor);
      const { host, port, security, user, password, from } = body;
      const sealed = password ? keyring.seal(MAIL_PLACE, password) : null;
      const data = await db.transaction(async (sql) => {
        await sql.query(
          `INSERT INTO mail_settings (one, host, port, security, "user", sender, sealed, key_id, updated_at)
           VALUES (true, $1, $2, $3, $4, $5, $6, $7, $8)
           ON CONFLICT (one) DO UPDATE SET host = EXCLUDED.host, port = EXCLUDED.port, security = EXCLUDED.security,
             "user" = EXCLUDED."user", sender = EXCLUDED.sender, updated_at = EXCLUDED.updated_at,
             sealed = CASE WHEN $9 THEN EXCLUDED.sealed WHEN mail_settings.host = EXCLUDED.host THEN mail_settings.sealed END,
             key_id = CASE WHEN $9 THEN EXCLUDED.key_id WHEN mail_settings.host = EXCLUDED.host THEN mail_settings.key_id END`,
          [
            host,
            port,
            security,
            user,
            from,
            sealed?.sealed ?? null,
            sealed?.keyId ?? null,
            new Date(clock.now()),
            // The password of one server never goes to another; an empty one takes it away.
            password !== undefined,
          ],
        );
        await audit(sql, { actor, address, action: 'mail.update', subject: `mail server ${host || 'none'}` });
        return read(sql);
      });
      return { data };
    },
  };
}
