import type { OperationId } from '@rollcall/shared/api/index';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type CallOptions, call, type Request, type Result } from './api.ts';
import { notify, notifyProblem } from './components/feedback/index.ts';

type Send = <Id extends OperationId>(
  id: Id,
  request: Request<Id>,
  options?: CallOptions,
) => Promise<Result<Id>>;

/** Asks everything about some resources again. */
export function useInvalidate(): (...resources: string[]) => void {
  const client = useQueryClient();
  return (...resources) => {
    for (const resource of resources) void client.invalidateQueries({ queryKey: [resource] });
  };
}

/** Calls an operation that changes something; its resource and those it `touches` are asked again. @throws ApiError */
export function useSend(...touches: string[]): Send {
  const refresh = useInvalidate();
  return async (id, request, options) => {
    const result = await call(id, request, options);
    refresh(id.split('.')[0] ?? id, ...touches);
    return result;
  };
}

/** The same operation for each of several, one after the other: says of how many it was `done`, and why not of the first that failed. */
export function useSendEach(...touches: string[]) {
  const refresh = useInvalidate();
  return async <Id extends OperationId>(
    id: Id,
    requests: readonly Request<Id>[],
    words: { done: (count: number) => string; failed: string },
  ): Promise<void> => {
    const failures: unknown[] = [];
    for (const request of requests) await call(id, request).catch((error) => failures.push(error));
    refresh(id.split('.')[0] ?? id, ...touches);
    const done = requests.length - failures.length;
    if (done > 0) notify(words.done(done));
    if (failures.length > 0) notifyProblem(`${words.failed}: ${failures.length}`, failures[0]);
  };
}

interface Action<Id extends OperationId> {
  /** Undefined when it failed, which has been said. */
  run: (request: Request<Id>, options?: CallOptions) => Promise<Result<Id> | undefined>;
  pending: boolean;
}

/** The same as one click: `done` is said when it worked; `failed` heads the problem when it did not. */
export function useAction<Id extends OperationId>(
  id: Id,
  {
    done,
    failed,
    touches = [],
  }: { done?: string | ((result: Result<Id>) => string); failed: string; touches?: readonly string[] },
): Action<Id> {
  const send = useSend(...touches);
  const { mutateAsync, isPending } = useMutation({
    mutationFn: ({ request, options }: { request: Request<Id>; options: CallOptions | undefined }) =>
      send(id, request, options),
  });
  const run: Action<Id>['run'] = async (request, options) => {
    try {
      const result = await mutateAsync({ request, options });
      if (done) notify(typeof done === 'string' ? done : done(result));
      return result;
    } catch (error) {
      notifyProblem(failed, error);
      return undefined;
    }
  };
  return { run, pending: isPending };
}
