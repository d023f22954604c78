/** A large installation, made by bulk statements: for benchmarks and for tests of query plans. The same every time. */
import type { Sql } from '../platform/db/sql.ts';

export interface FleetSize {
  devices: number;
  /** Of each device. */
  interfaces: number;
  events: number;
  cases: number;
  /** Intervals in which tables had hardware addresses: five of each. */
  endpoints?: number;
}

/** Grows whenever the rows become others: a database filled by an older one is not the same. */
export const FLEET_VERSION = 6;

/** The newest event. */
export const FLEET_NOW = Date.parse('2026-11-20T12:00:00Z');
const DAYS = 90;
const NOW = `timestamptz '${new Date(FLEET_NOW).toISOString()}'`;

const KINDS = {
  site: '1',
  collector: '2',
  user: '3',
  device: '4',
  interface: '5',
  event: '6',
  case: '7',
  sensor: '8',
} as const;

/** Id number `n` of a kind of thing: a UUIDv7 in shape, rising with `n`, known without asking. */
export function fleetId(kind: keyof typeof KINDS, n: number): string {
  const hex = n.toString(16).padStart(10, '0');
  return `019${KINDS[kind]}${hex.slice(0, 4)}-${hex.slice(4, 8)}-7${hex.slice(8)}0-8000-000000000000`;
}
const idSql = (kind: keyof typeof KINDS, n: string): string =>
  `(SELECT (format('019${KINDS[kind]}%s-%s-7%s0-8000-000000000000', substr(h, 1, 4), substr(h, 5, 4), substr(h, 9, 2)))::uuid
    FROM lpad(to_hex((${n})::bigint), 10, '0') AS h)`;

/** A number below `most` that looks random and depends on `n` alone. */
const mix = (n: string, salt: number, most: number): string =>
  `(((${n})::bigint * 2654435761 + ${salt} * 40503) % 1000003 * 7919 % ${most})`;

export const fleetSites = (size: FleetSize): number =>
  Math.max(2, Math.min(100, Math.round(size.devices / 5000)));

/** Rows per statement. */
const STEP = 50_000;

/** Fills an empty, migrated database, with the indexes taken off and put back. `said` hears of each step. */
export async function fillFleet(
  sql: Sql,
  size: FleetSize,
  said: (what: string) => void = () => undefined,
): Promise<void> {
  const indexes = await sql.query<{ name: string; definition: string }>(
    `SELECT indexname AS name, indexdef AS definition FROM pg_indexes WHERE schemaname = 'public' AND tablename = ANY($1)
       AND indexname NOT IN (SELECT conname FROM pg_constraint)`,
    [FILLED],
  );
  for (const { name } of indexes) await sql.query(`DROP INDEX "${name}"`);
  await fillTables(sql, size, said);
  for (const { name, definition } of indexes) {
    said(`index ${name}`);
    await sql.query(definition);
  }
}

const FILLED = [
  'devices',
  'sightings',
  'sensors',
  'device_addresses',
  'entities',
  'interfaces',
  'events',
  'cases',
  'case_activity',
  'endpoints',
  'endpoint_macs',
];

async function fillTables(sql: Sql, size: FleetSize, said: (what: string) => void): Promise<void> {
  const sites = fleetSites(size);
  await sql.query(
    `INSERT INTO sites (id, name, networks, exclude) SELECT ${idSql('site', 'n')}, 'site-' || lpad(n::text, 3, '0'), '{}', '{}'
     FROM generate_series(0, ${sites - 1}) AS n`,
  );
  await sql.query(
    `INSERT INTO collectors (id, site_id, name, public_key) SELECT ${idSql('collector', 'n')}, ${idSql('site', `n % ${sites}`)}, 'collector-' || n, ''
     FROM generate_series(0, ${2 * sites - 1}) AS n`,
  );
  await sql.query(
    `INSERT INTO users (id, name, password_hash, role, all_sites) SELECT ${idSql('user', 'n')}, 'user-' || n, '', 'operator', true
     FROM generate_series(0, 49) AS n`,
  );
  const steps: [string, number, (from: number, to: number) => string][] = [
    ['devices', size.devices, (from, to) => devices(from, to, sites)],
    ['sightings', size.devices, (from, to) => sightings(from, to, sites)],
    ['sensors', size.devices, (from, to) => sensors(from, to, sites)],
    ['device addresses', size.devices, (from, to) => addresses(from, to, sites)],
    ['entities', size.devices, (from, to) => entities(from, to, sites)],
    [
      'interfaces',
      size.devices * size.interfaces,
      (from, to) => interfaces(from, to, sites, size.interfaces),
    ],
    ['cases', size.cases, (from, to) => cases(from, to, sites)],
    ['case activity', size.cases * 2, (from, to) => activity(from, to, sites)],
    ['events', size.events, (from, to) => events(from, to, sites, size)],
    ['endpoints', size.endpoints ?? 0, (from, to) => endpoints(from, to, sites, size)],
    ['addresses of endpoints', (size.endpoints ?? 0) / OF_EACH, (from, to) => endpointMacs(from, to, sites)],
  ];
  // They keep `endpoint_macs`, row by row.
  await sql.query('ALTER TABLE endpoints DISABLE TRIGGER USER');
  for (const [name, total, statement] of steps)
    for (let from = 0; from < total; from += STEP) {
      const to = Math.min(total, from + STEP) - 1;
      await sql.query(statement(from, to));
      said(`${name}: ${to + 1} of ${total}`);
    }
  await sql.query('ALTER TABLE endpoints ENABLE TRIGGER USER');
}

const series = (from: number, to: number) => `generate_series(${from}::bigint, ${to}::bigint) AS n`;

const CLASSES = `(ARRAY['switch','switch','switch','switch','wireless','wireless','server','workstation','workstation','printer','phone','phone','router','firewall','camera','ups','unknown','storage','hypervisor','sensor'])[1 + ${mix('n', 1, 20)}]`;
const VENDORS = `(ARRAY['Cisco','Cisco','HPE','Juniper','Arista','MikroTik','Dell','Ubiquiti'])[1 + ${mix('n', 2, 8)}]`;
const ADDRESS = (n: string) => `('10.0.0.0'::inet + (${n})::bigint)`;

const devices = (from: number, to: number, sites: number) => `
  INSERT INTO devices (site_id, id, collector_id, name, address, mac_address, class, vendor, model, os, os_version,
    serial_number, sys_name, sys_descr, sys_object_id, location, monitor, status, icmp_reachable, interface_count, health,
    first_seen, booted_at, search_text)
  SELECT site_id, id, collector_id, name, address, mac, class, vendor, model, os, version, serial, name, descr,
    '1.3.6.1.4.1.9.1.' || (n % 2000), location, n % 10 < 7, CASE WHEN n % 50 = 0 THEN 'down' WHEN n % 10 < 9 THEN 'up' ELSE 'unknown' END,
    true, 5, CASE WHEN n % 50 = 0 THEN 0 ELSE 3 END, ${NOW} - interval '400 days' + n * interval '10 seconds', ${NOW} - interval '30 days',
    lower(concat_ws(E'\\n', concat_ws(' ', name, vendor, model, os, location, descr), host(address), serial, mac))
  FROM (SELECT n, ${idSql('site', `n % ${sites}`)} AS site_id, ${idSql('device', 'n')} AS id,
      ${idSql('collector', `n % ${2 * sites}`)} AS collector_id, c.class, v.vendor,
      c.class || '-' || lpad(${mix('n', 3, 999_983)}::text, 6, '0') || '.' || 'site-' || lpad((n % ${sites})::text, 3, '0') || '.example.net' AS name,
      ${ADDRESS('n')} AS address,
      regexp_replace(lpad(to_hex(${mix('n', 4, 999_983)} * 16777216 + n), 12, '0'), '(..)(?!$)', '\\1:', 'g') AS mac,
      v.vendor || ' ' || (ARRAY['C9300','2930F','EX3400','7050X','CCR2004','N1548'])[1 + ${mix('n', 5, 6)}] || '-' || (n % 48) AS model,
      (ARRAY['IOS-XE','ArubaOS','Junos','EOS','RouterOS','Linux'])[1 + ${mix('n', 6, 6)}] AS os,
      (n % 17) || '.' || (n % 9) || '.' || (n % 30) AS version,
      'SN' || upper(lpad(to_hex(${mix('n', 7, 999_983)} * 1000 + n % 1000), 10, '0')) AS serial,
      'Building ' || (n % 12) || ', Rack ' || (n % 40) AS location,
      v.vendor || ' system software, version ' || (n % 17) || '.' || (n % 9) || ', build ' || ${mix('n', 8, 900_001)} AS descr
    FROM ${series(from, to)}, LATERAL (SELECT ${CLASSES} AS class) c, LATERAL (SELECT ${VENDORS} AS vendor) v) x`;

const sightings = (from: number, to: number, sites: number) => `
  INSERT INTO sightings (site_id, device_id, last_seen)
  SELECT ${idSql('site', `n % ${sites}`)}, ${idSql('device', 'n')}, ${NOW} FROM ${series(from, to)}`;

/** A reading each; one in fifty is too high. */
const sensors = (from: number, to: number, sites: number) => `
  INSERT INTO sensors (site_id, device_id, key, id, kind, name, component, value, limits, health, reason, health_since,
    first_seen, last_seen)
  SELECT ${idSql('site', `n % ${sites}`)}, ${idSql('device', 'n')}, '1.3.6.1.2.1.99.1.1.1.4.1', ${idSql('sensor', 'n')},
    CASE WHEN n % 20 > 0 THEN 'voltage' ELSE 'temperature' END, 'Inlet', 'chassis', 20 + n % 50, '{"high": 68}',
    CASE WHEN n % 50 = 0 THEN 0 ELSE 3 END, '', ${NOW}, ${NOW}, ${NOW} FROM ${series(from, to)}`;

const addresses = (from: number, to: number, sites: number) => `
  INSERT INTO device_addresses (site_id, device_id, address, origin, first_seen, last_seen)
  SELECT ${idSql('site', `n % ${sites}`)}, ${idSql('device', 'n')}, a, 'table', ${NOW}, ${NOW}
  FROM ${series(from, to)}, LATERAL (
    SELECT ${ADDRESS('n')} UNION ALL SELECT '2001:db8::'::inet + n WHERE n % 5 = 0
    UNION ALL SELECT '172.16.0.0'::inet + n WHERE n % 8 = 0) AS x(a)`;

/** Serial number of the module of device number `n`. */
export const fleetPartSerial = (n: number): string =>
  `JAE${(n * 7919).toString(16).padStart(8, '0').toUpperCase()}`;

const entities = (from: number, to: number, sites: number) => `
  INSERT INTO entities (site_id, device_id, index, class, name, serial, first_seen, last_seen)
  SELECT ${idSql('site', `n % ${sites}`)}, ${idSql('device', 'n')}, 2, 'module', 'Supervisor',
    'JAE' || upper(lpad(to_hex(n * 7919), 8, '0')), ${NOW}, ${NOW} FROM ${series(from, to)}`;

const interfaces = (from: number, to: number, sites: number, each: number) => `
  INSERT INTO interfaces (site_id, id, device_id, if_index, name, type, speed_bps, mtu, admin_status, oper_status, last_up_at, first_seen, last_seen)
  SELECT ${idSql('site', `n / ${each} % ${sites}`)}, ${idSql('interface', 'n')}, ${idSql('device', `n / ${each}`)}, 1 + n % ${each},
    'Gi1/0/' || (1 + n % ${each}), 6, 1000000000, 1500, 1, 1 + n % 2, CASE WHEN n % 2 = 1 THEN ${NOW} - n % 400 * interval '1 day' END, ${NOW}, ${NOW}
  FROM ${series(from, to)}`;

/** Newest last; one in twenty is still worked on. */
const cases = (from: number, to: number, sites: number) => `
  INSERT INTO cases (site_id, id, title, status, severity, priority, assignee_id, tags, created_at, updated_at, search_text)
  SELECT ${idSql('site', `n % ${sites}`)}, ${idSql('case', 'n')}, title, CASE WHEN n % 20 = 0 THEN n % 3 ELSE 3 END,
    1 + ${mix('n', 1, 5)}, 1 + ${mix('n', 2, 4)}, CASE WHEN n % 3 > 0 THEN ${idSql('user', 'n % 50')} END,
    ARRAY['floor-' || (n % 40), (ARRAY['core','access','wan','VIP'])[1 + n % 4]], ${NOW} - interval '300 days' + n * interval '4 minutes',
    ${NOW} - interval '300 days' + n * interval '4 minutes', lower(title || ' floor-' || (n % 40))
  FROM ${series(from, to)}, LATERAL (SELECT 'switch-' || lpad(${mix('n', 3, 999_983)}::text, 6, '0') || ' does not answer' AS title) t`;

const activity = (from: number, to: number, sites: number) => `
  INSERT INTO case_activity (site_id, id, case_id, at, actor, kind, text)
  SELECT ${idSql('site', `n / 2 % ${sites}`)}, gen_random_uuid(), ${idSql('case', 'n / 2')}, ${NOW}, 'system', 'created', ''
  FROM ${series(from, to)}`;

/** Spread over the days, a little more by day than by night; what is older than a day is closed. */
const events = (from: number, to: number, sites: number, size: FleetSize) => `
  INSERT INTO events (site_id, id, device_id, kind, source, severity, status, message, dedup_key, first_seen, timestamp, closed_at, close_reason, case_id)
  SELECT ${idSql('site', `device % ${sites}`)}, ${idSql('event', 'n')}, ${idSql('device', 'device')}, k.kind, k.source, k.severity,
    CASE WHEN age > interval '1 day' THEN 2 ELSE n % 3 END, k.kind || ' on device ' || device, k.kind || ':' || n,
    ${NOW} - age - interval '2 minutes', ${NOW} - age, CASE WHEN age > interval '1 day' THEN ${NOW} - age END,
    CASE WHEN age > interval '1 day' THEN 'cleared' END,
    CASE WHEN n % 10 = 0 THEN ${idSql('case', `n / 10 % ${Math.max(1, size.cases)}`)} END
  FROM (SELECT n, ${mix('n', 11, size.devices)} AS device, ${mix('n', 12, 1000)} AS dice,
      (${size.events} - n) * interval '${((DAYS * 86_400) / Math.max(1, size.events)).toFixed(6)} seconds' AS age
    FROM ${series(from, to)}) x,
    LATERAL (SELECT
      CASE WHEN dice < 350 THEN 'interface.down' WHEN dice < 500 THEN 'device.down' WHEN dice < 700 THEN 'device.changed'
        WHEN dice < 850 THEN 'trap' WHEN dice < 950 THEN 'snmp.unreachable' WHEN dice < 990 THEN 'device.rebooted'
        WHEN dice < 999 THEN 'collector.gap' ELSE 'collector.offline' END AS kind,
      CASE WHEN dice < 350 THEN 'snmp' WHEN dice < 500 THEN 'icmp' WHEN dice < 700 THEN 'discovery'
        WHEN dice < 850 THEN 'trap' WHEN dice < 990 THEN 'snmp' ELSE 'collector' END AS source,
      CASE WHEN dice < 350 THEN 3 WHEN dice < 500 THEN 2 WHEN dice < 700 THEN 5 WHEN dice < 850 THEN 4
        WHEN dice < 950 THEN 3 WHEN dice < 999 THEN 4 ELSE 1 END AS severity) k`;

/** Intervals of one hardware address: three tables that have it now, of which one is ARP, and two that had it. */
const OF_EACH = 5;

/** Hardware address and IP address of endpoint number `n`. */
export const fleetMac = (n: number): string =>
  (0x001b54000000 + n)
    .toString(16)
    .padStart(12, '0')
    .replace(/(..)(?=.)/g, '$1:');
export const fleetEndpointAddress = (n: number): string => [100, n >> 16, (n >> 8) & 255, n & 255].join('.');
const MAC = (n: string) =>
  `regexp_replace(lpad(to_hex(${0x001b54000000}::bigint + ${n}), 12, '0'), '(..)(?!$)', '\\1:', 'g')`;

const endpoints = (from: number, to: number, sites: number, { devices, interfaces: ports }: FleetSize) => `
  INSERT INTO endpoints (site_id, mac, device_id, if_index, vlan, address, name, since, until)
  SELECT ${idSql('site', `mac % ${sites}`)}, ${MAC('mac')}, ${idSql('device', `${mix('n', 21, Math.max(1, Math.floor(devices / sites)))} * ${sites} + mac % ${sites}`)},
    1 + ${mix('n', 22, ports)}, CASE WHEN turn = 2 THEN 0 ELSE 10 + mac % 90 END,
    CASE WHEN turn = 2 THEN host('100.0.0.0'::inet + mac) ELSE '' END,
    CASE WHEN turn = 2 THEN 'host-' || mac || '.example.net' END,
    ${NOW} - turn * interval '10 days' - mac % 1000 * interval '1 minute',
    CASE WHEN turn > 2 THEN ${NOW} - (turn - 1) * interval '10 days' END
  FROM (SELECT n, n / ${OF_EACH} AS mac, n % ${OF_EACH} AS turn FROM ${series(from, to)}) x`;

const endpointMacs = (from: number, to: number, sites: number) => `
  INSERT INTO endpoint_macs (site_id, mac, first_seen)
  SELECT ${idSql('site', `n % ${sites}`)}, ${MAC('n')}, ${NOW} - ${OF_EACH - 1} * interval '10 days' - n % 1000 * interval '1 minute'
  FROM ${series(from, to)}`;
