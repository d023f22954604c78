/**
 * Cross-origin requests from the pages that a setting names (Fetch standard, CORS protocol). They carry a token: no answer
 * allows credentials, so a browser sends no cookie along and a session never acts for another site.
 */
import type { RequestHandler } from 'express';

/** What a page may send and read besides what every page may. */
const SENT = 'Authorization, Content-Type, If-Match, If-None-Match, Idempotency-Key, Last-Event-ID';
const READ = 'Deprecation, ETag, Link, Location, Retry-After, Sunset, X-Request-Id, X-Total-Count';
const METHODS = 'GET, HEAD, POST, PATCH, PUT, DELETE';
/** How long a browser may remember a preflight. */
const PREFLIGHT_SECONDS = 600;

/** Whether a text is an origin as browsers write it: scheme, host and a port that is not the usual one; no wildcard. */
export function isOrigin(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, origin } = new URL(text);
  return /^https?:$/.test(protocol) && origin === text && !text.includes('*');
}

/** Answers preflights and marks answers of /api for the named origins; without any it does nothing. */
export function crossOrigin(origins: readonly string[]): RequestHandler {
  const named = new Set(origins);
  return (request, response, next) => {
    if (named.size === 0 || !request.path.startsWith('/api/')) return next();
    // Caches must not hand the answer for one origin to another.
    response.vary('Origin');
    const origin = request.get('origin');
    if (origin === undefined || !named.has(origin)) return next();
    response.setHeader('Access-Control-Allow-Origin', origin);
    response.setHeader('Access-Control-Expose-Headers', READ);
    if (request.method !== 'OPTIONS' || request.get('access-control-request-method') === undefined)
      return next();
    response.setHeader('Access-Control-Allow-Methods', METHODS);
    response.setHeader('Access-Control-Allow-Headers', SENT);
    response.setHeader('Access-Control-Max-Age', String(PREFLIGHT_SECONDS));
    response.status(204).end();
  };
}
