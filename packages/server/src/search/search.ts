/** What a text may mean, kind by kind: each statement is served by an index and looks at a bounded number of rows. */
import { macPart, macTexts } from '@rollcall/shared/api/endpoints';
import type { SearchHit } from '@rollcall/shared/api/search';
import { canonicalAddress } from '@rollcall/shared/ip';
import type { Database } from '../platform/db/db.ts';
import { anywhere, inScope, Parameters, type Scope, searchable } from '../platform/db/list.ts';
import type { Sql } from '../platform/db/sql.ts';
import type { FindEndpoints } from '../ports.ts';

export interface SearchDeps {
  db: Database;
  findEndpoints: FindEndpoints;
}

/** Hits of one kind. */
const MOST = 6;
/** Rows of one kind among which the closest are chosen. */
const CANDIDATES = 200;
/** Fewest characters that are looked for within texts: of fewer an index of trigrams is read wholly. */
const WITHIN_LEAST = 3;

export async function searchAll(
  { db, findEndpoints }: SearchDeps,
  text: string,
  scope: Scope,
): Promise<{ hits: SearchHit[]; more: SearchHit['kind'][] }> {
  const isWithin = text.length >= WITHIN_LEAST;
  // One after the other: people who search share a few connections with everybody else.
  const kinds = [
    await findDevices(db, text, scope),
    isWithin ? await findInterfaces(db, text, scope) : [],
    (await findEndpoints(text, { scope, most: MOST + 1 })).map(endpointHit),
    isWithin || caseNumber(text) !== undefined ? await findCases(db, text, scope) : [],
  ];
  return {
    hits: kinds.flatMap((hits) => hits.slice(0, MOST)),
    more: kinds.flatMap((hits) => (hits.length > MOST ? hits.slice(0, 1).map(({ kind }) => kind) : [])),
  };
}

type Found = SearchHit & Record<string, unknown>;
const joined = (parts: readonly (string | null | undefined)[]): string => parts.filter(Boolean).join(' · ');

/** By any word of it, or the serial number of a part; first that which is called so, has the address, or begins so. */
async function findDevices(sql: Sql, text: string, scope: Scope): Promise<SearchHit[]> {
  const p = new Parameters();
  const wanted = searchable(text);
  const [name, start, exact] = [p.add(wanted), p.add(`${anywhere(wanted).slice(1)}`), p.add(text)];
  const address = canonicalAddress(text);
  const mac = macPart(text);
  const seen = (column: string) => inScope(p, column, scope);
  const ways = [
    `SELECT d.site_id, d.id FROM devices d WHERE d.name IN (${exact}::text, lower(${exact}::text), upper(${exact}::text))
       AND ${seen('d.site_id')}`,
    ...(address === null
      ? []
      : [
          `SELECT a.site_id, a.device_id FROM device_addresses a WHERE a.address = ${p.add(address)}::inet AND ${seen('a.site_id')}`,
        ]),
    ...(mac?.length === 12
      ? [
          `SELECT v.site_id, v.device_id FROM sites s JOIN evidence v ON v.site_id = s.id
             AND v.kind IN ('mac', 'chassis-mac') AND v.value = ${p.add(macTexts(text)[0])}::text WHERE ${seen('s.id')}`,
        ]
      : []),
    ...(wanted.length >= WITHIN_LEAST ? deviceWords(p, text, scope) : []),
  ];
  const rows = await sql.query<{ rank: number; address: string | null } & Found>(
    `SELECT 'device' AS kind, d.id, d.site_id AS "siteId", s.name AS site, d.name AS title, d.id AS "deviceId",
       null AS "interfaceId", host(d.address) AS address, concat_ws(' ', d.vendor, d.model) AS detail
     FROM (${limited(ways)}) k(site_id, id) JOIN devices d ON d.site_id = k.site_id AND d.id = k.id
     JOIN sites s ON s.id = d.site_id
     ORDER BY lower(d.name) <> ${name}::text, lower(d.name) NOT LIKE ${start}::text, d.sort_name, s.name, d.id LIMIT ${MOST + 1}`,
    p.values,
  );
  return rows.map(({ address, ...hit }) => ({ ...hit, detail: joined([address, hit.site, hit.detail]) }));
}

/** By a part of what is known of it, the serial number of a part of it, or what people wrote on it. */
const deviceWords = (p: Parameters, text: string, scope: Scope): string[] => [
  ...wordsOf(searchable(text), text).map(
    (part) =>
      `SELECT d.site_id, d.id FROM devices d WHERE d.search_text LIKE ${p.add(anywhere(part))}::text AND ${inScope(p, 'd.site_id', scope)}`,
  ),
  `SELECT e.site_id, e.device_id FROM entities e WHERE e.serial <> '' AND lower(e.serial) LIKE ${p.add(anywhere(searchable(text)))}::text
     AND ${inScope(p, 'e.site_id', scope)}`,
  ownWords(p, 'devices', searchable(text), scope),
];

/**
 * The text, and as a hardware address how texts have it; once each, as each is a search of its own. A whole address begins
 * no second pair.
 */
const wordsOf = (wanted: string, text: string): string[] => [
  ...new Set([wanted, ...macTexts(text).slice(0, macPart(text)?.length === 12 ? 1 : 2)]),
];

/** Every way by itself, so that each has its index; once each row. */
const limited = (ways: readonly string[]): string =>
  ways.map((way) => `(${way} LIMIT ${CANDIDATES})`).join(' UNION ');

/** By a tag, the note or the value of a custom field. */
const ownWords = (p: Parameters, table: 'devices' | 'interfaces', wanted: string, scope: Scope): string =>
  `SELECT t.site_id, t.id FROM ${table} t WHERE t.own_text <> '' AND t.own_text LIKE ${p.add(anywhere(wanted))}::text
     AND ${inScope(p, 't.site_id', scope)}`;

/** Words that a name of a port may have, and devices whose ports are looked at. */
const PORT_WORDS = 4;
const PORT_DEVICES = 50;

/** Devices by a part of what they are called, with a port of theirs: `core-1 Gi1/0/12` is GigabitEthernet1/0/12 of it too. */
function portsByName(p: Parameters, text: string, scope: Scope): string[] {
  const words = searchable(text).split(/\s+/).filter(Boolean);
  const splits = Array.from(
    { length: Math.min(PORT_WORDS, words.length - 1) },
    (_, n) => words.length - 1 - n,
  );
  return splits.map((at) => {
    const [device, port] = [words.slice(0, at).join(' '), words.slice(at).join(' ')];
    const [letters = ''] = /^[a-z -]*/.exec(port) ?? [];
    const [head, rest] = [`${p.add(letters)}::text`, `${p.add(port.slice(letters.length))}::text`];
    const name = `regexp_match(lower(i.name), '^([a-z -]*)(.*)$')`;
    return `SELECT i.site_id, i.id FROM (SELECT d.site_id, d.id FROM devices d
         WHERE d.search_text LIKE ${p.add(anywhere(device))}::text AND ${inScope(p, 'd.site_id', scope)} LIMIT ${PORT_DEVICES}) d
       JOIN interfaces i ON i.site_id = d.site_id AND i.device_id = d.id
       WHERE (${name})[2] = ${rest} AND (starts_with((${name})[1], ${head}) OR ${head} <> '' AND starts_with(${head}, (${name})[1]))`;
  });
}

/** By its name with that of its device, what people wrote on it, its hardware address, or an IP address that it has. */
async function findInterfaces(sql: Sql, text: string, scope: Scope): Promise<SearchHit[]> {
  const p = new Parameters();
  const seen = (column: string) => inScope(p, column, scope);
  const address = canonicalAddress(text);
  const mac = macPart(text);
  const ways = [
    `SELECT i.site_id, i.id FROM interfaces i WHERE i.alias <> '' AND lower(i.alias) LIKE ${p.add(anywhere(text.toLowerCase()))}::text
       AND ${seen('i.site_id')}`,
    ...portsByName(p, text, scope),
    ownWords(p, 'interfaces', searchable(text), scope),
    ...(mac?.length === 12
      ? [
          `SELECT i.site_id, i.id FROM interfaces i WHERE i.mac_address = ${p.add(macTexts(text)[0])}::text AND ${seen('i.site_id')}`,
        ]
      : []),
    ...(address === null
      ? []
      : [
          `SELECT i.site_id, i.id FROM device_addresses a JOIN interfaces i ON i.site_id = a.site_id AND i.device_id = a.device_id
             AND i.if_index = a.if_index WHERE a.address = ${p.add(address)}::inet AND ${seen('a.site_id')}`,
        ]),
  ];
  const rows = await sql.query<{ device: string; mac: string | null } & Found>(
    `SELECT 'interface' AS kind, i.id, i.site_id AS "siteId", s.name AS site, d.name || ' ' || i.name AS title, d.id AS "deviceId",
       i.id AS "interfaceId", coalesce(i.alias, '') AS detail, i.mac_address AS mac
     FROM (${limited(ways)}) k(site_id, id) JOIN interfaces i ON i.site_id = k.site_id AND i.id = k.id
     JOIN devices d ON d.site_id = i.site_id AND d.id = i.device_id JOIN sites s ON s.id = i.site_id
     WHERE i.gone_at IS NULL ORDER BY d.sort_name, s.name, i.if_index, i.id LIMIT ${MOST + 1}`,
    p.values,
  );
  return rows.map(({ mac, ...hit }) => ({ ...hit, detail: joined([hit.detail, mac, hit.site]) }));
}

function endpointHit({ mac, siteId, site, name, maker, addresses, ports }: EndpointFound): SearchHit {
  const [port] = ports;
  const place = ports.length === 1 && port ? `${port.device} ${port.port ?? ''}`.trim() : null;
  return {
    ...{ kind: 'endpoint', id: mac, siteId, site, title: name === null ? mac : `${name} (${mac})` },
    detail: joined([place, addresses.slice(0, 2).join(', '), maker, site]),
    deviceId: port?.deviceId ?? null,
    interfaceId: port?.interfaceId ?? null,
  };
}
type EndpointFound = Awaited<ReturnType<SearchDeps['findEndpoints']>>[number];

const caseNumber = (text: string): string | undefined => /^#(\d{1,9})$/.exec(text)?.[1];

/** By its number, or by words of it; those that were worked on last first. */
async function findCases(sql: Sql, text: string, scope: Scope): Promise<SearchHit[]> {
  const p = new Parameters();
  const number = caseNumber(text);
  const condition =
    number === undefined
      ? `c.search_text LIKE ${p.add(anywhere(searchable(text)))}::text`
      : `c.number = ${p.add(Number(number))}::int`;
  return sql.query<Found>(
    `SELECT 'case' AS kind, c.id, c.site_id AS "siteId", s.name AS site, '#' || c.number || ' ' || c.title AS title,
       s.name AS detail, null AS "deviceId", null AS "interfaceId"
     FROM (SELECT c.site_id, c.id, c.updated_at FROM cases c WHERE ${condition} AND ${inScope(p, 'c.site_id', scope)} LIMIT ${CANDIDATES}) k
     JOIN cases c ON c.site_id = k.site_id AND c.id = k.id JOIN sites s ON s.id = c.site_id
     ORDER BY c.updated_at DESC, c.id LIMIT ${MOST + 1}`,
    p.values,
  );
}
