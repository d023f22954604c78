import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { ProblemView } from './problem.tsx';

/**
 * What a query answered, once it has; why not, when it failed. `frame` is put around what is shown instead of it: null
 * until there is an answer.
 */
export function Loaded<T>({
  query,
  frame = (instead) => instead,
  children,
}: {
  query: UseQueryResult<T>;
  frame?: (instead: ReactNode) => ReactNode;
  children: (data: T) => ReactNode;
}) {
  if (query.data !== undefined) return children(query.data);
  return frame(query.error && <ProblemView error={query.error} retry={() => void query.refetch()} />);
}
