/** Samples of a chaos run, wherever they are kept: each is known again by its number, the pings that were sent. */
import { OF_DEVICE, type SeriesById, unpackChunk } from '@rollcall/server/measurements/chunk';
import { type SampleRow, seriesOfRows } from '@rollcall/server/measurements/row';
import { sampleHash } from './facts.ts';

/** A database, as little as the checker needs of it. */
export interface Rows {
  query<R extends object>(text: string, params?: readonly unknown[]): Promise<R[]>;
  /** The rows of this site alone are looked at; absent: those of all. */
  site?: string;
}

/** A sample as it is stored: number of its source, its own, and what it says. */
export interface FoundSample {
  index: string;
  n: number;
  hash: string;
  siteId: string;
}

interface Device {
  id: string;
  site_id: string;
  name: string;
  sensor: string | null;
}

export async function readSamples(db: Rows): Promise<FoundSample[]> {
  const devices = await db.query<Device>(
    `SELECT d.id, d.site_id, d.name, s.id AS sensor FROM devices d
     LEFT JOIN sensors s ON s.site_id = d.site_id AND s.device_id = d.id
     WHERE (d.site_id = $1::uuid OR $1::uuid IS NULL)
       AND (EXISTS (SELECT FROM samples e WHERE e.site_id = d.site_id AND e.device_id = d.id)
         OR EXISTS (SELECT FROM sample_chunks e WHERE e.site_id = d.site_id AND e.device_id = d.id))`,
    [db.site ?? null],
  );
  const found: FoundSample[] = [];
  for (const device of devices)
    for (const { n, ...one } of await samplesOf(db, device))
      found.push({
        ...{ n, hash: sampleHash(one), siteId: device.site_id },
        index: /^d0\.c(\d+)\./.exec(device.name)?.[1] ?? '',
      });
  return found;
}

interface Stored {
  n: number;
  overMs: number;
  avgMs: number | null;
  sensor: number | null;
}

/** Those whose hour is open, and those that were rolled up meanwhile. */
async function samplesOf(db: Rows, { id, site_id, sensor }: Device): Promise<Stored[]> {
  const rows = await db.query<SampleRow & { device: string }>(
    'SELECT at, over_ms AS "overMs", data FROM samples WHERE site_id = $1::uuid AND device_id = $2::uuid ORDER BY at',
    [site_id, id],
  );
  const chunks = await db.query<{ data: Uint8Array }>(
    'SELECT data FROM sample_chunks WHERE site_id = $1::uuid AND device_id = $2::uuid AND step = 0',
    [site_id, id],
  );
  return [seriesOfRows(rows), ...chunks.map(({ data }) => unpackChunk(data))].flatMap((all) =>
    storedIn(all, sensor),
  );
}

function storedIn(all: SeriesById, sensor: string | null): Stored[] {
  const device = all.get(OF_DEVICE);
  const sensed = all.get(sensor ?? '-');
  const valueAt = new Map(sensed?.end.map((end, i) => [end, sensed.columns.sensor?.[i] ?? null]));
  return (device?.end ?? []).map((end, i) => ({
    n: device?.columns.sent?.[i] ?? -1,
    overMs: device?.over[i] ?? 0,
    avgMs: device?.columns.avgMs?.[i] ?? null,
    sensor: valueAt.get(end) ?? null,
  }));
}
