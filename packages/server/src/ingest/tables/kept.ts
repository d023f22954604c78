/** Tables that are kept as facts, each part one row: ARP, forwarding table, VLANs, VRFs. */
import type { ArpRow, VlanRow } from '@rollcall/shared/observation';
import type { Vlan } from '../../changes.ts';
import type { Sql } from '../../platform/db/sql.ts';
import { hashOf } from '../observe.ts';
import { aboutDevice, putFacts, type Tracked, type World } from '../world.ts';
import type { Timed, Writes } from './rows.ts';

/** Rows of one part. */
const ROWS = 5000;

/** Rows of one text are one: however the database orders their members, and whatever names an address or a station goes by. */
const keyOf =
  (table: string) =>
  (row: unknown): string =>
    JSON.stringify(
      Object.entries(row as object)
        .filter(([member]) => member !== 'hostname' && (table !== 'arp' || member !== 'name'))
        .sort(([a], [b]) => (a < b ? -1 : 1)),
    );

/** @returns whether it differs from the last one. */
export async function keepPart(
  sql: Sql,
  world: World,
  device: Tracked,
  { observation: o, at }: Timed,
  writes: Writes,
): Promise<boolean> {
  const groupOf = (part: number) => (part === 0 ? o.table : `${o.table}/${part}`);
  const group = groupOf(o.part);
  const brokeOff = o.last && o.complete !== true;
  const differs = device.facts.has(group) && device.facts.get(group)?.hash !== hashOf(o.rows);
  const before =
    brokeOff || (differs && (o.table === 'vlans' || o.table === 'arp'))
      ? await storedRows(sql, device, group)
      : undefined;
  let rows: unknown[] = o.table === 'arp' ? withNames(o.rows, (before ?? []) as ArpRow[]) : o.rows;
  // As of ARP tables: an empty name is none, a missing one says nothing.
  if (o.table === 'fdb' && o.hostnames) rows = o.rows.map((row) => ({ hostname: '', ...row }));
  if (brokeOff) {
    // What this part does not name may still be there.
    if (o.rows.length === 0 && !before) return false;
    const key = keyOf(o.table);
    const known = new Set(rows.map(key));
    rows = [...rows, ...(before ?? []).filter((row) => !known.has(key(row)))].slice(0, ROWS);
  }
  const changed = putFacts(device, group, rows, hashOf(rows), at, o.last ? o.complete === true : true);
  if (o.deviceId && !device.dirty.has(group)) writes.seenFacts.push({ deviceId: device.row.id, group, at });
  if (!o.last || o.complete !== true) return changed;
  if (o.table === 'vlans' && o.part === 0 && before)
    recordVlanChanges(world, device, at, before as VlanRow[], o.rows);
  for (const other of device.facts.keys()) {
    const part = other.startsWith(`${o.table}/`) ? Number(other.slice(o.table.length + 1)) : -1;
    if (part <= o.part) continue;
    device.facts.delete(other);
    device.dirty.delete(other);
    writes.lostFacts.push({ deviceId: device.row.id, group: other });
  }
  return changed;
}

/** A reading that asked for no names, or knew them not yet, says nothing of them: the table has those that were told last. */
function withNames(rows: readonly ArpRow[], before: readonly ArpRow[]): ArpRow[] {
  const key = keyOf('arp');
  const names = new Map(before.map((row) => [key(row), row.name]));
  return rows.map((row) => {
    const name = row.name ?? names.get(key(row));
    return name === undefined ? row : { ...row, name };
  });
}

async function storedRows(sql: Sql, { row }: Tracked, group: string): Promise<unknown[] | undefined> {
  const [before] = await sql.query<{ data: unknown[] }>(
    `SELECT data FROM device_facts WHERE site_id = $1::uuid AND device_id = $2::uuid AND "group" = $3`,
    [row.siteId, row.id, group],
  );
  return before?.data;
}

/** VLANs that went and came; one of another name is both. Which ports are in them is told of each port. */
function recordVlanChanges(
  world: World,
  device: Tracked,
  at: number,
  was: readonly VlanRow[],
  is: readonly VlanRow[],
): void {
  const vlansOf = (rows: readonly VlanRow[]) =>
    new Map(rows.map(({ vlan, name = null }): [string, Vlan] => [`${vlan} ${name ?? ''}`, { vlan, name }]));
  const [before, after] = [vlansOf(was), vlansOf(is)];
  const went = [...before].filter(([key]) => !after.has(key)).map(([, vlan]) => vlan);
  const came = [...after].filter(([key]) => !before.has(key)).map(([, vlan]) => vlan);
  if (before.size === 0 || went.length + came.length === 0) return;
  const about = aboutDevice(device, at, device.seen.collectorId);
  world.changes.push({ ...about, kind: 'device.vlans', before: { vlans: went }, after: { vlans: came } });
}
