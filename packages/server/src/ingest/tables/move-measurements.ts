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

/** Columns of samples with these ids (SampleData of measurements/row.ts). */
const renamed = (data: string, part: 'ports' | 'sensors'): string =>
  `jsonb_set(${data}, '{${part},id}', coalesce(
     (SELECT jsonb_agg(${ofReceiver('e.id')} ORDER BY e.n)
      FROM jsonb_array_elements_text(m.data #> '{${part},id}') WITH ORDINALITY AS e(id, n)), '[]'), false)`;

/** Only the header names series (measurements/chunk.ts): none is unpacked, however many there are. */
const LENGTH = `('x' || encode(substring(m.data FROM 1 FOR 4), 'hex'))::bit(32)::int`;
const CHUNK = `(SELECT int4send(octet_length(h.text)) || h.text || substring(m.data FROM 5 + ${LENGTH})
  FROM (SELECT convert_to(coalesce(jsonb_agg(jsonb_build_array(${ofReceiver('e.one ->> 0')}, e.one -> 1) ORDER BY e.n), '[]')::text, 'UTF8') AS text
    FROM jsonb_array_elements(convert_from(substring(m.data FROM 5 FOR ${LENGTH}), 'UTF8')::jsonb) WITH ORDINALITY AS e(one, n)) h)`;

/** Values of so many seconds (0: samples) are summarised, of so long, to values of so many (measurements/rollup.ts). */
const SUMMARIES = [
  { of: 0, span: '1 day', steps: [300, 3600] },
  { of: 3600, span: '30 days', steps: [86_400] },
] as const;
type Span = Pick<(typeof SUMMARIES)[number], 'of' | 'span'>;
const beginning = (time: string, span: Span['span']) =>
  `date_bin('${span}', ${time}, '1970-01-01 00:00:00+00')`;
/** Of the oldest day a part may be deleted already: its summaries stay. */
const firstWhole = ({ of, span }: Span) =>
  `(SELECT ${beginning('min(a.begins)', span)} + interval '${span}' FROM sample_chunks a WHERE a.step = ${of})`;
/** The summaries of a day that both have a part of are made again. */
const STAYS_SUMMARISED = `m.summarised AND CASE m.step
  ${SUMMARIES.map((one) => `WHEN ${one.of} THEN m.begins < ${firstWhole(one)}`).join(' ')} ELSE false END`;

/** What is measured of a device: its keys beside the device, what names interfaces and sensors, and as what. */
const TABLES = {
  samples: {
    keys: { at: 'timestamptz', part: 'int8' },
    data: renamed(renamed('m.data', 'ports'), 'sensors'),
  },
  sample_chunks: { keys: { step: 'int4', begins: 'timestamptz' }, data: CHUNK },
  monitoring_history: { keys: { since: 'timestamptz' }, data: null },
  backlog_history: { keys: { since: 'timestamptz' }, data: null },
} as const;
type Table = keyof typeof TABLES;
const SERIES = ['samples', 'sample_chunks'] as const;
type Keys = readonly Readonly<Record<string, unknown>>[];

/** A record, and the one whose device it proved to be. */
export interface Pair {
  from: string;
  into: string;
}

/** What `moveMeasurements` moved, as JSON: enough for `returnMeasurements`. */
export interface Moved {
  /** Interfaces and sensors that the record had, as rows; `into`: the one of the receiver that it is. */
  ports: readonly Readonly<Record<string, unknown>>[];
  sensors: readonly Readonly<Record<string, unknown>>[];
  rows: Readonly<Record<(typeof SERIES)[number], Keys>>;
}

/** Rows whose place the receiver does not hold itself go to it. @param only these @returns keys of those that went */
async function moveRows(
  sql: Sql,
  siteId: string,
  { from, into }: Pair,
  { table, ids, only }: { table: Table; ids: ReadonlyMap<string, string>; only?: Keys },
): Promise<Keys> {
  const { keys, data } = TABLES[table];
  const names = Object.keys(keys);
  const same = (other: string) => names.map((name) => `${other}.${name} = m.${name}`).join(' AND ');
  const types = Object.entries(keys).map((entry) => entry.join(' '));
  const set = [
    'device_id = $3::uuid',
    ...(data && ids.size > 0 ? [`data = ${data}`] : []),
    ...(table === 'sample_chunks' ? [`summarised = ${STAYS_SUMMARISED}`] : []),
  ];
  const listed = `EXISTS (SELECT 1 FROM jsonb_to_recordset($5::jsonb) AS k(${types}) WHERE ${same('k')})`;
  const [moved] = await sql.query<{ keys: Keys }>(
    // Where nothing is renamed, only `ids` says of what type the fourth parameter is.
    `WITH ids AS (SELECT $4::jsonb), moved AS (
       UPDATE ${table} m SET ${set}
       WHERE m.site_id = $1::uuid AND m.device_id = $2::uuid AND ($5::jsonb IS NULL OR ${listed}) AND NOT EXISTS (
         SELECT 1 FROM ${table} o WHERE o.site_id = m.site_id AND o.device_id = $3::uuid AND ${same('o')})
       RETURNING ${names.map((name) => `m.${name}`)})
     SELECT coalesce(jsonb_agg(moved), '[]') AS keys FROM moved`,
    [siteId, from, into, JSON.stringify(Object.fromEntries(ids)), only ? JSON.stringify(only) : null],
  );
  return moved?.keys ?? [];
}

/** Ids of things that both have. */
const renaming = (rows: Moved['ports'], from: 'id' | 'into', to: 'id' | 'into'): Map<string, string> =>
  new Map(rows.filter(({ into }) => into).map((row) => [`${row[from]}`, `${row[to]}`]));

const rowsOf = async (sql: Sql, query: string, params: readonly unknown[]): Promise<Moved['ports']> =>
  (
    await sql.query<{ row: Record<string, unknown> }>(`SELECT to_jsonb(r) AS row FROM (${query}) r`, params)
  ).map(({ row }) => row);

/**
 * What was measured of a record goes on as that of the receiver, for the time in which that was not measured itself: to
 * the minute of the last hours, to the hour before.
 */
export async function moveMeasurements(sql: Sql, siteId: string, pair: Pair): Promise<Moved> {
  const params = [siteId, pair.from, pair.into];
  const ports = await rowsOf(
    sql,
    `SELECT o.id, t.into, ${PORT} FROM interfaces o LEFT JOIN (${TWINS}) t ON t.from = o.id
     WHERE o.site_id = $1::uuid AND o.device_id = $2::uuid`,
    params,
  );
  const sensors = await rowsOf(
    sql,
    `SELECT o.id, d.id AS into, ${SENSOR} FROM sensors o
     LEFT JOIN sensors d ON d.site_id = o.site_id AND d.device_id = $3::uuid AND d.key = o.key
     WHERE o.site_id = $1::uuid AND o.device_id = $2::uuid`,
    params,
  );
  const ids = renaming([...ports, ...sensors], 'id', 'into');
  const rows = {
    samples: await moveRows(sql, siteId, pair, { table: 'samples', ids }),
    sample_chunks: await moveRows(sql, siteId, pair, { table: 'sample_chunks', ids }),
  };
  await moveRows(sql, siteId, pair, { table: 'monitoring_history', ids });
  await moveRows(sql, siteId, pair, { table: 'backlog_history', ids });
  // An interface that the receiver has not, as where it was never walked, is its own from now on.
  await sql.query(
    `UPDATE interfaces m SET device_id = $3::uuid
     WHERE m.site_id = $1::uuid AND m.device_id = $2::uuid AND m.id <> ALL($4::uuid[])
       AND NOT EXISTS (SELECT 1 FROM interfaces o WHERE o.site_id = m.site_id AND o.device_id = $3::uuid AND o.if_index = m.if_index)`,
    [...params, [...ids.keys()]],
  );
  // A sensor that the receiver has as well is its own; the health of both follows with the next reading.
  await sql.query(
    `UPDATE sensors m SET device_id = $3::uuid WHERE m.site_id = $1::uuid AND m.device_id = $2::uuid
       AND NOT EXISTS (SELECT 1 FROM sensors o WHERE o.site_id = m.site_id AND o.device_id = $3::uuid AND o.key = m.key)`,
    params,
  );
  return { ports, sensors, rows };
}

/** Columns that make a row to which the next walk adds the rest. */
const PORT = 'o.if_index, o.name, o.first_seen, o.last_seen';
const SENSOR = 'o.key, o.kind, o.name, o.component, o.health, o.health_since, o.first_seen, o.last_seen';

/**
 * Gives back what `moveMeasurements` moved, with the interfaces and sensors that name it. What both were measured in
 * since, the hour of the merge, stays; what came late for an hour that goes back goes along.
 * @param pair from: the receiver of then
 */
export async function returnMeasurements(
  sql: Sql,
  siteId: string,
  pair: Pair,
  { ports, sensors, rows }: Moved,
): Promise<void> {
  const { from, into } = pair;
  const put = (table: string, types: string, columns: string, list: Moved['ports']) =>
    sql.query(
      `INSERT INTO ${table} (site_id, device_id, id, ${columns.replaceAll('o.', '')})
       SELECT $1::uuid, $2::uuid, o.id, ${columns} FROM jsonb_to_recordset($3::jsonb) AS o(${types})
       ON CONFLICT DO NOTHING`,
      [siteId, into, JSON.stringify(list)],
    );
  const leave = (table: string, list: Moved['ports']) =>
    sql.query(
      `DELETE FROM ${table} WHERE site_id = $1::uuid AND device_id = $2::uuid AND id = ANY($3::uuid[])`,
      [siteId, from, list.map(({ id }) => id)],
    );
  await leave('interfaces', ports);
  await leave('sensors', sensors);
  await put(
    'interfaces',
    'id uuid, if_index int8, name text, first_seen timestamptz, last_seen timestamptz',
    PORT,
    ports,
  );
  await put(
    'sensors',
    'id uuid, key text, kind text, name text, component text, health int2, health_since timestamptz, first_seen timestamptz, last_seen timestamptz',
    SENSOR,
    sensors,
  );
  const ids = renaming([...ports, ...sensors], 'into', 'id');
  for (const table of SERIES) await moveRows(sql, siteId, pair, { table, ids, only: rows[table] });
  for (const summary of SUMMARIES) {
    const those = rows.sample_chunks.filter(({ step }) => step === summary.of);
    const [first] = those.map(({ begins }) => `${begins}`).sort();
    if (first !== undefined) await summariseAgain(sql, [siteId, from, first], summary);
  }
}

/** Summaries since what went away first are made again; until then what they are made of answers. */
async function summariseAgain(
  sql: Sql,
  params: readonly [siteId: string, deviceId: string, first: string],
  { of, span, steps }: (typeof SUMMARIES)[number],
): Promise<void> {
  const since = `greatest(${beginning('$3::timestamptz', span)}, ${firstWhole({ of, span })})`;
  const mine = 'c.site_id = $1::uuid AND c.device_id = $2::uuid';
  await sql.query(
    `UPDATE sample_chunks c SET summarised = false WHERE ${mine} AND c.step = ${of} AND c.begins >= ${since}`,
    params,
  );
  await sql.query(
    `DELETE FROM sample_chunks c WHERE ${mine} AND c.step IN (${steps}) AND c.begins >= ${since}`,
    params,
  );
}
