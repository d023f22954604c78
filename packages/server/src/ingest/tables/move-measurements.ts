/** What was measured of a record that proves to be another, as a line of that one. */
import type { Sql } from '../../platform/db/sql.ts';

/** Interfaces of the record $2 with those of the receiver $3 that they are: of the same name, else of the same ifIndex. */
export const TWINS = `
  SELECT DISTINCT ON (r.into) o.id AS "from", r.into
  FROM interfaces o CROSS JOIN LATERAL (
    SELECT i.id AS into, i.name = o.name AS named, i.if_index = o.if_index AS same FROM interfaces i
    WHERE i.site_id = $1::uuid AND i.device_id = $3::uuid AND (i.name = o.name OR i.if_index = o.if_index)
    ORDER BY named DESC, same DESC, i.if_index LIMIT 1) r
  WHERE o.site_id = $1::uuid AND o.device_id = $2::uuid
  ORDER BY r.into, r.named DESC, o.if_index`;

/** An id of an interface or a sensor as it is from now on; the others stay. */
const ofReceiver = (id: string): string => `coalesce($4::jsonb ->> (${id}), ${id})`;

/** Columns of samples with these ids (SampleData of measurements/samples.ts). */
const renamed = (data: string, part: 'ports' | 'sensors'): string =>
  `jsonb_set(${data}, '{${part},id}', coalesce(
     (SELECT jsonb_agg(${ofReceiver('e.id')} ORDER BY e.n)
      FROM jsonb_array_elements_text(m.data #> '{${part},id}') WITH ORDINALITY AS e(id, n)), '[]'), false)`;

/** Only the header names series (measurements/chunk.ts): none is unpacked, however many there are. */
const LENGTH = `('x' || encode(substring(m.data FROM 1 FOR 4), 'hex'))::bit(32)::int`;
const CHUNK = `(SELECT int4send(octet_length(h.text)) || h.text || substring(m.data FROM 5 + ${LENGTH})
  FROM (SELECT convert_to(coalesce(jsonb_agg(jsonb_build_array(${ofReceiver('e.one ->> 0')}, e.one -> 1) ORDER BY e.n), '[]')::text, 'UTF8') AS text
    FROM jsonb_array_elements(convert_from(substring(m.data FROM 5 FOR ${LENGTH}), 'UTF8')::jsonb) WITH ORDINALITY AS e(one, n)) h)`;

/**
 * What was measured of a record goes on as that of the receiver, for the time in which that was not measured itself: to
 * the minute of the last hours, to the hour before.
 */
export async function moveMeasurements(
  sql: Sql,
  siteId: string,
  { from, into }: { from: string; into: string },
): Promise<void> {
  const params = [siteId, from, into];
  const twins = await sql.query<{ from: string; into: string }>(
    `(${TWINS}) UNION ALL
     SELECT o.id, d.id FROM sensors o JOIN sensors d ON d.site_id = o.site_id AND d.device_id = $3::uuid AND d.key = o.key
     WHERE o.site_id = $1::uuid AND o.device_id = $2::uuid`,
    params,
  );
  const ids = JSON.stringify(Object.fromEntries(twins.map((twin) => [twin.from, twin.into])));
  const move = (table: string, same: readonly string[], more = '') =>
    sql.query(
      `UPDATE ${table} m SET device_id = $3::uuid${more} WHERE m.site_id = $1::uuid AND m.device_id = $2::uuid
         AND NOT EXISTS (SELECT 1 FROM ${table} o WHERE o.site_id = m.site_id AND o.device_id = $3::uuid
           AND ${same.map((column) => `o.${column} = m.${column}`).join(' AND ')})`,
      more.includes('$4') ? [...params, ids] : params,
    );
  const data = (now: string) => (twins.length > 0 ? `, data = ${now}` : '');
  await move('samples', ['at', 'part'], data(renamed(renamed('m.data', 'ports'), 'sensors')));
  // The summaries of a day that both have a part of are made again.
  await move('sample_chunks', ['step', 'begins'], `, summarised = false${data(CHUNK)}`);
  // A sensor that the receiver has as well is its own; the health of both follows with the next reading.
  await move('sensors', ['key']);
  await move('monitoring_history', ['since']);
  await move('backlog_history', ['since']);
}
