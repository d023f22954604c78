/** What an attacker is given, what it counts, and how it talks HTTP. */
import { type Agent, request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { pick, type Random } from '../api/hostile.ts';

export const ATTACKERS = ['browser', 'collector', 'server', 'neighbour', 'agent', 'anonymous'] as const;
export type AttackerName = (typeof ATTACKERS)[number];

/** Stands in what attackers write: nothing of another site may ever hold it. */
export const MARK = 'MARK-OF-NORTH';
/** Stands in what belongs to the other site: nobody of the attacked one may ever read it. Its source's names end so. */
export const FOREIGN = /CANARY-OF-SOUTH|\.c1\.chaos/;
/** The other site's user, whose password attackers guess at. */
export const HONEST = { name: 'honest', password: 'correct horse battery staple' };
/** An administrator of the attacked site, whose browser a page of another site leads. */
export const VICTIM = { name: 'neighbour-admin', password: HONEST.password };

/** Handed to each attacker as JSON. */
export interface Scene {
  who: AttackerName;
  seed: number;
  seconds: number;
  /** For what it has to write. */
  folder: string;
  url: string;
  /** The attacked site. */
  siteId: string;
  /** Ids of the other site's things. */
  foreign: string[];
  /** Of people of the attacked site. */
  tokens: string[];
  /** Collectors of the attacked site whose keys the attacker holds. */
  collectors: { id: string; key: string; raw: string }[];
  /** Where the attacked site's own collector looks for agents, and takes traps. */
  snmpPort: number;
  trapPort: number;
}

export class Tally {
  /** Requests, messages or datagrams. */
  sent = 0;
  /** Answers by status or close code. */
  readonly answers: Record<string, number> = {};
  /** What must not be: each a sentence. */
  readonly faults: string[] = [];

  answered(code: number | string): void {
    this.answers[code] = (this.answers[code] ?? 0) + 1;
  }
  fault(text: string): void {
    if (this.faults.length < 20) this.faults.push(text);
  }
}

export type Attacker = (
  scene: Scene,
  tools: { random: Random; tally: Tally; until: AbortSignal },
) => Promise<void>;

export interface Sent {
  method: string;
  path: string;
  headers?: Record<string, string>;
  body?: string | undefined;
}
export interface Heard {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
}

/** One request from an address of loopback; `cut`: the connection ended instead of an answer. */
export function send(
  url: string,
  { method, path, headers = {}, body }: Sent,
  { agent, from }: { agent?: Agent | undefined; from?: string } = {},
): Promise<Heard | 'cut'> {
  const { hostname, port } = new URL(url);
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
  return new Promise((resolve) => {
    const options = {
      hostname,
      port,
      method,
      path,
      headers: { ...length, ...headers },
      ...(agent && { agent }),
      ...(from !== undefined && { localAddress: from }),
      timeout: 60_000,
    };
    try {
      const request = httpRequest(options, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', () => resolve('cut'));
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            text: Buffer.concat(chunks).toString(),
          }),
        );
      });
      request.on('upgrade', (response, socket) => {
        socket.destroy();
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text: '' });
      });
      request.on('error', () => resolve('cut'));
      request.on('timeout', () => request.destroy());
      request.end(body);
    } catch {
      // Node's own client refuses to send it.
      resolve('cut');
    }
  });
}

/** Judges an answer to an attacker: no fault of the server, nothing of the other site. */
export function judge(tally: Tally, what: string, heard: Heard | 'cut'): void {
  tally.sent += 1;
  tally.answered(heard === 'cut' ? 'cut' : heard.status);
  if (heard === 'cut') return;
  if (heard.status >= 500) tally.fault(`${what} was answered ${heard.status}: ${heard.text.slice(0, 200)}`);
  if (FOREIGN.test(heard.text)) tally.fault(`${what} was answered with what belongs to another site`);
}

/** Sets one text of a value to the mark, so that it is found wherever it ends. */
export function marked(random: Random, value: unknown): unknown {
  if (Array.isArray(value)) {
    if (value.length === 0) return value;
    const at = Math.floor(random() * value.length);
    return value.map((item, i) => (i === at ? marked(random, item) : item));
  }
  if (value !== null && typeof value === 'object') {
    const keys = Object.keys(value).filter((key) => !['type', 'kind', 'epoch', 'stream'].includes(key));
    if (keys.length === 0) return value;
    const key = pick(random, keys);
    return { ...value, [key]: marked(random, (value as Record<string, unknown>)[key]) };
  }
  return typeof value === 'string' ? MARK : value;
}

export const pause = (ms: number, until: AbortSignal): Promise<void> =>
  sleep(ms, undefined, { signal: until }).catch(() => undefined);
