import routes from 'virtual:operations';
import type { OperationId, Operations } from '@rollcall/shared/api/index';
import type { ErrorCode } from '@rollcall/shared/api/operation';
import { queryOptions } from '@tanstack/react-query';
import type { z } from 'zod';

type Input<Schema> = Schema extends z.ZodType ? z.input<Schema> : never;
type Values = Record<string, string | number | readonly string[] | undefined>;

type Part<Name extends string, Schema> = Schema extends z.ZodType ? Record<Name, Input<Schema>> : unknown;
/** `?k=v` as people write it: every value may be a number, undefined ones are left out. */
type QueryOf<Schema> = Schema extends z.ZodType
  ? { query?: { [K in keyof Input<Schema>]?: Input<Schema>[K] | number | undefined } }
  : unknown;

export type Request<Id extends OperationId> = (Operations[Id] extends { params: infer P }
  ? Part<'params', P>
  : unknown) &
  (Operations[Id] extends { body: infer B } ? Part<'body', B> : unknown) &
  (Operations[Id] extends { query: infer Q } ? QueryOf<Q> : unknown);

type Data<Id extends OperationId> = z.output<Operations[Id]['data']>;
type Extra<Id extends OperationId> = Operations[Id] extends { extra: infer E }
  ? E extends z.ZodType
    ? z.output<E>
    : unknown
  : unknown;
export type Result<Id extends OperationId> = (Operations[Id]['envelope'] extends 'list'
  ? { data: Data<Id>[]; totalCount: number }
  : { data: Data<Id> }) &
  Extra<Id>;

/** One item of an operation's answer. */
export type Item<Id extends OperationId> = Data<Id>;

/** What the server answered instead of success; `message` is written for people. */
export class ApiError extends Error {
  readonly code: ErrorCode | 'offline';
  readonly status: number;
  readonly requestId: string | undefined;
  readonly details: { path: string; message: string }[];
  constructor(
    status: number,
    error: {
      code: ErrorCode | 'offline';
      message: string;
      requestId?: string;
      details?: { path: string; message: string }[];
    },
  ) {
    super(error.message);
    this.name = 'ApiError';
    this.status = status;
    this.code = error.code;
    this.requestId = error.requestId;
    this.details = error.details ?? [];
  }
}

/** Address of an operation with its parameters: for requests, and for "copy as curl". */
export function addressOf(
  id: OperationId,
  request: { params?: Values; query?: Values } = {},
): [method: string, url: string] {
  const [method, path] = routes[id];
  const url = path.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(String(request.params?.[name])),
  );
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(request.query ?? {}))
    for (const one of Array.isArray(value) ? value : [value])
      if (one !== undefined && one !== '') search.append(key, String(one));
  const text = search.toString();
  return [method, text ? `${url}?${text}` : url];
}

/** Calls one operation with the session's cookie. @throws ApiError */
export async function call<Id extends OperationId>(
  id: Id,
  request: Request<Id>,
  signal?: AbortSignal,
): Promise<Result<Id>> {
  const { body, ...rest } = request as { params?: Values; query?: Values; body?: unknown };
  const [method, url] = addressOf(id, rest);
  const response = await fetch(url, {
    method,
    credentials: 'same-origin',
    headers: method === 'GET' ? {} : { 'Content-Type': 'application/json' },
    ...(method === 'GET' || method === 'DELETE' ? {} : { body: JSON.stringify(body ?? {}) }),
    ...(signal ? { signal } : {}),
  }).catch((error: unknown) => {
    if (signal?.aborted) throw error;
    throw new ApiError(0, {
      code: 'offline',
      message: 'The server cannot be reached. Check the connection and try again.',
    });
  });
  const answer = (await response.json().catch(() => undefined)) as
    | (Result<Id> & { success: true })
    | { success: false; error: ConstructorParameters<typeof ApiError>[1] }
    | undefined;
  if (answer?.success) return answer;
  throw new ApiError(
    response.status,
    answer?.error ?? { code: 'internal', message: `The server answered ${response.status}.` },
  );
}

/** Query key of an operation: its resource first (`devices`), so that live changes can invalidate it as a whole. */
export const keyOf = <Id extends OperationId>(id: Id, request: Request<Id>) =>
  [...id.split('.'), request] as const;

/** Options for `useQuery` and route loaders. */
export const ask = <Id extends OperationId>(id: Id, request: Request<Id>) =>
  queryOptions({ queryKey: keyOf(id, request), queryFn: ({ signal }) => call(id, request, signal) });
