import routes from 'virtual:operations';
import type { OperationId, Operations } from '@rollcall/shared/api/index';
import { ROLES, type Role } from '@rollcall/shared/model';
import { queryOptions } from '@tanstack/react-query';
import type { z } from 'zod';
import { ApiError } from './api-error.ts';
import { wallToken } from './wall-token.ts';

type Input<Schema> = Schema extends z.ZodType ? z.input<Schema> : never;
type Values = Record<string, string | number | readonly string[] | undefined>;

type Part<Name extends string, Schema> = Schema extends z.ZodType ? Record<Name, Input<Schema>> : unknown;
/** `?k=v` as people write it: every value may be a text or a number, undefined ones are left out. */
type QueryOf<Schema> = Schema extends z.ZodType
  ? { query?: { [K in keyof Input<Schema>]?: Input<Schema>[K] | string | number | undefined } }
  : unknown;

export type Request<Id extends OperationId> = (Operations[Id] extends { params: infer P }
  ? Part<'params', P>
  : unknown) &
  (Operations[Id] extends { body: infer B } ? Part<'body', B> : unknown) &
  (Operations[Id] extends { query: infer Q } ? QueryOf<Q> : unknown);

/** What an operation takes in its body. */
export type Body<Id extends OperationId> = Operations[Id] extends { body: infer B } ? Input<B> : never;

/** Names that an operation takes in its query: filters, order, paging. */
export type QueryKey<Id extends OperationId> = Operations[Id] extends { query: infer Q extends z.ZodType }
  ? keyof z.input<Q> & string
  : never;

type Data<Id extends OperationId> = z.output<Operations[Id]['data']>;
type Extra<Id extends OperationId> = Operations[Id] extends { extra: infer E }
  ? E extends z.ZodType
    ? z.output<E>
    : unknown
  : unknown;
export type Result<Id extends OperationId> = (Operations[Id]['envelope'] extends 'list'
  ? { data: Data<Id>[]; totalCount: number }
  : { data: Data<Id> }) &
  Extra<Id> & {
    /** Version of what was read: given back as `ifMatch`, a change made in between is refused. */
    etag?: string;
  };

/** One item of an operation's answer. */
export type Item<Id extends OperationId> = Data<Id>;

/**
 * Address of an operation with its parameters: for requests, and for "copy as curl". Parameters that the operation does
 * not know are left out: pages keep some of their own in the address bar, and people add others.
 */
export function addressOf(
  id: OperationId,
  request: { params?: Values; query?: Values } = {},
): [method: string, url: string] {
  const [method, path, known] = routes[id];
  const url = path.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(String(request.params?.[name])),
  );
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(request.query ?? {}))
    for (const one of Array.isArray(value) ? value : [value])
      if (known.includes(key) && one !== undefined && one !== '') search.append(key, String(one));
  const text = search.toString();
  return [method, text ? `${url}?${text}` : url];
}

/** Whether a role may call an operation: the server asks the same table. */
export function isAllowed(id: OperationId, role: Role): boolean {
  const [, , , access] = routes[id];
  return access === 'public' || ROLES.indexOf(role) >= ROLES.indexOf(access);
}

export interface CallOptions {
  signal?: AbortSignal;
  ifMatch?: string | undefined;
  idempotencyKey?: string;
}

/** Calls one operation with the session's cookie. @throws ApiError */
export async function call<Id extends OperationId>(
  id: Id,
  request: Request<Id>,
  { signal, ifMatch, idempotencyKey }: CallOptions = {},
): Promise<Result<Id>> {
  const { body, ...rest } = request as Sent;
  const [method] = addressOf(id, rest);
  const headers: Record<string, string> = {};
  if (method !== 'GET') headers['Content-Type'] = 'application/json';
  if (ifMatch) headers['If-Match'] = ifMatch;
  if (idempotencyKey) headers['Idempotency-Key'] = idempotencyKey;
  const response = await send(id, { ...rest, body }, headers, signal);
  const answer = (await response.json().catch(() => undefined)) as
    | (Result<Id> & { success: true })
    | Failed
    | undefined;
  if (answer?.success) {
    const etag = response.headers.get('ETag');
    return etag ? { ...answer, etag } : answer;
  }
  throw failure(response, answer);
}

interface Sent {
  params?: Values;
  query?: Values;
  body?: unknown;
}
interface Failed {
  success: false;
  error: ConstructorParameters<typeof ApiError>[1];
}

const failure = ({ status }: Response, answer: Failed | undefined): ApiError =>
  new ApiError(status, answer?.error ?? { code: 'internal', message: `The server answered ${status}.` });

/** @throws ApiError when no answer came */
function send(
  id: OperationId,
  { body, ...rest }: Sent,
  headers: Record<string, string>,
  signal?: AbortSignal,
): Promise<Response> {
  const [method, url] = addressOf(id, rest);
  return fetch(url, {
    method,
    credentials: 'same-origin',
    headers: { ...headers, ...(wallToken && { Authorization: `Bearer ${wallToken}` }) },
    ...(method === 'GET' || method === 'DELETE' ? {} : { body: JSON.stringify(body ?? {}) }),
    ...(signal ? { signal } : {}),
  }).catch((error: unknown) => {
    if (signal?.aborted) throw error;
    throw new ApiError(0, {
      code: 'offline',
      message: 'The server cannot be reached. Check the connection and try again.',
    });
  });
}

/** Everything of a list as the server writes CSV, page after page, the line of names once. @throws ApiError */
export async function* csvPages(
  id: OperationId,
  query: Values,
  { pageSize, signal }: { pageSize: number; signal?: AbortSignal },
): AsyncGenerator<{ text: string; done: number; total: number }> {
  for (let page = 1; ; page += 1) {
    const response = await send(id, { query: { ...query, page, pageSize } }, { Accept: 'text/csv' }, signal);
    if (!response.ok) throw failure(response, await response.json().catch(() => undefined));
    const text = await response.text();
    const [done, total] = [page * pageSize, Number(response.headers.get('X-Total-Count'))];
    yield { text: page === 1 ? text : text.slice(text.indexOf('\r\n') + 2), done, total };
    if (done >= total) return;
  }
}

/** Query key of an operation: its resource first (`devices`), so that live changes can invalidate it as a whole. */
export const keyOf = <Id extends OperationId>(id: Id, request: Request<Id>) =>
  [...id.split('.'), request] as const;

/** Resources that the live stream keeps fresh; the others are asked again when their page is shown or refocused. */
const LIVE: ReadonlySet<string> = new Set([
  'devices',
  'interfaces',
  'topology',
  'events',
  'cases',
  'scans',
  'collectors',
  'sites',
  'summary',
  'maintenance',
]);

/** Options for `useQuery` and route loaders. */
export const apiQuery = <Id extends OperationId>(id: Id, request: Request<Id>) => {
  const live = LIVE.has(id.split('.')[0] ?? '');
  return queryOptions({
    queryKey: keyOf(id, request),
    queryFn: ({ signal }) => call(id, request, { signal }),
    staleTime: live ? Number.POSITIVE_INFINITY : 0,
    refetchOnWindowFocus: !live,
  });
};

/** The same for a form: read anew when it opens, and left alone while somebody types into it. */
export const editQuery = <Id extends OperationId>(id: Id, request: Request<Id>) =>
  queryOptions({
    queryKey: ['edit', ...keyOf(id, request)] as const,
    queryFn: ({ signal }) => call(id, request, { signal }),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    refetchOnWindowFocus: false,
  });

/** Everything of a list, page after page in the list's own order; what shows up on two pages comes once. */
export async function* allPages<Id extends OperationId>(
  id: Id,
  query: Values,
  signal?: AbortSignal,
): AsyncGenerator<{ items: Data<Id>[]; done: number; total: number }> {
  const pageSize = 1000;
  const seen = new Set<unknown>();
  for (let page = 1; ; page += 1) {
    const request = { query: { ...query, page, pageSize } } as unknown as Request<Id>;
    const answer = (await call(id, request, signal ? { signal } : {})) as unknown as {
      data: (Data<Id> & { id: string })[];
      totalCount: number;
    };
    const items = answer.data.filter((item) => !seen.has(item.id));
    for (const item of items) seen.add(item.id);
    yield { items, done: seen.size, total: answer.totalCount };
    if (answer.data.length === 0 || page * pageSize >= answer.totalCount) return;
  }
}
