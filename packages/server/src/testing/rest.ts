/** A REST server of some operations on a real database and a real socket, and a client that tidies nothing up. */
import { createServer, request as httpRequest, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Operation } from '@rollcall/shared/api/operation';
import { type Clock, systemClock } from '@rollcall/shared/clock';
import { pino } from 'pino';
import { type Authenticator, openAuthenticator } from '../platform/access/auth.ts';
import type { Database } from '../platform/db/db.ts';
import type { Handlers } from '../platform/http/handler.ts';
import { type RestOptions, restApp } from '../platform/http/http.ts';

export interface Reply {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
  /** The body where it is JSON, else an empty object. */
  // biome-ignore lint/suspicious/noExplicitAny: tests reach into bodies of every shape
  json: any;
}
export interface Asked {
  headers?: Record<string, string | string[]>;
  /** Sent as JSON, with its content type. */
  json?: unknown;
  body?: string | Buffer;
}

/** One request over a connection of its own, through node:http: fetch would correct what is to be tested. */
export function ask(url: string, method: string, path: string, asked: Asked = {}): Promise<Reply> {
  const { hostname, port } = new URL(url);
  const body = asked.json === undefined ? asked.body : JSON.stringify(asked.json);
  const type = asked.json === undefined ? {} : { 'content-type': 'application/json' };
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      { hostname, port, method, path, agent: false, headers: { ...type, ...asked.headers } },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString();
          const isJson = String(response.headers['content-type']).startsWith('application/json');
          const { statusCode: status = 0, headers } = response;
          resolve({ status, headers, text, json: isJson && text ? JSON.parse(text) : {} });
        });
      },
    );
    request.on('error', reject);
    request.end(body);
  });
}

export interface RestServer {
  url: string;
  auth: Authenticator;
  /** Everything that was logged. */
  logged: string[];
  /** Asks with a token, a session's cookie (from our own origin), or nothing. */
  ask(method: string, path: string, as?: Credential, asked?: Asked): Promise<Reply>;
  close(): Promise<void>;
}
export type Credential = { token: string } | { cookie: string } | undefined;

/** Every answer is checked against its operation's schema: one that does not fit is a 500. */
export async function startRest(
  db: Database,
  operations: Record<string, Operation>,
  handlers: (auth: Authenticator, clock: Clock) => Partial<Handlers>,
  clock: Clock = systemClock,
  more: Pick<RestOptions, 'secondFactorRequired'> = {},
): Promise<RestServer> {
  const logged: string[] = [];
  const log = pino({ level: 'trace' }, { write: (line: string) => void logged.push(line) });
  const auth = await openAuthenticator({ db, clock, log });
  const app = restApp({
    operations,
    handlers: handlers(auth, clock) as Handlers,
    auth,
    log,
    checkResponses: true,
    ...more,
  });
  const server: Server = createServer(app);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    auth,
    logged,
    ask: (method, path, as, asked = {}) =>
      ask(url, method, path, { ...asked, headers: { ...presented(as, url), ...asked.headers } }),
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await auth.close();
    },
  };
}

const presented = (as: Credential, url: string): Record<string, string> => {
  if (as === undefined) return {};
  return 'token' in as ? { authorization: `Bearer ${as.token}` } : { cookie: as.cookie, origin: url };
};
