/** Devices that a person names before they answer. Discovery recognises them by their address, as any host. */
import { uuidv7 } from '@rollcall/shared/uuid';
import { announce } from '../../platform/db/notify.ts';
import type { Sql } from '../../platform/db/sql.ts';
import type { RecordChanges } from '../../ports.ts';
import { newDevice, searchText } from '../tables/merge.ts';
import { writeDeviceRows } from '../tables/save.ts';
import { writeAddresses, writeEvidence } from '../tables/store.ts';
import { aboutDevice, lockSite, track } from '../world.ts';

/** Which devices of a site hold addresses: reached there, managed there, or listing them, in this order. */
export async function holdersOf(
  sql: Sql,
  siteId: string,
  addresses: readonly string[],
): Promise<Map<string, string>> {
  const rows = await sql.query<{ address: string; id: string }>(
    `SELECT DISTINCT ON (w.address) w.address, d.id FROM unnest($2::text[]) AS w(address)
     JOIN device_addresses a ON a.site_id = $1::uuid AND a.address = w.address::inet
     JOIN devices d ON d.site_id = a.site_id AND d.id = a.device_id
     LEFT JOIN evidence e ON e.site_id = a.site_id AND e.kind = 'address' AND e.value = w.address AND e.device_id = d.id
     ORDER BY w.address, e.device_id IS NULL, d.address IS DISTINCT FROM a.address, d.id`,
    [siteId, addresses],
  );
  return new Map(rows.map(({ address, id }) => [address, id]));
}

/**
 * The devices of some addresses of a site, those that are not known yet made; locks the site against ingest. The addresses
 * are canonical and each once. @returns address → device, and whether it is new
 */
export async function findOrAdd(
  sql: Sql,
  recordChanges: RecordChanges,
  siteId: string,
  { addresses, at }: { addresses: readonly string[]; at: number },
): Promise<Map<string, { id: string; isNew: boolean }>> {
  await lockSite(sql, siteId);
  const known = await holdersOf(sql, siteId, addresses);
  const rows = addresses
    .filter((address) => !known.has(address))
    .map((address) => {
      const row = { ...newDevice(siteId, uuidv7(at), at), address, name: address };
      return { ...row, searchText: searchText(row, [], [address]) };
    });
  await writeDeviceRows(sql, rows);
  const held = rows.map(({ id, address }) => ({
    ...{ siteId, deviceId: id, kind: 'address', value: address, address, prefixLength: null, ifIndex: null },
    ...{ origin: 'reached' as const, firstSeen: at, lastSeen: at },
  }));
  await writeEvidence(sql, held);
  await writeAddresses(sql, held);
  await recordChanges(
    sql,
    rows.map((row) => ({
      ...aboutDevice(track(null, row), at, null),
      kind: 'device.new',
      before: {},
      after: { name: row.name, address: row.address, class: row.class, vendor: null, model: null },
    })),
  );
  await announce(
    sql,
    siteId,
    'device',
    rows.map(({ id }) => id),
  );
  return new Map<string, { id: string; isNew: boolean }>([
    ...[...known].map(([address, id]) => [address, { id, isNew: false }] as const),
    ...rows.map(({ address, id }) => [address, { id, isNew: true }] as const),
  ]);
}
