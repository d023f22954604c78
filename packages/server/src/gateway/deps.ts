import type { Clock } from '@rollcall/shared/clock';
import type { Ruleset, ServerMessage } from '@rollcall/shared/protocol';
import type { Logger } from 'pino';
import type { Database } from '../platform/db/db.ts';
import type { LeaseName } from '../platform/db/notify.ts';
import type { Pin } from '../platform/keys/certificate.ts';
import type {
  Audit,
  ClaimedJob,
  JobCredentials,
  Lease,
  Progress,
  RecordChanges,
  Stored,
  WaitingBatches,
} from '../ports.ts';
import type { HandOut } from './enrolment/packages.ts';

/** What sessions need of the queue. */
export interface Jobs {
  claim(collector: { id: string; siteId: string; capacity: number }): Promise<ClaimedJob[]>;
  /** Answers the leases that the collector no longer holds. */
  extend(collectorId: string, leases: readonly Progress[]): Promise<Lease[]>;
  refuse(
    from: { collectorId: string; siteId: string },
    lease: Lease,
    end: { result: 'deferred' | 'failed'; reason: string },
  ): Promise<boolean>;
  giveBack(collectorId: string, working: readonly string[]): Promise<LeaseName[]>;
  takeAll(collectorId: string, reason: string): Promise<LeaseName[]>;
  sitesWithWork(): Promise<string[]>;
}

export type WatchMessage = Extract<ServerMessage, { type: 'watch' }>;

/** What the feature needs of the rest of the server. */
export interface CollectorDeps {
  db: Database;
  clock: Clock;
  log: Logger;
  recordChanges: RecordChanges;
  audit: Audit;
  jobs: Jobs;
  /**
   * Stores batches; answers how far their stream is committed and the jobs whose ends stood in them. Fails with
   * `Problem('unavailable')` when nothing can be stored now, `Problem('invalid_request')` when they cannot be read. Frames
   * that are empty then are lost here: the collector has them still.
   */
  accept(waiting: WaitingBatches): Promise<Pick<Stored, 'through' | 'ended'>>;
  /** Credentials for a job, in the order they are tried, and which worked where last time. */
  credentialsFor(job: ClaimedJob): Promise<JobCredentials>;
  /** Extra OIDs that the rules want read. */
  ruleset(): Ruleset | undefined;
  /**
   * What a collector is to watch, for one connection: the first call answers the whole list, in as many messages as it
   * takes, each further one what changed since; none when nothing did.
   */
  watchList(collector: { id: string; siteId: string }): () => Promise<readonly WatchMessage[]>;
  /** How a new host recognises this server's certificate, where nobody vouches for it. */
  pin?: () => Pin | undefined;
  /** The own authority's word for a certificate that is not of its making; see `signedSuccessor`. */
  successor?: () => string | undefined;
  /** Where people reach this server; what the request was sent to when absent. */
  publicUrl?: string | undefined;
  /** The collector's packages, where this server has them. */
  handOut?: HandOut | null;
  /** `host` or `host:port` that collectors may use for this server; any when absent. */
  hosts?: readonly string[] | undefined;
  /** Address of a peer, by the word of trusted proxies; that of the socket when absent. */
  addressOf?: (request: import('node:http').IncomingMessage) => string;
}

/** The part that every session works with. */
export type ForSessions = Pick<
  CollectorDeps,
  'clock' | 'log' | 'accept' | 'credentialsFor' | 'ruleset' | 'watchList' | 'successor'
>;
