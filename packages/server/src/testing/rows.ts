/** Hand-made rows and callers for tests of handlers. */
import { operations } from '@rollcall/shared/api/index';
import type { Operation } from '@rollcall/shared/api/operation';
import type { Role } from '@rollcall/shared/model';
import { uuidv7 } from '@rollcall/shared/uuid';
import { z } from 'zod';
import type { Sql } from '../platform/db/sql.ts';
import type { Actor } from '../platform/http/handler.ts';
import { readBody, readParams, readQuery } from '../platform/http/input.ts';

/** Inserts rows whose members are column names; columns that no row names keep their defaults. */
export async function insert(
  sql: Sql,
  table: string,
  rows: readonly Record<string, unknown>[],
): Promise<void> {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))].map((name) => `"${name}"`).join(', ');
  if (columns === '') return;
  await sql.query(
    `INSERT INTO ${table} (${columns}) SELECT ${columns} FROM jsonb_populate_recordset(NULL::${table}, $1::jsonb)`,
    [JSON.stringify(rows)],
  );
}

export async function addSite(sql: Sql, name: string, more: Record<string, unknown> = {}): Promise<string> {
  const id = uuidv7();
  await insert(sql, 'sites', [{ id, name, networks: [], exclude: [], ...more }]);
  return id;
}

export async function addUser(sql: Sql, name: string, more: Record<string, unknown> = {}): Promise<string> {
  const id = uuidv7();
  await insert(sql, 'users', [{ id, name, password_hash: '-', role: 'operator', all_sites: true, ...more }]);
  return id;
}

export async function addCollector(sql: Sql, siteId: string, name: string): Promise<string> {
  const id = uuidv7();
  await insert(sql, 'collectors', [{ id, site_id: siteId, name, public_key: '\\x00' }]);
  return id;
}

export const SEEN = '2026-11-20T10:00:00Z';

/** What stands in a device's sighting. */
const SIGHTED = ['last_seen', 'last_scan_id', 'rtt_ms', 'walk'];

export interface DeviceDraft extends Record<string, unknown> {
  site_id: string;
  name: string;
  address?: string | null;
  /** Besides `address`. */
  addresses?: readonly string[];
}

/** Adds devices with their addresses and searched text; answers their ids in order. */
export async function addDevices(sql: Sql, drafts: readonly DeviceDraft[]): Promise<string[]> {
  const devices = drafts.map(({ addresses = [], ...draft }) => ({
    addresses,
    row: { id: uuidv7(), class: 'unknown', status: 'unknown', monitor: false, first_seen: SEEN, ...draft },
  }));
  await insert(
    sql,
    'devices',
    devices.map(({ row, addresses }) => ({
      interface_count: 0,
      ...Object.fromEntries(Object.entries(row).filter(([name]) => !SIGHTED.includes(name))),
      search_text: searchedText(row, addresses),
    })),
  );
  await insert(
    sql,
    'sightings',
    devices.map(({ row }) => ({
      site_id: row.site_id,
      device_id: row.id,
      last_seen: SEEN,
      received: {},
      ...Object.fromEntries(Object.entries(row).filter(([name]) => SIGHTED.includes(name))),
    })),
  );
  await insert(
    sql,
    'device_addresses',
    devices.flatMap(({ row, addresses }) =>
      [row.address, ...addresses].flatMap((address) =>
        address
          ? [
              {
                site_id: row.site_id,
                device_id: row.id,
                address,
                origin: 'table',
                first_seen: SEEN,
                last_seen: SEEN,
              },
            ]
          : [],
      ),
    ),
  );
  return devices.map(({ row }) => String(row.id));
}

const searchedText = (row: Record<string, unknown>, addresses: readonly string[]): string => {
  const of = (...columns: string[]) => columns.map((column) => row[column]).filter(Boolean);
  const words = of('name', 'vendor', 'model', 'location', 'sys_descr').join(' ');
  return [words, ...of('address', 'serial_number', 'mac_address'), ...addresses].join('\n').toLowerCase();
};

export function caller(
  role: Role = 'admin',
  sites: Actor['sites'] = 'all',
  name = 'ada',
  userId = uuidv7(),
): Actor {
  return { userId, name, role, sites, via: { kind: 'token', tokenId: uuidv7() } };
}

export interface Request {
  params?: Record<string, string>;
  /** As it would stand in the address. */
  query?: Record<string, string | string[]>;
  body?: unknown;
}
const searchOf = (query: Request['query'] = {}): string =>
  new URLSearchParams(
    Object.entries(query).flatMap(([name, values]) =>
      [values].flat().map((value): [string, string] => [name, value]),
    ),
  ).toString();

export interface LooseAnswer {
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every operation
  data: any;
  totalCount?: number;
  status?: number;
  extra?: unknown;
}

/** Calls one of a feature's handlers as the mount would: input through the operation's schemas, answer checked by them. */
export function asCaller(handlers: object, actor: Actor) {
  return async (id: keyof typeof operations, request: Request = {}): Promise<LooseAnswer> => {
    const operation: Operation = operations[id];
    const handler = (handlers as Record<string, (call: unknown) => Promise<LooseAnswer>>)[id];
    if (!handler) throw new Error(`no handler for ${id}`);
    const answer = await handler({
      params: readParams(operation, request.params ?? {}),
      query: readQuery(operation, searchOf(request.query)),
      body: readBody(operation, request.body === undefined ? undefined : JSON.stringify(request.body)),
      actor,
      requestId: uuidv7(),
      address: '192.0.2.1',
      header: () => undefined,
      signal: new AbortController().signal,
    });
    const data = operation.envelope === 'list' ? z.array(operation.data) : operation.data;
    if (operation.envelope !== 'raw') data.parse(answer.data);
    return answer;
  };
}
