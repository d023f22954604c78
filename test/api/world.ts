/**
 * Two sites that know nothing of each other, with one of everything in the first, and people of every role on either
 * side. Made by SQL alone, so that what the API shows of it can be held against what is there.
 */

import { hashPassword } from '@rollcall/server/accounts/password';
import { hashOf, mintSessionId, mintToken } from '@rollcall/server/platform/access/token';
import type { Database, Sql } from '@rollcall/server/platform/db/db';
import { TALLIES } from '@rollcall/server/platform/db/tally';
import type { Keyring } from '@rollcall/server/platform/keys/keyring';
import type { Role } from '@rollcall/shared/model';
import { ROLES } from '@rollcall/shared/model';
import { profileSettings } from '@rollcall/shared/profile';
import { uuidv7 } from '@rollcall/shared/uuid';

/** Stands in every text of site Alpha: nobody without that site may ever read it. */
export const CANARY = 'CANARY-ALPHA';
export const PASSWORD = 'correct horse battery staple';
export const ALPHA_NETWORK = '10.77.0.0/16';

/** `alpha`: sees that site; `beta`: sees the other one; `all`: every site. */
export const REACHES = ['alpha', 'beta', 'all'] as const;
export type Reach = (typeof REACHES)[number];

export interface Person {
  id: string;
  name: string;
  role: Role;
  reach: Reach;
  token: string;
  tokenId: string;
  cookie: string;
  sessionId: string;
}
export interface World {
  people: Person[];
  /** Credentials that were right once, or are of another kind; each with what it is. */
  useless: { what: string; headers: Record<string, string> }[];
  site: Record<'alpha' | 'beta', string>;
  /** Things of site Alpha. */
  id: Record<Thing, string>;
  /** Plaintext of a join token of site Alpha that was not used. */
  joinToken: string;
}
const THINGS = [
  'device',
  'otherDevice',
  'interface',
  'field',
  'event',
  'otherEvent',
  'case',
  'otherCase',
  'scan',
  'job',
  'collector',
  'quarantined',
  'revoked',
  'joinToken',
  'credential',
  'profile',
  'schedule',
  'maintenance',
  'subscription',
  'delivery',
  'user',
] as const;
export type Thing = (typeof THINGS)[number];

export const person = (world: World, role: Role, reach: Reach): Person => {
  const found = world.people.find((p) => p.role === role && p.reach === reach);
  if (!found) throw new Error(`nobody is ${role} of ${reach}`);
  return found;
};

/** Tables in an order in which their rows may be deleted. */
const TABLES = [
  'conditions',
  'case_activity',
  'events',
  'cases',
  'dead_letters',
  'gaps',
  'collector_streams',
  'identity_decisions',
  'jobs',
  'scans',
  'schedules',
  'maintenance_windows',
  'deliveries',
  'subscriptions',
  'mail_settings',
  'case_outbox',
  'devices',
  'custom_fields',
  'join_tokens',
  'collectors',
  'credentials',
  'audit',
  'users',
  'sites',
] as const;

let passwordHash: string | undefined;

/** Empties the database and fills it anew: same kinds of things, new credentials. Built-in profiles stay. */
export async function makeWorld(db: Database, keyring: Keyring): Promise<World> {
  passwordHash ??= await hashPassword(PASSWORD);
  const world: World = {
    people: [],
    useless: [],
    site: { alpha: uuidv7(), beta: uuidv7() },
    id: Object.fromEntries(THINGS.map((thing) => [thing, uuidv7()])) as World['id'],
    joinToken: '',
  };
  await db.transaction(async (sql) => {
    for (const table of TABLES) await sql.query(`DELETE FROM ${table}`);
    await sql.query(`DELETE FROM profiles WHERE NOT built_in`);
    await sql.query(
      `INSERT INTO sites (id, name, networks, exclude) VALUES ($1, $2, $3::text[], '{}'), ($4, 'Beta', '{10.88.0.0/16}', '{}')`,
      [world.site.alpha, `Alpha ${CANARY}`, [ALPHA_NETWORK], world.site.beta],
    );
    await people(sql, world);
    await inventory(sql, world);
    await incidents(sql, world);
    await discovery(sql, world, keyring);
  });
  return world;
}

async function people(db: Sql, world: World): Promise<void> {
  for (const role of ROLES)
    for (const reach of REACHES) {
      const name = `${role}-${reach}`;
      world.people.push({ role, reach, name, ...(await account(db, world, { name, role, reach })) });
    }
  const { id: userId } = await account(db, world, {
    name: 'alpha-only',
    role: 'viewer',
    reach: 'alpha',
    displayName: CANARY,
  });
  world.id.user = userId;
  const past = new Date(Date.now() - 3600_000);
  const spoilt = async (
    what: string,
    spoil: string,
    on: (p: Omit<Person, 'name' | 'role' | 'reach'>) => unknown[],
  ) => {
    const made = await account(db, world, { name: what.replaceAll(' ', '-'), role: 'admin', reach: 'all' });
    await db.query(spoil, on(made));
    return made;
  };
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
  const expired = await spoilt(
    'expired token',
    'UPDATE api_tokens SET expires_at = $2 WHERE id = $1',
    (p) => [p.tokenId, past],
  );
  const revoked = await spoilt(
    'revoked token',
    'UPDATE api_tokens SET revoked_at = $2 WHERE id = $1',
    (p) => [p.tokenId, past],
  );
  const disabled = await spoilt('disabled owner', 'UPDATE users SET disabled_at = $2 WHERE id = $1', (p) => [
    p.id,
    past,
  ]);
  const over = await spoilt('ended session', 'UPDATE sessions SET expires_at = $2 WHERE id = $1', (p) => [
    p.sessionId,
    past,
  ]);
  world.useless.push(
    { what: 'nobody', headers: {} },
    { what: 'expired token', headers: bearer(expired.token) },
    { what: 'revoked token', headers: bearer(revoked.token) },
    { what: 'disabled owner', headers: bearer(disabled.token) },
    { what: "disabled owner's session", headers: { cookie: disabled.cookie } },
    { what: 'ended session', headers: { cookie: over.cookie } },
    { what: 'mistyped token', headers: bearer(`${expired.token.slice(0, -1)}_`) },
    { what: 'token never issued', headers: bearer(mintToken().plaintext) },
    { what: 'collector', headers: bearer(`rcj_${mintToken().plaintext.slice(4)}`) },
  );
}

async function account(
  db: Sql,
  world: World,
  { name, role, reach, displayName = '' }: { name: string; role: Role; reach: Reach; displayName?: string },
): Promise<Omit<Person, 'name' | 'role' | 'reach'>> {
  const [id, tokenId, sessionId] = [uuidv7(), uuidv7(), uuidv7()];
  const token = mintToken();
  const secret = mintSessionId();
  await db.query(
    `INSERT INTO users (id, name, display_name, password_hash, role, all_sites) VALUES ($1, $2, $3, $4, $5, $6)`,
    [id, name, displayName, passwordHash, role, reach === 'all'],
  );
  if (reach !== 'all')
    await db.query('INSERT INTO user_sites (user_id, site_id) VALUES ($1, $2)', [id, world.site[reach]]);
  await db.query(`INSERT INTO api_tokens (id, user_id, name, hash, hint) VALUES ($1, $2, 'script', $3, $4)`, [
    tokenId,
    id,
    token.hash,
    token.hint,
  ]);
  await db.query(
    `INSERT INTO sessions (id, id_hash, user_id, expires_at) VALUES ($1, $2, $3, now() + interval '1 day')`,
    [sessionId, hashOf(secret), id],
  );
  return { id, token: token.plaintext, tokenId, cookie: `rollcall=${secret}`, sessionId };
}

/** Of what lists tell and the world of `makeWorld` has none of: that they say nothing of Alpha would prove nothing. */
export async function addMore(db: Sql, { site, id }: World): Promise<void> {
  // Oxidized has a model for it, and it is measured.
  await db.query(`UPDATE devices SET os = 'IOS', monitor = true WHERE id = $1`, [id.device]);
  // A port that nobody uses.
  await db.query(
    `INSERT INTO interfaces (site_id, id, device_id, if_index, name, type, oper_status, last_change, first_seen, last_seen)
     VALUES ($1, $2, $3, 2, 'Gi1/0/2', 6, 2, now() - interval '200 days', now(), now())`,
    [site.alpha, uuidv7(), id.device],
  );
  await db.query(
    `INSERT INTO samples (site_id, device_id, at, part, over_ms, data, highest)
     VALUES ($1, $2, now(), -1, 60000, '{"ping": {"sent": 10, "lost": 0, "avgMs": 20}}', '{"ping": {"rtt": 20}}')`,
    [site.alpha, id.device],
  );
  await db.query(
    `INSERT INTO sensors (site_id, id, device_id, key, kind, name, component, value, health, health_since, first_seen, last_seen)
     VALUES ($1, $2, $3, '1.2.3', 'temperature', $4, 'chassis', 20, 3, now(), now(), now())`,
    [site.alpha, uuidv7(), id.device, CANARY],
  );
  await db.query(
    `INSERT INTO events (site_id, id, device_id, collector_id, kind, source, severity, message, dedup_key, first_seen, timestamp)
     VALUES ($1, $2, $3, $4, 'device.upgraded', 'snmp', 5, $5, 'd', now(), now())`,
    [site.alpha, uuidv7(), id.device, id.collector, CANARY],
  );
  await db.query(
    `INSERT INTO audit (id, actor, action, subject, site_id) VALUES ($1, 'x', 'site.update', $2, $3)`,
    [uuidv7(), CANARY, site.alpha],
  );
}

async function inventory(db: Sql, { site, id }: World): Promise<void> {
  await db.query(
    `INSERT INTO collectors (id, site_id, name, public_key, status)
     VALUES ($1, $3, $4, $6, 'active'), ($2, $3, $5, $7, 'quarantined'), ($8, $3, $9, $10, 'revoked')`,
    [
      id.collector,
      id.quarantined,
      site.alpha,
      `one ${CANARY}`,
      `two ${CANARY}`,
      Buffer.alloc(32, 1),
      Buffer.alloc(32, 2),
      id.revoked,
      `three ${CANARY}`,
      Buffer.alloc(32, 3),
    ],
  );
  const device = async (device: string, name: string, address: string) => {
    await db.query(
      `INSERT INTO devices (site_id, id, collector_id, name, address, class, sys_name, location, interface_count, first_seen,
         search_text)
       VALUES ($1, $2, $3, $4, $5::inet, 'switch', $4, $6, 1, now(), lower($4))`,
      [site.alpha, device, id.collector, `${name} ${CANARY}`, address, CANARY],
    );
    await db.query('INSERT INTO sightings (site_id, device_id, last_seen) VALUES ($1, $2, now())', [
      site.alpha,
      device,
    ]);
  };
  await device(id.device, 'core', '10.77.0.1');
  await device(id.otherDevice, 'edge', '10.77.0.2');
  for (const [owner, address] of [
    [id.device, '10.77.0.1'],
    [id.device, '10.77.0.11'],
    [id.otherDevice, '10.77.0.2'],
  ])
    await db.query(
      `INSERT INTO device_addresses (site_id, device_id, address, origin, first_seen, last_seen)
       VALUES ($1, $2, $3::inet, 'table', now(), now())`,
      [site.alpha, owner, address],
    );
  await db.query(
    `INSERT INTO interfaces (site_id, id, device_id, if_index, name, alias, first_seen, last_seen)
     VALUES ($1, $2, $3, 1, 'Gi1/0/1', $4, now(), now())`,
    [site.alpha, id.interface, id.device, CANARY],
  );
  await db.query(
    `INSERT INTO endpoints (site_id, mac, device_id, if_index, vlan, address, since)
     VALUES ($1, '00:1b:54:00:00:01', $2, 1, 10, '', now()), ($1, '00:1b:54:00:00:01', $2, 1, 0, '10.77.0.2', now())`,
    [site.alpha, id.device],
  );
  await db.query(
    `INSERT INTO neighbours (site_id, device_id, protocol, key, local_port, sys_name, addresses, first_seen, last_seen,
       remote_device_id)
     VALUES ($1, $2, 'lldp', 'k', 'Gi1/0/1', $3, '{}', now(), now(), $4)`,
    [site.alpha, id.device, CANARY, id.otherDevice],
  );
  await db.query(
    `INSERT INTO dead_letters (site_id, collector_id, epoch, stream, seq, reason, body, hash)
     VALUES ($1, $2, $2, 'state', 1, $3, $3, 'h')`,
    [site.alpha, id.collector, CANARY],
  );
  await db.query(
    `INSERT INTO gaps (site_id, collector_id, epoch, stream, from_seq, to_seq, count, reason, at)
     VALUES ($1, $2, $2, 'state', 1, 9, 9, $3, now())`,
    [site.alpha, id.collector, CANARY],
  );
}

async function incidents(db: Sql, { site, id }: World): Promise<void> {
  for (const [caseId, title] of [
    [id.case, 'core down'],
    [id.otherCase, 'edge down'],
  ])
    await db.query(
      `INSERT INTO cases (site_id, id, title, severity, tags, created_at, updated_at, search_text, root_device_id)
       VALUES ($1, $2, $3, 2, ARRAY[$4], now(), now(), lower($3), $5)`,
      [site.alpha, caseId, `${title} ${CANARY}`, CANARY, id.device],
    );
  for (const [event, caseId, key] of [
    [id.event, id.case, 'a'],
    [uuidv7(), id.case, 'b'],
    [id.otherEvent, null, 'c'],
  ])
    await db.query(
      `INSERT INTO events (site_id, id, device_id, interface_id, collector_id, case_id, kind, source, severity, message,
         dedup_key, first_seen, timestamp)
       VALUES ($1, $2, $3, $4, $5, $6, 'device.down', 'icmp', 2, $7, $8, now(), now())`,
      [site.alpha, event, id.device, id.interface, id.collector, caseId, CANARY, key],
    );
  await db.query(
    `INSERT INTO case_activity (site_id, id, case_id, at, actor, kind, text) VALUES ($1, $2, $3, now(), 'x', 'comment', $4)`,
    [site.alpha, uuidv7(), id.case, CANARY],
  );
}

async function discovery(db: Sql, world: World, keyring: Keyring): Promise<void> {
  const { site, id } = world;
  const settings = JSON.stringify(profileSettings.parse({}));
  const joinToken = mintToken().plaintext.slice(4);
  world.joinToken = `rcj_${joinToken}`;
  await db.query(
    `INSERT INTO join_tokens (id, site_id, hash, expires_at) VALUES ($1, $2, $3, now() + interval '1 hour')`,
    [id.joinToken, site.alpha, hashOf(world.joinToken)],
  );
  const secret = JSON.stringify({ community: CANARY });
  const community = keyring.seal({ table: 'credentials', row: id.credential }, secret);
  await db.query(
    `INSERT INTO credentials (id, name, version, sealed, key_id, all_sites, site_ids)
     VALUES ($1, $2, 'v2c', $4, $5, false, ARRAY[$3]::uuid[])`,
    [id.credential, `community ${CANARY}`, site.alpha, community.sealed, community.keyId],
  );
  await db.query(
    `INSERT INTO custom_fields (id, applies_to, name, type, choices) VALUES ($1, 'device', 'Class of service', 'choice', '{silver}')`,
    [id.field],
  );
  await db.query(`INSERT INTO profiles (id, name, settings) VALUES ($1, 'own', $2::jsonb)`, [
    id.profile,
    settings,
  ]);
  await db.query(
    `INSERT INTO schedules (id, site_id, name, targets, profile, cron, enabled) VALUES ($1, $2, $3, '10.77.0.0/24', 'ping', '0 2 * * *', false)`,
    [id.schedule, site.alpha, CANARY],
  );
  await db.query(
    `INSERT INTO maintenance_windows (site_id, id, name, note, timezone, times, created_at)
     VALUES ($2, $1, $3, $3, 'UTC', '{"kind": "repeat", "cron": "0 2 * * 0", "minutes": 60}', now())`,
    [id.maintenance, site.alpha, CANARY],
  );
  // Disabled: a dispatcher that runs beside the test must find nothing to do.
  await db.query(
    `INSERT INTO subscriptions (id, name, kind, addresses, types, all_sites, site_ids, enabled)
     VALUES ($1, $3, 'email', '{noc@example.net}', '{case.opened}', false, ARRAY[$2::uuid], false)`,
    [id.subscription, site.alpha, CANARY],
  );
  await db.query(
    `INSERT INTO deliveries (id, subscription_id, site_id, case_id, type, payload, status, begun_at, created_at)
     VALUES ($1, $2, $3, $4, 'case.opened', jsonb_build_object('data', jsonb_build_object('case',
       jsonb_build_object('number', 7, 'title', $5::text))), 'delivered', now(), now())`,
    [id.delivery, id.subscription, site.alpha, id.case, CANARY],
  );
  await db.query(
    `INSERT INTO scans (id, site_id, targets, profile, settings, addresses_total, created_by_name)
     VALUES ($1, $2, '10.77.0.0/30', 'ping', $4::jsonb, 2, $3)`,
    [id.scan, site.alpha, CANARY, settings],
  );
  await db.query(
    `INSERT INTO jobs (id, scan_id, site_id, position, cidr, spans, size) VALUES ($1, $2, $3, 0, '10.77.0.0/30', $4::jsonb, 2)`,
    [id.job, id.scan, site.alpha, JSON.stringify([{ first: '10.77.0.1', count: 2 }])],
  );
}

/**
 * A value per table that changes with any of its rows, apart from when credentials were last used. Tallies
 * follow from other tables and are compacted now and then.
 */
export async function fingerprint(db: Database): Promise<Record<string, string>> {
  const tables = await db.query<{ name: string }>(
    `SELECT table_name AS name FROM information_schema.tables
     WHERE table_schema = 'public' AND table_type = 'BASE TABLE' AND table_name NOT LIKE '\\_%' AND table_name <> ALL($1) ORDER BY 1`,
    [Object.keys(TALLIES)],
  );
  const parts = tables.map(
    ({ name }) =>
      `SELECT '${name}' AS name, coalesce(md5(string_agg(row, '' ORDER BY row)), '') AS sum FROM (
         SELECT md5((to_jsonb(t) - 'last_used_at' - 'last_seen_at')::text) AS row FROM "${name}" t) rows`,
  );
  const sums = await db.query<{ name: string; sum: string }>(parts.join(' UNION ALL '));
  return Object.fromEntries(sums.map(({ name, sum }) => [name, sum]));
}
