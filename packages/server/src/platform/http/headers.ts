import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RequestHandler } from 'express';
import helmet from 'helmet';

/** Browsers load and run nothing but what this server's own files name: no inline script, no inline style. */
const policy = (secure: boolean): Record<string, string[] | null> => ({
  defaultSrc: ["'self'"],
  scriptSrc: ["'self'"],
  styleSrc: ["'self'"],
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

const make = (secure: boolean) =>
  helmet({
    contentSecurityPolicy: { useDefaults: false, directives: policy(secure) },
    strictTransportSecurity: secure ? { maxAge: 31_536_000, includeSubDomains: false } : false,
    // Browsers ignore it on plain HTTP and warn about it in the console.
    crossOriginOpenerPolicy: secure ? { policy: 'same-origin' } : false,
    originAgentCluster: secure,
    xFrameOptions: { action: 'deny' },
    referrerPolicy: { policy: 'no-referrer' },
  });

/** What helmet sets: the same for every answer, so it is asked once. */
function headersOf(secure: boolean): Map<string, string> {
  const found = new Map<string, string>();
  const response = {
    setHeader: (name: string, value: string) => found.set(name, value),
    removeHeader: () => undefined,
  };
  make(secure)({} as IncomingMessage, response as unknown as ServerResponse, (error) => {
    if (error) throw error;
  });
  return found;
}

const headers = { plain: headersOf(false), tls: headersOf(true) };

/** Security headers of every answer; what only makes sense under TLS is sent under TLS. */
export const securityHeaders = (): RequestHandler => (request, response, next) => {
  response.setHeaders(request.secure ? headers.tls : headers.plain);
  next();
};
