/**
 * Answers in gzip or Brotli, by what the caller accepts; short ones as they are. (zstd: Node has it from 22.15 on, and
 * `compression` does not speak it.)
 *
 * BREACH learns a secret from the length of a compressed answer that also holds text of the attacker's choice. So only
 * answers to GET are compressed: no GET shows a secret, secrets are shown once, in answers to POST. Nor can another site
 * send a GET on behalf of a person unseen: tokens are no cookies, and the session's cookie is SameSite.
 */
import compression from 'compression';
import type { RequestHandler } from 'express';

/** Shorter answers fit into one packet or two either way. */
const LEAST_BYTES = 1024;

export const compressAnswers = (): RequestHandler =>
  compression({
    threshold: LEAST_BYTES,
    filter: (request, response) =>
      // HEAD has the headers of GET.
      (request.method === 'GET' || request.method === 'HEAD') &&
      // What is compressed is held back until there is enough of it.
      !String(response.getHeader('Content-Type')).startsWith('text/event-stream') &&
      compression.filter(request, response),
  });
