/** From what a handler gives back to the answer: envelope, validator, and lists as CSV to who prefers that. */
import { type Operation, responseBody } from '@rollcall/shared/api/operation';
import type { Request, Response } from 'express';
import { JSON_TYPE, send } from './answer.ts';
import { csvOf, rowOf } from './csv.ts';
import { etagOf, matches } from './etag.ts';

/** The answer of a handler without the types of its operation. */
export interface Loose {
  data?: unknown;
  extra?: object;
  totalCount?: number;
  status?: number;
  headers?: Record<string, string | string[]>;
  raw?: (response: Response) => void | Promise<void>;
}

interface Asked {
  query: Record<string, unknown>;
  request: Request;
  response: Response;
  /** Whether an answer that breaks its schema is an error. */
  check: boolean;
}

const CSV_TYPE = 'text/csv; charset=utf-8; header=present';

export async function reply(operation: Operation, answer: Loose, asked: Asked): Promise<void> {
  const { request, response } = asked;
  response.status(answer.status ?? operation.status ?? 200);
  response.setHeader('Cache-Control', 'no-store');
  for (const [name, value] of Object.entries(answer.headers ?? {})) response.setHeader(name, value);
  if (answer.raw) {
    response.type(operation.produces ?? 'application/json');
    // A stream has no end to wait for: HEAD gets its headers.
    if (request.method === 'HEAD' && isStream(operation)) response.end();
    else await answer.raw(response);
    return;
  }
  if (operation.envelope === 'none') {
    if (asked.check) checkBody(operation, answer.data);
    return revalidate(asked, answer.data, () => sendPlain(response, operation.produces, answer.data));
  }
  const body = envelope(operation, answer, asked.query);
  if (asked.check) checkBody(operation, body);
  const sendJson = () => send(response, JSON_TYPE, JSON.stringify(body));
  if (operation.method !== 'GET') return sendJson();
  // A thing is compared by itself, as `If-Match` does.
  if (operation.envelope === 'item') return revalidate(asked, answer.data, sendJson);
  response.vary('Accept');
  if (!prefersCsv(request)) return revalidate(asked, body, sendJson);
  const rows = operation.csv ? operation.csv.rowsOf(body) : (answer.data as unknown[]);
  const csv = csvOf(rowOf(operation), rows);
  response.setHeader('X-Total-Count', String(answer.totalCount));
  revalidate(asked, csv, () => send(response, CSV_TYPE, csv));
}

/** A text of some type, or JSON. */
function sendPlain(response: Response, type: string | undefined, data: unknown): void {
  if (type === undefined) send(response, JSON_TYPE, JSON.stringify(data));
  else send(response, `${type}; charset=utf-8`, String(data));
}

/** Only who names it: what a browser means by `text/*` is something to read. */
function prefersCsv(request: Request): boolean {
  if (!/\btext\/csv\b/i.test(request.get('accept') ?? '')) return false;
  const type = request.accepts([
    'application/json',
    JSON_TYPE,
    'text/csv',
    'text/csv; charset=utf-8',
    CSV_TYPE,
  ]);
  return type !== false && type.startsWith('text/csv');
}

const envelope = (operation: Operation, { data, extra, totalCount }: Loose, query: Asked['query']) => ({
  success: true,
  ...extra,
  data,
  ...(operation.envelope === 'list' && { totalCount }),
  ...('page' in query && { page: query.page, pageSize: query.pageSize }),
});

/** Sends what is shown, unless the caller has just that. */
function revalidate({ request, response }: Asked, shown: unknown, sendIt: () => void): void {
  const etag = etagOf(shown);
  response.setHeader('ETag', etag);
  const known = request.get('if-none-match');
  if (known !== undefined && matches(known, etag)) response.vary('Accept-Encoding').status(304).end();
  else sendIt();
}

function checkBody(operation: Operation, body: unknown): void {
  const wire: unknown = JSON.parse(JSON.stringify(body));
  const result = responseBody(operation).safeParse(wire);
  if (!result.success)
    throw new Error(
      `answer of ${operation.method} ${operation.path} breaks its schema: ${result.error.message}`,
    );
}

export const isStream = (operation: Operation): boolean => operation.produces === 'text/event-stream';
