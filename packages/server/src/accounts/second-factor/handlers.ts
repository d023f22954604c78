/** What people do about their own second factor. */
import type { secondFactorOperations } from '@rollcall/shared/api/second-factor';
import { rightsChanged } from '../../platform/access/auth.ts';
import type { Actor, Handlers } from '../../platform/http/handler.ts';
import { invalid, Problem } from '../../platform/problem.ts';
import { audit } from '../audit.ts';
import type { AccountDeps } from '../deps.ts';
import { meOf, sessionOf } from '../me.ts';
import { lockAccount } from '../open-session.ts';
import { passwordFits } from '../password.ts';
import { loginThrottle, tooOften } from '../throttle.ts';
import { newRecoveryCodes } from './codes.ts';
import { beginFactor, confirmFactor, removeFactor, spendCode } from './factor.ts';

type Ids = Exclude<keyof typeof secondFactorOperations, 'users.resetSecondFactor'>;

const WRONG = 'is wrong, or was used before; wait for the next one, and compare the clock of the device';

export function secondFactorHandlers(deps: AccountDeps): Handlers<Ids> {
  const { db, clock, keyring, forget } = deps;
  const throttle = loginThrottle({ db, clock });
  const guessOf = async ({ name }: Actor, address: string) => {
    const guess = await throttle.begin(name, address);
    if ('waitMs' in guess) throw tooOften(guess.waitMs);
    return guess;
  };

  return {
    'secondFactor.begin': async ({ actor, body, address }) => {
      const guess = await guessOf(actor, address);
      const user = await db.prisma.user.findUnique({ where: { id: actor.userId } });
      if (user && user.passwordHash === null)
        throw new Problem(
          'conflict',
          'this account has no password here: its provider asks for a second factor',
        );
      if (!(await passwordFits(body.password, user?.passwordHash)))
        throw invalid('password', 'is not the present password');
      await guess.incomplete();
      const data = await db.transaction((sql) =>
        beginFactor(sql, keyring, { id: actor.userId, name: actor.name }),
      );
      if (!data) throw new Problem('conflict', 'there is a second factor already; remove it first');
      return { data };
    },

    'secondFactor.confirm': async ({ actor, body, address }) => {
      const { codes, hashes } = newRecoveryCodes();
      const { userId } = actor;
      await db.transaction(async (sql) => {
        await lockAccount(sql, userId);
        const row = await sql.prisma.secondFactor.findUnique({ where: { userId } });
        if (!row || row.confirmedAt) throw new Problem('conflict', 'no second factor is being set up');
        const confirmed = { userId, code: body.code, recovery: hashes };
        if (!(await confirmFactor(sql, keyring, confirmed, clock.now()))) throw invalid('code', WRONG);
        await sql.prisma.session.deleteMany({ where: { userId, NOT: { id: sessionOf(actor) ?? userId } } });
        await rightsChanged(sql, userId);
        await audit(sql, { actor, address, action: 'session.second-factor', detail: { state: 'set up' } });
      });
      forget(userId);
      return { data: await meOf(deps, userId, actor.via), extra: { recoveryCodes: codes } };
    },

    'secondFactor.remove': async ({ actor, body, address }) => {
      const { userId, name } = actor;
      const row = await db.prisma.secondFactor.findUnique({ where: { userId } });
      if (!row?.confirmedAt) throw new Problem('conflict', 'there is no second factor');
      const guess = await guessOf(actor, address);
      const fits = await db.transaction(async (sql) => {
        await lockAccount(sql, userId);
        if ((await spendCode(sql, keyring, { userId, code: body.code }, clock.now())) === null) return false;
        const by = { actor, address, action: 'session.second-factor', keep: sessionOf(actor) };
        return removeFactor(sql, { id: userId, name }, by);
      });
      if (!fits) {
        const detail = { reason: 'code', of: 'removal of the second factor' };
        await audit(db, { actor, action: 'session.refused', address, detail });
        throw invalid('code', WRONG);
      }
      await guess.succeeded();
      forget(userId);
      return { data: await meOf(deps, userId, actor.via) };
    },
  };
}
