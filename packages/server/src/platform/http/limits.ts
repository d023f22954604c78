/** How much one caller may ask for. */
import type { Request, Response } from 'express';
import { rateLimit as expressRateLimit, ipKeyGenerator } from 'express-rate-limit';
import { Problem } from '../problem.ts';
import type { Actor } from './handler.ts';

/** Requests of a caller are counted over this time. */
const WINDOW_MS = 60_000;
/** Callers who have not said who they are share a tenth of the rate per address. */
const ANONYMOUS_SHARE = 10;

export type Limit = (request: Request, response: Response, actor: Actor | null) => Promise<void>;

/**
 * Counts requests per token, else per user, else per address (IPv6: its /64), and throws `rate_limited` above the
 * rate. Sets RateLimit-* on every answer, Retry-After on refusals.
 */
export function rateLimit(perMinute: number): Limit {
  if (perMinute === 0) return async () => undefined;
  const limiter = expressRateLimit({
    windowMs: WINDOW_MS,
    limit: (_, response) => (response.locals.rateActor ? perMinute : Math.ceil(perMinute / ANONYMOUS_SHARE)),
    standardHeaders: 'draft-6',
    legacyHeaders: false,
    keyGenerator: (request, response) => keyOf(request, response.locals.rateActor as Actor | null),
    handler: (_request, _response, next) =>
      next(
        new Problem('rate_limited', `more than the ${perMinute} requests per minute allowed; wait and go on`),
      ),
    // Its checks guess at proxy settings, which config.ts has settled, and print to the console.
    validate: false,
  });
  return (request, response, actor) => {
    response.locals.rateActor = actor;
    return new Promise((resolve, reject) => {
      limiter(request, response, (error?: unknown) => (error === undefined ? resolve() : reject(error)));
    });
  };
}

const keyOf = (request: Request, actor: Actor | null): string => {
  if (actor?.via.kind === 'token') return `token ${actor.via.tokenId}`;
  if (actor) return `user ${actor.userId}`;
  return `address ${request.ip === undefined ? '' : ipKeyGenerator(request.ip, 64)}`;
};
