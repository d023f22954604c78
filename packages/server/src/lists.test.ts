/**
 * Every list of the API against a naive model: rows in memory, filtered, counted and ordered by plain code. The lists and
 * their query keys come from the table of operations, so a new list or key without a model here is a failure.
 */
import { operations } from '@rollcall/shared/api/index';
import type { Operation } from '@rollcall/shared/api/operation';
import { systemClock } from '@rollcall/shared/clock';
import { DEVICE_CLASSES, DEVICE_STATUSES, EVENT_SOURCES } from '@rollcall/shared/model';
import { uuidv7 } from '@rollcall/shared/uuid';
import fc from 'fast-check';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accountHandlers } from './accounts/accounts.ts';
import { catalogHandlers } from './catalog/feature.ts';
import { createCredentialFeature } from './credentials/feature.ts';
import { MAKERS } from './data.ts';
import { createDeliveryFeature } from './deliveries/feature.ts';
import { endpointHandlers } from './endpoints/feature.ts';
import { openMakers } from './endpoints/makers.ts';
import { collectorHandlers } from './gateway/collectors.ts';
import { createEnrolment } from './gateway/enrolment/enroll.ts';
import { lossHandlers } from './gateway/losses.ts';
import { createIncidentFeature } from './incidents/feature.ts';
import { createMeasurementFeature } from './measurements/feature.ts';
import type { Database } from './platform/db/db.ts';
import { createScanFeature } from './scans/feature.ts';
import { closeDatabases, databases } from './testing/database.ts';
import { addDevices, asCaller, caller, insert } from './testing/rows.ts';

afterAll(closeDatabases);

type Row = Record<string, unknown>;
type Key = string | number | boolean | null;
type Drawn<A> = A extends fc.Arbitrary<infer T> ? T : never;
interface Filter {
  /** As they stand in a query; some keep nothing. */
  values: readonly (string | string[])[];
  keeps(row: Row, value: never, me: string): boolean;
}
interface Model {
  rows: readonly Row[];
  /** Among the caller's sites; asked only of callers that do not see all of them. */
  visible(row: Row, sites: readonly string[], me: string): boolean;
  filters: Record<string, Filter>;
  /** What the rows are ordered by: the values of `sort`, or `usual` alone where a list has none. */
  sorts: Record<string, (row: Row) => Key[]>;
  usual: string;
  /** Where NULL stands in ascending order. */
  nulls?: 'first' | 'last';
  /** The list is below one thing: the parameter and query keys that name it, and whether a row belongs to it. */
  of?: { params?: string; query?: string; ids: readonly string[]; owns(row: Row, id: string): boolean };
  /** The column that names a row, and the member that names it in an answer. */
  id?: readonly [column: string, member: string];
}

const LISTS = Object.entries(operations as Record<string, Operation>).filter(
  ([, { envelope }]) => envelope === 'list',
);
/** Lists that are not rows of a table. */
const ELSEWHERE = [
  'sessions.list',
  'scans.addresses',
  'availability.list',
  'changes.list',
  'devices.arp',
  'interfaces.free',
];

const HEALTHS = ['critical', 'warning,unknown', 'ok'];
/** Tables keep the place in this order. */
const isHealth = ({ health }: Row, text: string): boolean =>
  text.split(',').includes(String(['critical', 'warning', 'unknown', 'ok'][Number(health)]));

const NOW = Date.UTC(2026, 10, 25, 12);
const unix = (row: Row, column: string): number | null =>
  row[column] === null ? null : Math.floor(Date.parse(String(row[column])) / 1000);
const has = (row: Row, columns: readonly string[], text: string): boolean =>
  columns.some((column) =>
    String(row[column] ?? '')
      .toLowerCase()
      .includes(text.toLowerCase()),
  );
const by =
  (...columns: string[]) =>
  (row: Row): Key[] =>
    columns.map((column) => (row[column] ?? null) as Key);
/** Since when an interface was not up. */
const unusedSince = ({ oper_status, last_up_at, last_change, first_seen }: Row): string | null =>
  [2, 6, 7].includes(Number(oper_status))
    ? ((last_up_at ?? [last_change, first_seen].filter((at) => at !== null).sort()[0]) as string)
    : null;
const inSite = (row: Row, sites: readonly string[]) => sites.includes(String(row.site_id));
const site = (ids: readonly string[], column = 'site_id'): Filter => ({
  values: ids,
  keeps: (row, id: string) => row[column] === id,
});
const exactly = (column: string, values: readonly string[]): Filter => ({
  values,
  keeps: (row, value: string) => String(row[column]) === value,
});
const oneOf = (column: string, values: readonly string[]): Filter => ({
  values: [...values, values.slice(0, 2).join(',')],
  keeps: (row, value: string) => value.split(',').includes(String(row[column])),
});
const search = (...columns: string[]): Filter => ({
  values: ['a', 'AB', 'c', '%', 'nothing'],
  keeps: (row, text: string) => has(row, columns, text),
});
const tagged = (values: Filter['values']): Filter => ({
  values,
  keeps: (row, tags: string | string[]) =>
    [tags]
      .flat()
      .every((tag) => (row.tags as string[]).some((each) => each.toLowerCase() === tag.toLowerCase())),
});
/** What people say of a device or an interface. */
const annotations: Record<'tag' | 'field', Filter> = {
  tag: tagged(['hall-1', 'HALL-2', ['hall-1', 'hall-2']]),
  field: {
    values: ['Rack', 'Rack:A:17', 'Rack:4', 'Spare:true', ['Rack:4', 'Spare'], 'Rack:a:17'],
    keeps: (row, fields: string | string[]) =>
      [fields].flat().every((text) => {
        const [, name = '', value] = /^([^:]+):?(.*)$/.exec(text) ?? [];
        const own = (row.fields as Row)[name];
        return own !== undefined && (value === '' || String(own) === value);
      }),
  },
};
const ownText = (row: Row): string =>
  [row.tags, Object.values(row.fields as object), row.note].flat().join(' ').toLowerCase();

const span = (column: string): Record<'from' | 'to', Filter> => {
  const values = [0, 1, 5, 30].map((days) => String(Math.floor(NOW / 1000) - days * 86_400));
  return {
    from: { values, keeps: (row, from: string) => Number(unix(row, column)) >= Number(from) },
    to: { values, keeps: (row, to: string) => Number(unix(row, column)) <= Number(to) },
  };
};

/** Random rows of every table, in the database and in memory. */
async function fill(db: Database, seed: number, me: string): Promise<Record<string, Model>> {
  const drawn = fc.sample(fc.nat(), { seed, numRuns: 5_000 });
  let at = 0;
  const any = <T>(values: readonly T[]): T => values[(drawn[at++ % drawn.length] ?? 0) % values.length] as T;
  const time = () =>
    new Date(NOW - any([0, 1, 1, 5, 20, 40]) * 86_400_000 - any([0, 0, 1, 999, 86_399_000])).toISOString();
  const maybe = <T>(value: T): T | null => any([value, value, null]);
  const word = () => any(['a', 'ab', 'abc', 'c', 'cab', '50%']);
  const some = <T>(values: readonly T[]): T[] => values.filter(() => any([true, false]));
  const made = async (table: string, n: number, draft: (i: number) => Row): Promise<Row[]> => {
    const rows = Array.from({ length: n }, (_, i) => draft(i));
    await insert(db, table, rows);
    return rows;
  };
  const named = (i: number) => `${word()}-${i}`;

  const sites = await made('sites', 3, (i) => ({
    id: uuidv7(),
    name: named(i),
    networks: [],
    exclude: [],
    created_at: time(),
  }));
  const siteIds = sites.map(({ id }) => String(id));
  const ofSite = () => ({ site_id: any(siteIds) });
  const users = await made('users', 8, (i) => ({
    id: i === 0 ? me : uuidv7(),
    name: named(i),
    display_name: word(),
    password_hash: '-',
    role: any(['viewer', 'operator', 'admin']),
    all_sites: any([true, false]),
    disabled_at: any([null, time()]),
    created_at: time(),
    last_login_at: maybe(time()),
  }));
  const memberships = users.flatMap(({ id }) => some(siteIds).map((site_id) => ({ user_id: id, site_id })));
  await insert(db, 'user_sites', memberships);
  const sitesOf = (user: Row) =>
    memberships.filter(({ user_id }) => user_id === user.id).map(({ site_id }) => site_id);
  const collectors = await made('collectors', 9, (i) => ({
    id: uuidv7(),
    ...ofSite(),
    name: named(i),
    public_key: '\\x00',
    status: any(['active', 'quarantined', 'revoked']),
    hostname: word(),
    addresses: [],
    created_at: time(),
    last_seen_at: maybe(time()),
  }));
  const collectorIds = collectors.map(({ id }) => String(id));
  const lost = (i: number) => {
    const { id, site_id } = any(collectors);
    return { site_id, collector_id: id, epoch: uuidv7(), stream: 'state', reason: `r${i}`, at: time() };
  };

  const fields = await made('custom_fields', 4, (i) => ({
    ...{ id: uuidv7(), applies_to: ['device', 'interface'][i % 2], name: i < 2 ? 'Rack' : 'Spare' },
    ...{ type: 'text', choices: [], created_at: time() },
  }));
  const annotated = (): Row => ({
    tags: some(['Hall-1', 'hall-2']),
    note: any(['', 'ladder']),
    fields: any([{}, { Rack: 'A:17' }, { Rack: '4', Spare: true }, { Rack: 4 }]),
  });
  const devices: Row[] = Array.from({ length: 14 }, (_, i) => {
    const near = any(collectors);
    return {
      ...ofSite(),
      name: any(['core', named(i)]),
      address: any([null, `10.0.${any([0, 1])}.${i}`]),
      addresses: some([`10.1.0.${i}`, `2001:db8::${i}`]),
      class: any(DEVICE_CLASSES),
      vendor: maybe(word()),
      model: maybe(word()),
      location: maybe(word()),
      status: any(['up', 'down', 'unknown']),
      health: any([0, 1, 2, 3]),
      monitor: any([true, false]),
      ...annotated(),
      ...any([{ collector_id: near.id, site_id: near.site_id }, { collector_id: null }]),
      first_seen: time(),
      last_seen: time(),
    };
  });
  for (const [i, id] of (await addDevices(db, devices as never)).entries())
    Object.assign(devices[i] as Row, { id });
  const deviceIds = devices.map(({ id }) => String(id));
  const addressesOf = (device: Row) => [device.address, ...(device.addresses as string[])].filter(Boolean);
  const interfaces = await made('interfaces', 40, (i) => {
    const device = any(devices.slice(0, 3));
    return {
      site_id: device.site_id,
      device_id: device.id,
      id: uuidv7(),
      if_index: i,
      name: word(),
      type: any([null, 6, 24]),
      speed_bps: maybe(any([10, 100])),
      admin_status: maybe(any([1, 2])),
      oper_status: maybe(any([1, 2, 7])),
      last_change: maybe(time()),
      last_up_at: maybe(time()),
      vlan: maybe(any([1, 2])),
      gone_at: any([null, null, time()]),
      ...annotated(),
      first_seen: time(),
      last_seen: time(),
    };
  });
  const sensors = await made('sensors', 40, (i) => {
    const device = any(devices.slice(0, 3));
    return {
      site_id: device.site_id,
      device_id: device.id,
      id: uuidv7(),
      key: `1.${i}`,
      kind: any(['temperature', 'state']),
      name: word(),
      component: any(['psu', 'fan']),
      value: maybe(any([1, 2, 3])),
      health: any([0, 1, 2, 3]),
      health_since: time(),
      gone_at: any([null, null, time()]),
      first_seen: time(),
      last_seen: time(),
    };
  });
  // All intervals of an address hold at the same time, so that filters by time and by place are independent.
  const endpoints: Row[] = Array.from({ length: 24 }, (_, i) => ({
    ...ofSite(),
    mac: `00:1b:${any(['53', '54'])}:00:00:${String(i).padStart(2, '0')}`,
    first_seen: time(),
    gone_at: any([null, null, new Date(NOW).toISOString()]),
    learnt: Array.from({ length: any([1, 2, 4]) }, () => ({
      ...{ at: any(interfaces), vlan: any([0, 1, 2]), address: any(['', '', '10.0.0.1', '10.1.0.1']) },
    })),
  }));
  for (const row of endpoints)
    row.learnt = (row.learnt as { at: Row }[]).filter(({ at }) => at.site_id === row.site_id);
  const learnt = endpoints.filter((row) => (row.learnt as Row[]).length > 0);
  const learntAs = (row: Row) => row.learnt as { at: Row; vlan: number; address: string }[];
  const distinct = new Map(
    learnt.flatMap((row) =>
      learntAs(row).map(({ at, vlan, address }) => {
        const { site_id, mac, first_seen: since, gone_at: until } = row;
        const { device_id, if_index } = at;
        const name = address === '10.1.0.1' ? 'cisco-1b.example' : null;
        const interval = { site_id, mac, device_id, if_index, vlan, address, since, until, name };
        return [JSON.stringify(interval), interval];
      }),
    ),
  );
  await insert(db, 'endpoints', [...distinct.values()]);
  const ofTime: Record<'current' | 'at', Filter> = {
    current: { values: ['0', '1'], keeps: (row, text: string) => (row.gone_at === null) === (text === '1') },
    at: {
      values: [0, 5, 30].map((days) => String(NOW / 1000 - days * 86_400)),
      keeps: (row, text: string) => {
        const at = Number(text) * 1000;
        return (
          Date.parse(String(row.first_seen)) <= at &&
          (row.gone_at === null || Date.parse(String(row.gone_at)) > at)
        );
      },
    },
  };
  const ofEndpoints = {
    rows: learnt,
    visible: inSite,
    sorts: { mac: by('mac'), firstSeen: by('first_seen', 'mac'), lastSeen: by('gone_at', 'mac') },
    usual: 'mac',
    id: ['mac', 'mac'] as const,
  };
  const cases = await made('cases', 14, (i) => ({
    ...ofSite(),
    id: uuidv7(),
    number: i + 1,
    title: word(),
    description: '',
    status: any([0, 1, 2, 3]),
    severity: any([1, 2, 3]),
    priority: any([1, 2, 3, 4]),
    assignee_id: maybe(any(users).id),
    tags: some(['Core', 'edge']),
    created_at: time(),
    updated_at: time(),
    search_text: word(),
  }));
  const over = () => ({ status: 2, close_reason: 'cleared', closed_at: time() });
  const events = await made('events', 90, (i) => {
    const device = any([...devices, null]);
    return {
      site_id: device?.site_id ?? any(siteIds),
      device_id: device?.id ?? null,
      id: uuidv7(),
      kind: 'device.down',
      source: any(EVENT_SOURCES),
      severity: any([1, 2, 3, 4, 5]),
      ...any([{ status: 0 }, { status: 1 }, { status: 2, close_reason: 'manual' }, over()]),
      message: word(),
      details: {},
      dedup_key: `k${i}`,
      first_seen: time(),
      timestamp: time(),
    };
  });
  const scans = await made('scans', 12, () => ({
    ...ofSite(),
    id: uuidv7(),
    targets: '10.0.0.0/24',
    profile: any(['standard', 'deep']),
    settings: {},
    status: any(['queued', 'running', 'completed', 'failed']),
    status_reason: '',
    created_by_name: '',
    created_at: time(),
    started_at: maybe(time()),
    finished_at: maybe(time()),
    addresses_total: any([1, 256]),
    devices_found: maybe(1),
    devices_new: 0,
    devices_changed: 0,
  }));
  const subscriptions = await made('subscriptions', 7, (i) => ({
    id: uuidv7(),
    name: named(i),
    kind: 'webhook',
    url: 'https://a.example',
    addresses: [],
    types: [],
    all_sites: any([true, false]),
    site_ids: some(siteIds),
    created_at: time(),
  }));
  const deliveries = await made('deliveries', 12, () => ({
    id: uuidv7(),
    subscription_id: any(subscriptions).id,
    site_id: any([null, ...siteIds]),
    type: 'test',
    payload: {},
    status: any(['queued', 'delivered', 'partial', 'failed']),
    begun_at: time(),
    created_at: time(),
  }));
  const byTime = (column: string) => ({ sorts: { [column]: by(column) }, usual: `-${column}` });
  const name = (row: Row): Key[] => [String(row.name).toLowerCase()];
  /** As people count: `core-2` before `core-10`. */
  const counted = (row: Row): string =>
    String(row.name)
      .toLowerCase()
      .replace(/\d+/g, (digits) => digits.padStart(12, '0'));
  const countedThen =
    (column: string) =>
    (row: Row): Key[] => [...by(column)(row), counted(row)];
  const small = { nulls: 'first' } as const;

  return {
    'tokens.list': {
      rows: (
        await made('api_tokens', 9, (i) => ({
          id: uuidv7(),
          user_id: any(users.slice(0, 2)).id,
          name: named(i),
          hash: `\\x0${i}`,
          hint: 'abcd',
          created_at: time(),
        }))
      ).filter(({ user_id }) => user_id === me),
      visible: () => true,
      filters: {},
      ...byTime('created_at'),
    },
    'users.list': {
      rows: users,
      visible: (row, ids) =>
        !row.all_sites && sitesOf(row).length > 0 && sitesOf(row).every((id) => ids.includes(id)),
      filters: { search: search('name', 'display_name') },
      sorts: { name, role: by('role'), createdAt: by('created_at'), lastLoginAt: by('last_login_at') },
      usual: 'name',
      ...small,
    },
    'assignees.list': {
      rows: users.filter(({ disabled_at }) => disabled_at === null),
      visible: (row, ids, who) =>
        row.all_sites === true || row.id === who || sitesOf(row).some((id) => ids.includes(id)),
      filters: {
        site: {
          values: siteIds,
          keeps: (row, id: string) => row.all_sites === true || sitesOf(row).includes(id),
        },
      },
      sorts: { name },
      usual: 'name',
    },
    'audit.list': {
      rows: await made('audit', 20, () => ({
        id: uuidv7(),
        at: time(),
        actor_id: maybe(any(users).id),
        actor: any(['a', 'ab']),
        action: any(['token', 'token.create', 'tokens.read']),
        subject: '',
        site_id: any([null, ...siteIds]),
        address: '',
        detail: {},
      })),
      visible: (row, ids, who) => inSite(row, ids) || row.actor_id === who,
      filters: {
        ...span('at'),
        site: site(siteIds),
        actor: exactly('actor', ['a', 'b']),
        action: {
          values: ['token', 'token.create', 'tok'],
          keeps: (row, action: string) =>
            row.action === action || String(row.action).startsWith(`${action}.`),
        },
      },
      ...byTime('at'),
    },
    'sites.list': {
      rows: sites,
      visible: (row, ids) => ids.includes(String(row.id)),
      filters: { search: search('name') },
      sorts: { name, createdAt: by('created_at') },
      usual: 'name',
    },
    'joinTokens.list': {
      rows: await made('join_tokens', 9, (i) => ({
        ...ofSite(),
        id: uuidv7(),
        hash: `\\x0${i}`,
        created_at: time(),
        expires_at: new Date(Date.now() + 60_000).toISOString(),
      })),
      visible: inSite,
      filters: { site: site(siteIds) },
      ...byTime('created_at'),
    },
    'collectors.list': {
      rows: collectors,
      visible: inSite,
      filters: {
        site: site(siteIds),
        search: search('name', 'hostname'),
        status: oneOf('status', ['active', 'quarantined', 'revoked']),
      },
      sorts: { name, status: by('status'), lastSeenAt: by('last_seen_at'), createdAt: by('created_at') },
      usual: 'name',
      ...small,
    },
    'deadLetters.list': {
      rows: await made('dead_letters', 15, (i) => ({ ...lost(i), seq: i, body: '{}', hash: 'h' })),
      visible: inSite,
      filters: { ...span('at'), site: site(siteIds), collector: exactly('collector_id', collectorIds) },
      ...byTime('at'),
      id: ['epoch', 'epoch'],
    },
    'gaps.list': {
      rows: await made('gaps', 15, (i) => ({ ...lost(i), from_seq: i, to_seq: i, count: 1, reason: 'age' })),
      visible: inSite,
      filters: { ...span('at'), site: site(siteIds), collector: exactly('collector_id', collectorIds) },
      ...byTime('at'),
      id: ['epoch', 'epoch'],
    },
    'credentials.list': {
      rows: await made('credentials', 9, (i) => ({
        id: uuidv7(),
        name: named(i),
        version: 'v2c',
        sealed: '\\x00',
        key_id: 'k',
        position: any([1, 2]),
        all_sites: any([true, false]),
        site_ids: some(siteIds),
      })),
      visible: (row, ids) =>
        row.all_sites === true || (row.site_ids as string[]).some((id) => ids.includes(id)),
      filters: {
        site: {
          values: siteIds,
          keeps: (row, id: string) => row.all_sites === true || (row.site_ids as string[]).includes(id),
        },
      },
      sorts: { position: (row) => [...by('position')(row), ...name(row)] },
      usual: 'position',
    },
    'scans.list': {
      rows: scans,
      visible: inSite,
      filters: {
        site: site(siteIds),
        status: oneOf('status', ['queued', 'running', 'completed', 'partial']),
        profile: exactly('profile', ['standard', 'light']),
      },
      sorts: {
        createdAt: by('created_at'),
        startedAt: by('started_at'),
        finishedAt: by('finished_at'),
        status: by('status'),
        addressesTotal: by('addresses_total'),
      },
      usual: '-createdAt',
      ...small,
    },
    'schedules.list': {
      rows: await made('schedules', 9, (i) => ({
        ...ofSite(),
        id: uuidv7(),
        name: named(i),
        targets: '10.0.0.0/24',
        profile: 'standard',
        cron: '0 0 * * *',
        last_run_at: maybe(time()),
        next_run_at: maybe(time()),
      })),
      visible: inSite,
      filters: { site: site(siteIds) },
      sorts: { name, nextRunAt: by('next_run_at'), lastRunAt: by('last_run_at') },
      usual: 'name',
      ...small,
    },
    'profiles.list': {
      rows: await made('profiles', 7, (i) => ({
        id: uuidv7(),
        name: named(i),
        settings: {},
        built_in: any([true, false]),
      })),
      visible: () => true,
      filters: {},
      sorts: { order: (row) => [row.built_in ? 0 : 1, ...name(row)] },
      usual: 'order',
    },
    'fields.list': {
      rows: fields,
      visible: () => true,
      filters: { appliesTo: { ...oneOf('applies_to', []), values: ['device', 'interface'] } },
      sorts: { order: (row) => [String(row.applies_to), ...name(row)] },
      usual: 'order',
    },
    'devices.list': {
      rows: devices,
      visible: inSite,
      filters: {
        site: site(siteIds),
        search: {
          values: ['a', 'AB', 'c', '%', 'nothing', 'HALL-1', 'ladder', 'a:17'],
          keeps: (row, text: string) =>
            has(row, ['name', 'vendor', 'model', 'location', 'address'], text) ||
            ownText(row).includes(text.toLowerCase()),
        },
        ...annotations,
        ids: oneOf(
          'id',
          devices.slice(0, 3).map(({ id }) => String(id)),
        ),
        Address: {
          values: ['10.0.0.0/24', '10.1.0.3', '2001:db8::/64', '192.0.2.1'],
          keeps: (row, text: string) =>
            addressesOf(row).some((address) =>
              text.includes('/') ? String(address).startsWith(text.replace(/0?\/.*/, '')) : address === text,
            ),
        },
        class: oneOf('class', DEVICE_CLASSES),
        status: oneOf('status', DEVICE_STATUSES),
        collector: {
          values: [
            ...collectorIds.slice(0, 4),
            ...collectors.slice(0, 4).map((each) => String(each.name)),
            'nobody',
          ],
          keeps: (row, text: string) =>
            collectors.some(
              (each) => each.id === row.collector_id && (each.id === text || each.name === text),
            ),
        },
        monitor: { values: ['0', '1'], keeps: (row, text: string) => row.monitor === (text === '1') },
        health: { values: HEALTHS, keeps: (row, text: string) => isHealth(row, text) },
      },
      sorts: {
        name: (row) => [counted(row)],
        address: (row) => [
          row.address === null ? null : String(row.address).replace(/\d+/g, (n) => n.padStart(3, '0')),
        ],
        class: countedThen('class'),
        vendor: countedThen('vendor'),
        model: countedThen('model'),
        status: countedThen('status'),
        health: (row) => [Number(row.health), counted(row)],
        firstSeen: by('first_seen'),
        lastSeen: by('last_seen'),
      },
      usual: 'name',
    },
    'devices.history': {
      rows: events,
      visible: inSite,
      filters: {},
      sorts: { latest: (row) => by(row.close_reason === 'cleared' ? 'closed_at' : 'timestamp')(row) },
      usual: '-latest',
      of: { params: 'id', ids: deviceIds, owns: (row, id) => row.device_id === id },
      id: ['id', 'eventId'],
    },
    'interfaces.list': {
      rows: interfaces.filter(({ gone_at }) => gone_at === null),
      visible: inSite,
      filters: {
        site: site(siteIds),
        ids: oneOf(
          'id',
          interfaces.slice(0, 3).map(({ id }) => String(id)),
        ),
        ...annotations,
        unusedDays: {
          values: ['1', '1000', '3000'],
          keeps: (row, days: string) => {
            const since = row.type === 6 && unusedSince(row);
            return Boolean(since) && Date.parse(String(since)) < Date.now() - Number(days) * 86_400_000;
          },
        },
      },
      sorts: {
        ifIndex: by('if_index'),
        name: (row) => [counted(row), Number(row.if_index)],
        type: by('type', 'if_index'),
        speedBps: by('speed_bps', 'if_index'),
        adminStatus: by('admin_status', 'if_index'),
        operStatus: by('oper_status', 'if_index'),
        lastChange: by('last_change', 'if_index'),
        vlan: by('vlan', 'if_index'),
        unusedSince: (row) => [unusedSince(row), Number(row.if_index)],
      },
      usual: 'ifIndex',
      of: { query: 'deviceId', ids: deviceIds.slice(0, 4), owns: (row, id) => row.device_id === id },
    },
    'endpoints.list': {
      ...ofEndpoints,
      filters: {
        ...ofTime,
        site: site(siteIds),
        search: {
          values: ['10.1.', 'O-1b.ex', '1b:54', 'cisco', 'nothing'],
          keeps: (row, text: string) =>
            (['10.1.', 'O-1b.ex'].includes(text) &&
              learntAs(row).some(({ address }) => address === '10.1.0.1')) ||
            (text === '1b:54' && String(row.mac).includes(text)) ||
            // Both prefixes are Cisco's.
            text === 'cisco',
        },
        mac: {
          values: ['1b54', '00.00', '001b.5300'],
          keeps: (row, text: string) => String(row.mac).replaceAll(':', '').includes(text.replace('.', '')),
        },
        ip: {
          values: ['10.0.0.1', '10.9.9.9'],
          keeps: (row, text: string) => learntAs(row).some(({ address }) => address === text),
        },
        vlan: {
          values: ['1', '2', '7'],
          keeps: (row, text: string) => learntAs(row).some(({ vlan }) => vlan === Number(text)),
        },
        device: {
          values: deviceIds.slice(0, 4),
          keeps: (row, text: string) => learntAs(row).some(({ at }) => at.device_id === text),
        },
        interface: {
          values: interfaces.slice(0, 4).map(({ id }) => String(id)),
          keeps: (row, text: string) => learntAs(row).some(({ at }) => at.id === text),
        },
      },
    },
    'interfaces.endpoints': {
      ...ofEndpoints,
      filters: ofTime,
      of: {
        params: 'id',
        ids: interfaces.slice(0, 6).map(({ id }) => String(id)),
        owns: (row, id) => learntAs(row).some(({ at }) => at.id === id),
      },
    },
    'sensors.list': {
      rows: sensors.filter(({ gone_at }) => gone_at === null),
      visible: inSite,
      filters: {
        site: site(siteIds),
        deviceId: exactly('device_id', deviceIds.slice(0, 4)),
        kind: oneOf('kind', ['temperature', 'state', 'fan']),
        health: { values: HEALTHS, keeps: (row, text: string) => isHealth(row, text) },
      },
      sorts: { health: by('health', 'device_id') },
      usual: 'health',
    },
    'events.list': {
      rows: events,
      visible: inSite,
      filters: {
        ...span('timestamp'),
        site: site(siteIds),
        Severity: {
          values: ['1', '3', '5'],
          keeps: (row, most: string) => Number(row.severity) <= Number(most),
        },
        Status: oneOf('status', ['0', '1', '2']),
        Source: exactly('source', EVENT_SOURCES),
        Device: {
          values: [...deviceIds.slice(0, 2), 'core', '10.1.0.1', 'nobody'],
          keeps: (row, text: string) =>
            devices.some(
              (each) =>
                each.id === row.device_id &&
                (each.id === text || each.name === text || addressesOf(each).includes(text)),
            ),
        },
      },
      sorts: { timestamp: by('timestamp'), severity: by('severity') },
      usual: '-timestamp',
    },
    'cases.list': {
      rows: cases,
      visible: inSite,
      filters: {
        site: site(siteIds),
        status: oneOf('status', ['0', '1', '2', '3']),
        severity: oneOf('severity', ['1', '2', '5']),
        priority: oneOf('priority', ['1', '2', '4']),
        assignee: {
          values: ['me', 'none', String(users[1]?.id), String(users[2]?.name), 'nobody'],
          keeps: (row, text: string, who) => {
            if (text === 'none') return row.assignee_id === null;
            if (text === 'me') return row.assignee_id === who;
            return users.some(({ id, name }) => id === row.assignee_id && (id === text || name === text));
          },
        },
        tag: tagged(['core', 'EDGE', ['core', 'edge']]),
        q: {
          values: ['a', 'B c', '#3', ' '],
          keeps: (row, text: string) =>
            text
              .split(' ')
              .filter(Boolean)
              .every((part) => (part === '#3' ? row.number === 3 : has(row, ['search_text'], part))),
        },
      },
      sorts: {
        updatedAt: by('updated_at'),
        createdAt: by('created_at'),
        number: by('number'),
        severity: by('severity', 'updated_at'),
        priority: by('priority', 'updated_at'),
        status: by('status', 'updated_at'),
      },
      usual: '-updatedAt',
    },
    'maintenance.list': {
      rows: await made('maintenance_windows', 9, (i) => ({
        ...ofSite(),
        id: uuidv7(),
        name: named(i),
        timezone: 'UTC',
        times: { kind: 'once', from: 1, until: 2 },
        created_at: time(),
      })),
      visible: inSite,
      filters: { site: site(siteIds) },
      sorts: { name, createdAt: by('created_at') },
      usual: 'name',
    },
    'subscriptions.list': {
      rows: subscriptions,
      visible: (row, ids) => !row.all_sites && (row.site_ids as string[]).every((id) => ids.includes(id)),
      filters: {},
      sorts: { name, createdAt: by('created_at') },
      usual: 'name',
    },
    'deliveries.list': {
      rows: deliveries,
      visible: (row, ids) => {
        const { all_sites, site_ids } = subscriptions.find(({ id }) => id === row.subscription_id) ?? {};
        return !all_sites && (site_ids as string[]).every((id) => ids.includes(id));
      },
      filters: {
        site: site(siteIds),
        subscription: exactly(
          'subscription_id',
          subscriptions.map(({ id }) => String(id)),
        ),
        status: exactly('status', ['queued', 'delivered', 'failed']),
      },
      ...byTime('created_at'),
    },
  };
}

/** Below, at or above zero, key by key. */
function compare(a: Key[], b: Key[], nulls: 'first' | 'last'): number {
  for (const [i, left] of a.entries()) {
    const right = b[i] ?? null;
    if (left === right) continue;
    if (left === null || right === null) return (left === null) === (nulls === 'first') ? -1 : 1;
    return left < right ? -1 : 1;
  }
  return 0;
}

describe.each(databases())('lists on %s', (_name, open) => {
  const me = uuidv7();
  const seed = Number(process.env.TEST_SEED ?? Date.now() % 1_000_000);
  let db: Database;
  let handlers: object;
  let models: Record<string, Model>;
  let siteIds: string[];

  beforeAll(async () => {
    db = await open();
    models = await fill(db, seed, me);
    siteIds = (models['sites.list']?.rows ?? []).map(({ id }) => String(id));
    const deps = {
      db,
      clock: systemClock,
      log: pino({ level: 'silent' }),
      audit: async () => undefined,
      recordChanges: async () => undefined,
      makerOf: () => null,
    } as never;
    handlers = {
      ...accountHandlers(deps),
      ...catalogHandlers(deps),
      ...createMeasurementFeature(deps).handlers,
      ...endpointHandlers({ db, makers: openMakers(MAKERS), clock: systemClock }),
      ...createIncidentFeature(deps).handlers,
      ...createScanFeature(deps).handlers,
      ...createCredentialFeature(deps).handlers,
      ...createDeliveryFeature(deps).handlers,
      ...collectorHandlers(deps),
      ...createEnrolment(deps).handlers,
      ...lossHandlers(deps),
    };
  });

  it('have a model each, with all of their filters and orders', () => {
    const modelled = Object.entries(models).map(([id, { filters, sorts, of }]) => {
      const { query } = (operations as Record<string, Operation>)[id] as Operation;
      const sort = query?.shape.sort ? Object.keys(sorts).flatMap((each) => [each, `-${each}`]) : [];
      return [id, [...Object.keys(filters), ...(of?.query ? [of.query] : [])].sort(), sort.sort()];
    });
    const described = LISTS.filter(([id]) => !ELSEWHERE.includes(id)).map(([id, { query }]) => {
      const { page: _p, pageSize: _s, sort, ...filters } = (query?.shape ?? {}) as Record<string, unknown>;
      const orders = (sort as { unwrap(): { options: string[] } } | undefined)?.unwrap().options ?? [];
      return [id, Object.keys(filters).sort(), [...orders].sort()];
    });
    expect(Object.fromEntries(modelled.map(([id, ...rest]) => [id, rest]))).toEqual(
      Object.fromEntries(described.map(([id, ...rest]) => [id, rest])),
    );
  });

  const ids = LISTS.map(([id]) => id).filter((id) => !ELSEWHERE.includes(id));
  it.each(ids)(`%s answers what the model answers (TEST_SEED=${seed})`, async (id) => {
    const model = models[id] as Model;
    const [column, member] = model.id ?? ['id', 'id'];
    const sorted = (operations as Record<string, Operation>)[id]?.query?.shape.sort !== undefined;
    const sorts = sorted ? Object.keys(model.sorts).flatMap((each) => [each, `-${each}`]) : [];
    const asked = fc.record({
      of: fc.constantFrom(...(model.of?.ids ?? [''])),
      sites: fc.constantFrom<(string[] | 'all')[]>('all', siteIds.slice(0, 1), siteIds.slice(0, 2)),
      filters: fc.record(
        Object.fromEntries(
          Object.entries(model.filters).map(([key, { values }]) => [key, fc.constantFrom(...values)]),
        ),
        { requiredKeys: [] },
      ),
      sort: fc.constantFrom(undefined, ...sorts),
      pageSize: fc.integer({ min: 2, max: 9 }),
    });
    const check = async ({ of, sites, filters, sort, pageSize }: Drawn<typeof asked>): Promise<void> => {
      // What is refused rather than filtered has tests of its own.
      fc.pre(!(filters.from && filters.to && filters.from > filters.to));
      fc.pre(sites === 'all' || !filters.site || sites.includes(String(filters.site)));
      const expected = model.rows.filter(
        (row) =>
          (sites === 'all' || model.visible(row, sites, me)) &&
          (model.of?.owns(row, of) ?? true) &&
          Object.entries(filters).every(([key, value]) => model.filters[key]?.keeps(row, value as never, me)),
      );
      const ask = asCaller(handlers, caller('admin', sites, 'ada', me));
      const found: Row[] = [];
      for (let page = 1; page <= Math.ceil(expected.length / pageSize) + 1; page++) {
        const query = { ...filters, ...(sort ? { sort } : {}), page: `${page}`, pageSize: `${pageSize}` };
        const answer = await ask(id as keyof typeof operations, {
          query: { ...query, ...(model.of?.query ? { [model.of.query]: of } : {}) },
          ...(model.of?.params ? { params: { [model.of.params]: of } } : {}),
        }).catch((error: { code?: string }) => {
          // Below a thing that the caller does not see there is nothing.
          if (model.of && error.code === 'not_found') return null;
          // Nor is there a collector there.
          if (filters.collector && error.code === 'invalid_request') return null;
          throw error;
        });
        if (answer === null) return void expect(expected).toEqual([]);
        expect(answer.totalCount).toBe(expected.length);
        const left = Math.max(0, expected.length - (page - 1) * pageSize);
        expect(answer.data).toHaveLength(Math.min(pageSize, left));
        found.push(...answer.data);
      }
      const rowOf = new Map(expected.map((row) => [row[column], row]));
      expect(found.map((item) => item[member]).toSorted()).toEqual([...rowOf.keys()].toSorted());
      const order = sort ?? model.usual;
      const keys = found.map(
        (item) => model.sorts[order.replace('-', '')]?.(rowOf.get(item[member]) as Row) ?? [],
      );
      for (const [i, next] of keys.slice(1).entries()) {
        const turned = compare(keys[i] ?? [], next, model.nulls ?? 'last');
        expect(order.startsWith('-') ? -turned : turned).toBeLessThanOrEqual(0);
      }
    };
    await fc.assert(fc.asyncProperty(asked, check), { numRuns: 25, seed });
  });
});
