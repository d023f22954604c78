/**
 * What a server process checks of itself: room on its disk, the end of its certificate. Each is an event when it turns.
 * Events belong to a site; those of a server to the installation's first one.
 */
import { X509Certificate } from 'node:crypto';
import { readFile, statfs } from 'node:fs/promises';
import { hostname } from 'node:os';
import type { Clock } from '@rollcall/shared/clock';
import type { Change, ChangeOf } from '../changes.ts';
import type { Database, Sql } from '../platform/db/db.ts';

/** Less than this share of the disk is free, and less than so much: nearly full. Twice as much is well again. */
const FREE_SHARE = 0.05;
const FREE_BYTES = 5 * 1024 ** 3;
/** A certificate is renewed long before; one of an authority that issues for 90 days 30 days before. */
const RENEW_MS = 14 * 86_400_000;

type Check = Pick<ChangeOf<'server.checked'>, 'check' | 'ok' | 'message'>;

export interface Measured {
  disk: { freeBytes: number; totalBytes: number; folder: string };
  /** When the certificate ends, Unix milliseconds; null without one. */
  certificateEnds: number | null;
}

/** How each check ends. @param bad checks that did not end well before */
export function judge(
  { disk, certificateEnds }: Measured,
  now: number,
  bad: ReadonlySet<Check['check']>,
): Check[] {
  const bound = Math.min(FREE_BYTES, disk.totalBytes * FREE_SHARE) * (bad.has('disk') ? 2 : 1);
  const mebibytes = Math.floor(disk.freeBytes / 1024 ** 2);
  const days = certificateEnds === null ? 0 : Math.floor((certificateEnds - now) / 86_400_000);
  return [
    {
      check: 'disk',
      ok: disk.freeBytes >= bound,
      message: `The disk of ${disk.folder} is nearly full: ${mebibytes} MiB are free. Make room, or move the folder.`,
    },
    {
      check: 'certificate',
      ok: certificateEnds === null || certificateEnds - now >= RENEW_MS,
      message:
        days < 0
          ? 'The certificate has ended: browsers and collectors refuse it. Renew it.'
          : `The certificate ends in ${days} days. Renew it, or see why it was not.`,
    },
  ];
}

interface Deps {
  db: Database;
  clock: Clock;
  recordChanges: (sql: Sql, changes: readonly Change[]) => Promise<unknown>;
  dataFolder: string;
  /** PEM; undefined: plain HTTP. */
  certFile: string | undefined;
}

/** Checks once, and raises what turned since the last time. */
export function createSelfCheck({
  db,
  clock,
  recordChanges,
  dataFolder,
  certFile,
}: Deps): () => Promise<void> {
  const server = hostname();
  let last: Check[] = [];
  return async () => {
    const bad = new Set(last.filter(({ ok }) => !ok).map(({ check }) => check));
    const checks = judge(await measure(dataFolder, certFile), clock.now(), bad);
    // The first time all are told: what an earlier process raised may be well by now.
    const turned = checks.filter(({ check, ok }) => last.find((each) => each.check === check)?.ok !== ok);
    if (turned.length === 0) return;
    const [site] = await db.query<{ id: string }>('SELECT id FROM sites ORDER BY created_at, id LIMIT 1');
    if (!site) return;
    const about = { kind: 'server.checked' as const, siteId: site.id, at: clock.now(), server };
    const changes = turned.map((check) => ({ ...about, ...check }));
    await db.transaction((sql) => recordChanges(sql, changes));
    last = checks;
  };
}

async function measure(dataFolder: string, certFile: string | undefined): Promise<Measured> {
  const { bavail, blocks, bsize } = await statfs(dataFolder);
  return {
    disk: { freeBytes: bavail * bsize, totalBytes: blocks * bsize, folder: dataFolder },
    certificateEnds:
      certFile === undefined ? null : Date.parse(new X509Certificate(await readFile(certFile)).validTo),
  };
}
