import type { Operations } from '@rollcall/shared/api/index';
import type { Operation } from '@rollcall/shared/api/operation';
import type { Role } from '@rollcall/shared/model';
import type { z } from 'zod';

/** Who calls, with the rights of this moment. A token has its owner's, unless it was made with fewer. */
export interface Actor {
  userId: string;
  name: string;
  role: Role;
  /** Sites the account sees: every one, or these. */
  sites: 'all' | readonly string[];
  via:
    | { kind: 'token'; tokenId: string; readOnly?: boolean }
    /** `factorless`: the account has a password and no second factor. */
    | { kind: 'session'; sessionId: string; factorless?: boolean };
}

/** One request, parsed by its operation's schemas. */
export interface Call<O extends Operation> {
  params: O['params'] extends z.ZodType ? z.output<O['params']> : Record<string, never>;
  query: O['query'] extends z.ZodType ? z.output<O['query']> : Record<string, never>;
  body: O['body'] extends z.ZodType ? z.output<O['body']> : undefined;
  /** The caller; `public` operations ask nobody who they are: undefined. */
  actor: O['access'] extends 'public' ? Actor | undefined : Actor;
  requestId: string;
  /** Address of the peer, by the trusted proxies' word where there are some. */
  address: string;
  /** Whether the caller's side of the connection is TLS. */
  secure: boolean;
  header(name: string): string | undefined;
  signal: AbortSignal;
}

type Data<O extends Operation> = z.input<O['data']>;
type Extra<O extends Operation> = O['extra'] extends z.ZodType
  ? { extra: z.input<O['extra']> }
  : { extra?: never };
type Reply = { status?: number; headers?: Record<string, string | string[]> };

/** What a handler gives back; the mount puts it in the envelope. */
export type Answer<O extends Operation> = O['envelope'] extends 'list'
  ? { data: Data<O>[]; totalCount: number } & Extra<O> & Reply
  : O['envelope'] extends 'item' | 'none'
    ? { data: Data<O> } & Extra<O> & Reply
    : /** `raw`: the handler writes the response itself. */ {
        raw: (response: import('express').Response) => void | Promise<void>;
      };

export type Handler<O extends Operation> = (call: Call<O>) => Promise<Answer<O>>;

/** Handlers of some operations, by operation id. `allHandlers` puts those of all features together. */
export type Handlers<Ids extends keyof Operations = keyof Operations> = {
  [Id in Ids]: Handler<Operations[Id]>;
};

/** `unknown` where no two of the parts answer the same operation; else a type that nothing fits, with what is answered twice. */
type Distinct<Parts extends readonly object[], Seen = never> = Parts extends readonly [
  infer Head,
  ...infer Rest extends readonly object[],
]
  ? Extract<keyof Head, Seen> extends never
    ? Distinct<Rest, Seen | keyof Head>
    : { answeredTwice: Extract<keyof Head, Seen> }
  : unknown;
type Sum<Parts extends readonly object[]> = Parts extends readonly [
  infer Head,
  ...infer Rest extends readonly object[],
]
  ? Head & Sum<Rest>
  : unknown;

/** The handlers of all features as one. An operation without a handler, or with two, does not compile. */
export const allHandlers = <const Parts extends readonly object[]>(
  ...parts: Parts &
    Distinct<Parts> &
    (Sum<Parts> extends Handlers ? unknown : { lacks: Exclude<keyof Handlers, keyof Sum<Parts>> })
): Handlers => Object.assign({}, ...parts) as Handlers;

/** The caller's sites as a SQL argument: null means every site, an array (perhaps empty) means only these. */
export const visibleSites = (actor: Actor): string[] | null =>
  actor.sites === 'all' ? null : [...actor.sites];

export const sees = (actor: Pick<Actor, 'sites'>, siteId: string): boolean =>
  actor.sites === 'all' || actor.sites.includes(siteId);
