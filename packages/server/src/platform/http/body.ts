import express, { type Request, type Response } from 'express';
import { Problem } from '../problem.ts';

/** Most KiB of a request body. */
export const BODY_KIB = 256;
/** Of a caller who has not signed in: what these send is small, and anybody may send it. */
export const PUBLIC_BODY_KIB = 16;

const bytesUpTo = (kib: number) => express.raw({ type: () => true, limit: kib * 1024, inflate: false });
const readers = { [BODY_KIB]: bytesUpTo(BODY_KIB), [PUBLIC_BODY_KIB]: bytesUpTo(PUBLIC_BODY_KIB) };
const utf8 = new TextDecoder('utf-8', { fatal: true });
/** RFC 8259: JSON between systems is UTF-8; `charset` may say so and nothing else. */
const JSON_TYPE = /^application\/json\s*(;\s*charset\s*=\s*"?utf-8"?\s*)?$/i;

/** Reads a JSON body as text, undefined when there is none. Problems: 413, 415, 400 for text that is not UTF-8. */
export async function readText(
  request: Request,
  response: Response,
  most: typeof BODY_KIB | typeof PUBLIC_BODY_KIB,
): Promise<string | undefined> {
  const { 'content-length': length, 'transfer-encoding': chunked, 'content-type': type } = request.headers;
  if (chunked === undefined && (length === undefined || Number(length) === 0)) return undefined;
  if (!JSON_TYPE.test(type ?? ''))
    throw new Problem('unsupported_media_type', 'the body must be JSON (Content-Type: application/json)');
  const bytes = await new Promise<unknown>((resolve, reject) =>
    readers[most](request, response, (error: unknown) =>
      error === undefined ? resolve(request.body) : reject(problemOf(error, most)),
    ),
  );
  if (!(bytes instanceof Uint8Array) || bytes.length === 0) return undefined;
  try {
    return utf8.decode(bytes);
  } catch {
    throw new Problem('invalid_request', 'the body is not UTF-8');
  }
}

function problemOf(error: unknown, most: number): unknown {
  const { type } = (error ?? {}) as { type?: unknown };
  switch (type) {
    case 'entity.too.large':
      return new Problem('payload_too_large', `the body is larger than ${most} KiB`);
    case 'encoding.unsupported':
      return new Problem('unsupported_media_type', 'the body must not be compressed');
    case 'request.aborted':
    case 'request.size.invalid':
      return new Problem('invalid_request', 'the body ended before it was complete');
    default:
      return error;
  }
}
