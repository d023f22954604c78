/**
 * The bulk statements of ingest: one per table, one array parameter per column, rows in the order of the key so that
 * parallel writers lock in the same order. Rows that would not change are not written again.
 */
import { arrayOf, type ElementType } from '../../platform/db/arrays.ts';
import type { Sql } from '../../platform/db/sql.ts';
import type {
  AddressRecord,
  DeviceRow,
  EntityRecord,
  EvidenceRow,
  FactsRow,
  InterfaceRecord,
  NeighbourRecord,
  Sighting,
  SightingRow,
  WalkPartRow,
} from './rows.ts';

type ColumnType = ElementType | 'inet' | 'inet[]' | 'text[]';

interface Table<Row> {
  name: string;
  key: readonly (keyof Row & string)[];
  columns: { readonly [Column in keyof Row]: ColumnType };
  /** Written once, never again. */
  fixed?: readonly (keyof Row & string)[];
  /** New value where it is not simply the row's. */
  update?: { readonly [Column in keyof Row]?: string };
}

const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const quoted = (name: string): string => `"${snake(name)}"`;

/** The type of the elements of a column's parameter; addresses travel as they are written, lists with commas. */
const travels = (type: ColumnType): ElementType =>
  type === 'inet' || type === 'inet[]' || type === 'text[]' ? 'text' : type;
const arrived = (name: string, type: ColumnType): string =>
  type === 'inet[]' || type === 'text[]'
    ? `string_to_array(r."${name}", ',')::${type}`
    : type === 'inet'
      ? `r."${name}"::inet`
      : `r."${name}"`;

/** The upsert of a table: one array per column, in the order of `columns`. */
function upsertStatement<Row>(table: Table<Row>): string {
  const columns = Object.entries<ColumnType>(table.columns);
  const names = columns.map(([name]) => name as keyof Row & string);
  const fixed = new Set<string>([...table.key, ...(table.fixed ?? [])]);
  const written = names.filter((name) => !fixed.has(name));
  const next = written.map((name) => table.update?.[name] ?? `EXCLUDED.${quoted(name)}`);
  const stored = written.map((name) => `${table.name}.${quoted(name)}`);
  return `INSERT INTO ${table.name} (${names.map(quoted).join(', ')})
SELECT ${columns.map(([name, type]) => arrived(name, type)).join(', ')}
FROM unnest(${columns.map(([, type], i) => `$${i + 1}::${travels(type)}[]`).join(', ')})
  AS r(${names.map((name) => `"${name}"`).join(', ')})
ON CONFLICT (${table.key.map(quoted).join(', ')}) DO UPDATE
SET ${written.map((name, i) => `${quoted(name)} = ${next[i]}`).join(', ')}
WHERE (${stored.join(', ')}) IS DISTINCT FROM (${next.join(', ')})`;
}

type Overridden = 'nameOverride' | 'classOverride' | 'monitor';
const DEVICES: Table<Omit<DeviceRow, Overridden | keyof Sighting>> = {
  name: 'devices',
  key: ['siteId', 'id'],
  columns: {
    siteId: 'uuid',
    id: 'uuid',
    collectorId: 'uuid',
    name: 'text',
    address: 'inet',
    macAddress: 'text',
    class: 'text',
    vendor: 'text',
    model: 'text',
    os: 'text',
    osVersion: 'text',
    serialNumber: 'text',
    sysName: 'text',
    sysDescr: 'text',
    sysObjectId: 'text',
    location: 'text',
    contact: 'text',
    classifiedBy: 'jsonb',
    bootedAt: 'timestamptz',
    status: 'text',
    icmpReachable: 'bool',
    snmpReachable: 'bool',
    credentialId: 'uuid',
    snmpVersion: 'text',
    interfaceCount: 'int',
    firstSeen: 'timestamptz',
    missedScans: 'int',
    goneAt: 'timestamptz',
    searchText: 'text',
    watchedSnmp: 'text',
  },
  fixed: ['firstSeen'],
  update: {
    // An operator's words may have been set since the row was read.
    name: 'COALESCE(devices.name_override, EXCLUDED.name)',
    class: 'COALESCE(devices.class_override, EXCLUDED.class)',
  },
};

const SIGHTINGS: Table<SightingRow> = {
  name: 'sightings',
  key: ['siteId', 'deviceId'],
  columns: {
    siteId: 'uuid',
    deviceId: 'uuid',
    lastSeen: 'timestamptz',
    lastScanId: 'uuid',
    rttMs: 'float8',
    walk: 'uuid',
    mergedAt: 'timestamptz',
    received: 'jsonb',
    watchedAt: 'timestamptz',
  },
  update: { lastSeen: 'GREATEST(sightings.last_seen, EXCLUDED.last_seen)' },
};

const EVIDENCE: Table<EvidenceRow> = {
  name: 'evidence',
  key: ['siteId', 'kind', 'value'],
  columns: {
    siteId: 'uuid',
    kind: 'text',
    value: 'text',
    deviceId: 'uuid',
    firstSeen: 'timestamptz',
    lastSeen: 'timestamptz',
  },
  fixed: ['firstSeen'],
};

const ADDRESSES: Table<AddressRecord> = {
  name: 'device_addresses',
  key: ['siteId', 'deviceId', 'address'],
  columns: {
    siteId: 'uuid',
    deviceId: 'uuid',
    address: 'inet',
    prefixLength: 'int',
    ifIndex: 'bigint',
    origin: 'text',
    firstSeen: 'timestamptz',
    lastSeen: 'timestamptz',
  },
  fixed: ['firstSeen'],
};

const INTERFACES: Table<InterfaceRecord> = {
  name: 'interfaces',
  key: ['siteId', 'id'],
  columns: {
    siteId: 'uuid',
    id: 'uuid',
    deviceId: 'uuid',
    ifIndex: 'bigint',
    name: 'text',
    description: 'text',
    alias: 'text',
    type: 'int',
    speedBps: 'bigint',
    mtu: 'int',
    macAddress: 'text',
    adminStatus: 'int',
    operStatus: 'int',
    lastChange: 'timestamptz',
    lastUpAt: 'timestamptz',
    vlan: 'int',
    duplex: 'text',
    stp: 'text',
    aggregate: 'bigint',
    aggregateActive: 'bool',
    firstSeen: 'timestamptz',
    lastSeen: 'timestamptz',
    goneAt: 'timestamptz',
  },
  fixed: ['firstSeen', 'deviceId'],
};

const ENTITIES: Table<EntityRecord> = {
  name: 'entities',
  key: ['siteId', 'deviceId', 'index'],
  columns: {
    siteId: 'uuid',
    deviceId: 'uuid',
    index: 'int',
    class: 'text',
    name: 'text',
    description: 'text',
    model: 'text',
    serial: 'text',
    manufacturer: 'text',
    hardwareRevision: 'text',
    firmwareRevision: 'text',
    softwareRevision: 'text',
    parent: 'int',
    position: 'int',
    fru: 'bool',
    firstSeen: 'timestamptz',
    lastSeen: 'timestamptz',
  },
  fixed: ['firstSeen'],
};

const NEIGHBOURS: Table<NeighbourRecord> = {
  name: 'neighbours',
  key: ['siteId', 'deviceId', 'protocol', 'key'],
  columns: {
    siteId: 'uuid',
    deviceId: 'uuid',
    protocol: 'text',
    key: 'text',
    ifIndex: 'bigint',
    localPort: 'text',
    chassisId: 'text',
    portId: 'text',
    portDescription: 'text',
    sysName: 'text',
    sysDescr: 'text',
    platform: 'text',
    capabilities: 'text[]',
    addresses: 'inet[]',
    remoteDeviceId: 'uuid',
    remoteIfIndex: 'bigint',
    firstSeen: 'timestamptz',
    lastSeen: 'timestamptz',
  },
  fixed: ['firstSeen'],
};

const FACTS: Table<FactsRow> = {
  name: 'device_facts',
  key: ['siteId', 'deviceId', 'group'],
  columns: {
    siteId: 'uuid',
    deviceId: 'uuid',
    group: 'text',
    data: 'jsonb',
    hash: 'text',
    seenAt: 'timestamptz',
    complete: 'bool',
  },
};

const WALK_PARTS: Table<WalkPartRow> = {
  name: 'walk_parts',
  key: ['siteId', 'deviceId', 'tableName', 'part'],
  columns: {
    siteId: 'uuid',
    deviceId: 'uuid',
    tableName: 'text',
    part: 'int',
    walk: 'uuid',
    rows: 'jsonb',
  },
};

/** Orders rows by the key of their table, by code units. */
const byKey =
  <Row>(key: readonly (keyof Row)[]) =>
  (a: Row, b: Row): number => {
    for (const name of key) if (a[name] !== b[name]) return a[name] < b[name] ? -1 : 1;
    return 0;
  };

/** Writes rows whose members are named as in TypeScript, times in milliseconds. */
const writer = <Row extends object>(table: Table<Row>) => {
  const statement = upsertStatement(table);
  const columns = Object.entries<ColumnType>(table.columns).map(
    ([name, type]) => [travels(type), name as keyof Row] as const,
  );
  const order = byKey<Row>(table.key);
  return async (sql: Sql, rows: readonly Row[]): Promise<void> => {
    if (rows.length === 0) return;
    const sorted = rows.toSorted(order);
    await sql.query(
      statement,
      columns.map(([type, name]) => arrayOf(type, sorted, name)),
    );
  };
};

export const writeDevices = writer(DEVICES);
export const writeSightings = writer(SIGHTINGS);
export const writeEvidence = writer(EVIDENCE);
export const writeAddresses = writer(ADDRESSES);
export const writeInterfaces = writer(INTERFACES);
export const writeEntities = writer(ENTITIES);
export const writeNeighbours = writer(NEIGHBOURS);
export const writeFacts = writer(FACTS);
export const writeWalkParts = writer(WALK_PARTS);

/** Deletes rows by key: `match` names the columns after site and device, `rows` their values. */
async function remove(
  sql: Sql,
  table: string,
  siteId: string,
  columns: Record<string, ColumnType>,
  rows: readonly Record<string, unknown>[],
): Promise<void> {
  if (rows.length === 0) return;
  const names = Object.keys(columns);
  await sql.query(
    `DELETE FROM ${table} t USING jsonb_to_recordset($2::jsonb) AS r(${names
      .map((name) => `"${name}" ${columns[name]}`)
      .join(', ')})
     WHERE t.site_id = $1::uuid AND ${names.map((name) => `t.${quoted(name)} = r."${name}"`).join(' AND ')}`,
    [siteId, JSON.stringify(rows)],
  );
}

export const removeAddresses = (
  sql: Sql,
  siteId: string,
  rows: readonly { deviceId: string; address: string; origin: string }[],
): Promise<void> =>
  remove(sql, 'device_addresses', siteId, { deviceId: 'uuid', address: 'inet', origin: 'text' }, rows);
export const removeEntities = (
  sql: Sql,
  siteId: string,
  rows: readonly { deviceId: string; index: number }[],
): Promise<void> => remove(sql, 'entities', siteId, { deviceId: 'uuid', index: 'int' }, rows);
export const removeNeighbours = (
  sql: Sql,
  siteId: string,
  rows: readonly { deviceId: string; protocol: string; key: string }[],
): Promise<void> =>
  remove(sql, 'neighbours', siteId, { deviceId: 'uuid', protocol: 'text', key: 'text' }, rows);
/** Gone for good: another interface has their index. */
export const removeInterfaces = (sql: Sql, siteId: string, rows: readonly { id: string }[]): Promise<void> =>
  remove(sql, 'interfaces', siteId, { id: 'uuid' }, rows);
/** To make room for their new index: they are written again with the same ids, and keep what people set. */
export async function liftInterfaces(sql: Sql, siteId: string, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await sql.query(
    'UPDATE interfaces SET if_index = -1 - if_index WHERE site_id = $1::uuid AND id = ANY($2::uuid[])',
    [siteId, ids],
  );
}
export const removeFacts = (
  sql: Sql,
  siteId: string,
  rows: readonly { deviceId: string; group: string }[],
): Promise<void> => remove(sql, 'device_facts', siteId, { deviceId: 'uuid', group: 'text' }, rows);

/** Notes when facts were read again as they were, in the order of the key. */
export async function seeFacts(
  sql: Sql,
  siteId: string,
  rows: readonly { deviceId: string; group: string; at: number }[],
): Promise<void> {
  if (rows.length === 0) return;
  const sorted = rows.toSorted(byKey(['deviceId', 'group']));
  await sql.query(
    `UPDATE device_facts f SET seen_at = r.at FROM unnest($2::uuid[], $3::text[], $4::timestamptz[]) AS r(id, "group", at)
     WHERE f.site_id = $1::uuid AND f.device_id = r.id AND f."group" = r."group" AND f.seen_at < r.at`,
    [
      siteId,
      arrayOf('uuid', sorted, 'deviceId'),
      arrayOf('text', sorted, 'group'),
      arrayOf('timestamptz', sorted, 'at'),
    ],
  );
}
