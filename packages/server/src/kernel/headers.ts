import type { RequestHandler } from 'express';
import helmet from 'helmet';

/** Browsers load and run nothing but what this server's own files name. */
const policy = (secure: boolean, nonce: string | null): Record<string, string[] | null> => ({
  defaultSrc: ["'self'"],
  scriptSrc: ["'self'"],
  styleSrc: ["'self'", ...(nonce === null ? [] : [`'nonce-${nonce}'`])],
  imgSrc: ["'self'", 'data:'],
  fontSrc: ["'self'", 'data:'],
  connectSrc: ["'self'"],
  objectSrc: ["'none'"],
  baseUri: ["'none'"],
  formAction: ["'self'"],
  frameAncestors: ["'none'"],
  // On plain HTTP it would send every file to a port where nobody listens.
  upgradeInsecureRequests: secure ? [] : null,
});

const make = (secure: boolean, nonce: string | null): RequestHandler =>
  helmet({
    contentSecurityPolicy: { useDefaults: false, directives: policy(secure, nonce) },
    strictTransportSecurity: secure ? { maxAge: 31_536_000, includeSubDomains: false } : false,
    // Browsers ignore it on plain HTTP and warn about it in the console.
    crossOriginOpenerPolicy: secure ? { policy: 'same-origin' } : false,
    originAgentCluster: secure,
    xFrameOptions: { action: 'deny' },
    referrerPolicy: { policy: 'no-referrer' },
  }) as RequestHandler;

const plain = make(false, null);
const tls = make(true, null);

/** Security headers of every answer; what only makes sense under TLS is sent under TLS. */
export const securityHeaders = (): RequestHandler => (request, response, next) =>
  (request.secure ? tls : plain)(request, response, next);

/** Lets the page that is about to be sent carry style elements marked with `nonce`, and no others. */
export const allowStyles =
  (nonce: string): RequestHandler =>
  (request, response, next) =>
    make(request.secure, nonce)(request, response, next);
