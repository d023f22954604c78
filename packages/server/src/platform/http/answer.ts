/** How answers leave: one writer, one error shape. */
import { ERROR_STATUS, type ErrorBody } from '@rollcall/shared/api/operation';
import type { Request, Response } from 'express';
import type { Logger } from 'pino';
import { databaseAway, sqlState, unavailable } from '../db/db.ts';
import { Problem } from '../problem.ts';

/** SQLSTATE of a statement that ran into its timeout (PostgreSQL, appendix A). */
const QUERY_CANCELED = '57014';

export const JSON_TYPE = 'application/json; charset=utf-8';

export function send(response: Response, type: string, text: string): void {
  const bytes = Buffer.from(text);
  response.setHeader('Content-Type', type);
  response.setHeader('Content-Length', bytes.length);
  response.end(bytes);
}

/** What a caller may know about an error: a problem as it is, an absent database, and nothing else. */
export function asProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (databaseAway(error)) return unavailable(error);
  if (sqlState(error) === QUERY_CANCELED)
    return new Problem('unavailable', 'this took too long; ask for less, or try again', {
      headers: { 'Retry-After': '5' },
      cause: error,
    });
  // Express: a path that cannot be percent-decoded.
  if (error instanceof URIError)
    return new Problem('invalid_request', 'the address is not valid percent-encoding');
  return new Problem('internal', 'something went wrong here; the log has it under this request id', {
    cause: error,
  });
}

const hasBody = ({ headers }: Request): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

export function sendProblem(
  response: Response,
  problem: Problem,
  { log, error, request }: { log: Logger; error: unknown; request: Request },
): void {
  const requestId = response.locals.requestId as string;
  const status = problem.status ?? ERROR_STATUS[problem.code];
  if (status >= 500)
    log.error({ requestId, operation: response.locals.operation, err: error }, problem.message);
  if (response.headersSent) {
    // Too late for a status: only cutting the connection tells the client that the answer is not whole.
    response.destroy();
    return;
  }
  for (const [name, value] of Object.entries(problem.headers)) response.setHeader(name, value);
  response.removeHeader('ETag');
  response.setHeader('Cache-Control', 'no-store');
  // The rest of a refused body is not worth reading. (A request without a body may not be complete yet, either.)
  if (!request.complete && hasBody(request)) response.setHeader('Connection', 'close');
  response.status(status);
  const body: ErrorBody = {
    success: false,
    error: {
      code: problem.code,
      message: problem.message,
      ...(problem.details && { details: problem.details }),
      requestId,
    },
  };
  send(response, JSON_TYPE, JSON.stringify(body));
}
