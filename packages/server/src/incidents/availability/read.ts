/** `GET /api/availability`: whose availability is asked, page by page, and what it was. */

import { setImmediate as otherWork } from 'node:timers/promises';
import {
  AVAILABILITY_SPANS_MOST,
  AVAILABILITY_STATES,
  type Availability,
  type AvailabilityQuery,
  type AvailabilitySpan,
} from '@rollcall/shared/api/availability';
import { inScope, type Page, Parameters, readPage, type Scope, seconds } from '../../platform/db/list.ts';
import type { Sql } from '../../platform/db/sql.ts';
import { notFound, Problem } from '../../platform/problem.ts';
import { type Facts, type Port, readFacts } from './facts.ts';
import type { Period } from './period.ts';
import { add, divide, measure, NOTHING, percentOf, type Seconds, type SpansOfOne, sum } from './spans.ts';

export type Asked = Pick<AvailabilityQuery, 'of' | 'deviceId' | 'page' | 'pageSize'>;

interface Site {
  siteId: string;
  site: string;
}
interface Device extends Site {
  deviceId: string;
  device: string;
}

/** @throws Problem `invalid_request` without the site or device that the entries need, `not_found` without such a device */
export async function readAvailability(
  sql: Sql,
  asked: Asked,
  { scope, period }: { scope: Scope; period: Period },
): Promise<Page<Availability>> {
  if (asked.of === 'sites') return ofSites(sql, asked, scope, period);
  if (asked.deviceId !== undefined) {
    const device = await findDevice(sql, asked.deviceId, scope);
    return asked.of === 'devices'
      ? { data: await ofDevices(sql, [device], period), totalCount: 1 }
      : ofInterfaces(sql, device, asked, period);
  }
  const [siteId] = scope ?? [];
  if (asked.of === 'interfaces') throw new Problem('invalid_request', 'interfaces need `deviceId`');
  if (scope?.length !== 1 || siteId === undefined)
    throw new Problem('invalid_request', 'devices need `site` or `deviceId`');
  const { data, totalCount } = await monitoredDevices(sql, siteId, asked, period);
  return { data: await ofDevices(sql, data, period), totalCount };
}

/** @throws Problem `not_found` without such a device or interface, `invalid_request` for too many spans */
export async function readSpans(
  sql: Sql,
  { deviceId, interfaceId }: { deviceId: string; interfaceId?: string | undefined },
  { scope, period }: { scope: Scope; period: Period },
): Promise<AvailabilitySpan[]> {
  const { siteId } = await findDevice(sql, deviceId, scope);
  const interfaces = interfaceId !== undefined;
  const facts = await readFacts(sql, { siteId, deviceIds: [deviceId], interfaces, period });
  const known = interfaces
    ? facts.ofInterface(await findPort(sql, { siteId, deviceId, id: interfaceId }))
    : facts.ofDevice(deviceId);
  const states = divide(known, period);
  const spans = AVAILABILITY_STATES.flatMap((state) =>
    states[state].map(({ from, until }) => ({ from, to: until, state })),
  );
  if (spans.length > AVAILABILITY_SPANS_MOST)
    throw new Problem(
      'invalid_request',
      `${spans.length} spans are more than ${AVAILABILITY_SPANS_MOST}: ask for less time`,
    );
  return spans.sort((a, b) => a.from - b.from);
}

async function findPort(
  sql: Sql,
  { siteId, deviceId, id }: { siteId: string; deviceId: string; id: string },
): Promise<Port> {
  const [row] = await sql.query<Omit<PortRow, 'name'> & Record<string, unknown>>(
    `SELECT id, first_seen AS "firstSeen", gone_at AS "goneAt" FROM interfaces
     WHERE site_id = $1::uuid AND device_id = $2::uuid AND id = $3::uuid`,
    [siteId, deviceId, id],
  );
  if (!row) throw notFound('interface');
  return portOf(row, deviceId);
}

interface PortRow {
  id: string;
  name: string;
  firstSeen: Date;
  goneAt: Date | null;
}
const portOf = ({ id, firstSeen, goneAt }: Omit<PortRow, 'name'>, deviceId: string): Port => ({
  id,
  deviceId,
  there: { from: seconds(firstSeen), until: goneAt === null ? Number.MAX_SAFE_INTEGER : seconds(goneAt) },
});

/** What of a question pages are made by. */
const pageIn = ({ page, pageSize }: Asked) => ({ page, pageSize });

async function findDevice(sql: Sql, id: string, scope: Scope): Promise<Device> {
  const p = new Parameters();
  const [device] = await sql.query<Device & Record<string, unknown>>(
    `SELECT d.id AS "deviceId", d.name AS device, d.site_id AS "siteId", s.name AS site
     FROM devices d JOIN sites s ON s.id = d.site_id
     WHERE d.id = ${p.add(id)}::uuid AND ${inScope(p, 'd.site_id', scope)}`,
    p.values,
  );
  if (!device) throw notFound('device');
  return device;
}

/** Devices of a site that were monitored at some time in the period, in the order of their names. */
const monitoredDevices = (sql: Sql, siteId: string, asked: Asked, period: Period): Promise<Page<Device>> =>
  readPage(sql, {
    columns: 'd.id AS "deviceId", d.name AS device, d.site_id AS "siteId", s.name AS site',
    from: 'devices d',
    key: ['d.site_id', 'd.id'],
    joins: 'JOIN sites s ON s.id = d.site_id',
    where: `d.site_id = $1::uuid AND d.id IN (${['monitoring_history', 'backlog_history']
      .map(
        (table) => `SELECT device_id FROM ${table} WHERE site_id = $1::uuid
      AND since < to_timestamp($3::int8) AND coalesce(until, 'infinity') > to_timestamp($2::int8)`,
      )
      .join(' UNION ')})`,
    parameters: new Parameters([siteId, period.from, period.until]),
    filters: {},
    query: pageIn(asked),
    order: 'd.sort_name, d.id',
  });

async function ofDevices(sql: Sql, devices: readonly Device[], period: Period): Promise<Availability[]> {
  const [first] = devices;
  if (!first) return [];
  const deviceIds = devices.map(({ deviceId }) => deviceId);
  const facts = await readFacts(sql, { siteId: first.siteId, deviceIds, interfaces: false, period });
  return devices.map((device) => ({
    ...device,
    interfaceId: null,
    interface: null,
    devices: 1,
    ...shown(parted(facts.ofDevice(device.deviceId), period), period),
  }));
}

async function ofInterfaces(
  sql: Sql,
  device: Device,
  asked: Asked,
  period: Period,
): Promise<Page<Availability>> {
  const { siteId, deviceId } = device;
  const { data, totalCount }: Page<PortRow> = await readPage(sql, {
    columns: 'id, name, first_seen AS "firstSeen", gone_at AS "goneAt"',
    from: 'interfaces',
    key: ['site_id', 'id'],
    where: 'site_id = $1::uuid AND device_id = $2::uuid',
    parameters: new Parameters([siteId, deviceId]),
    filters: {},
    query: pageIn(asked),
    order: 'if_index, id',
  });
  const facts = await readFacts(sql, { siteId, deviceIds: [deviceId], interfaces: true, period });
  const entries = data.map((row) => {
    const parts = parted(facts.ofInterface(portOf(row, deviceId)), period);
    return { ...device, interfaceId: row.id, interface: row.name, devices: 1, ...shown(parts, period) };
  });
  return { data: entries, totalCount };
}

async function ofSites(sql: Sql, asked: Asked, scope: Scope, period: Period): Promise<Page<Availability>> {
  const parameters = new Parameters();
  const { data, totalCount }: Page<Site> = await readPage(sql, {
    columns: 's.id AS "siteId", s.name AS site',
    from: 'sites s',
    key: ['s.id'],
    where: inScope(parameters, 's.id', scope),
    parameters,
    filters: {},
    query: pageIn(asked),
    order: 'lower(s.name), s.id',
  });
  const entries: Availability[] = [];
  for (const site of data) {
    const facts = await readFacts(sql, { siteId: site.siteId, deviceIds: null, interfaces: false, period });
    const parts = await ofAll(facts, period);
    entries.push({
      ...site,
      ...{ deviceId: null, device: null, interfaceId: null, interface: null },
      devices: facts.devices.length,
      ...shown(parts, period),
    });
  }
  return { data: entries, totalCount };
}

/** Devices between which other requests have their turn. */
const TURN = 500;

/** The seconds of all devices, by part of the period. */
async function ofAll(facts: Facts, period: Period): Promise<Seconds[]> {
  let total = partsOf(period).map(() => NOTHING);
  for (const [i, id] of facts.devices.entries()) {
    const own = parted(facts.ofDevice(id), period);
    total = total.map((one, part) => add(one, own[part] ?? NOTHING));
    if (i % TURN === TURN - 1) await otherWork();
  }
  return total;
}

const partsOf = (period: Period) => period.days ?? [period];
const parted = (known: SpansOfOne, period: Period): Seconds[] =>
  measure(divide(known, period), partsOf(period));

/** The members of an entry that tell the time, out of the seconds of each part. */
function shown(parts: readonly Seconds[], { days }: Period) {
  const total = sum(parts);
  return {
    ...total,
    availability: percentOf(total),
    days:
      days?.map(({ from, until }, i) => {
        const own = parts[i] ?? NOTHING;
        return { from, to: until, ...own, availability: percentOf(own) };
      }) ?? null,
  };
}
