import type { Varbind } from '../message/pdu.ts';
import { encodeSecure, type RemoteEngine } from '../message/usm.ts';
import type { Waiting } from './deadlines.ts';
import type { DropReason, Failure } from './failure.ts';
import type { Asked } from './guard.ts';
import { Query } from './query.ts';

export interface Target {
  /** Canonical text, IPv4 or IPv6. */
  address: string;
  port: number;
}

/** Limits the packets sent; a token bucket has this shape. Must not reject. */
export interface Pace {
  take(count: number, address: string): Promise<void> | void;
  /** Gets the numbers of requests answered and known to be lost. */
  report?(answered: number, lost: number): void;
}

export interface AskOptions {
  /** Wait for each try, milliseconds. */
  timeoutMs: number;
  /** Requests sent at most, the first included. */
  tries: number;
  signal?: AbortSignal | undefined;
  pace?: Pace | undefined;
  /** The caller has already waited for its turn; only further packets ask `pace`. */
  paid?: boolean;
}

export interface Reply {
  ok: true;
  varbinds: Varbind[];
  /** Octets of the datagram. */
  bytes: number;
  /** From the last send to the answer, milliseconds. */
  rttMs: number;
}
export type Answer = Reply | Failure;

/** One question on its way to one agent: all that is kept while nobody answers. */
export interface Exchange extends Asked, Waiting {
  requestId: number;
  engine: RemoteEngine | null;
  readonly options: AskOptions;
  readonly settle: (answer: Answer) => void;
  /** Key in the table of outstanding requests: the request id, in v3 the message id. 0 until admitted. */
  id: number;
  done: boolean;
  /** Tries of the present round. */
  sent: number;
  /** The next packet need not wait for its turn. */
  paid: boolean;
  sentAt: number;
  /** Reports handled so far. */
  rounds: number;
  /** Errno of the last try, when the system did not send it. */
  sendError: string | null;
  /** Why the last reply that seemed to belong here was not believed. */
  refused: DropReason | null;
}

export const exchangeOf = (
  { address, port }: Target,
  query: Query,
  options: AskOptions,
  settle: (answer: Answer) => void,
): Exchange => ({
  address,
  port,
  query,
  options,
  settle,
  id: 0,
  requestId: 0,
  engine: null,
  done: false,
  sent: 0,
  paid: options.paid === true,
  sentAt: 0,
  rounds: 0,
  sendError: null,
  refused: null,
  due: 0,
  waitMs: 0,
});

const MAX_SIZE = 65_507;
const NO_ENGINE = { engineId: Buffer.alloc(0), engineBoots: 0, engineTime: 0 };

/** RFC 3414 section 4: an empty request of nobody, to be refused with the engine's id. */
const DISCOVERY = new Query(
  { id: 'discovery', version: 'v3', user: { name: '', authProtocol: 'none', privProtocol: 'none' } },
  { type: 'get', oids: [] },
);

/** The datagram to send now: in v3 first a discovery, as long as the agent's engine is not known. */
export function messageOf({ query, id, requestId, engine }: Exchange, now: number): Buffer {
  const { credential } = query;
  if (credential.version !== 'v3') return query.message(id);
  const state = engine?.state(now) ?? NO_ENGINE;
  return encodeSecure(engine ? credential.user : null, {
    msgId: id,
    maxSize: MAX_SIZE,
    reportable: true,
    engine: state,
    scoped: (engine ? query : DISCOVERY).scoped(requestId, state.engineId),
  });
}
