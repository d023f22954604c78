// What the statements of a benchmark take.

/** The database, with the time of each statement that goes through. */
export function timing(db) {
  const seen = new Map();
  const wrap = (sql) => ({
    query: async (text, ...rest) => {
      const from = performance.now();
      const rows = await sql.query(text, ...rest);
      const name = text.replace(/\s+/g, ' ').trim().slice(0, 100);
      const known = seen.get(name) ?? { text: name, ms: 0, calls: 0 };
      known.ms += performance.now() - from;
      known.calls += 1;
      seen.set(name, known);
      return rows;
    },
  });
  const pool = (of) => ({
    ...wrap(of),
    transaction: (work) => of.transaction((sql) => work(wrap(sql))),
  });
  return {
    db: { ...db, ...pool(db), ingest: pool(db.ingest) },
    statements: () => [...seen.values()],
  };
}
