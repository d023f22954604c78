/** The end of a scan: devices whose address was silent, is virtual or was found first now get their management address (`main-address.ts`). */
import { AddressSpace } from '@rollcall/shared/address-space';
import { ALIVE_CODES, SILENT_CODE } from '@rollcall/shared/model';
import type { Span } from '@rollcall/shared/protocol';
import type { Change } from '../../changes.ts';
import type { Sql } from '../../platform/db/sql.ts';
import { moveTo } from '../observe.ts';
import type { EndingScan } from '../scan-end.ts';
import { noWrites } from '../tables/rows.ts';
import { save } from '../tables/save.ts';
import { emptyWorld, loadDevices } from '../world.ts';
import { virtualMac } from './fingerprint.ts';
import { type Move, mainAddress, type Place, type Standing } from './main-address.ts';

/** ifType softwareLoopback (IANAifType-MIB). */
const LOOPBACK = 24;

/** Chooses the management addresses of a scan's devices, once its last job has ended. */
export async function chooseAddresses(
  sql: Sql,
  siteId: string,
  scan: EndingScan,
  at: number,
  collectorId: string,
): Promise<{ devices: string[]; changes: Change[] }> {
  const nothing = { devices: [], changes: [] };
  const rows = await readPlaces(sql, siteId, scan);
  if (rows.length === 0) return nothing;
  const answeredAt = await readAnswers(sql, siteId, scan.id);
  const moves = new Map<string, Move>();
  for (const [deviceId, standing] of standings(rows, answeredAt, scan.most)) {
    const move = mainAddress(standing);
    if (move) moves.set(deviceId, move);
  }
  if (moves.size === 0) return nothing;
  const world = emptyWorld(siteId);
  await loadDevices(sql, world, [...moves.keys()]);
  for (const [id, device] of world.devices) {
    device.seen = { at, collectorId };
    moveTo(device, moves.get(id)?.address ?? '', at);
  }
  const devices = await save(sql, world, noWrites());
  const isNews = (change: Change) =>
    change.kind !== 'device.renumbered' || moves.get(change.deviceId ?? '')?.reason === 'silent';
  return { devices, changes: world.changes.filter(isNews) };
}

interface PlaceRow {
  deviceId: string;
  main: string;
  isNew: boolean;
  watched: Standing['watched'];
  missedScans: number;
  address: string;
  listed: boolean;
  alone: boolean;
  ifType: number | null;
  mac: string | null;
  /** Another device lists it too. */
  shared: boolean;
}

/** Every address of the devices that may have to move: those with several, that the scan saw. */
const readPlaces = (sql: Sql, siteId: string, scan: EndingScan): Promise<PlaceRow[]> =>
  sql.query<PlaceRow & Record<string, unknown>>(
    `WITH places AS (
       SELECT d.id AS "deviceId", host(d.address) AS main, d.first_seen >= $3 AS "isNew", d.missed_scans AS "missedScans",
         CASE WHEN d.monitor AND v.watched_at IS NOT NULL AND d.status <> 'unknown' THEN d.status END AS watched,
         e.value AS address, a.origin = 'table' AS listed,
         coalesce(a.prefix_length = CASE family(a.address) WHEN 4 THEN 32 ELSE 128 END, false) AS alone, i.type AS "ifType", i.mac_address AS mac,
         EXISTS (SELECT 1 FROM device_addresses o JOIN devices h ON h.site_id = o.site_id AND h.id = o.device_id
           WHERE o.site_id = d.site_id AND o.address = e.value::inet AND o.device_id <> d.id AND o.origin = 'table'
             AND h.gone_at IS NULL) AS shared
       FROM sightings v JOIN devices d ON d.site_id = v.site_id AND d.id = v.device_id
       JOIN evidence e ON e.site_id = d.site_id AND e.device_id = d.id AND e.kind = 'address'
       LEFT JOIN device_addresses a ON a.site_id = d.site_id AND a.device_id = d.id AND a.address = e.value::inet
       LEFT JOIN interfaces i ON i.site_id = d.site_id AND i.device_id = d.id AND i.if_index = a.if_index
         AND i.gone_at IS NULL
       WHERE v.site_id = $1::uuid AND v.last_scan_id = $2::uuid AND d.address IS NOT NULL
     ), several AS (SELECT *, count(*) OVER (PARTITION BY "deviceId") AS n FROM places)
     SELECT * FROM several WHERE n > 1`,
    [siteId, scan.id, scan.startedAt],
  );

/** Whether an address answered in the scan; null: it was not asked, or has no final answer. */
async function readAnswers(
  sql: Sql,
  siteId: string,
  scanId: string,
): Promise<(address: string) => boolean | null> {
  const jobs = await sql.query<{ spans: Span[]; size: number; outcomes: string }>(
    'SELECT spans, size, outcomes FROM jobs WHERE scan_id = $2::uuid AND site_id = $1::uuid',
    [siteId, scanId],
  );
  const space = AddressSpace.ofSpans(jobs.flatMap(({ spans }) => spans));
  const codes = jobs.map(({ size, outcomes }) => outcomes.padEnd(size, '.')).join('');
  return (address) => {
    const code = codes[space.indexOf(address)] ?? '.';
    return code === SILENT_CODE ? false : ALIVE_CODES.includes(code) ? true : null;
  };
}

function standings(
  rows: readonly PlaceRow[],
  answeredAt: (address: string) => boolean | null,
  missedUntilGone: number,
): Map<string, Standing & { places: Place[] }> {
  const all = new Map<string, Standing & { places: Place[] }>();
  for (const row of rows) {
    const { main, isNew, watched, missedScans } = row;
    const one = all.get(row.deviceId) ?? {
      ...{ address: main, places: [], isNew, watched, missedScans, missedUntilGone },
    };
    one.places.push({
      address: row.address,
      answered: answeredAt(row.address),
      on: row.ifType === LOOPBACK ? 'loopback' : row.listed ? 'interface' : null,
      alone: row.alone,
      virtual: row.shared || (row.mac !== null && virtualMac(row.mac)),
    });
    all.set(row.deviceId, one);
  }
  return all;
}
