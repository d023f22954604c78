/**
 * What the features of the server say to each other: the types of the functions that `app.ts` hands over. Each type is
 * here once; features import these types and never each other.
 */
import type { Stream } from '@rollcall/shared/observation';
import type { ProfileSettings } from '@rollcall/shared/profile';
import type { Span, UnreadBatch, WireCredential } from '@rollcall/shared/protocol';
import type { Samples } from '@rollcall/shared/samples';
import type { Change } from './changes.ts';
import type { Sql, Transaction } from './platform/db/sql.ts';
import type { Actor } from './platform/http/handler.ts';

/** Batches of one stream of a collector that wait to be stored. */
export interface WaitingBatches {
  collectorId: string;
  siteId: string;
  epoch: string;
  stream: Stream;
  /** Server clock minus collector clock, milliseconds. */
  clockOffsetMs: number;
  /**
   * The batches, in order: asked for when there is room for them, not before, as what came while they waited goes along.
   * Asked again, it answers those before as well. Fails when nothing of this connection may be stored any more.
   */
  gather(): readonly UnreadBatch[];
}
export interface Stored {
  /** Highest sequence of the stream that is committed. */
  through: number;
  /** Observations that were in the batches. */
  count: number;
  /** Jobs whose ends were among them. */
  ended: string[];
}

/** What was measured, with the end of its interval on the server's clock, Unix milliseconds. */
export interface Measured {
  observation: Samples;
  at: number;
}

/** Stores measurements of a collector's batch. */
export type ApplySamples = (
  sql: Sql,
  samples: readonly Measured[],
  from: { siteId: string; collectorId: string },
) => Promise<StoredSamples>;
export interface StoredSamples {
  /** Where they cross the thresholds that apply to them. */
  changes: readonly Change[];
  /** Those that have no time: too late, in the future, or at the time of another one, as a clock makes them that was set. */
  refused: readonly Measured[];
}

/** Records changes as events and cases, in the transaction that stores what they speak of. */
export type RecordChanges = (sql: Sql, changes: readonly Change[]) => Promise<void>;

/**
 * Which conditions of some kinds are present at some devices: asked by the kind and the id of what it is about, a device, an
 * interface or a sensor.
 */
export type ReadPresent = (
  sql: Sql,
  siteId: string,
  deviceIds: readonly string[],
  kinds: readonly string[],
) => Promise<(kind: string, subjectId: string) => boolean>;

export interface AuditRecord {
  /** The caller; a name alone where nobody is signed in (a refused sign-in, the command line). */
  actor: Pick<Actor, 'userId' | 'name'> | { name: string };
  /** Verb on a thing: `token.create`, `session.refused`. */
  action: string;
  /** What it was done to, for a person to read. */
  subject?: string;
  siteId?: string;
  /** Address of the caller. */
  address?: string;
  /** Never a secret. */
  detail?: Record<string, unknown>;
}
/** Writes one entry of the audit log; inside the transaction of the deed, so that neither is there without the other. */
export type Audit = (sql: Transaction, record: AuditRecord) => Promise<void>;

/**
 * Anyone who has a link acknowledges a case: if it is open, it is investigated from now on. The audit log has it, with
 * `detail`. @throws Problem `not_found`
 */
export type AcknowledgeCase = (
  caseId: string,
  by: { name: string; siteId: string; address: string; detail: object },
) => Promise<void>;

/** A job that a collector holds: the fence grows with every claim, and an older one ends nothing. */
export interface Lease {
  job: string;
  fence: number;
}
/** A job as the queue hands it to a collector. */
export interface ClaimedJob extends Lease {
  scanId: string;
  siteId: string;
  spans: Span[];
  /** Bitmap of the addresses that already have an outcome. */
  done?: string;
  settings: ProfileSettings;
}
export interface Progress extends Lease {
  probed: number;
  alive: number;
  devices: number;
}

/** Credentials in the order they are tried, and which of them worked at which address last time. */
export interface JobCredentials {
  credentials: WireCredential[];
  known: Record<string, string>;
}

/** The maker of a hardware address in lower-case colon form; null where none is registered. */
export type MakerOf = (mac: string) => string | null;

/** An endpoint that a text may mean, for the search over everything. */
export interface FoundEndpoint {
  siteId: string;
  site: string;
  mac: string;
  name: string | null;
  maker: string | null;
  addresses: readonly string[];
  ports: readonly { deviceId: string; device: string; interfaceId: string | null; port: string | null }[];
}
/** At most so many of the endpoints that have this part of a hardware address, or an IP address that begins so. */
export type FindEndpoints = (
  text: string,
  within: { scope: readonly string[] | null; most: number },
) => Promise<FoundEndpoint[]>;
