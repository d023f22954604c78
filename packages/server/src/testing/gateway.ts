/** One instance of the server as collectors see it: a real socket, the queue, identities; ingest is the least there is. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Clock, systemClock } from '@rollcall/shared/clock';
import { parseObservation, type UnreadBatch } from '@rollcall/shared/protocol';
import { pino } from 'pino';
import type { Change } from '../changes.ts';
import { createCredentialFeature } from '../credentials/feature.ts';
import type { CollectorDeps } from '../gateway/deps.ts';
import { type CollectorFeature, createCollectorFeature } from '../gateway/feature.ts';
import type { Database } from '../platform/db/db.ts';
import { keyring } from '../platform/keys/keyring.ts';
import { startPeriodic } from '../platform/ops/periodic.ts';
import type { WaitingBatches } from '../ports.ts';
import { createScanFeature, type ScanFeature } from '../scans/feature.ts';

export interface Instance {
  scans: ScanFeature;
  credentials: ReturnType<typeof createCredentialFeature>;
  collectors: CollectorFeature;
  /** `ws://127.0.0.1:port`. */
  base: string;
  host: string;
  /** What was raised, in order. */
  raised: Change[];
  stop(): Promise<void>;
}

const observationsIn = (batches: readonly UnreadBatch[]): { seq: number; item: unknown }[] =>
  batches.flatMap(({ from, frame }) =>
    (JSON.parse(Buffer.from(frame).toString()) as { items: unknown[] }).items.map((item, i) => ({
      seq: from + i,
      item,
    })),
  );

/** What is answered for batches by a store that stored them. */
export function taken(batches: readonly UnreadBatch[]): { through: number; ended: string[] } {
  const all = observationsIn(batches);
  const ended = all.flatMap(({ item }) => {
    const { kind, job } = (item ?? {}) as { kind?: unknown; job?: string };
    return kind === 'job-end' && job !== undefined ? [job] : [];
  });
  return { through: all.at(-1)?.seq ?? -1, ended };
}

/** Stores nothing but how far each stream came, what became of addresses, and how jobs ended. */
const least =
  (db: Database, scans: ScanFeature) =>
  (unread: WaitingBatches): ReturnType<CollectorDeps['accept']> =>
    db.ingest.transaction(async (sql) => {
      const { collectorId, siteId, epoch, stream } = unread;
      const batches = unread.gather();
      const told = taken(batches);
      const key = [collectorId, epoch, stream];
      await sql.query(
        'INSERT INTO collector_streams (collector_id, epoch, stream, through) VALUES ($1, $2, $3, -1) ON CONFLICT DO NOTHING',
        key,
      );
      const [row] = await sql.query<{ through: number }>(
        'SELECT through FROM collector_streams WHERE collector_id = $1 AND epoch = $2 AND stream = $3 FOR UPDATE',
        key,
      );
      const through = Math.max(row?.through ?? -1, told.through);
      for (const { seq, item } of observationsIn(batches)) {
        const parsed = parseObservation(item);
        if (!parsed.ok || seq <= (row?.through ?? -1)) continue;
        const { message: data } = parsed;
        if (data.kind === 'outcomes') await scans.applyOutcomes(sql, data, { collectorId, siteId });
        if (data.kind === 'job-end') await scans.applyJobEnd(sql, data, { collectorId, siteId });
      }
      await sql.query(
        'UPDATE collector_streams SET through = $4 WHERE collector_id = $1 AND epoch = $2 AND stream = $3',
        [...key, through],
      );
      return { ...told, through };
    });

export async function openInstance(
  db: Database,
  more: Partial<CollectorDeps> & { clock?: Clock; leaseMs?: number } = {},
): Promise<Instance> {
  const raised: Change[] = [];
  const clock = more.clock ?? systemClock;
  const log = pino({ level: process.env.TEST_LOG ?? 'silent' });
  const recordChanges = async (_sql: unknown, changes: readonly Change[]) => {
    raised.push(...changes);
  };
  const audit = async () => undefined;
  const scans = createScanFeature({
    db,
    clock,
    log,
    recordChanges,
    audit,
    maxAddresses: 1_048_576,
    ...(more.leaseMs === undefined ? {} : { leaseMs: more.leaseMs }),
  });
  const credentials = createCredentialFeature({ db, log, audit, keyring: keyring([Buffer.alloc(32, 7)]) });
  const collectors = createCollectorFeature({
    db,
    clock,
    log,
    recordChanges,
    audit,
    jobs: scans.queue,
    accept: least(db, scans),
    credentialsFor: credentials.forJob,
    ruleset: () => undefined,
    watchList: () => async () => [],
    ...more,
  });
  const server = createServer();
  server.on('upgrade', collectors.upgrade);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  await scans.seed();
  const stopReaping = startPeriodic({ clock, log }, [
    { what: 'taking back leases', everyMs: 2_000, run: scans.queue.reap },
  ]);
  const stopCollectors = await collectors.start();
  return {
    scans,
    credentials,
    collectors,
    host,
    base: `ws://${host}`,
    raised,
    stop: async () => {
      stopReaping();
      await stopCollectors();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
