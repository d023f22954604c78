/** The sensors of devices, kept as they were read last and judged. */
import { DEVICE_SENSORS, type SensorReading } from '@rollcall/shared/sensors';
import { uuidv7 } from '@rollcall/shared/uuid';
import { healthOf, rankOf, worstOf } from '../../platform/db/health.ts';
import type { Sql } from '../../platform/db/sql.ts';
import type { Measured } from '../../ports.ts';
import { grouped } from '../series.ts';
import { type Judged, judge } from './judge.ts';

/** Parts of one reading lie closer together than this, and readings farther apart. */
const ONE_READING_MS = 30_000;
/** A sensor that comes back within this time goes on with its series. */
const GONE_MS = 7 * 86_400_000;
/** Sensors that are kept of one device, those that are gone included: an agent that numbers anew each time makes no more. */
const KEPT_MOST = 2 * DEVICE_SENSORS;

/** A sensor as it stands in the table. */
interface Kept {
  id: string;
  deviceId: string;
  key: string;
  health: number;
  reason: string;
  healthSince: Date;
  aboveSince: Date | null;
  lastSeen: Date;
  goneAt: Date | null;
}

/** A sensor that was read, with how it is judged now. */
export interface JudgedSensor extends Judged {
  id: string;
  deviceId: string;
  reading: SensorReading;
  at: number;
  healthSince: number;
  /** Not there in what was known before. */
  isNew: boolean;
}

/** Whether the interface with this ifIndex of a device is known not to be up. */
export type LinkDown = (deviceId: string, ifIndex: number) => boolean;

/** The sensors of some devices: those that were read now, and ids by device and key. */
export interface StoredSensors {
  judged: JudgedSensor[];
  idOf: (deviceId: string, key: string) => string | undefined;
  /** Ids of sensors that are gone since. */
  gone: { id: string; deviceId: string }[];
}

/** Stores the readings of devices that exist. An older reading than what is known changes nothing. */
export async function storeSensors(
  sql: Sql,
  measured: readonly Measured[],
  { siteId, isLinkDown }: { siteId: string; isLinkDown: LinkDown },
): Promise<StoredSensors> {
  const read = measured.filter(({ observation: { sensors, sensorsComplete } }) => sensors || sensorsComplete);
  const devices = [...new Set(read.map(({ observation }) => observation.deviceId))];
  if (devices.length === 0) return { judged: [], idOf: () => undefined, gone: [] };
  const kept = grouped(await readKept(sql, siteId, devices), ({ deviceId }) => deviceId);
  const judged: JudgedSensor[] = [];
  const gone: Kept[] = [];
  const healths: { device: string; health: number }[] = [];
  for (const [deviceId, some] of grouped(read, ({ observation }) => observation.deviceId)) {
    const before = kept.get(deviceId) ?? [];
    const now = judgeDevice(deviceId, some, before, isLinkDown);
    const left = missing(some, before, now);
    judged.push(...now);
    gone.push(...left);
    const other = new Set([...now, ...left].map(({ id }) => id));
    const rest = before.filter(({ id, goneAt }) => goneAt === null && !other.has(id));
    const health = worstOf([...now.map((one) => one.health), ...rest.map((one) => healthOf(one.health))]);
    healths.push({ device: deviceId, health: rankOf(health) });
  }
  await writeSensors(sql, siteId, judged);
  await writeGone(sql, siteId, gone, Math.max(...read.map(({ at }) => at)));
  await writeHealth(sql, siteId, healths);
  const ids = new Map(
    [...[...kept.values()].flat(), ...judged.map(keyed)].map((one) => [nameOf(one), one.id]),
  );
  return { judged, idOf: (deviceId, key) => ids.get(nameOf({ deviceId, key })), gone };
}

const nameOf = ({ deviceId, key }: { deviceId: string; key: string }): string => `${deviceId} ${key}`;
const keyed = ({ id, deviceId, reading: { key } }: JudgedSensor) => ({ id, deviceId, key });

/** The last reading of each sensor of a device in these observations, judged; those that are newer are left out. */
function judgeDevice(
  deviceId: string,
  read: readonly Measured[],
  before: readonly Kept[],
  isLinkDown: LinkDown,
): JudgedSensor[] {
  const known = new Map(before.map((one) => [one.key, one]));
  const now = new Map<string, JudgedSensor>();
  for (const { observation, at } of [...read].sort((a, b) => a.at - b.at))
    for (const reading of observation.sensors ?? []) {
      const was = known.get(reading.key);
      if (was ? was.lastSeen.getTime() > at : known.size + now.size >= KEPT_MOST && !now.has(reading.key))
        continue;
      const last = now.get(reading.key) ?? (was && asJudged(was));
      const found = judge(reading, {
        before: last ?? null,
        at,
        isLinkDown: reading.ifIndex !== undefined && isLinkDown(deviceId, reading.ifIndex),
      });
      const healthSince = last && last.health === found.health ? last.healthSince : at;
      now.set(reading.key, {
        ...found,
        ...{ deviceId, reading, at, healthSince },
        id: last?.id ?? uuidv7(),
        isNew: was === undefined,
      });
    }
  return [...now.values()];
}

const asJudged = ({ id, health, healthSince, aboveSince, reason }: Kept) => ({
  id,
  reason,
  health: healthOf(health),
  healthSince: healthSince.getTime(),
  aboveSince: aboveSince?.getTime() ?? null,
});

/** Sensors that a complete reading did not see. */
function missing(read: readonly Measured[], before: readonly Kept[], now: readonly JudgedSensor[]): Kept[] {
  const whole = read.filter(({ observation }) => observation.sensorsComplete === true).map(({ at }) => at);
  if (whole.length === 0) return [];
  const until = Math.max(...whole) - ONE_READING_MS;
  const seen = new Set(now.map(({ id }) => id));
  return before.filter(
    ({ id, goneAt, lastSeen }) => goneAt === null && !seen.has(id) && lastSeen.getTime() < until,
  );
}

const readKept = (sql: Sql, siteId: string, devices: readonly string[]): Promise<Kept[]> =>
  sql.query<Kept & Record<string, unknown>>(
    `SELECT id, device_id AS "deviceId", key, health, reason, health_since AS "healthSince", above_since AS "aboveSince",
       last_seen AS "lastSeen", gone_at AS "goneAt"
     FROM sensors WHERE site_id = $1::uuid AND device_id = ANY($2::uuid[])`,
    [siteId, devices],
  );

async function writeSensors(sql: Sql, siteId: string, judged: readonly JudgedSensor[]): Promise<void> {
  if (judged.length === 0) return;
  const time = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString());
  const rows = judged.map(({ id, deviceId, reading, at, health, reason, healthSince, aboveSince }) => ({
    ...{ id, device: deviceId, key: reading.key, kind: reading.kind, name: reading.name },
    component: reading.component ?? 'other',
    value: reading.value,
    used: reading.usedBytes,
    total: reading.totalBytes,
    ...{
      state: reading.state,
      status: reading.status,
      limits: reading.limits ?? {},
      if_index: reading.ifIndex,
    },
    ...{ health: rankOf(health), reason, health_since: time(healthSince), above_since: time(aboveSince) },
    at: time(at),
  }));
  await sql.query(
    `INSERT INTO sensors (site_id, device_id, key, id, kind, name, component, value, used_bytes, total_bytes, state, status,
       limits, if_index, health, reason, health_since, above_since, first_seen, last_seen)
     SELECT $1::uuid, r.device, r.key, r.id, r.kind, r.name, r.component, r.value, r.used, r.total, r.state, r.status,
       r.limits, r.if_index, r.health, r.reason, r.health_since, r.above_since, r.at, r.at
     FROM jsonb_to_recordset($2::jsonb) AS r(device uuid, key text, id uuid, kind text, name text, component text,
       value float8, used float8, total float8, state text, status text, limits jsonb, if_index int8, health int2,
       reason text, health_since timestamptz, above_since timestamptz, at timestamptz)
     ORDER BY r.device, r.key
     ON CONFLICT (site_id, device_id, key) DO UPDATE SET kind = EXCLUDED.kind, name = EXCLUDED.name,
       component = EXCLUDED.component, value = EXCLUDED.value, used_bytes = EXCLUDED.used_bytes,
       total_bytes = EXCLUDED.total_bytes, state = EXCLUDED.state, status = EXCLUDED.status, limits = EXCLUDED.limits,
       if_index = EXCLUDED.if_index, health = EXCLUDED.health, reason = EXCLUDED.reason,
       health_since = EXCLUDED.health_since, above_since = EXCLUDED.above_since, last_seen = EXCLUDED.last_seen, gone_at = NULL`,
    [siteId, JSON.stringify(rows)],
  );
}

/** Marks what is gone, and forgets what has been for long, of the same devices. */
async function writeGone(sql: Sql, siteId: string, gone: readonly Kept[], at: number): Promise<void> {
  if (gone.length === 0) return;
  await sql.query('UPDATE sensors SET gone_at = $3 WHERE site_id = $1::uuid AND id = ANY($2::uuid[])', [
    siteId,
    gone.map(({ id }) => id),
    new Date(at),
  ]);
  await sql.query(
    'DELETE FROM sensors WHERE site_id = $1::uuid AND device_id = ANY($2::uuid[]) AND gone_at < $3',
    [siteId, [...new Set(gone.map(({ deviceId }) => deviceId))], new Date(at - GONE_MS)],
  );
}

/** A device's row is written only when its health differs: walks wait for it meanwhile. */
async function writeHealth(
  sql: Sql,
  siteId: string,
  healths: readonly { device: string; health: number }[],
): Promise<void> {
  await sql.query(
    `UPDATE devices d SET health = r.health FROM (
       SELECT o.id, n.health FROM jsonb_to_recordset($2::jsonb) AS n(device uuid, health int2)
       JOIN devices o ON o.site_id = $1::uuid AND o.id = n.device WHERE o.health <> n.health
       ORDER BY o.id FOR NO KEY UPDATE OF o) r
     WHERE d.site_id = $1::uuid AND d.id = r.id`,
    [siteId, JSON.stringify(healths)],
  );
}
