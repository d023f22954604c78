import { Button } from '@mantine/core';
import type { OperationId } from '@rollcall/shared/api/index';
import type { Request } from '../../api.ts';
import { useAction } from '../../use-action.ts';

/** One click in a row of a list, done at once; `failed` heads the problem when it was not. */
export function ActionButton<Id extends OperationId>({
  id,
  request,
  done,
  failed,
  touches,
  children,
}: {
  id: Id;
  request: Request<Id>;
  done?: string;
  failed: string;
  touches?: readonly string[];
  children: string;
}) {
  const { run, pending } = useAction(id, { failed, ...(done && { done }), ...(touches && { touches }) });
  return (
    <Button size="compact-xs" variant="subtle" loading={pending} onClick={() => void run(request)}>
      {children}
    </Button>
  );
}
