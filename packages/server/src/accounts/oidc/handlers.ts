/** Signing in with the provider of identities: there, and back. */
import type { OidcRefusal } from '@rollcall/shared/api/accounts';
import { attemptCookie, presentedAttempt } from '../../platform/access/presented.ts';
import { hashOf } from '../../platform/access/token.ts';
import type { Transaction } from '../../platform/db/db.ts';
import { holdLock } from '../../platform/db/lock.ts';
import type { Handlers } from '../../platform/http/handler.ts';
import type { OidcSettings } from '../../platform/ops/oidc-settings.ts';
import { rateLimitedLog } from '../../platform/ops/rate-limited-log.ts';
import { Problem } from '../../platform/problem.ts';
import { audit } from '../audit.ts';
import type { AccountDeps } from '../deps.ts';
import { beginSession, browserOf } from '../open-session.ts';
import { type Admitted, admit } from './account.ts';
import { ATTEMPT_MS, openAttempt, pageOf, sealAttempt } from './attempt.ts';
import { openProvider, type Person, type Provider, Refused } from './provider.ts';

type Ids = 'session.ways' | 'session.oidc' | 'session.callback';

export function oidcHandlers(deps: AccountDeps): Handlers<Ids> {
  const { keyring, clock, oidc: settings } = deps;
  const provider = settings && openProvider(settings, clock);
  const refuse = refuser(deps);

  return {
    'session.ways': async () => ({
      data: {
        oidc: settings ? { name: settings.name, start: `${settings.publicUrl}/api/session/oidc` } : null,
      },
    }),

    'session.oidc': async ({ query, secure, requestId, address }) => {
      const to = pageOf(query.to);
      const used = inUse(settings, provider);
      try {
        const { address: there, attempt } = await used.provider.begin();
        const cookie = sealAttempt(keyring, attempt, to, clock.now());
        return {
          data: null,
          headers: { Location: there, 'Set-Cookie': attemptCookie(secure, cookie, ATTEMPT_MS / 1000) },
        };
      } catch (error) {
        const fragment = await refuse(error, { requestId, address });
        return { data: null, headers: { Location: used.settings.publicUrl + to + fragment } };
      }
    },

    'session.callback': async (call) => {
      const { query, secure, requestId, address } = call;
      const used = inUse(settings, provider);
      const over = attemptCookie(secure, '', 0);
      const cookie = presentedAttempt(call.header('cookie'), secure);
      const kept = cookie === undefined ? null : openAttempt(keyring, cookie, clock.now());
      const page = used.settings.publicUrl + (kept?.to ?? '/');
      try {
        if (!kept || kept.state !== query.state)
          throw new Refused('stale', 'it did not begin in this browser within the last ten minutes');
        const { code, state, iss, error, error_description } = query;
        const person = await used.provider.complete({ code, state, iss, error, error_description }, kept);
        const session = await signIn(deps, used.settings, { person, state, browser: browserOf(call) });
        return {
          data: null,
          headers: { Location: `${page}#signed-in`, 'Set-Cookie': [over, session.cookie] },
        };
      } catch (error) {
        const fragment = await refuse(error, { requestId, address });
        return { data: null, headers: { Location: page + fragment, 'Set-Cookie': over } };
      }
    },
  };
}

function inUse(settings: OidcSettings | undefined, provider: Provider | undefined) {
  if (!settings || !provider)
    throw new Problem('not_found', 'there is no provider to sign in with; an administrator sets oidc.issuer');
  return { settings, provider };
}

/** Opens a session for a person, once for each `state`. @throws Refused */
async function signIn(
  { db, clock, forget, log }: AccountDeps,
  settings: OidcSettings,
  { person, state, browser }: { person: Person; state: string; browser: Parameters<typeof beginSession>[2] },
): Promise<{ cookie: string }> {
  const now = clock.now();
  const done = await db.transaction(async (sql) => {
    // One after the other: two first sign-ins of a person make one account.
    await holdLock(sql, 'sign-ins');
    if (!(await spend(sql, state, now))) return { refusal: 'stale' as const };
    const admitted = await admit(sql, person, settings, browser.address);
    if ('refusal' in admitted) return admitted;
    const session = await beginSession(sql, admitted.userId, browser, now);
    const { name, userId } = admitted;
    await audit(sql, {
      actor: { userId, name },
      action: 'session.create',
      address: browser.address,
      detail: detailOf(person, admitted),
    });
    return { session, admitted };
  });
  forget('admitted' in done ? done.admitted.userId : undefined);
  if ('refusal' in done)
    throw new Refused(done.refusal, `${person.name ?? person.subject} was not let in`, { person });
  const { missing, name } = done.admitted;
  if (missing.length > 0)
    log.warn(
      { user: name, missing },
      'oidc.rules names sites that do not exist: correct the rules or add the sites',
    );
  return done.session;
}

/** Whether this sign-in has not opened a session before. */
async function spend({ query }: Transaction, state: string, now: number): Promise<boolean> {
  const rows = await query(
    'INSERT INTO spent_sign_ins (state_hash, at) VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING 1',
    [hashOf(state), new Date(now)],
  );
  return rows.length === 1;
}

const detailOf = ({ issuer, subject, groups }: Person, admitted?: Admitted) => ({
  with: issuer,
  subject,
  groups: (groups ?? []).slice(0, 50),
  ...(admitted && {
    role: admitted.role,
    sites: admitted.allSites ? 'all' : admitted.siteIds,
    ...(admitted.missing.length > 0 && { missing: admitted.missing }),
  }),
});

/**
 * Notes a sign-in that came to nothing and answers the fragment that tells the page. What a person did is in the audit log;
 * what nobody is named for only in the log, now and then, because anybody can cause it.
 */
function refuser({ db, clock, log }: AccountDeps) {
  const tell = rateLimitedLog(clock, (refusal, count, reason) =>
    log.warn({ refusal, count, reason }, 'a sign-in with the provider came to nothing'),
  );
  return async (
    error: unknown,
    { requestId, address }: { requestId: string; address: string },
  ): Promise<string> => {
    if (!(error instanceof Refused)) throw error;
    const { refusal, person, message } = error;
    if (person)
      await audit(db, {
        actor: { name: (person.name ?? person.subject).slice(0, 200) },
        action: 'session.refused',
        address,
        detail: { reason: refusal, ...detailOf(person) },
      });
    tell(refusal, 1, `${message} (request ${requestId})`);
    return fragmentOf(refusal, requestId);
  };
}

const fragmentOf = (refusal: OidcRefusal, requestId: string): string => `#sign-in=${refusal}.${requestId}`;
