/**
 * Every operation × everybody who may turn up: who gets what, that a refusal changes nothing, and that nothing of a
 * site is told to those without it. Who may call what is read off the table; how to call it stands in api/rows.ts.
 */

import type { Database } from '@rollcall/server/platform/db/db';
import { closeDatabases } from '@rollcall/server/testing/database';
import { type Asked, ask, type Reply } from '@rollcall/server/testing/rest';
import { type OperationId, operations } from '@rollcall/shared/api/index';
import type { Operation } from '@rollcall/shared/api/operation';
import { ROLES, type Role } from '@rollcall/shared/model';
import { uuidv7 } from '@rollcall/shared/uuid';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Row, rows } from '../api/rows.ts';
import { type ApiServer, oneKind, startApi } from '../api/server.ts';
import {
  addMore,
  CANARY,
  fingerprint,
  makeWorld,
  type Person,
  person,
  REACHES,
  type World,
} from '../api/world.ts';

afterAll(closeDatabases);

const table: Record<string, Operation> = operations;
const rowOf: Record<string, Row | undefined> = rows;

describe('the authorisation matrix', () => {
  it('has a row for every operation and none besides', () => {
    expect(Object.keys(rows).sort(), 'test/api/rows.ts').toEqual(Object.keys(table).sort());
  });
});

/**
 * The rights of the roles as they are decided: viewers read, operators work, administrators manage. What is left is
 * one's own account, and what administrators alone read.
 */
const ADMINS = /^(sites|users|collectors|credentials|profiles)\.(create|update|delete)$/;
const OPERATORS = [
  'scans.create',
  'scans.cancel',
  'events.acknowledge',
  'events.close',
  'cases.create',
  'cases.update',
  'cases.comment',
  'cases.addEvents',
  'devices.update',
  'devices.bulk',
];
const EVERYBODY =
  /^(devices|events|cases|interfaces|scans|profiles|sites|tokens|summary|topology)\.(list|get)$/;
it('gives viewers, operators and administrators what was decided', () => {
  const of = (access: string) => Object.keys(table).filter((id) => table[id]?.access === access);
  expect(OPERATORS.filter((id) => table[id]?.access !== 'operator')).toEqual([]);
  const named = (pattern: RegExp) => Object.keys(table).filter((id) => pattern.test(id));
  expect(named(ADMINS).length).toBeGreaterThan(10);
  expect(named(ADMINS).filter((id) => !of('admin').includes(id))).toEqual([]);
  expect(named(EVERYBODY).length).toBeGreaterThan(12);
  expect(named(EVERYBODY).filter((id) => !of('viewer').includes(id))).toEqual([]);
  // A viewer changes nothing but the own account.
  const changes = of('viewer').filter((id) => table[id]?.method !== 'GET');
  expect(changes.filter((id) => !/^(session|sessions|tokens|secondFactor)\./.test(id))).toEqual([]);
});

/** Doing many things at once asks for no less than doing one of them. */
const BULK: [many: OperationId, one: OperationId][] = [
  ['devices.bulk', 'devices.update'],
  ['interfaces.bulk', 'interfaces.update'],
  ['cases.addEvents', 'cases.update'],
  ['cases.merge', 'cases.update'],
  ['cases.split', 'cases.create'],
  ['devices.merge', 'devices.update'],
  ['devices.split', 'devices.update'],
];
it.each(BULK)('G108 CVE-2026-23925 %s asks for the role of %s, or more', (many, one) => {
  const rank = (id: OperationId) => ROLES.indexOf(table[id]?.access as Role);
  expect(rank(many)).toBeGreaterThanOrEqual(rank(one));
});

describe.each(oneKind())('authorisation on %s', (kind) => {
  let db: Database;
  let server: ApiServer;
  let world: World;
  /** Whether a call that worked may have changed the world since it was made. */
  let touched = true;

  beforeAll(async () => {
    server = await startApi(kind);
    db = server.db;
  });
  afterAll(() => server.stop());

  const settle = async () => {
    if (touched) {
      world = await makeWorld(db, server.keyring);
      await addMore(db, world);
    }
    touched = false;
  };
  const pathOf = ({ path }: Operation, row: Row, caller: Person) =>
    path.replace(/\{\w+\}/, () => row.param?.(world, caller) ?? uuidv7());
  const stream = ({ produces }: Operation) => produces === 'text/event-stream';

  async function call(id: string, caller: Person, headers: Asked['headers'], more = ''): Promise<Reply> {
    const [operation, row] = [table[id]!, rowOf[id]!];
    const query = [row.query?.(world), more].filter(Boolean).join('&');
    // A stream that works has no end to wait for.
    const method = stream(operation) ? 'HEAD' : operation.method;
    const json = row.body?.(world, caller);
    return ask(server.url, method, pathOf(operation, row, caller) + (query && `?${query}`), {
      headers: headers ?? {},
      ...(json !== undefined && { json }),
    });
  }
  const headersOf = (caller: Person, how: 'token' | 'session') =>
    how === 'token'
      ? { authorization: `Bearer ${caller.token}` }
      : { cookie: caller.cookie, origin: server.url };

  /** What the table and the row say should come of it. */
  function expected(operation: Operation, row: Row, caller: Person, how: 'token' | 'session'): number {
    if (row.everybody !== undefined) return row.everybody;
    const success = row.success ?? operation.status ?? 200;
    if (operation.access === 'public') return success;
    if (operation.by === 'session' && how === 'token') return 403;
    if (ROLES.indexOf(caller.role) < ROLES.indexOf(operation.access)) return 403;
    if (caller.reach === 'all') return success;
    if (caller.reach === 'alpha') return row.inside ?? success;
    return typeof row.outside === 'number' ? row.outside : success;
  }
  const works = (status: number) => status < 300;

  /** Nothing of Alpha in an answer, unless the caller put it there. */
  function expectSilence(
    reply: Reply,
    asked: string,
    { tells = CANARY }: Row = { outside: 'nothing' },
  ): void {
    expect(reply.text, `${asked} tells of Alpha`).not.toContain(CANARY);
    expect(reply.text, `${asked} tells of Alpha`).not.toContain(tells);
    if (reply.status < 300) return;
    const inner = /SELECT|INSERT|node_modules|packages\/|\bat .+:\d+:\d+|prisma/i;
    expect(reply.text, `${asked} tells of the inside`).not.toMatch(inner);
    expect(reply.json, asked).toMatchObject({ success: false, error: { code: expect.any(String) } });
  }

  const ids = Object.keys(table);

  it.each(ids)('%s refuses whoever may not, and changes nothing by it', async (id) => {
    const [operation, row] = [table[id]!, rowOf[id]!];
    await settle();
    const before = await fingerprint(db);
    const caller = person(world, 'admin', 'all');
    if (operation.access !== 'public')
      for (const { what, headers } of world.useless) {
        const reply = await call(id, caller, {
          ...headers,
          ...('cookie' in headers && { origin: server.url }),
        });
        expect([what, reply.status], `${id} as ${what}`).toEqual([what, 401]);
        expect(reply.headers['www-authenticate']).toBe('Bearer');
        if (!stream(operation)) expectSilence(reply, `${id} as ${what}`);
      }
    for (const role of ROLES)
      for (const reach of REACHES)
        for (const how of ['token', 'session'] as const) {
          const person_ = person(world, role, reach);
          const status = expected(operation, row, person_, how);
          if (works(status) || status === 409) continue;
          const reply = await call(id, person_, headersOf(person_, how));
          const who = `${id} as ${role} of ${reach} by ${how}`;
          expect([who, reply.status]).toEqual([who, status]);
          if (!stream(operation)) expectSilence(reply, who);
        }
    expect(await fingerprint(db), `${id}: a refused call changed a table`).toEqual(before);
  });

  it.each(ids)('%s works for whoever may', async (id) => {
    const [operation, row] = [table[id]!, rowOf[id]!];
    for (const role of ROLES)
      for (const reach of REACHES)
        for (const how of operation.by === 'session'
          ? (['session'] as const)
          : (['token', 'session'] as const)) {
          await settle();
          const caller = person(world, role, reach);
          const status = expected(operation, row, caller, how);
          if (!works(status) && status !== 409) continue;
          const reply = await call(id, caller, operation.access === 'public' ? {} : headersOf(caller, how));
          if (operation.method !== 'GET') touched = true;
          const who = `${id} as ${role} of ${reach} by ${how}`;
          expect([who, reply.status, reply.json.error?.message]).toEqual([
            who,
            status,
            reply.json.error?.message,
          ]);
          if (row.outside !== 'nothing') continue;
          if (reach === 'beta') expectSilence(reply, who, row);
          // Else the silence would prove nothing.
          else if (operation.method === 'GET')
            expect(reply.text, `${who} tells nothing of Alpha`).toContain(row.tells ?? CANARY);
        }
  });

  it.each(ids)('G105 %s tells nobody that what they may not see exists', async (id) => {
    const [operation, row] = [table[id]!, rowOf[id]!];
    if (row.outside !== 404) return;
    await settle();
    const caller = person(world, 'admin', 'beta');
    const hidden = await call(id, caller, headersOf(caller, 'token'));
    const unknown = await ask(
      server.url,
      operation.method,
      operation.path.replace(/\{\w+\}/, uuidv7()) +
        (row.query ? `?${row.query(world).replace(/[0-9a-f-]{36}/, uuidv7())}` : ''),
      { headers: headersOf(caller, 'token'), ...(row.body && { json: row.body(world, caller) }) },
    );
    expect([hidden.status, hidden.json.error.message]).toEqual([unknown.status, unknown.json.error.message]);
  });

  it.each(ids.filter((id) => table[id]?.query?.shape.site))(
    'G105 %s refuses a site without access, known or not',
    async (id) => {
      await settle();
      const caller = person(world, 'admin', 'beta');
      const [known, unknown] = [
        await call(id, caller, headersOf(caller, 'token'), `site=${world.site.alpha}`),
        await call(id, caller, headersOf(caller, 'token'), `site=${uuidv7()}`),
      ];
      expect([known.status, known.json.error?.message]).toEqual([
        unknown.status,
        unknown.json.error?.message,
      ]);
      expect(stream(table[id]!) ? [403, 404] : [403]).toContain(known.status);
    },
  );

  it('G107 an account without any site sees nothing of any, however it is asked', async () => {
    touched = true;
    await settle();
    touched = true;
    for (const role of ROLES) {
      const caller = person(world, role, 'alpha');
      await db.query('DELETE FROM user_sites WHERE user_id = $1', [caller.id]);
      for (const id of ids) {
        const [operation, row] = [table[id]!, rowOf[id]!];
        if (operation.method !== 'GET' || row.outside === 'same') continue;
        if (ROLES.indexOf(role) < ROLES.indexOf(operation.access as Role)) continue;
        const reply = await call(id, caller, headersOf(caller, 'token'));
        expectSilence(reply, `${id} as ${role} of no site`);
        // Of accounts and what one did oneself there may be some.
        if (operation.envelope === 'list' && reply.status === 200 && !/users|assignees|audit/.test(id))
          expect([id, reply.json.totalCount, reply.json.data]).toEqual([id, 0, []]);
      }
    }
  });

  it('left nothing in the log that needs a person', () => {
    expect(server.trouble).toEqual([]);
  });
});
