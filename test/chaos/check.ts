/**
 * Compares what the sources' ledgers say with what the database holds, row by row: nothing missing, nothing twice,
 * nothing altered, nothing with another collector or site than it came from. A minute is measured, or counted in a gap.
 */
import { createHash } from 'node:crypto';
import { type Rows, readSamples } from './check-samples.ts';
import { hashOfText, hostHash, TRAP_OID, trapHash } from './facts.ts';
import { readLedger } from './ledger.ts';

export type { Rows };

export interface Owner {
  index: number;
  collectorId: string;
  siteId: string;
  ledgerFile: string;
}

export interface Verdict {
  /** Entries of all ledgers, and those that had to be there. */
  observed: number;
  kept: number;
  lost: number;
  doubled: number;
  altered: number;
  misattributed: number;
  /** Rows that no source speaks of. */
  foreign: number;
  /** Losses that the collectors themselves reported: counted, and 0 unless an outbox was full. */
  reported: number;
  /** Samples that the server counted as having no time: 0 unless a clock was set. */
  untimely: number;
  /** The first few of each, in words. */
  examples: string[];
}

interface Known {
  hash: string;
  kept: boolean;
  found: number;
}

const EXAMPLES = 40;
const PAGE = 10_000;

export async function check(db: Rows, owners: readonly Owner[]): Promise<Verdict> {
  const verdict: Verdict = {
    observed: 0,
    kept: 0,
    lost: 0,
    doubled: 0,
    altered: 0,
    misattributed: 0,
    foreign: 0,
    reported: 0,
    untimely: 0,
    examples: [],
  };
  const books = new Map(owners.map((owner) => [owner.index, new Book(owner, verdict)]));
  await readTraps(db, books, verdict);
  await readHosts(db, books, verdict);
  await readDevices(db, books, verdict);
  await readLetters(db, books, verdict);
  for (const { index, n, hash, siteId } of await readSamples(db)) {
    const book = bookOf(books, index, verdict, `sample ${n} of ${index}`);
    book?.found('sample', String(n), hash, 1, { site_id: siteId, collector_id: book.owner.collectorId });
  }
  const untimely = await readGaps(db, verdict);
  for (const book of books.values()) book.close(untimely.get(book.owner.collectorId) ?? 0);
  return verdict;
}

/** @returns samples without a time, by collector */
async function readGaps(db: Rows, verdict: Verdict): Promise<Map<string, number>> {
  const gaps = await db.query<{ collector: string; untimely: boolean; n: number }>(
    `SELECT collector_id AS collector, stream = 'sample' AND reason = 'time' AS untimely, sum(count)::int AS n FROM gaps
     WHERE site_id = $1::uuid OR $1::uuid IS NULL GROUP BY 1, 2`,
    [db.site ?? null],
  );
  for (const { untimely, n } of gaps) verdict[untimely ? 'untimely' : 'reported'] += n;
  return new Map(gaps.flatMap(({ collector, untimely, n }) => (untimely ? [[collector, n]] : [])));
}

export const sound = (v: Verdict): boolean =>
  v.lost + v.doubled + v.altered + v.misattributed + v.foreign === 0;

type Fault = 'lost' | 'doubled' | 'altered' | 'misattributed' | 'foreign';

function blame(verdict: Verdict, fault: Fault, words: string): void {
  verdict[fault] += 1;
  if (verdict.examples.length < EXAMPLES) verdict.examples.push(`${fault}: ${words}`);
}

/** One source's ledger, and what was found of it. */
class Book {
  readonly owner: Owner;
  readonly #verdict: Verdict;
  readonly #known = new Map<string, Known>();

  constructor(owner: Owner, verdict: Verdict) {
    this.owner = owner;
    this.#verdict = verdict;
    for (const { kind, key, hash, kept } of readLedger(owner.ledgerFile).entries) {
      this.#known.set(`${kind} ${key}`, { hash, kept, found: 0 });
      verdict.observed += 1;
      if (kept) verdict.kept += 1;
    }
  }

  /** Something of this source is in the database, `times` times, with this hash, under these names. */
  found(kind: string, key: string, hash: string, times: number, under: Attribution): void {
    const name = `${kind} ${key} of source ${this.owner.index}`;
    const known = this.#known.get(`${kind} ${key}`);
    if (!known) {
      blame(this.#verdict, 'foreign', `${name} was never observed`);
      return;
    }
    known.found += times;
    if (known.hash !== hash) blame(this.#verdict, 'altered', `${name} is not what was observed`);
    const { site_id: siteId, collector_id: collectorId } = under;
    if (siteId !== this.owner.siteId || collectorId !== this.owner.collectorId)
      blame(this.#verdict, 'misattributed', `${name} is with collector ${collectorId} of site ${siteId}`);
  }

  /** Replaced by a later one of the same subject, which was found. */
  superseded(kind: string, key: string): void {
    const known = this.#known.get(`${kind} ${key}`);
    if (known && known.found === 0) known.found = 1;
  }

  kept(kind: string, key: string): boolean {
    return this.#known.get(`${kind} ${key}`)?.kept ?? false;
  }
  has(kind: string, key: string): boolean {
    return this.#known.has(`${kind} ${key}`);
  }

  /** @param untimely samples of its that are counted as having no time */
  close(untimely: number): void {
    let counted = untimely;
    for (const [key, { kept, found }] of this.#known) {
      const isCounted = kept && found === 0 && key.startsWith('sample ') && counted-- > 0;
      if (kept && found === 0 && !isCounted)
        blame(this.#verdict, 'lost', `${key} of source ${this.owner.index}`);
      if (found > 1) blame(this.#verdict, 'doubled', `${key} of source ${this.owner.index}: ${found} times`);
    }
    // Those that nobody promised may be among what was counted.
    const open = [...this.#known].filter(
      ([key, { kept, found }]) => !kept && found === 0 && key.startsWith('sample '),
    ).length;
    if (counted > open)
      blame(
        this.#verdict,
        'foreign',
        `${counted - open} samples that source ${this.owner.index} has are counted as lost`,
      );
  }
}

interface Attribution {
  site_id: string;
  collector_id: string | null;
}
type Books = ReadonlyMap<number, Book>;

/** Reads a table in pages by an id that only grows. */
async function* pages<R extends { id: string; site_id: string }>(db: Rows, text: string): AsyncGenerator<R> {
  let after = '00000000-0000-0000-0000-000000000000';
  for (;;) {
    const rows = await db.query<R>(`${text} AND id > $1::uuid ORDER BY id LIMIT ${PAGE}`, [after]);
    yield* rows.filter(({ site_id }) => db.site === undefined || site_id === db.site);
    if (rows.length < PAGE) return;
    after = rows.at(-1)?.id ?? after;
  }
}

function bookOf(books: Books, index: string | undefined, verdict: Verdict, what: string): Book | undefined {
  const book = books.get(Number(index));
  if (!book) blame(verdict, 'foreign', what);
  return book;
}

async function readTraps(db: Rows, books: Books, verdict: Verdict): Promise<void> {
  interface Trap extends Attribution {
    id: string;
    count: number;
    details: {
      after: { source: string; trapOid: string; varbinds: { oid: string; type: string; value: string }[] };
    };
  }
  const text = `SELECT id, site_id, collector_id, count, details FROM events WHERE kind = 'trap'`;
  for await (const row of pages<Trap>(db, text)) {
    const { source, trapOid, varbinds } = row.details.after;
    const [index] = trapOid.slice(TRAP_OID.length + 1).split('.');
    const book = bookOf(books, index, verdict, `trap ${trapOid}`);
    book?.found('trap', trapOid, trapHash(source, varbinds), row.count, row);
  }
}

async function readHosts(db: Rows, books: Books, verdict: Verdict): Promise<void> {
  interface Host extends Attribution {
    id: string;
    name: string;
    address: string;
    mac_address: string;
    rtt_ms: number;
    addresses: number;
  }
  const text = `SELECT d.id, d.site_id, d.collector_id, d.name, host(d.address) AS address, d.mac_address, v.rtt_ms,
      (SELECT count(*)::int FROM device_addresses a WHERE a.site_id = d.site_id AND a.address = d.address) AS addresses
    FROM devices d JOIN sightings v ON v.site_id = d.site_id AND v.device_id = d.id WHERE d.sys_name IS NULL`;
  for await (const row of pages<Host>(db, text)) {
    const [, which = '', version = '', index] = /^h(\d+)v(\d+)\.c(\d+)\.chaos$/.exec(row.name) ?? [];
    const book = bookOf(books, index, verdict, `host ${row.name} ${row.address}`);
    if (!book) continue;
    const hash = hostHash({ address: row.address, mac: row.mac_address, rttMs: row.rtt_ms });
    book.found('host', `${which}#${version}`, hash, 1, row);
    if (row.addresses !== 1)
      blame(verdict, 'doubled', `${row.address} of ${row.name} is ${row.addresses} addresses`);
    // The later observation of a host replaces the earlier one; an earlier one in its place is a loss.
    if (version === '1') book.superseded('host', `${which}#0`);
    else if (book.kept('host', `${which}#1`))
      blame(verdict, 'altered', `${row.name} is older than what was kept`);
  }
  const twice = await db.query<{ n: number }>(
    `SELECT count(*)::int AS n FROM events WHERE kind = 'device.new' AND count > 1 AND (site_id = $1::uuid OR $1::uuid IS NULL)`,
    [db.site ?? null],
  );
  for (let i = 0; i < (twice[0]?.n ?? 0); i++) blame(verdict, 'doubled', 'a device is new twice');
}

/**
 * Each observation of a device names a location of its own, so its history is the chain of `device.changed`: every link
 * once, in the order of the versions, up to the last one that was kept. Several versions in one batch are one link.
 */
async function readDevices(db: Rows, books: Books, verdict: Verdict): Promise<void> {
  interface Device extends Attribution {
    id: string;
    serial_number: string | null;
    location: string;
    sys_name: string;
  }
  interface Changed extends Attribution {
    id: string;
    device_id: string;
    count: number;
    details: { before: { location?: string }; after: { location?: string } };
  }
  const chains = new Map<string, Changed[]>();
  for await (const row of pages<Changed>(
    db,
    `SELECT id, site_id, collector_id, device_id, count, details FROM events WHERE kind = 'device.changed'`,
  )) {
    const chain = chains.get(row.device_id);
    if (chain) chain.push(row);
    else chains.set(row.device_id, [row]);
  }
  const text =
    'SELECT id, site_id, collector_id, serial_number, location, sys_name FROM devices WHERE sys_name IS NOT NULL';
  for await (const row of pages<Device>(db, text)) {
    const [, which = '', index] = /^d(\d+)\.c(\d+)\.chaos$/.exec(row.sys_name) ?? [];
    const book = bookOf(books, index, verdict, `device ${row.sys_name}`);
    if (!book) continue;
    readChain(book, which, row, chains.get(row.id) ?? [], verdict);
  }
}

function readChain(
  book: Book,
  which: string,
  device: Attribution & { location: string },
  chain: { count: number; details: { before: { location?: string }; after: { location?: string } } }[],
  verdict: Verdict,
): void {
  const steps = chain
    .map(({ count, details: { before, after } }) => ({
      count,
      before: before.location ?? '',
      after: after.location ?? '',
    }))
    .sort((a, b) => versionOf(a.after) - versionOf(b.after));
  const locations = [steps[0]?.before ?? device.location, ...steps.map(({ after }) => after)];
  for (const [i, { before, count }] of steps.entries()) {
    if (count !== 1)
      blame(
        verdict,
        'doubled',
        `device ${which} of source ${book.owner.index}: ${before} → ${locations[i + 1]} ${count} times`,
      );
    if (before !== locations[i])
      blame(
        verdict,
        'altered',
        `device ${which} of source ${book.owner.index}: ${locations[i]}, then ${before} → ${locations[i + 1]}`,
      );
  }
  if (device.location !== locations.at(-1))
    blame(
      verdict,
      'altered',
      `device ${which} of source ${book.owner.index} ends at ${device.location}, not ${locations.at(-1)}`,
    );
  for (const location of new Set(locations))
    book.found('device', `${which}#${versionOf(location)}`, hashOfText(location), 1, device);
  for (let version = versionOf(device.location) - 1; version >= 0; version--)
    book.superseded('device', `${which}#${version}`);
}
const versionOf = (location: string): number => Number(/^v(\d+) /.exec(location)?.[1] ?? Number.NaN);

async function readLetters(db: Rows, books: Books, verdict: Verdict): Promise<void> {
  interface Letter extends Attribution {
    body: string;
    reason: string;
  }
  const letters = await db.query<Letter>('SELECT site_id, collector_id, body, reason FROM dead_letters');
  for (const row of letters) {
    if (db.site !== undefined && row.site_id !== db.site) continue;
    const key = new RegExp(`${TRAP_OID.replaceAll('.', '\\.')}\\.(\\d+)\\.\\d+`).exec(row.body);
    const book = bookOf(books, key?.[1], verdict, `dead letter: ${row.reason}`);
    if (!book || !key) continue;
    if (!book.has('poison', key[0])) {
      blame(verdict, 'lost', `${key[0]} became a dead letter: ${row.reason}`);
      continue;
    }
    const hash = createHash('sha256').update(row.body).digest('base64url');
    book.found('poison', key[0], hash, 1, row);
  }
}
