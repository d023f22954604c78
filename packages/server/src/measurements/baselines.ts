/** What is usual of devices, by hour of the week, and of the traffic of their interfaces, as it is stored. */
import { isDeepStrictEqual } from 'node:util';
import type { Threshold } from '@rollcall/shared/api/sites';
import type { Sql } from '../platform/db/sql.ts';
import {
  besides,
  hourOfWeek,
  learn,
  learnTraffic,
  type Traffic,
  type Usual,
  unusual,
  usualPackets,
} from './baseline.ts';
import { OF_DEVICE, type SeriesById } from './chunk.ts';
import type { Series } from './series.ts';

const COLUMNS = `weeks, rtt_ms AS rtt, rtt_spread_ms AS "rttSpread", loss, loss_spread AS "lossSpread"`;

interface Of {
  siteId: string;
  deviceId: string;
}

/** Learns an hour that is over, whose intervals these are. */
export async function learnHour(sql: Sql, { siteId, deviceId }: Of, series: Series): Promise<void> {
  const end = series.end.at(-1);
  if (end === undefined) return;
  const hour = hourOfWeek(end);
  const [before] = await sql.query<Usual & Record<string, unknown>>(
    `SELECT ${COLUMNS} FROM baselines WHERE site_id = $1::uuid AND device_id = $2::uuid AND hour = $3`,
    [siteId, deviceId, hour],
  );
  const usual = learn(before ?? null, series);
  if (usual === null || usual === before) return;
  await sql.query(
    `INSERT INTO baselines (site_id, device_id, hour, weeks, rtt_ms, rtt_spread_ms, loss, loss_spread)
     VALUES ($1::uuid, $2::uuid, $3, $4, $5, $6, $7, $8)
     ON CONFLICT (site_id, device_id, hour) DO UPDATE SET weeks = EXCLUDED.weeks, rtt_ms = EXCLUDED.rtt_ms,
       rtt_spread_ms = EXCLUDED.rtt_spread_ms, loss = EXCLUDED.loss, loss_spread = EXCLUDED.loss_spread`,
    [siteId, deviceId, hour, usual.weeks, usual.rtt, usual.rttSpread, usual.loss, usual.lossSpread],
  );
}

/** Thresholds of a device by what is usual at the end of an interval; none before it has been measured for a week. */
export type UnusualAt = (deviceId: string, end: number) => Partial<Record<Threshold, number>>;

export async function readBaselines(
  sql: Sql,
  siteId: string,
  { devices, ends }: { devices: readonly string[]; ends: readonly number[] },
): Promise<UnusualAt> {
  const hours = [...new Set(ends.map(hourOfWeek).flatMap(besides))];
  const rows = await sql.query<Usual & { deviceId: string; hour: number }>(
    `SELECT device_id AS "deviceId", hour, ${COLUMNS} FROM baselines
     WHERE site_id = $1::uuid AND device_id = ANY($2::uuid[]) AND hour = ANY($3::int[])`,
    [siteId, devices, hours],
  );
  const known = new Map(rows.map((row) => [`${row.deviceId} ${row.hour}`, row]));
  return (deviceId, end) => {
    const found = besides(hourOfWeek(end)).map((hour) => known.get(`${deviceId} ${hour}`));
    // Its own hour is known once a week has passed; those beside it are of yesterday, or of this very day.
    return found[0] === undefined ? {} : unusual(found.filter((one) => one !== undefined));
  };
}

/** Of the interfaces of a device, by their ids. */
type TrafficById = Record<string, Traffic>;

/** Learns how much the interfaces of a device carried in an hour that is over. */
export async function learnTrafficHour(
  sql: Sql,
  { siteId, deviceId }: Of,
  series: SeriesById,
): Promise<void> {
  const ports = [...series].filter(([id]) => id !== OF_DEVICE);
  if (ports.length === 0) return;
  const [before] = await sql.query<{ traffic: TrafficById }>(
    'SELECT traffic FROM traffic_baselines WHERE site_id = $1::uuid AND device_id = $2::uuid',
    [siteId, deviceId],
  );
  const traffic: TrafficById = {};
  for (const [id, one] of ports) {
    const learnt = learnTraffic(before?.traffic[id] ?? null, one);
    if (learnt !== null) traffic[id] = learnt;
  }
  if (isDeepStrictEqual(traffic, before?.traffic ?? {})) return;
  await sql.query(
    `INSERT INTO traffic_baselines (site_id, device_id, traffic) VALUES ($1::uuid, $2::uuid, $3::jsonb)
     ON CONFLICT (site_id, device_id) DO UPDATE SET traffic = EXCLUDED.traffic`,
    [siteId, deviceId, JSON.stringify(traffic)],
  );
}

/** @returns packets a second that an interface of a device carries in every hour */
export async function readUsualPackets(
  sql: Sql,
  siteId: string,
  devices: readonly string[],
): Promise<(deviceId: string, interfaceId: string) => number | null> {
  const rows = await sql.query<{ deviceId: string; traffic: TrafficById }>(
    `SELECT device_id AS "deviceId", traffic FROM traffic_baselines
     WHERE site_id = $1::uuid AND device_id = ANY($2::uuid[])`,
    [siteId, devices],
  );
  const known = new Map(rows.map(({ deviceId, traffic }) => [deviceId, traffic]));
  return (deviceId, interfaceId) => usualPackets(known.get(deviceId)?.[interfaceId]);
}
