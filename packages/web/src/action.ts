import type { OperationId } from '@rollcall/shared/api/index';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type CallOptions, call, type Request, type Result } from './api.ts';
import { say, sayProblem } from './components/problem.tsx';

export interface Action<Id extends OperationId> {
  /** Undefined when it failed, which has been said. */
  run: (request: Request<Id>, options?: CallOptions) => Promise<Result<Id> | undefined>;
  pending: boolean;
}

/**
 * An operation that changes something: what it touches is asked again at once, the rest comes by the live stream.
 * `done` is said when it worked; `failed` heads the problem when it did not.
 */
export function useAction<Id extends OperationId>(
  id: Id,
  {
    done,
    failed,
    touches = [],
  }: { done?: string | ((result: Result<Id>) => string); failed: string; touches?: readonly string[] },
): Action<Id> {
  const client = useQueryClient();
  const mutation = useMutation({
    mutationFn: ({ request, options }: { request: Request<Id>; options: CallOptions | undefined }) =>
      call(id, request, options),
    onSuccess: (result) => {
      for (const resource of [id.split('.')[0], ...touches])
        void client.invalidateQueries({ queryKey: [resource] });
      if (done) say(typeof done === 'string' ? done : done(result));
    },
    onError: (error) => sayProblem(failed, error),
  });
  return {
    run: (request, options) => mutation.mutateAsync({ request, options }).catch(() => undefined),
    pending: mutation.isPending,
  };
}

/** Asks everything about some resources again, after a form changed one of them. */
export function useRefresh(): (...resources: string[]) => void {
  const client = useQueryClient();
  return (...resources) => {
    for (const resource of resources) void client.invalidateQueries({ queryKey: [resource] });
  };
}
