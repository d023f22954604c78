/** How mail is sent, as an administrator sets it. */
import type { MailSettings } from '@rollcall/shared/api/deliveries';
import type { Transaction } from '../../platform/db/db.ts';
import { seconds } from '../../platform/db/list.ts';
import type { Actor, Handlers } from '../../platform/http/handler.ts';
import { Problem } from '../../platform/problem.ts';
import type { DeliveryDeps } from '../deps.ts';
import { MAIL_PLACE } from './secrets.ts';

/** The one row. */
const ONE = { one: true };
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
  const read = async ({ prisma }: Transaction): Promise<MailSettings> => {
    const row = await prisma.mailSettings.findUnique({ where: ONE });
    if (!row) return UNSET;
    const { host, port, user, sender, sealed, updatedAt } = row;
    const security = row.security as MailSettings['security'];
    const password = sealed === null ? 'none' : 'set';
    return { host, port, security, user, password, from: sender, updatedAt: seconds(updatedAt) };
  };
  return {
    'mail.get': async ({ actor }) => {
      ownerOnly(actor);
      return { data: await read(db) };
    },
    'mail.update': async ({ actor, body, address }) => {
      ownerOnly(actor);
      const { password, from, ...server } = body;
      const { host } = server;
      const data = await db.transaction(async (sql) => {
        const { mailSettings } = sql.prisma;
        // Locked: what another host was given meanwhile must not stay beside this one.
        await sql.query('SELECT 1 FROM mail_settings FOR UPDATE');
        const before = await mailSettings.findUnique({ where: ONE, select: { host: true } });
        // The password of one server never goes to another; an empty one takes it away.
        const forgets = password !== undefined || before?.host !== host;
        const secret = password
          ? keyring.seal(MAIL_PLACE, password)
          : forgets && { sealed: null, keyId: null };
        const row = { ...server, sender: from, updatedAt: new Date(clock.now()), ...secret };
        await mailSettings.upsert({ where: ONE, create: { ...ONE, ...row }, update: row });
        await audit(sql, { actor, address, action: 'mail.update', subject: `mail server ${host || 'none'}` });
        return read(sql);
      });
      return { data };
    },
  };
}
