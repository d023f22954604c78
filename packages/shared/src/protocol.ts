/**
 * The wire between a collector and the server: JSON text frames over one WebSocket, one union per direction.
 * `docs/protocol.md` explains it with examples.
 *
 * Version history (one integer; both sides name theirs, the lower one is spoken):
 * 1  2026-11-21  first
 * 2  2026-11-21  monitoring and traps: `watch` names the agents' port and says when more of a list follows, heartbeats
 *                report the monitoring. Version 1 ignored `watch`, so such a collector gets no devices to monitor.
 * 3  2026-11-21  both sides read leniently (`wire.ts`). Earlier collectors fail at a profile setting that they do not know,
 *                so they are sent only those that they know.
 * 4  2026-11-25  measurements: a third stream, `sample`, of `samples` observations. Earlier servers refuse batches of it,
 *                so they are sent none; the collector keeps them until a later server comes, or their time is over.
 */
import { z } from 'zod';
import { AUTH_PROTOCOLS, JOB_ADDRESSES, PRIV_PROTOCOLS } from './model.ts';
import { INT4, type Observation, observation, STREAMS, type Stream } from './observation.ts';
import { profileSettings } from './profile.ts';
import { unstorable } from './storable.ts';
import { atMost, each, orElse, type Parsed, readWire } from './wire.ts';

export const PROTOCOL_VERSION = 4;
/** Oldest version this build still speaks. */
export const PROTOCOL_OLDEST = 1;
/** The version from which on a collector watches what it is given. */
export const PROTOCOL_WATCHES = 2;
/** The version from which on a collector reads leniently. */
export const PROTOCOL_LENIENT = 3;
/** The version from which on a server takes the stream `sample`. */
export const PROTOCOL_SAMPLES = 4;

/** Path of the collector endpoint. */
export const COLLECTOR_PATH = '/api/collectors/link';

/** Hard bound of one frame, bytes: the receiver closes with `tooBig` above it. */
export const FRAME_BYTES = 1024 * 1024;
/** Bound of one observation batch, bytes of JSON. */
export const BATCH_BYTES = 256 * 1024;
/** Most observations in one batch. */
export const BATCH_ITEMS = 2000;
/** Batches sent and not acknowledged, at most. */
export const WINDOW = 16;
/** Bytes of JSON of one stream that were sent and are in the outbox still: so much of it counts as sent when it is opened. */
export const IN_FLIGHT_BYTES = 2 * 1024 * 1024;
/** The server pings a connection this often. */
export const PING_MS = 10_000;
/** A side that heard nothing for this long closes the connection. */
export const SILENCE_MS = 25_000;
/** A socket that has not said a valid hello by then is closed. */
export const HELLO_MS = 5_000;

/** Close codes. 4000–4999 are ours (RFC 6455 section 7.4.2). */
export const CloseCode = {
  normal: 1000,
  goingAway: 1001,
  policy: 1008,
  tooBig: 1009,
  internal: 1011,
  restart: 1012,
  tryLater: 1013,
  /** The message could not be parsed; three strikes. */
  badMessage: 4400,
  /** Unknown collector or wrong signature; retried with back-off. */
  unauthorized: 4401,
  /** The collector was revoked: it stops and keeps its outbox. */
  revoked: 4403,
  /** No valid hello in time. */
  helloTimeout: 4408,
  /** Another holder of the same key was seen: both are quarantined until an admin decides. */
  quarantined: 4409,
  /** No common protocol version; the reason names the versions spoken. */
  version: 4426,
  /** Another connection of the same collector replaced this one. */
  replaced: 4410,
  /** The peer was silent for SILENCE_MS. */
  silent: 4411,
} as const;
export type CloseCode = (typeof CloseCode)[keyof typeof CloseCode];

const seq = z.int().min(0);
const int4 = z.int().min(0).max(INT4);
const time = z.int().min(0);
const stream = z.enum(STREAMS);
/** Of each stream a sequence, -1 for none; `sample` from version 4 on. */
const sequences = z.object({
  state: z.int().min(-1),
  event: z.int().min(-1),
  sample: z.int().min(-1).optional(),
});

/** A span of addresses: `count` addresses from `first` on. */
export const span = z.object({ first: z.string().max(45), count: z.int().min(1).max(JOB_ADDRESSES) });
export type Span = z.infer<typeof span>;

/** A credential in the clear, only inside `assign` and `watch`; never written to the collector's disk. */
export const wireCredential = z.discriminatedUnion('version', [
  z.object({ id: z.uuid(), version: z.enum(['v1', 'v2c']), community: z.string().max(255) }),
  z.object({
    id: z.uuid(),
    version: z.literal('v3'),
    user: z.string().max(32),
    authProtocol: z.enum(AUTH_PROTOCOLS),
    authKey: z.string().max(255).optional(),
    privProtocol: z.enum(PRIV_PROTOCOLS),
    privKey: z.string().max(255).optional(),
    contextName: z.string().max(255).optional(),
  }),
]);
export type WireCredential = z.infer<typeof wireCredential>;

/** Extra OIDs that the rules want read: for agents whose sysObjectID starts with `prefix`. */
export const ruleset = z.object({
  /** Hash of the compiled rules; the collector keeps the last one it was given. */
  id: z.string().max(64),
  extra: each(
    z
      .array(
        z.object({
          prefix: z.string().max(512),
          oids: z.array(z.string().max(512)).max(64),
          /** Texts to read from the front of the agent's own enterprise subtree, whatever they are. */
          sample: z.int().min(0).max(256).optional(),
        }),
      )
      .max(5000),
  ),
});
export type Ruleset = z.infer<typeof ruleset>;

export const assignment = z.object({
  job: z.uuid(),
  /** Fencing number: grows with every lease of the job; facts of an older one never end it. */
  fence: int4,
  spans: z.array(span).max(JOB_ADDRESSES),
  /** Addresses already finished: base64 of a bitmap, lowest index in the lowest bit of the first byte. */
  done: z.string().max(700).optional(),
  profile: profileSettings,
  credentials: each(z.array(wireCredential).max(64)),
  /** Address → id of the credential that worked last time. */
  known: atMost(JOB_ADDRESSES, z.record(z.string().max(45), z.uuid())).optional(),
});
export type Assignment = z.infer<typeof assignment>;

/** Most other addresses of a watched device, and the longest name that its agent proves itself by. */
export const WATCH_ELSEWHERE = 4;
export const WATCH_NAME = 64;

/** A device to be watched: pinged, and asked by SNMP where a credential is known to work. */
const watchTarget = z.object({
  deviceId: z.uuid(),
  address: z.string().max(45),
  credentialId: z.uuid().optional(),
  /** Where else its agent answered, asked when `address` is silent, and by what it proves there to be the same. */
  elsewhere: z
    .object({
      addresses: z.array(z.string().max(45)).max(WATCH_ELSEWHERE),
      sysName: z.string().max(WATCH_NAME),
      engineId: z.string().max(64).optional(),
    })
    .optional(),
  /** A bridge or router: its neighbours, forwarding and ARP tables are read too. */
  tables: z.boolean().optional(),
});
export type WatchTarget = z.infer<typeof watchTarget>;

/** Most targets of one `watch` message: with the longest addresses it still fits a frame. */
export const WATCH_TARGETS = 800;
/** Most targets of one collector. */
export const WATCH_MOST = 40_000;

/** A collector's watch in numbers: devices, and how far it is behind. */
const watchHealth = z.object({
  targets: seq,
  up: seq,
  down: seq,
  /** Left alone because the site's administrator allows them not. */
  refused: seq,
  /** Longest that a ping or reading is overdue, milliseconds. */
  lagMs: seq,
  /** UDP port on which traps are received; null: none are, for `reason`. */
  traps: z.object({ port: z.int().nullable(), received: seq, reason: z.string().max(300).optional() }),
});
export type WatchHealth = z.infer<typeof watchHealth>;

/** Most addresses of its own that a collector tells. */
export const OWN_ADDRESSES = 128;

/** Messages of the server. */
export const serverMessage = z.discriminatedUnion('type', [
  /** First frame on every socket: sign this. */
  z.object({
    type: z.literal('challenge'),
    nonce: z.string().min(16).max(128),
    version: z.int(),
    time,
    /** The own authority's word for the certificate shown, where that is not of its making; see `signedSuccessor`. */
    successor: z.string().max(400).optional(),
  }),
  z.object({
    type: z.literal('welcome'),
    version: z.int(),
    /** Generation to write down and confirm; the old one dies with the confirmation. */
    generation: seq,
    site: z.object({ id: z.uuid(), name: z.string().max(255) }),
    /** Highest sequence committed of each stream of the hello's epoch; -1 when none. */
    through: sequences,
    limits: z.object({ batchBytes: z.int(), window: z.int(), jobs: z.int() }),
    ruleset: ruleset.optional(),
    time,
  }),
  z.object({ type: z.literal('assign'), assignment }),
  z.object({ type: z.literal('cancel'), job: z.uuid(), fence: int4 }),
  /** All observations of this epoch and stream up to and including `through` are committed. */
  z.object({ type: z.literal('ack'), epoch: z.uuid(), stream, through: z.int().min(-1) }),
  z.object({ type: z.literal('ruleset'), ruleset }),
  z.object({
    type: z.literal('watch'),
    /** Grows with every message of a connection. */
    revision: seq,
    /** A whole list begins here: what is neither in this message nor in those that follow it is watched no more. */
    full: z.boolean(),
    /** The list goes on in the next message; nothing is dropped before it is whole. */
    more: z.boolean().optional(),
    set: each(z.array(watchTarget).max(5000)),
    remove: z.array(z.uuid()).max(5000),
    /** Credentials that are new or differ: those of the targets, and the v3 users of the site, who may send traps. */
    credentials: each(z.array(wireCredential).max(256)),
    intervals: z.object({
      icmpMs: z.int().min(1000),
      snmpMs: z.int().min(1000),
      /** Between two readings of neighbours, forwarding and ARP tables; absent: they are not read. */
      tablesMs: z.int().min(60_000).optional(),
      /** How long a name of an address in ARP tables holds; absent: none is looked up. */
      namesMs: z.int().min(60_000).optional(),
    }),
    /** UDP port of the agents; 161 when absent. */
    port: z.int().min(1).max(65_535).optional(),
  }),
  z.object({ type: z.literal('heartbeat'), time, echo: time }),
  /** Make a new key and say it with `new-key`; the old one stays good until the new one signed a hello. */
  z.object({ type: z.literal('rotate') }),
  /** The new key is known: reconnect with it, and forget the old one at the next welcome. */
  z.object({ type: z.literal('key-stored'), publicKey: z.string().max(64) }),
  /** A message was not understood or not in its place, and had no effect. The third one closes (`badMessage`). */
  z.object({ type: z.literal('refused'), reason: z.string().max(300) }),
  /** Finish nothing new, the server is going away. */
  z.object({ type: z.literal('drain'), reason: z.string().max(200) }),
]);
export type ServerMessage = z.infer<typeof serverMessage>;

/** Messages of a collector. */
export const collectorMessage = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('hello'),
    version: z.int(),
    oldest: z.int(),
    collector: z.uuid(),
    generation: seq,
    /** Ed25519 over `signedHello(...)`, base64. */
    signature: z.string().max(128),
    epoch: z.uuid(),
    /** Highest sequence ever written of each stream of this epoch; -1 when none. */
    last: sequences,
    software: z.string().max(60),
    hostname: z.string().max(255),
    engines: each(
      z.array(z.object({ name: z.string().max(20), ok: z.boolean(), reason: z.string().max(300) })).max(10),
    ),
    /** Jobs it can take at once. */
    capacity: z.int().min(0).max(64),
    time,
  }),
  /** The new generation is on disk. */
  z.object({ type: z.literal('confirm'), generation: seq }),
  /** Answer to `rotate`: Ed25519 public key, 32 bytes in base64, and proof of the private one over `signedKey(...)`. */
  z.object({ type: z.literal('new-key'), publicKey: z.string().max(64), signature: z.string().max(128) }),
  /** Follows `confirm`, also when it is empty: the jobs it works on right now; the server extends or cancels each. */
  z.object({ type: z.literal('working'), jobs: z.array(z.object({ job: z.uuid(), fence: int4 })).max(64) }),
  z.object({
    type: z.literal('progress'),
    job: z.uuid(),
    fence: int4,
    probed: int4,
    alive: int4,
    devices: int4,
    rate: z.number().min(0).optional(),
  }),
  /** Refused before anything was collected; an end after that is a `job-end` observation. */
  z.object({
    type: z.literal('outcome'),
    job: z.uuid(),
    fence: int4,
    result: orElse(z.enum(['deferred', 'failed']), 'failed'),
    reason: z.string().max(300),
  }),
  /**
   * Consecutive observations of one stream: item i has sequence `from + i`. `from` above the committed sequence + 1
   * means that the sequences between were dropped on purpose; a `gap` observation accounts for them.
   */
  z.object({
    type: z.literal('observations'),
    epoch: z.uuid(),
    stream,
    from: seq,
    items: z.array(z.unknown()).max(BATCH_ITEMS),
  }),
  z.object({
    type: z.literal('heartbeat'),
    time,
    outbox: z.object({ depth: seq, bytes: seq, oldest: time.nullable() }),
    drops: atMost(32, z.record(z.string().max(40), seq)),
    /** Why it collects nothing now: its disk is full. */
    paused: z.string().max(300).optional(),
    rssBytes: seq.optional(),
    loopDelayMs: z.number().optional(),
    /** What it watches; absent while it was told nothing. */
    watch: watchHealth.optional(),
    /** Addresses that its interfaces have or had, `address/length`: where it stands. Absent: it has too many. */
    addresses: each(z.array(z.cidrv4().or(z.cidrv6())).max(OWN_ADDRESSES)).optional(),
  }),
]);
export type CollectorMessage = z.infer<typeof collectorMessage>;

const parse = <T>(schema: z.ZodType<T>, frame: string): Parsed<T> => {
  let value: unknown;
  try {
    value = JSON.parse(frame);
  } catch {
    return { ok: false, reason: 'not JSON', newer: false };
  }
  const reason = unstorable(withoutItems(value));
  return reason === null ? readWire(schema, value) : { ok: false, reason, newer: false };
};

/** The observations of a batch are judged one by one, by their reader. */
const withoutItems = (value: unknown): unknown =>
  (value as { type?: unknown } | null)?.type === 'observations'
    ? { ...(value as object), items: null }
    : value;

/** Reads one frame of a collector. Observations stay `unknown`: each is checked alone, so one bad item spoils no batch. */
export const parseCollectorMessage = (frame: string): Parsed<CollectorMessage> =>
  parse(collectorMessage, frame);

/** A batch of which only the head was read: the whole frame, UTF-8. Item i has sequence `from + i`. */
export interface UnreadBatch {
  from: number;
  frame: Uint8Array;
}
type Observations = Extract<CollectorMessage, { type: 'observations' }>;
/** A message of a collector as the server receives it. */
export type HeardMessage =
  | Exclude<CollectorMessage, Observations>
  | (Omit<Observations, 'items'> & UnreadBatch);

/** How a batch begins when its collector writes its members in the order of `docs/protocol.md`. */
const BATCH_HEAD =
  /^\{"type":"observations","epoch":"([\da-f-]{36})","stream":"(state|event|sample)","from":(0|[1-9]\d{0,14}),"items":\[/;

/** No such beginning is longer, bytes. */
const BATCH_HEAD_BYTES = 160;

/**
 * As `parseCollectorMessage` for a frame in UTF-8, but does not read the items of a batch: the ingest thread does. They stay
 * bytes, because text of that size would burden the thread that answers API requests.
 */
export function hearCollectorMessage(frame: Buffer): Parsed<HeardMessage> {
  const head = frame.toString('latin1', 0, BATCH_HEAD_BYTES);
  const [whole, epoch = '', stream, from] = BATCH_HEAD.exec(head) ?? [];
  if (whole !== undefined) {
    return {
      ok: true,
      message: { type: 'observations', epoch, stream: stream as Stream, from: Number(from), frame },
      unknown: [],
    };
  }
  const parsed = parseCollectorMessage(frame.toString());
  if (!parsed.ok) return parsed;
  const { message, unknown } = parsed;
  if (message.type !== 'observations') return { ok: true, message, unknown };
  const { items: _, ...others } = message;
  return { ok: true, message: { ...others, frame }, unknown };
}

/** Reads one frame of the server. */
export const parseServerMessage = (frame: string): Parsed<ServerMessage> => parse(serverMessage, frame);
/** Reads one observation of a batch. */
export const parseObservation = (item: unknown): Parsed<Observation> => readWire(observation, item);
