import type { RequestHandler } from 'express';
import helmet from 'helmet';

/** Browsers load and run nothing but what this server's own files name; `styles` besides lets a page write its own. */
const policy = (secure: boolean, styles: boolean): Record<string, string[] | null> => ({
  defaultSrc: ["'self'"],
  scriptSrc: ["'self'"],
  styleSrc: ["'self'", ...(styles ? ["'unsafe-inline'"] : [])],
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

const make = (secure: boolean, styles: boolean): RequestHandler =>
  helmet({
    contentSecurityPolicy: { useDefaults: false, directives: policy(secure, styles) },
    strictTransportSecurity: secure ? { maxAge: 31_536_000, includeSubDomains: false } : false,
    // Browsers ignore it on plain HTTP and warn about it in the console.
    crossOriginOpenerPolicy: secure ? { policy: 'same-origin' } : false,
    originAgentCluster: secure,
    xFrameOptions: { action: 'deny' },
    referrerPolicy: { policy: 'no-referrer' },
  }) as RequestHandler;

const strict = { plain: make(false, false), tls: make(true, false) };
const page = { plain: make(false, true), tls: make(true, true) };

/** Security headers of every answer; what only makes sense under TLS is sent under TLS. */
export const securityHeaders = (): RequestHandler => (request, response, next) =>
  (request.secure ? strict.tls : strict.plain)(request, response, next);

/**
 * Headers of the web application's page: its components write style elements as they are shown. Scripts stay bound to
 * files; a style that somebody smuggled in could change looks, and send nothing anywhere.
 */
export const pageHeaders = (): RequestHandler => (request, response, next) =>
  (request.secure ? page.tls : page.plain)(request, response, next);
