// The raw limit of the same rows: read out of the database that ingest filled, put into an empty one of the same schema
// by pg with unnest, so many rows a statement, each statement a transaction of its own, on one connection.

/** Tables of the inventory in the order in which they refer to each other, each with its key. */
const TABLES = [
  ['devices', ['site_id', 'id']],
  ['sightings', ['site_id', 'device_id']],
  ['evidence', ['site_id', 'kind', 'value']],
  ['device_addresses', ['site_id', 'device_id', 'address']],
  ['interfaces', ['site_id', 'id']],
  ['entities', ['site_id', 'device_id', 'index']],
  ['device_facts', ['site_id', 'device_id', 'group']],
  ['events', ['site_id', 'id']],
];
/** Rows of one statement: about what a window of full batches holds. */
const ROWS = 5_000;

/** Rows that are there now. */
export async function rowsOf(db) {
  const counts = TABLES.map(([table]) => `(SELECT count(*) FROM ${table})`);
  const [{ n }] = await db.query(`SELECT (${counts.join(' + ')})::int AS n`);
  return n;
}

/** @returns {Promise<{table: string, rows: number, seconds: number}[]>} `from` and `to` are pg clients. */
export async function rawUpsert(from, to) {
  const result = [];
  for (const [table, key] of TABLES) {
    const { rows: columns } = await from.query(
      `SELECT attname AS name, format_type(atttypid, atttypmod) AS type FROM pg_attribute
       WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = '' ORDER BY attnum`,
      [table],
    );
    const quoted = columns.map(({ name }) => `"${name}"`);
    const plain = columns.map(({ type }) => type.endsWith('[]'));
    const others = quoted.filter((name) => !key.includes(name.slice(1, -1)));
    const statement = `INSERT INTO ${table} (${quoted.join(', ')})
      SELECT ${quoted.map((name, i) => (plain[i] ? `${name}::${columns[i].type}` : name)).join(', ')}
      FROM unnest(${columns.map(({ type }, i) => `$${i + 1}::${plain[i] ? 'text' : bare(type)}[]`).join(', ')}) AS r(${quoted.join(', ')})
      ON CONFLICT (${key.map((name) => `"${name}"`).join(', ')}) DO UPDATE
      SET ${others.map((name) => `${name} = EXCLUDED.${name}`).join(', ')}`;
    let rows = 0;
    let seconds = 0;
    const order = key.map((name) => `"${name}"`).join(', ');
    await from.query('BEGIN');
    await from.query(
      `DECLARE c NO SCROLL CURSOR FOR SELECT ${quoted.map((name) => `${name}::text`).join(', ')} FROM ${table} ORDER BY ${order}`,
    );
    for (;;) {
      const page = await from.query({ text: `FETCH ${ROWS} FROM c`, rowMode: 'array' });
      if (page.rows.length === 0) break;
      const params = columns.map((_, i) => page.rows.map((row) => row[i]));
      const start = performance.now();
      await to.query(statement, params);
      seconds += (performance.now() - start) / 1000;
      rows += page.rows.length;
    }
    await from.query('COMMIT');
    result.push({ table, rows, seconds });
  }
  return result;
}

/** `timestamp(3) with time zone` of an array is the type without its precision. */
const bare = (type) => type.replace(/\(\d+\)/, '');
