/**
 * Mounts the table of operations on Express. Each request goes one way: identify → limit → access → parse → handler →
 * envelope; whatever goes wrong ends in one error shape. Knows operations, no feature.
 */
import { operations as allOperations } from '@rollcall/shared/api/index';
import { deprecationHeaders, type Operation } from '@rollcall/shared/api/operation';
import { ROLES, rolesFrom } from '@rollcall/shared/model';
import { isUuid, uuidv7 } from '@rollcall/shared/uuid';
import express, { type Express, type Request, type RequestHandler, type Response } from 'express';
import type { Logger } from 'pino';
import type { Authenticator } from '../access/auth.ts';
import { crossOrigin } from '../access/cors.ts';
import { forgery } from '../access/origin.ts';
import { type Credentials, readCredentials } from '../access/presented.ts';
import { Problem } from '../problem.ts';
import { asProblem, sendProblem } from './answer.ts';
import { BODY_KIB, PUBLIC_BODY_KIB, readText } from './body.ts';
import { compressAnswers } from './compress.ts';
import { markAuthenticated } from './connection-limits.ts';
import { type Actor, type Handlers, sees } from './handler.ts';
import { securityHeaders } from './headers.ts';
import { readBody, readParams, readQuery } from './input.ts';
import { rateLimit } from './limits.ts';
import { unmapped } from './peer.ts';
import { isStream, type Loose, reply } from './reply.ts';

export interface RestOptions {
  /** One per operation of the table. */
  handlers: Handlers;
  auth: Authenticator;
  log: Logger;
  /** The table, all operations when absent. Each of them needs its handler. */
  operations?: Record<string, Operation>;
  /** Addresses and CIDRs of reverse proxies whose X-Forwarded-* headers count. */
  trustedProxies?: readonly string[];
  /** Origins whose pages may ask the API with a token. */
  corsOrigins?: readonly string[];
  /** Who signs in with a password needs a second factor. */
  secondFactorRequired?: boolean;
  /** Requests per minute of one token or user; a tenth of it per address without either. 0: no limit. */
  ratePerMinute?: number;
  /** Test mode: an answer that does not fit its operation's schema becomes a 500. */
  checkResponses?: boolean;
  /** Called when a request is over. */
  observe?: (operationId: string, status: number, seconds: number) => void;
  /** Serves everything outside /api, such as the web application. */
  web?: RequestHandler;
}

/** An operation with its handler, without their types: the table checks these at compile time, the schemas at run time. */
interface Route {
  id: string;
  operation: Operation;
  handler: (call: unknown) => Promise<Loose>;
}
const METHODS = ['GET', 'POST', 'PATCH', 'PUT', 'DELETE'] as const;

/** The REST application: every operation of the table, and 404 for whatever else is asked under /api. */
export function restApp(options: RestOptions): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', false);
  app.set('trust proxy', options.trustedProxies?.length ? [...options.trustedProxies] : false);
  app.use(begin(options), securityHeaders(), crossOrigin(options.corsOrigins ?? []), compressAnswers());
  const router = express.Router({ caseSensitive: true, strict: true });
  const serve = server(options);
  for (const [path, routes] of byPath(options)) {
    const expressPath = path.replace(/\{(\w+)\}/g, ':$1');
    router.all(expressPath, (request, response) => {
      // HEAD is GET without its body: Node leaves the body out by itself.
      const method = request.method === 'HEAD' ? 'GET' : request.method;
      const route = routes.find(({ operation }) => operation.method === method);
      if (route) return serve(route, request, response);
      const allow = METHODS.filter((m) => routes.some(({ operation }) => operation.method === m));
      const list = allow.flatMap((m) => (m === 'GET' ? [m, 'HEAD'] : [m])).join(', ');
      throw new Problem('invalid_request', `the method must be ${list}`, {
        status: 405,
        headers: { Allow: list },
      });
    });
  }
  app.use(router);
  app.use((request, _response, next) => {
    // Doubled slashes too: a mistyped address of the API must not be answered by a page.
    if (!/^\/+api(\/|$)/.test(request.path)) return next();
    throw new Problem('not_found', 'there is nothing at this address; /api/docs lists what there is');
  });
  if (options.web) app.use(options.web);
  app.use(() => {
    throw new Problem('not_found', 'there is nothing at this address');
  });
  app.use(((error, request, response, _next) => {
    sendProblem(response, asProblem(error), { log: options.log, error, request });
  }) satisfies express.ErrorRequestHandler);
  return app;
}

/** The table's routes by path, fixed paths before those with parameters: `/api/x/new` before `/api/x/{id}`. */
function byPath({ handlers, operations = allOperations }: RestOptions): [string, Route[]][] {
  const paths = new Map<string, Route[]>();
  for (const [id, operation] of Object.entries(operations)) {
    const handler = (handlers as Record<string, Route['handler'] | undefined>)[id];
    if (!handler) throw new Error(`operation ${id} has no handler`);
    paths.set(operation.path, [...(paths.get(operation.path) ?? []), { id, operation, handler }]);
  }
  const fixedFirst = (path: string) => path.replaceAll('{', '\u{10ffff}');
  return [...paths].sort(([a], [b]) => (fixedFirst(a) < fixedFirst(b) ? -1 : 1));
}

/** Names the request and notes its end. */
function begin({ log, observe }: RestOptions): RequestHandler {
  return (request, response, next) => {
    const requestId = uuidv7();
    response.locals.requestId = requestId;
    response.setHeader('X-Request-Id', requestId);
    const start = performance.now();
    response.once('close', () => {
      const ms = performance.now() - start;
      const { operation = 'none', actor } = response.locals as { operation?: string; actor?: Actor };
      observe?.(operation, response.statusCode, ms / 1000);
      // Refused access is logged for the detection of attacks (ASVS 16.3.2).
      const level = response.statusCode >= 500 ? 'warn' : response.statusCode === 403 ? 'info' : 'debug';
      // Never the address as it came: it may hold what should not stand in a log.
      log[level](
        {
          requestId,
          operation,
          method: request.method,
          status: response.statusCode,
          ms: Math.round(ms),
          user: actor?.userId,
        },
        'request',
      );
    });
    next();
  };
}

const ELSEWHERE = 'use it from one of its networks, or create one that has this address among them';

function server(options: RestOptions) {
  const { auth, checkResponses = false, secondFactorRequired = false } = options;
  const limit = rateLimit(options.ratePerMinute ?? 0);
  return async ({ id, operation, handler }: Route, request: Request, response: Response): Promise<void> => {
    response.locals.operation = id;
    for (const [name, value] of Object.entries(deprecationHeaders(operation)))
      response.setHeader(name, value);
    const search = searchOf(request.url);
    const credentials: Credentials =
      operation.access === 'public'
        ? { kind: 'none' }
        : readCredentials({ rawHeaders: request.rawHeaders, search, secure: request.secure });
    const address = unmapped(request.ip ?? '');
    const caller = await auth.identify(credentials, address);
    const actor = caller === 'elsewhere' ? null : caller;
    response.locals.actor = actor ?? undefined;
    if (actor) markAuthenticated(request.socket);
    await limit(request, response, actor);
    if (caller === 'elsewhere')
      throw new Problem('forbidden', `this token is not accepted from ${address || 'here'}: ${ELSEWHERE}`);
    if (operation.access !== 'public') {
      authorise(operation, request, credentials, actor);
      if (secondFactorRequired) requireSecondFactor(operation, actor);
    } else if (operation.method !== 'GET') refuseForgery(request, { browsersOnly: true });
    const params = readParams(operation, request.params);
    const query = readQuery(operation, search);
    if (actor) await resolveSite(actor, query, auth);
    const most = operation.access === 'public' ? PUBLIC_BODY_KIB : BODY_KIB;
    const body = operation.body ? readBody(operation, await readText(request, response, most)) : undefined;
    // A change of everything that a filter finds.
    const { filter } = (body ?? {}) as { filter?: Record<string, unknown> };
    if (actor && filter) await resolveSite(actor, filter, auth);
    const ended = endOf(operation, response, actor, auth);
    const answer = await handler({
      params,
      query,
      body,
      actor: actor ?? undefined,
      requestId: response.locals.requestId as string,
      address,
      secure: request.secure,
      header: (name: string) => request.get(name),
      signal: ended,
    });
    await reply(operation, answer, { query, request, response, check: checkResponses });
  };
}

function authorise(
  operation: Operation,
  request: Request,
  credentials: Credentials,
  actor: Actor | null,
): asserts actor is Actor {
  if (!actor)
    throw unauthorized(credentials.kind === 'refused' ? credentials.reason : unknownCaller(credentials));
  if (actor.via.kind === 'session' && operation.method !== 'GET')
    refuseForgery(request, { browsersOnly: false });
  if (operation.by === 'session' && actor.via.kind !== 'session')
    throw new Problem('forbidden', 'this needs a signed-in session; a token is not enough');
  if (actor.via.kind === 'token' && actor.via.readOnly && !isOpenToReaders(operation))
    throw new Problem('forbidden', 'this token only reads, and nothing of its account');
  const allowed = operation.access === 'public' ? ROLES : rolesFrom(operation.access);
  if (!allowed.includes(actor.role))
    throw new Problem('forbidden', `this needs the role ${allowed.join(' or ')}`);
}

/** Without it a session is for setting it up. */
function requireSecondFactor({ tag }: Operation, { via }: Actor): void {
  if (via.kind === 'session' && via.factorless && tag !== 'Session')
    throw new Problem(
      'forbidden',
      'this server demands a second factor: set yours up first, on its web page',
    );
}

/** What a token that only reads is for: all that is looked at, but the account behind it. */
const isOpenToReaders = ({ method, tag, path }: Operation): boolean =>
  method === 'GET' && tag !== 'API tokens' && (tag !== 'Session' || path === '/api/session');

const unknownCaller = ({ kind }: Credentials): string =>
  kind === 'token'
    ? 'the token is invalid'
    : kind === 'session'
      ? 'the session is over; sign in again'
      : 'a token is needed: Authorization: Bearer svc_…';

const unauthorized = (message: string): Problem =>
  new Problem('unauthorized', message, { headers: { 'WWW-Authenticate': 'Bearer' } });

/** `browsersOnly`: a request without a sign of a browser passes, since it carries no right that could be abused. */
function refuseForgery(request: Request, { browsersOnly }: { browsersOnly: boolean }): void {
  const secFetchSite = request.get('sec-fetch-site');
  const origin = request.get('origin');
  if (browsersOnly && secFetchSite === undefined && origin === undefined) return;
  const reason = forgery({ secFetchSite, origin, host: request.host });
  if (reason !== null) throw new Problem('forbidden', reason);
}

/** From the id or name of a site to its id. A caller without access to it is refused; an unknown site reads the same. */
async function resolveSite(
  actor: Actor,
  filter: Record<string, unknown>,
  auth: Authenticator,
): Promise<void> {
  const { site } = filter;
  if (typeof site !== 'string') return;
  const id = isUuid(site) ? site.toLowerCase() : await auth.siteNamed(site);
  filter.site = id;
  if (!id || !sees(actor, id))
    throw new Problem('forbidden', 'no access to this site', {
      details: [{ path: 'site', message: 'no access to this site' }],
    });
}

/**
 * Aborts when the client is gone, and, while a stream is open, when the caller loses a right: the stream is then cut,
 * and the client finds out why when it comes again.
 */
function endOf(
  operation: Operation,
  response: Response,
  actor: Actor | null,
  auth: Authenticator,
): AbortSignal {
  const ended = new AbortController();
  const unwatch =
    actor && isStream(operation)
      ? auth.watch(actor, () => {
          ended.abort();
          response.destroy();
        })
      : undefined;
  response.once('close', () => {
    unwatch?.();
    if (!response.writableFinished) ended.abort();
  });
  return ended.signal;
}

/** The text behind `?`, as it came. */
const searchOf = (url: string): string => {
  const mark = url.indexOf('?');
  return mark < 0 ? '' : url.slice(mark + 1);
};
