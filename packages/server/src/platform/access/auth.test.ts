import { EventEmitter, once } from 'node:events';
import { get } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { serviceOperations } from '@rollcall/shared/api/service';
import { ManualClock } from '@rollcall/shared/testing/manual-clock';
import { uuidv7 } from '@rollcall/shared/uuid';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { closeDatabases, databases } from '../../testing/database.ts';
import { type RestServer, startRest } from '../../testing/rest.ts';
import type { Database } from '../db/db.ts';
import type { Handlers } from '../http/handler.ts';
import { openAuthenticator, rightsChanged } from './auth.ts';
import { mintToken } from './token.ts';

afterAll(closeDatabases);

const table = { 'stream.open': serviceOperations['stream.open'] };
/** A stream that only says hello: what is tested is who ends it. */
const handlers = (): Partial<Handlers> => ({
  'stream.open': async ({ signal }) => ({
    raw: (response) => {
      response.write(': hello\n\n');
      signal.addEventListener('abort', () => response.end());
    },
  }),
});

describe.each(databases())('open streams on %s', (_name, open) => {
  let db: Database;
  let server: RestServer;
  let userId: string;
  let tokenId: string;
  let token: string;
  const site = uuidv7();

  beforeAll(async () => {
    db = await open();
    await db.query(`INSERT INTO sites (id, name) VALUES ($1, 'Berlin')`, [site]);
    server = await startRest(db, table, handlers);
  });
  afterAll(() => server.close());
  beforeEach(async () => {
    [userId, tokenId] = [uuidv7(), uuidv7()];
    const minted = mintToken();
    token = minted.plaintext;
    await db.query(`INSERT INTO users (id, name, password_hash, role) VALUES ($1, 'ada', '', 'operator')`, [
      userId,
    ]);
    await db.query('INSERT INTO user_sites (user_id, site_id) VALUES ($1, $2)', [userId, site]);
    await db.query(
      `INSERT INTO api_tokens (id, user_id, name, hash, hint) VALUES ($1, $2, 't', $3, 'xxxx')`,
      [tokenId, userId, minted.hash],
    );
  });
  afterEach(() => db.query('DELETE FROM users'));

  /** Opens the stream; `over` answers after how many milliseconds it ended, from the call of `since`. */
  async function stream(): Promise<{ ended: () => boolean; over: Promise<void> }> {
    let ended = false;
    const response = await new Promise<import('node:http').IncomingMessage>((resolve, reject) => {
      get(
        `${server.url}/api/stream`,
        { agent: false, headers: { authorization: `Bearer ${token}` } },
        resolve,
      ).on('error', reject);
    });
    expect(response.statusCode).toBe(200);
    expect(response.headers['content-type']).toContain('text/event-stream');
    response.resume();
    const over = new Promise<void>((resolve) => {
      for (const name of ['close', 'error', 'aborted']) response.once(name, () => resolve());
    }).then(() => {
      ended = true;
    });
    return { ended: () => ended, over };
  }

  it.each<[string, (sql: Database) => Promise<unknown>]>([
    [
      'token revoked',
      (sql) => sql.query('UPDATE api_tokens SET revoked_at = now() WHERE id = $1', [tokenId]),
    ],
    ['owner disabled', (sql) => sql.query('UPDATE users SET disabled_at = now() WHERE id = $1', [userId])],
    ['owner deleted', (sql) => sql.query('DELETE FROM users WHERE id = $1', [userId])],
    ['role lowered', (sql) => sql.query(`UPDATE users SET role = 'viewer' WHERE id = $1`, [userId])],
    ['G141 site withdrawn', (sql) => sql.query('DELETE FROM user_sites WHERE user_id = $1', [userId])],
  ])('G9 end within a second: %s', async (_what, change) => {
    const { over } = await stream();
    await change(db);
    // As another instance would say it: only through the database.
    await rightsChanged(db, userId);
    const late = sleep(1_000).then(() => {
      throw new Error('still open after a second');
    });
    late.catch(() => undefined);
    await Promise.race([over, late]);
  });

  it('attack: a thousand open streams outlive no revocation, however busy the database is with requests', async () => {
    let busy = false;
    let questions = 0;
    const crowded: Database = {
      ...db,
      query: (...args) => (busy ? new Promise(() => undefined) : db.query(...args)),
      ingest: {
        ...db.ingest,
        transaction: (work) => {
          questions += 1;
          return db.ingest.transaction(work);
        },
      },
    };
    const clock = new ManualClock();
    const auth = await openAuthenticator({ db: crowded, clock, log: pino({ level: 'silent' }) });
    const actor = await auth.identify({ kind: 'token', token }, '192.0.2.1');
    if (actor === null || actor === 'elsewhere') throw new Error('nobody');
    let ended = 0;
    for (let i = 0; i < 1_000; i++) auth.watch(actor, () => (ended += 1));
    busy = true;
    await db.query('UPDATE api_tokens SET revoked_at = now() WHERE id = $1', [tokenId]);
    // Nobody told: the notification was lost.
    await clock.pass(1_000);
    await expect.poll(() => ended).toBe(1_000);
    expect(questions).toBe(1);
    await auth.close();
  });

  it('stay open when somebody else changes, and answer HEAD without staying', async () => {
    const { ended } = await stream();
    await rightsChanged(db, uuidv7());
    await rightsChanged(db, userId);
    await sleep(300);
    expect(ended()).toBe(false);
    expect((await server.ask('HEAD', '/api/stream', { token })).status).toBe(200);
    expect((await server.ask('GET', `/api/stream?site=${uuidv7()}`, { token })).status).toBe(403);
  });

  it('whoever asks often waits for no look-up, and a right that was taken away does not outlive half a second', async () => {
    const clock = new ManualClock();
    let answer: Promise<unknown> | undefined;
    let looks = 0;
    const slow: Database = {
      ...db,
      query: async (...args) => {
        looks += 1;
        await answer;
        return db.query(...args);
      },
    };
    const auth = await openAuthenticator({ db: slow, clock, log: pino({ level: 'silent' }) });
    const identify = () => auth.identify({ kind: 'token', token }, '192.0.2.1');
    expect(await identify()).toMatchObject({ userId });
    const held = new EventEmitter();
    answer = once(held, 'arrived');
    looks = 0;
    await clock.pass(300);
    // The database does not answer: what is known does, and one look is enough.
    expect([await identify(), await identify()]).toMatchObject([{ userId }, { userId }]);
    expect(looks).toBe(1);
    // Nobody told: the notification was lost.
    await db.query('UPDATE api_tokens SET revoked_at = now() WHERE id = $1', [tokenId]);
    held.emit('arrived');
    await vi.waitFor(async () => expect(await identify()).toBeNull());
    await auth.close();
  });

  it('what is known serves no longer than half a second while the database does not answer', async () => {
    const clock = new ManualClock();
    let away = false;
    const failing: Database = {
      ...db,
      query: (...args) => (away ? Promise.reject(new Error('away')) : db.query(...args)),
    };
    const auth = await openAuthenticator({ db: failing, clock, log: pino({ level: 'silent' }) });
    const identify = () => auth.identify({ kind: 'token', token }, '192.0.2.1');
    await identify();
    away = true;
    await clock.pass(400);
    expect(await identify()).toMatchObject({ userId });
    await clock.pass(101);
    await expect(identify()).rejects.toThrow('away');
    await auth.close();
  });
});
