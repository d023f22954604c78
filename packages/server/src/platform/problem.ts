import type { ErrorCode } from '@rollcall/shared/api/operation';

/**
 * The one error that features throw on purpose. Its message is read by the caller: it says what happened and what to
 * do, and never holds SQL, a stack or another library's text.
 */
export class Problem extends Error {
  readonly code: ErrorCode;
  readonly details: { path: string; message: string }[] | undefined;
  /** Extra response headers, such as `Retry-After`. */
  readonly headers: Record<string, string>;
  /** Where the status is not the code's own: 405 is an `invalid_request`. */
  readonly status: number | undefined;

  constructor(
    code: ErrorCode,
    message: string,
    more: {
      details?: { path: string; message: string }[];
      headers?: Record<string, string>;
      status?: number;
      cause?: unknown;
    } = {},
  ) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause });
    this.name = 'Problem';
    this.code = code;
    this.details = more.details;
    this.headers = more.headers ?? {};
    this.status = more.status;
  }
}

/** Something that does not exist, or that the caller may not know of: both read the same. */
export const notFound = (what: string): Problem => new Problem('not_found', `no such ${what}`);

export const invalid = (path: string, message: string): Problem =>
  new Problem('invalid_request', `${path}: ${message}`, { details: [{ path, message }] });
