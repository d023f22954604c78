/** How one REST operation is described. Routes, OpenAPI, the authorisation matrix and the web client come from it. */
import { z } from 'zod';
import type { Role } from '../model.ts';

/**
 * Who may call: `public` nobody in particular; a role means "this role or a higher one".
 * Where the caller names a site, access to that site is checked besides.
 */
export type Access = 'public' | Role;

export type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';

/** Shape of the answer's body: one `data`, a page of `data`, or a document of its own (OpenAPI, metrics, stream). */
export type Envelope = 'item' | 'list' | 'raw';

export interface Operation {
  method: Method;
  /** Express-free path: `/api/devices/{id}`. */
  path: string;
  tag: string;
  summary: string;
  description?: string;
  /** Named in the customer's document: never changed incompatibly. */
  stable?: boolean;
  access: Access;
  /** A bearer token is enough (default); `session` operations need a signed-in person. */
  by?: 'any' | 'session';
  params?: z.ZodObject;
  query?: z.ZodObject;
  body?: z.ZodType;
  /** The `data` of the answer: the item, or one element of a list. */
  data: z.ZodType;
  /** Members beside `data` at the top level of the envelope (`token`, `scanId`). */
  extra?: z.ZodObject;
  envelope: Envelope;
  /** Status of success, 200 when absent. */
  status?: 200 | 201 | 202;
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
    code: z.enum(Object.keys(ERROR_STATUS) as [ErrorCode, ...ErrorCode[]]),
    message: z.string(),
    details: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
    requestId: z.string(),
  }),
});
export type ErrorBody = z.infer<typeof errorBody>;

/** A UUID, or anything else that then simply does not exist: a bad id is 404, never 400. */
export const idParams = z.strictObject({ id: z.string().max(200) });

export const PAGE_SIZE = 25;
export const PAGE_SIZE_MOST = 1000;

const digits = (least: number, most: number) =>
  z
    .string()
    .regex(/^\d{1,10}$/, 'must be a whole number')
    .transform(Number)
    .pipe(z.int().min(least).max(most));

/** Paging members of every list query. Query values arrive as strings. */
export const paging = {
  page: digits(1, 1_000_000_000).default(1).meta({ description: 'Page, 1-based.', example: 1 }),
  pageSize: digits(1, PAGE_SIZE_MOST).default(PAGE_SIZE).meta({ description: 'Items per page.', example: 25 }),
};

/** `sort=field` or `sort=-field` out of a closed list. */
export const sortBy = <F extends string>(fields: readonly F[]) =>
  z
    .enum([...fields, ...fields.map((f) => `-${f}` as const)] as [F | `-${F}`, ...(F | `-${F}`)[]])
    .optional()
    .meta({ description: 'Field to order by; `-` in front for descending.' });

/** Several codes separated by commas, each out of a closed list. */
export const codes = <C extends string>(allowed: readonly C[]) =>
  z
    .string()
    .max(400)
    .transform((text) => text.split(',').map((part) => part.trim()))
    .pipe(z.array(z.enum(allowed as unknown as [C, ...C[]])).min(1).max(50));

/** Numeric codes separated by commas. */
export const numericCodes = (least: number, most: number) =>
  z
    .string()
    .max(100)
    .transform((text) => text.split(',').map((part) => part.trim()))
    .pipe(z.array(digits(least, most)).min(1).max(20));

export const wholeNumber = digits;

/** Unix seconds. */
export const unixSeconds = z.int().meta({ description: 'Unix seconds.', example: 1_763_700_000 });
