/** How one REST operation is described. Routes, OpenAPI, the authorisation matrix and the web client come from it. */
import { z } from 'zod';
import type { Role } from '../model.ts';

/**
 * Who may call: `public` nobody in particular; a role means "this role or a higher one".
 * Where the caller names a site, access to that site is checked besides.
 */
export type Access = 'public' | Role;

export type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';

/**
 * Shape of the answer's body: one `data`, a list of `data`, `data` itself as other programs read it, or a document that its
 * handler writes (OpenAPI, metrics, stream).
 */
export type Envelope = 'item' | 'list' | 'none' | 'raw';

/** Days as YYYY-MM-DD, in UTC. `instead` names the operation to use from now on, `GET /api/…`. */
export interface Deprecation {
  since: string;
  sunset: string;
  instead?: string;
}

/** Least days between `since` and `sunset`. */
export const NOTICE_DAYS = { stable: 365, other: 90 };

export interface Operation {
  method: Method;
  /** Express-free path: `/api/devices/{id}`. */
  path: string;
  tag: string;
  summary: string;
  description?: string;
  /** Named in the customer's document: never changed incompatibly. */
  stable?: boolean;
  /** It ends: told by headers of every answer and in OpenAPI. docs/api.md has the policy. */
  deprecated?: Deprecation;
  access: Access;
  /** A token is enough (default); `session` operations need a signed-in person. */
  by?: 'any' | 'session';
  params?: z.ZodObject;
  query?: z.ZodObject;
  body?: z.ZodType;
  /** The `data` of the answer: the item, or one element of a list. */
  data: z.ZodType;
  /** What a line of the CSV of a list has, where it is not an element: of the body come any number of lines. */
  csv?: { row: z.ZodType; rowsOf(body: object): object[] };
  /** Members beside `data` at the top level of the envelope (`token`, `scanId`). */
  extra?: z.ZodObject;
  envelope: Envelope;
  /** Media type of an answer without an envelope, JSON when absent. `text/event-stream` stays open until either side ends it. */
  produces?: string;
  /** Status of success, 200 when absent. 303 leads a browser on, by the header `Location`. */
  status?: 200 | 201 | 202 | 303;
  /** Error codes this operation answers beyond those every operation may give. */
  errors?: readonly ErrorCode[];
  /** A body that works, for the documentation and its test. */
  example?: unknown;
}

/** The closed list of error codes and the status each is answered with. */
export const ERROR_STATUS = {
  invalid_request: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  payload_too_large: 413,
  unsupported_media_type: 415,
  rate_limited: 429,
  internal: 500,
  unavailable: 503,
} as const;
export type ErrorCode = keyof typeof ERROR_STATUS;

export const errorBody = z.object({
  success: z.literal(false),
  error: z.object({
    code: z.enum(Object.keys(ERROR_STATUS) as [ErrorCode, ...ErrorCode[]]).meta({ id: 'ErrorCode' }),
    message: z.string(),
    details: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
    requestId: z.string(),
  }),
});
export type ErrorBody = z.infer<typeof errorBody>;

/** What the mount and the document add to an operation: a closed answer to "which errors can this give?". */
export function errorCodes(operation: Operation): ErrorCode[] {
  const codes = new Set<ErrorCode>(['invalid_request', 'rate_limited', 'internal', 'unavailable']);
  if (operation.access !== 'public') codes.add('unauthorized').add('forbidden');
  if (operation.params) codes.add('not_found');
  if (operation.method !== 'GET')
    codes.add('forbidden').add('payload_too_large').add('unsupported_media_type');
  for (const code of operation.errors ?? []) codes.add(code);
  return (Object.keys(ERROR_STATUS) as ErrorCode[]).filter((code) => codes.has(code));
}

/** Whether a list answers in pages: its query takes `page` and `pageSize`. */
const isPaged = (operation: Operation): boolean => operation.query?.shape.page !== undefined;

/** The whole body of a successful answer. */
export function responseBody(operation: Operation): z.ZodType {
  if (operation.envelope === 'raw' || operation.envelope === 'none') return operation.data;
  const many = operation.envelope === 'list';
  return z.strictObject({
    success: z.literal(true),
    ...operation.extra?.shape,
    data: many ? z.array(operation.data) : operation.data,
    ...(many && { totalCount: z.int().min(0).meta({ description: 'Items on all pages.', example: 1 }) }),
    ...(many && isPaged(operation) && { page: z.int().min(1), pageSize: z.int().min(1).max(PAGE_SIZE_MOST) }),
  });
}

/** What every answer of a deprecated operation bears: RFC 9745 and RFC 8594. */
export function deprecationHeaders({ deprecated }: Operation): Record<string, string> {
  if (!deprecated) return {};
  return {
    Deprecation: `@${Date.parse(deprecated.since) / 1000}`,
    Sunset: new Date(deprecated.sunset).toUTCString(),
  };
}

const EXAMPLE_ID = '019aa3c4-5b00-7000-8000-000000000001';

/** Id of a thing. */
export const id = z.uuid().meta({ description: 'UUID, version 7.', example: EXAMPLE_ID });

/** Path parameters never answer 400: what does not parse does not exist, 404. */
export const idParams = z.strictObject({ id: z.uuid().toLowerCase().meta({ example: EXAMPLE_ID }) });

export const PAGE_SIZE = 25;
export const PAGE_SIZE_MOST = 1000;

/** More digits than any bound has: what is too much is told as that, such as milliseconds for seconds. */
const digits = (least: number, most: number) =>
  z
    .string()
    .regex(/^\d{1,15}$/, 'must be a whole number')
    .transform(Number)
    .pipe(z.int().min(least).max(most));

/** A query value that is a whole number; query values arrive as text. */
export const wholeNumber = digits;

/** A query value in Unix seconds. */
export const queryTime = z
  .string()
  .regex(/^(?!\d{12,15}$)/, 'must be Unix seconds; these look like milliseconds')
  .pipe(digits(0, 9_999_999_999));

/** Paging members of every list query. */
export const paging = {
  page: digits(1, 1_000_000_000).default(1).meta({ description: 'Page, 1-based.', example: 1 }),
  pageSize: digits(1, PAGE_SIZE_MOST)
    .default(PAGE_SIZE)
    .meta({ description: 'Items per page.', example: 25 }),
};

/** `sort=field` or `sort=-field` out of a closed list. */
export const sortBy = <F extends string>(fields: readonly F[]) =>
  z
    .enum([...fields, ...fields.map((f) => `-${f}` as const)] as [F | `-${F}`, ...(F | `-${F}`)[]])
    .optional()
    .meta({ description: 'Field to order by; `-` in front for descending.' });

/** `site` of every list query: handlers get its id. Who has no access to it is answered 403. */
export const siteFilter = z
  .string()
  .max(100)
  .refine((text) => !/\p{Cc}/u.test(text), 'must not contain control characters')
  .optional()
  .meta({ description: 'Only this site, by id or name.', example: 'Berlin' });

/** Several codes separated by commas, each out of a closed list. */
export const codes = <C extends string>(allowed: readonly C[] | z.ZodType<C>) =>
  z
    .string()
    .max(400)
    .transform((text) => text.split(',').map((part) => part.trim()))
    .pipe(
      z
        .array(
          (allowed instanceof z.ZodType ? allowed : z.enum(allowed as unknown as [C, ...C[]])) as z.ZodType<
            C,
            string
          >,
        )
        .min(1)
        .max(50),
    );

/** Ids separated by commas. */
export const ids = (most: number) =>
  z
    .string()
    .max(most * 40)
    .transform((text) => text.split(',').map((part) => part.trim().toLowerCase()))
    .pipe(z.array(z.uuid()).min(1).max(most));

/** Numeric codes separated by commas. */
export const numericCodes = (least: number, most: number) =>
  z
    .string()
    .max(100)
    .transform((text) => text.split(',').map((part) => part.trim()))
    .pipe(z.array(digits(least, most)).min(1).max(20));

/**
 * A parameter that may be given several times. In a query every other one is refused when it comes twice; an array
 * schema is what tells them apart.
 */
export const repeated = <T extends z.ZodType>(item: T, most = 20) => z.array(item).min(1).max(most);

/** One line of text: trimmed, composed (NFC), without control characters. Lengths in UTF-16 units. */
export const line = (most: number, least = 1) =>
  z
    .string()
    .normalize('NFC')
    .trim()
    .min(least)
    .max(most)
    .refine((text) => !/\p{Cc}/u.test(text), 'must not contain control characters');

/** Unix seconds. */
export const unixSeconds = z.int().meta({ description: 'Unix seconds.', example: 1_763_700_000 });

/** What an operation says beyond the usual of its kind, or instead of it. */
type More = Partial<Omit<Operation, 'method' | 'path' | 'tag' | 'access' | 'summary'>>;
type Nothing = Record<never, never>;
type Over<Usual, Own> = Omit<Usual, keyof Own> & Own;

/** The operations on things of one kind that many kinds have; `act` is `POST …/{id}/verb`. */
export function resource<const Path extends string, const Tag extends string, Data extends z.ZodType>(
  path: Path,
  tag: Tag,
  data: Data,
) {
  const kind =
    <const Usual extends object>(usual: Usual) =>
    <const Of extends Access, const Summary extends string, const Own extends More = Nothing>(
      access: Of,
      summary: Summary,
      own?: Own,
    ) =>
      ({ tag, access, summary, ...usual, ...own }) as unknown as Over<
        Usual & { tag: Tag; access: Of; summary: Summary },
        NoInfer<Own>
      >;
  const one = { path: `${path}/{id}`, params: idParams, envelope: 'item' } as const;
  return {
    list: kind({ method: 'GET', path, data, envelope: 'list' }),
    get: kind({ ...one, method: 'GET', data }),
    create: kind({ method: 'POST', path, data, envelope: 'item', status: 201 }),
    update: kind({ ...one, method: 'PATCH', data }),
    remove: kind({ ...one, method: 'DELETE', data: z.null() }),
    act: <const Verb extends string>(verb: Verb) =>
      kind({ ...one, method: 'POST', path: `${path}/{id}/${verb}` as const, data }),
  };
}
