/**
 * Keeps the links of each site: far ends of LLDP and CDP reports, and what forwarding tables prove. Works behind ingest,
 * because a link needs both of its ends; every pass reads the site anew and writes only what differs.
 */

import { createHash } from 'node:crypto';
import type { Clock } from '@rollcall/shared/clock';
import type { Logger } from 'pino';
import type { Change } from '../../changes.ts';
import type { Database } from '../../platform/db/db.ts';
import { announce } from '../../platform/db/notify.ts';
import type { Sql } from '../../platform/db/sql.ts';
import type { RecordChanges } from '../../ports.ts';
import * as store from '../tables/store.ts';
import { lockSite } from '../world.ts';
import { readDevices } from './read.ts';
import { type Attachment, findLinks, type SiteLinks } from './site-links.ts';

export interface LinkerDeps {
  db: Database;
  clock: Clock;
  log: Logger;
  recordChanges: RecordChanges;
}

export interface Linker {
  /** Something of a site changed that links are made of. */
  touched(siteId: string): void;
  /** Links one site now. @returns how many rows changed. */
  link(siteId: string): Promise<number>;
  /** Links touched sites from time to time, all of them once at the start; the answer ends it. */
  start(): Promise<() => Promise<void>>;
}

/** How often sites whose links may have changed are looked for; also the shortest rest of a site. */
const LOOK_MS = 2000;
/** A site rests as long as this many of its last passes took. */
const REST = 10;
/** "Last seen" of a link that is still so is exact to this. */
const GRAIN_MS = 24 * 3600_000;

export function createLinker({ db, clock, log, recordChanges }: LinkerDeps): Linker {
  const waiting = new Set<string>();
  const restsUntil = new Map<string, number>();

  const link = async (siteId: string): Promise<number> => {
    const links = await findLinks(db.ingest, siteId, clock.now());
    return db.ingest.transaction((sql) =>
      writeLinks(sql, { siteId, links, now: clock.now(), recordChanges }),
    );
  };

  const round = async () => {
    for (const siteId of [...waiting]) {
      const begun = clock.monotonic();
      if (begun < (restsUntil.get(siteId) ?? 0)) continue;
      waiting.delete(siteId);
      try {
        const changed = await link(siteId);
        log.debug({ site: siteId, changed, ms: Math.round(clock.monotonic() - begun) }, 'site linked');
      } catch (error) {
        waiting.add(siteId);
        log.warn({ site: siteId, err: String(error) }, 'linking failed; it is tried again');
      }
      const ended = clock.monotonic();
      restsUntil.set(siteId, ended + Math.max(LOOK_MS, REST * (ended - begun)));
    }
  };

  return {
    touched: (siteId) => void waiting.add(siteId),
    link,
    start: async () => {
      for (const { id } of await db.query<{ id: string }>('SELECT id FROM sites')) waiting.add(id);
      let running = Promise.resolve();
      const stop = clock.every(LOOK_MS, () => {
        running = round();
        return running;
      });
      return async () => {
        stop();
        await running;
      };
    },
  };
}

interface Writing {
  siteId: string;
  links: SiteLinks;
  now: number;
  recordChanges: LinkerDeps['recordChanges'];
}

async function writeLinks(sql: Sql, { siteId, links, now, recordChanges }: Writing): Promise<number> {
  await lockSite(sql, siteId);
  const devices = await readDevices(sql, siteId, mentioned(links));
  const there = (id: string | undefined) => id !== undefined && devices.has(id);
  const resolved = links.resolved.filter(({ far }) => far === null || there(far.deviceId));
  const touched = new Set<string>();
  await updateFarEnds(sql, siteId, resolved);
  for (const { report } of resolved) touched.add(report.deviceId);
  await store.removeNeighbours(
    sql,
    siteId,
    links.outdated.map(({ deviceId, protocol, key }) => ({ deviceId, protocol, key })),
  );
  for (const { deviceId } of links.outdated) touched.add(deviceId);
  const proven = links.proven.filter(({ deviceId, far }) => there(deviceId) && there(far.deviceId));
  const written = await writeProven(sql, siteId, proven, now);
  for (const deviceId of written) touched.add(deviceId);
  const attachments = new Map(
    [...links.attachments].filter(([id, { deviceId }]) => there(id) && there(deviceId)),
  );
  const moved = await moveStations(sql, siteId, attachments, now);
  if (moved.length > 0) {
    await recordChanges(
      sql,
      moved.map(({ id, before, after }): Change => {
        const device = devices.get(id);
        const port = (at: Attachment) => ({ ...at, deviceName: devices.get(at.deviceId)?.name ?? '' });
        return {
          kind: 'device.moved',
          siteId,
          at: now,
          collectorId: null,
          deviceId: id,
          deviceName: device?.name ?? '',
          address: device?.address ?? null,
          monitor: device?.monitor ?? false,
          before: port(before),
          after: port(after),
        };
      }),
    );
  }
  await announce(sql, siteId, 'device', [...touched]);
  return resolved.length + links.outdated.length + written.length;
}

const mentioned = ({ resolved, proven, attachments }: SiteLinks): string[] => [
  ...new Set([
    ...resolved.flatMap(({ far }) => far?.deviceId ?? []),
    ...proven.flatMap(({ deviceId, far }) => [deviceId, far.deviceId]),
    ...[...attachments].flatMap(([id, { deviceId }]) => [id, deviceId]),
  ]),
];

async function updateFarEnds(sql: Sql, siteId: string, resolved: SiteLinks['resolved']): Promise<void> {
  if (resolved.length === 0) return;
  await sql.query(
    `UPDATE neighbours n SET remote_device_id = r."remoteId", remote_if_index = r."remoteIfIndex"
     FROM jsonb_to_recordset($2::jsonb)
       AS r("deviceId" uuid, protocol text, key text, "remoteId" uuid, "remoteIfIndex" bigint)
     WHERE n.site_id = $1::uuid AND n.device_id = r."deviceId" AND n.protocol = r.protocol AND n.key = r.key`,
    [
      siteId,
      JSON.stringify(
        resolved.map(({ report, far }) => ({
          deviceId: report.deviceId,
          protocol: report.protocol,
          key: report.key,
          remoteId: far?.deviceId ?? null,
          remoteIfIndex: far?.ifIndex ?? null,
        })),
      ),
    ],
  );
}

/** Writes links that are new, differ, or were written long ago; answers their devices. */
async function writeProven(
  sql: Sql,
  siteId: string,
  proven: SiteLinks['proven'],
  now: number,
): Promise<string[]> {
  if (proven.length === 0) return [];
  const rows = await sql.query<{ deviceId: string }>(
    `INSERT INTO neighbours (site_id, device_id, protocol, key, if_index, chassis_id, addresses,
       remote_device_id, remote_if_index, first_seen, last_seen)
     SELECT $1::uuid, r."deviceId", 'fdb', r.key, r."ifIndex", r."chassisId", '{}', r."remoteId", r."remoteIfIndex",
       $3::timestamptz, $3::timestamptz
     FROM jsonb_to_recordset($2::jsonb)
       AS r("deviceId" uuid, key text, "ifIndex" bigint, "chassisId" text, "remoteId" uuid, "remoteIfIndex" bigint)
     ORDER BY r."deviceId", r.key
     ON CONFLICT (site_id, device_id, protocol, key) DO UPDATE
     SET chassis_id = EXCLUDED.chassis_id, remote_device_id = EXCLUDED.remote_device_id,
       remote_if_index = EXCLUDED.remote_if_index, last_seen = EXCLUDED.last_seen
     WHERE (neighbours.chassis_id, neighbours.remote_device_id, neighbours.remote_if_index)
         IS DISTINCT FROM (EXCLUDED.chassis_id, EXCLUDED.remote_device_id, EXCLUDED.remote_if_index)
       OR neighbours.last_seen < $4::timestamptz
     RETURNING device_id AS "deviceId"`,
    [
      siteId,
      JSON.stringify(
        proven.map(({ far, ...row }) => ({ ...row, remoteId: far.deviceId, remoteIfIndex: far.ifIndex })),
      ),
      new Date(now),
      new Date(now - GRAIN_MS),
    ],
  );
  return rows.map(({ deviceId }) => deviceId);
}

/** Keeps where stations hang, and answers those that hung on another port before. */
async function moveStations(
  sql: Sql,
  siteId: string,
  attachments: ReadonlyMap<string, Attachment>,
  now: number,
): Promise<{ id: string; before: Attachment; after: Attachment }[]> {
  const stored = await sql.query<{ id: string; data: Attachment }>(
    `SELECT device_id AS id, data FROM device_facts
     WHERE site_id = $1::uuid AND "group" = 'attachment' AND device_id = ANY($2::uuid[])`,
    [siteId, [...attachments.keys()]],
  );
  const before = new Map(stored.map(({ id, data }) => [id, data]));
  const changed = [...attachments].filter(([id, at]) => {
    const was = before.get(id);
    return was?.deviceId !== at.deviceId || was.ifIndex !== at.ifIndex;
  });
  await store.writeFacts(
    sql,
    changed.map(([deviceId, at]) => ({
      siteId,
      deviceId,
      group: 'attachment',
      data: at,
      hash: createHash('sha1').update(`${at.deviceId} ${at.ifIndex}`).digest('base64url').slice(0, 22),
      seenAt: now,
      complete: true,
    })),
  );
  return changed.flatMap(([id, after]) => {
    const was = before.get(id);
    return was ? [{ id, before: was, after }] : [];
  });
}
