import express, { type Request, type Response } from 'express';
import { Problem } from '../problem.ts';

/** Most bytes of a request body. */
export const BODY_BYTES = 256 * 1024;

const raw = express.raw({ type: () => true, limit: BODY_BYTES, inflate: false });
const utf8 = new TextDecoder('utf-8', { fatal: true });
/** RFC 8259: JSON between systems is UTF-8; `charset` may say so and nothing else. */
const JSON_TYPE = /^application\/json\s*(;\s*charset\s*=\s*"?utf-8"?\s*)?$/i;

/** Reads a JSON body as text, undefined when there is none. Problems: 413, 415, 400 for text that is not UTF-8. */
export async function readText(request: Request, response: Response): Promise<string | undefined> {
  const { 'content-length': length, 'transfer-encoding': chunked, 'content-type': type } = request.headers;
  if (chunked === undefined && (length === undefined || Number(length) === 0)) return undefined;
  if (!JSON_TYPE.test(type ?? ''))
    throw new Problem('unsupported_media_type', 'the body must be JSON (Content-Type: application/json)');
  const bytes = await new Promise<unknown>((resolve, reject) =>
    raw(request, response, (error: unknown) =>
      error === undefined ? resolve(request.body) : reject(problemOf(error)),
    ),
  );
  if (!(bytes instanceof Uint8Array) || bytes.length === 0) return undefined;
  try {
    return utf8.decode(bytes);
  } catch {
    throw new Problem('invalid_request', 'the body is not UTF-8');
  }
}

function problemOf(error: unknown): unknown {
  const { type } = (error ?? {}) as { type?: unknown };
  switch (type) {
    case 'entity.too.large':
      return new Problem('payload_too_large', `the body is larger than ${BODY_BYTES / 1024} KiB`);
    case 'encoding.unsupported':
      return new Problem('unsupported_media_type', 'the body must not be compressed');
    case 'request.aborted':
    case 'request.size.invalid':
      return new Problem('invalid_request', 'the body ended before it was complete');
    default:
      return error;
  }
}
