/**
 * A scan that finds a device as the last one did: what was received again as it was is not read, identified, merged
 * and compared again. Only the device's sighting is written.
 *
 * Skipped is a walk whose `device` observation and tables have the digests of what was merged last, of a device that
 * holds the address it answered at, is described by the rules in force, and that being seen would not alter. Everything
 * that could make the full way end otherwise takes the digest away (`received`) or shows in the device's row.
 */
import { hash } from 'node:crypto';
import { canonicalAddress } from '@rollcall/shared/ip';
import { z } from 'zod';
import { arrayOf } from '../../platform/db/arrays.ts';
import type { Sql } from '../../platform/db/sql.ts';
import type { UnreadItem } from '../items.ts';
import { type Sighted, see } from '../tables/merge.ts';
import { scansOf } from '../world.ts';
import { type EvidenceKey, hostKeys, keyText } from './fingerprint.ts';

/** What differs between two walks that found the same, and by what a host may prove to be the same device. */
const deviceHead = z.object({
  kind: z.literal('device'),
  job: z.uuid().optional(),
  at: z.int().min(0),
  walk: z.uuid(),
  address: z.string().max(45),
  addresses: z.array(z.string()).transform((all) => all.flatMap((each) => canonicalAddress(each) ?? [])),
  rttMs: z.number().min(0).nullable().optional(),
  system: z.object({ sysUpTime: z.int().optional() }),
  macs: z.array(z.string()),
  bridgeMac: z.string().optional(),
  lldpChassisId: z.string().optional(),
});
const rowsHead = z.object({
  kind: z.literal('rows'),
  job: z.uuid().optional(),
  at: z.int().min(0),
  walk: z.uuid(),
  address: z.string().max(45),
  table: z.string(),
  part: z.int(),
  last: z.boolean(),
  complete: z.boolean().optional(),
});
const head = z.discriminatedUnion('kind', [deviceHead, rowsHead]);
type Head = z.infer<typeof head>;

/** Digest of an observation without what differs at every walk; undefined where it is none of a walk. */
export function digestOf(body: unknown): string | undefined {
  const { kind } = (body ?? {}) as { kind?: unknown };
  if (kind !== 'device' && kind !== 'rows') return undefined;
  const { at: _a, walk: _w, job: _j, deviceId: _d, ...rest } = body as Record<string, unknown>;
  if (kind === 'rows') return short(rest);
  const { rttMs: _r, system, ...others } = rest;
  const { sysUpTime: _u, ...facts } = (system ?? {}) as Record<string, unknown>;
  return short([facts, others]);
}
const short = (value: unknown): string => hash('sha1', JSON.stringify(value), 'base64url').slice(0, 22);

/** The digests of a device after one more part of a table: only a table that is whole in one part has one. */
export function receivedTable(
  received: Readonly<Record<string, string>>,
  part: { table: string; part: number; last: boolean; complete?: boolean | undefined },
  digest: string | undefined,
): Readonly<Record<string, string>> {
  const whole = digest !== undefined && part.part === 0 && part.last && part.complete === true;
  if (whole && received[part.table] === digest) return received;
  const { [part.table]: _, ...others } = received;
  return whole ? { ...others, [part.table]: digest } : others;
}

/** However often it is found the same, a device is merged anew after this: the times of its evidence are exact to it. */
const MERGED_ANEW_MS = 7 * 24 * 3600_000;

/** A device that holds an address, as far as being seen is concerned. */
export interface Holder extends Sighted {
  deviceId: string;
  /** Of the rules that described it. */
  rules: string | null;
}

/** One walk in a batch. */
interface Walk {
  address: string;
  walk: string;
  device?: { head: Head & { kind: 'device' }; digest: string; at: number };
  tables: { head: Head & { kind: 'rows' }; digest: string }[];
  items: UnreadItem[];
}

interface Context {
  collectorId: string;
  rulesId: string;
  scanOf: (job: string | undefined) => string | null;
}

/** The device's row after it was seen unchanged; why it must be looked at, where it must. Pure. */
export function seenAgain(
  holder: Holder | undefined,
  walk: Walk,
  { collectorId, rulesId, scanOf }: Context,
): { row: Holder } | { reason: string } {
  if (!holder) return { reason: 'nobody is known at this address' };
  if (holder.rules !== rulesId) return { reason: 'the rules are others' };
  for (const { head, digest } of walk.tables)
    if (holder.received[head.table] !== digest) return { reason: `${head.table} differs` };
  if (!walk.device)
    return holder.walk === walk.walk ? { row: holder } : { reason: 'rows of a walk that is not the last' };
  const { head, digest, at } = walk.device;
  if (holder.received.device !== digest) return { reason: 'the device differs' };
  if (holder.mergedAt === null || at - holder.mergedAt > MERGED_ANEW_MS)
    return { reason: 'it was merged long ago' };
  const row = see(
    holder,
    {
      at,
      collectorId,
      scanId: scanOf(head.job),
      address: walk.address,
      addresses: [],
      icmpReachable: head.rttMs === undefined ? undefined : head.rttMs !== null,
      snmpReachable: true,
      rttMs: head.rttMs ?? undefined,
      sysUpTime: head.system.sysUpTime,
      walk: head.walk,
    },
    true,
  );
  const altered = ALTERED.find((field) => row[field] !== holder[field]);
  return altered ? { reason: `${altered} differs` } : { row };
}

/** What of a device's row being seen may alter, besides its sighting. */
const ALTERED = [
  'collectorId',
  'icmpReachable',
  'snmpReachable',
  'bootedAt',
  'status',
  'missedScans',
  'goneAt',
] as const satisfies readonly (keyof Sighted)[];

/** A device that was seen again, and the walk that found it as it was. */
interface Again {
  row: Holder;
  walk: Walk;
}

export interface Recognised {
  /** What has to be read and merged. */
  rest: UnreadItem[];
  /** Their sightings are written when that is done. */
  again: Again[];
}

/** Finds what of a batch was received before. The site must be locked. */
export async function recognise(
  sql: Sql,
  items: readonly UnreadItem[],
  batch: { siteId: string; collectorId: string },
  rulesId: string,
  timeOf: (at: number) => number,
): Promise<Recognised> {
  const walks = walksOf(items, timeOf);
  if (walks.length === 0) return { rest: [...items], again: [] };
  const holders = await readHolders(
    sql,
    batch.siteId,
    walks.map(({ address }) => address),
  );
  const scans = await scansOf(
    sql,
    batch.siteId,
    walks.flatMap(({ device }) => device?.head.job ?? []),
  );
  const context: Context = {
    collectorId: batch.collectorId,
    rulesId,
    scanOf: (job) => (job && scans.get(job)) ?? null,
  };
  const seen = walks.flatMap((walk) => {
    const one = seenAgain(holders.get(walk.address), walk, context);
    return 'reason' in one ? [] : { row: one.row, walk };
  });
  const alone = new Set(await withLoneHosts(sql, batch.siteId, seen));
  const recognised = seen.filter(({ row }) => !alone.has(row.deviceId));
  const skipped = new Set(recognised.flatMap(({ walk }) => walk.items));
  return { rest: items.filter((item) => !skipped.has(item)), again: recognised };
}

/**
 * Whether something else in the batch is of a recognised device, or may prove to be: what comes of both then
 * depends on their order. `touched`: the devices that the rest is of; `claimed`: its evidence.
 */
export function disturbed(
  again: readonly Again[],
  touched: ReadonlySet<string>,
  claimed: Iterable<EvidenceKey>,
): boolean {
  if (again.some(({ row }) => touched.has(row.deviceId))) return true;
  const others = new Set([...claimed].map(keyText));
  const isOf = ({ walk: { device } }: Again) =>
    device && hostKeys(device.head).some((key) => others.has(keyText(key)));
  return others.size > 0 && again.some(isOf);
}

/**
 * Devices whose MAC or address another record holds, a host without an agent: it may prove to be theirs, unless a
 * person split the two.
 */
async function withLoneHosts(sql: Sql, siteId: string, again: readonly Again[]): Promise<string[]> {
  if (again.length === 0) return [];
  // Most sites are not on their collector's link, and know no host by its MAC.
  const byMac = await sql.query(`SELECT 1 FROM evidence WHERE site_id = $1::uuid AND kind = 'mac' LIMIT 1`, [
    siteId,
  ]);
  const keys = again.flatMap(({ row, walk: { device } }) =>
    device ? hostKeys(device.head).map((key) => ({ device: row.deviceId, ...key })) : [],
  );
  const asked = byMac.length > 0 ? keys : keys.filter(({ kind }) => kind !== 'mac');
  const rows = await sql.query<{ device: string }>(
    `SELECT DISTINCT k.device FROM unnest($2::uuid[], $3::text[], $4::text[]) AS k(device, kind, value)
     CROSS JOIN LATERAL (
       SELECT e.device_id FROM evidence e WHERE e.site_id = $1::uuid AND e.kind = k.kind AND e.value = k.value LIMIT 1) e
     JOIN devices d ON d.site_id = $1::uuid AND d.id = e.device_id
     WHERE e.device_id <> k.device AND d.snmp_version IS NULL AND NOT EXISTS (
       SELECT 1 FROM identity_decisions w WHERE w.site_id = $1::uuid AND w.verb = 'split' AND w.undone_at IS NULL
         AND ((w.device_id = k.device AND w.other_id = d.id) OR (w.device_id = d.id AND w.other_id = k.device)))`,
    [
      siteId,
      arrayOf('uuid', asked, 'device'),
      arrayOf('text', asked, 'kind'),
      arrayOf('text', asked, 'value'),
    ],
  );
  return rows.map(({ device }) => device);
}

/** The walks of a batch, of addresses that nothing else in it speaks of. */
function walksOf(items: readonly UnreadItem[], timeOf: (at: number) => number): Walk[] {
  const walks = new Map<string, Walk>();
  const mixed = new Set<string>();
  for (const item of items) {
    const body = item.body as { kind?: unknown; address?: unknown } | null;
    const address = typeof body?.address === 'string' ? (canonicalAddress(body.address) ?? '') : '';
    const parsed = item.digest === undefined ? undefined : head.safeParse(item.body);
    const known = walks.get(address);
    if (!parsed?.success || item.digest === undefined || (known && known.walk !== parsed.data.walk)) {
      mixed.add(address);
      continue;
    }
    const walk: Walk = known ?? { address, walk: parsed.data.walk, tables: [], items: [] };
    if (parsed.data.kind === 'rows') walk.tables.push({ head: parsed.data, digest: item.digest });
    else if (walk.device) mixed.add(address);
    else walk.device = { head: parsed.data, digest: item.digest, at: timeOf(parsed.data.at) };
    walk.items.push(item);
    walks.set(address, walk);
  }
  return [...walks.values()].filter(({ address }) => !mixed.has(address));
}

/** A time as it is kept here, without a Date in between: there are thousands in a batch. */
const ms = (column: string): string => `(extract(epoch FROM ${column}) * 1000)::float8`;

/** Key by key, off the indexes, as `readEvidence` in world.ts does. */
async function readHolders(
  sql: Sql,
  siteId: string,
  addresses: readonly string[],
): Promise<Map<string, Holder>> {
  const rows = await sql.query<Holder>(
    `SELECT h.* FROM unnest($2::text[]) AS k(address)
     CROSS JOIN LATERAL (
       SELECT e.value AS address, d.id AS "deviceId", d.classified_by ->> 'rules' AS rules,
         d.collector_id AS "collectorId", d.mac_address AS "macAddress", d.icmp_reachable AS "icmpReachable",
         d.snmp_reachable AS "snmpReachable", ${ms('d.booted_at')} AS "bootedAt", d.monitor, d.status,
         d.missed_scans AS "missedScans", ${ms('d.gone_at')} AS "goneAt", d.credential_id AS "credentialId",
         d.snmp_version AS "snmpVersion", ${ms('v.last_seen')} AS "lastSeen", v.last_scan_id AS "lastScanId",
         v.rtt_ms AS "rttMs", v.walk, ${ms('v.merged_at')} AS "mergedAt", v.received
       FROM evidence e
       JOIN devices d ON d.site_id = e.site_id AND d.id = e.device_id AND host(d.address) = e.value
       JOIN sightings v ON v.site_id = d.site_id AND v.device_id = d.id
       WHERE e.site_id = $1::uuid AND e.kind = 'address' AND e.value = k.address LIMIT 1) h`,
    [siteId, addresses],
  );
  return new Map(rows.map((row) => [row.address ?? '', row]));
}

/** Writes that devices were seen, unless a later sight is known by now. */
export async function writeAgain(sql: Sql, siteId: string, again: readonly Again[]): Promise<void> {
  // Rows of a walk whose device came in an earlier batch say nothing more.
  const seen = again.filter(({ walk }) => walk.device).map(({ row }) => row);
  if (seen.length === 0) return;
  const sorted = seen.sort((a, b) => (a.deviceId < b.deviceId ? -1 : 1));
  await sql.query(
    `UPDATE sightings v SET last_seen = GREATEST(v.last_seen, r.at), last_scan_id = r.scan, rtt_ms = r.rtt, walk = r.walk
     FROM unnest($2::uuid[], $3::timestamptz[], $4::uuid[], $5::float8[], $6::uuid[]) AS r(id, at, scan, rtt, walk)
     WHERE v.site_id = $1::uuid AND v.device_id = r.id`,
    [
      siteId,
      arrayOf('uuid', sorted, 'deviceId'),
      arrayOf('timestamptz', sorted, 'lastSeen'),
      arrayOf('uuid', sorted, 'lastScanId'),
      arrayOf('float8', sorted, 'rttMs'),
      arrayOf('uuid', sorted, 'walk'),
    ],
  );
}
