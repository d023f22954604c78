import type { Me } from '@rollcall/shared/api/accounts';
import type { Role } from '@rollcall/shared/model';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { createContext, type ReactNode, useContext, useEffect } from 'react';
import { ApiError, ask } from './api.ts';
import { ProblemView } from './components/problem.tsx';
import { followChanges } from './live.ts';
import { SignIn } from './pages/sign-in.tsx';

const Person = createContext<Me | undefined>(undefined);

/** Who is signed in. Only inside `SessionGate`. */
export function useMe(): Me {
  const me = useContext(Person);
  if (!me) throw new Error('outside of a session');
  return me;
}

const RANK: Record<Role, number> = { viewer: 0, operator: 1, admin: 2 };
/** Whether the person has a role or a higher one: what they may not do is not offered. */
export const useMay = (role: Role): boolean => RANK[useMe().user.role] >= RANK[role];

/** Shows the sign-in until there is a session, then follows what changes. */
export function SessionGate({ children }: { children: ReactNode }) {
  const client = useQueryClient();
  const session = useQuery({
    ...ask('session.get', {}),
    retry: (count, error) => !(error instanceof ApiError && error.status === 401) && count < 2,
    staleTime: 60_000,
  });
  const signedIn = session.data !== undefined;
  useEffect(() => (signedIn ? followChanges(client) : undefined), [signedIn, client]);
  // A session that ended elsewhere: any 401 leads back to the sign-in.
  useEffect(
    () =>
      client.getQueryCache().subscribe((event) => {
        if (event.type !== 'updated' || event.action.type !== 'error') return;
        if (
          event.action.error instanceof ApiError &&
          event.action.error.status === 401 &&
          event.query.queryKey[0] !== 'session'
        )
          void client.resetQueries({ queryKey: ['session'] });
      }),
    [client],
  );
  if (session.isPending) return null;
  if (session.data) return <Person value={session.data.data}>{children}</Person>;
  if (session.error instanceof ApiError && session.error.status === 401) return <SignIn />;
  return <ProblemView error={session.error} retry={() => void session.refetch()} />;
}
