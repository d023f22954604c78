import type { Me } from '@rollcall/shared/api/accounts';
import type { OperationId } from '@rollcall/shared/api/index';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { createContext, type ReactNode, Suspense, useContext, useEffect } from 'react';
import { apiQuery, call, isAllowed, keyOf, type Request, type Result } from './api.ts';
import { ApiError } from './api-error.ts';
import { notifyProblem, ProblemView } from './components/feedback/index.ts';
import { followChanges, pollChanges } from './live.ts';
import { SignIn } from './pages/sign-in.tsx';
import { arrivalOf } from './pages/sign-in-refusals.ts';
import { loadPreferences } from './preferences.ts';
import { useScheme } from './theme/scheme.ts';
import { wallToken } from './wall-token.ts';

const Person = createContext<Me | undefined>(undefined);

/** Who is signed in. Only inside `SessionGate`. */
export function useMe(): Me {
  const me = useContext(Person);
  if (!me) throw new Error('outside of a session');
  return me;
}

/** Whether the person may call an operation: what they may not do is not offered. */
export const useMay = (id: OperationId): boolean => isAllowed(id, useMe().user.role);

/** Whether the server runs as the demonstration and the person may break something in it. */
export function useHasLab(): boolean {
  const lab = { ...apiQuery('lab.get', {}), enabled: useMay('lab.get') };
  return Boolean(useQuery({ ...lab, staleTime: Number.POSITIVE_INFINITY }).data?.data);
}

const isSignedOut = (error: unknown): boolean => error instanceof ApiError && error.status === 401;

/** Whether this browser had a session: the cookie itself is not for scripts, and asking without one is an error. */
const HINT = 'rollcall.session';
const hint = {
  get: () => wallToken !== undefined || localStorage.getItem(HINT) !== null,
  set: (there: boolean) => (there ? localStorage.setItem(HINT, '1') : localStorage.removeItem(HINT)),
};

/** What the provider's way back says in the fragment, which is not for the address bar. */
const arrival = arrivalOf(location.hash);
if (arrival) history.replaceState(history.state, '', location.pathname + location.search);
if (arrival === 'signed-in') hint.set(true);

/** As in index.html, which shows it before there is any script. */
const Beginning = () => (
  <div className="beginning">
    <img src="/favicon.svg" alt="" width={38} height={38} />
    Rollcall
  </div>
);

/** Shows the sign-in until there is a session, then follows what changes. */
export function SessionGate({
  setUp,
  children,
}: {
  /** In place of all else, where the server demands a second factor and the account has none. */
  setUp: ReactNode;
  children: ReactNode;
}) {
  const client = useQueryClient();
  const { setColorScheme } = useScheme();
  const session = useQuery({
    ...apiQuery('session.get', {}),
    enabled: hint.get,
    retry: (count, error) => !isSignedOut(error) && count < 2,
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
  });
  const signedOut = isSignedOut(session.error) || !hint.get();
  const { data } = session;
  const me = signedOut ? undefined : data?.data;
  // Until the second factor is set up all else is refused.
  const id = me?.mustSetUp ? undefined : me?.user.id;

  useEffect(() => {
    if (id) return wallToken ? pollChanges(client) : followChanges(client);
  }, [id, client]);
  useEffect(() => {
    if (signedOut && !wallToken) hint.set(false);
  }, [signedOut]);
  const signedIn = (answer: Result<'session.get'>) => {
    hint.set(true);
    // Nothing of the person who was here before.
    client.removeQueries({ predicate: (query) => query.queryKey[0] !== 'session' });
    client.setQueryData(keyOf('session.get', {}), answer);
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each person, not for each reading of the session
  useEffect(() => {
    if (!me) return;
    // A shared wall has no preferences of its own to keep.
    if (wallToken) return;
    const { theme } = loadPreferences(me.user.settings, (settings) => {
      const body = { settings } as unknown as Request<'session.update'>['body'];
      call('session.update', { body }).catch((error) => notifyProblem('Not kept with your account', error));
    });
    setColorScheme(theme);
  }, [id]);
  // A session that ended elsewhere: any 401 leads back to the sign-in.
  useEffect(() => {
    const onError = (error: unknown) => {
      if (isSignedOut(error)) void client.invalidateQueries({ queryKey: ['session'] });
    };
    const queries = client.getQueryCache().subscribe((event) => {
      if (event.type === 'updated' && event.action.type === 'error' && event.query.queryKey[0] !== 'session')
        onError(event.action.error);
    });
    const mutations = client.getMutationCache().subscribe((event) => {
      if (event.type === 'updated' && event.action.type === 'error') onError(event.action.error);
    });
    return () => {
      queries();
      mutations();
    };
  }, [client]);

  if (me?.mustSetUp && me.via === 'session')
    return (
      <Person value={me}>
        <Suspense fallback={<Beginning />}>{setUp}</Suspense>
      </Person>
    );
  if (me) return <Person value={me}>{children}</Person>;
  if (signedOut && wallToken)
    return (
      <ProblemView
        error={new ApiError(401, { code: 'unauthorized', message: 'This link was revoked, or has ended.' })}
      />
    );
  if (signedOut)
    return <SignIn onSignedIn={signedIn} refused={arrival === 'signed-in' ? undefined : arrival} />;
  if (session.isPending) return <Beginning />;
  return <ProblemView error={session.error} retry={() => void session.refetch()} />;
}
