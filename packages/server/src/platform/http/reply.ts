/** From what a handler gives back to the answer: envelope, validator, and lists as CSV to who prefers that. */
import { type Operation, responseBody } from '@rollcall/shared/api/operation';
import type { Request, Response } from 'express';
import { JSON_TYPE, send } from './answer.ts';
import { csvOf, rowOf } from './csv.ts';
import { etagOfText, matches } from './etag.ts';

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
    const type = operation.produces === undefined ? JSON_TYPE : `${operation.produces}; charset=utf-8`;
    const text = operation.produces === undefined ? JSON.stringify(answer.data) : String(answer.data);
    return revalidate(asked, text, () => send(response, type, text));
  }
  const body = envelope(operation, answer, asked.query);
  if (asked.check) checkBody(operation, body);
  if (operation.method !== 'GET') return send(response, JSON_TYPE, JSON.stringify(body));
  if (operation.envelope === 'item') {
    // A thing is compared by itself, as `If-Match` does. It is written once: some are of megabytes, and hold up others.
    const { data, ...around } = body;
    const shown = JSON.stringify(data);
    const text = () => `${JSON.stringify(around).slice(0, -1)},"data":${shown}}`;
    return revalidate(asked, shown, () => send(response, JSON_TYPE, text()));
  }
  response.vary('Accept');
  const asCsv = prefersCsv(request);
  if (asCsv) response.setHeader('X-Total-Count', String(answer.totalCount));
  const text = asCsv
    ? csvOf(rowOf(operation), operation.csv?.rowsOf(body) ?? (answer.data as unknown[]))
    : JSON.stringify(body);
  revalidate(asked, text, () => send(response, asCsv ? CSV_TYPE : JSON_TYPE, text));
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
function revalidate({ request, response }: Asked, shown: string, sendIt: () => void): void {
  const etag = etagOfText(shown);
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
