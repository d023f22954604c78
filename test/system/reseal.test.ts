import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Database } from '@rollcall/server/platform/db/db';
import { type Keyring, keyring, openKeyring } from '@rollcall/server/platform/keys/keyring';
import { reseal, rotate } from '@rollcall/server/platform/keys/reseal';
import { openLog } from '@rollcall/server/platform/ops/log';
import { closeDatabases, createPostgres, databases } from '@rollcall/server/testing/database';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';

afterAll(closeDatabases);

const log = openLog({ logLevel: 'silent' });
const OLD = Buffer.alloc(32, 1);
let file: string;
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rollcall-keys-'));
  file = join(folder, 'credential.keys');
  writeFileSync(file, `# of 2026\n${OLD.toString('base64')}\n`, { mode: 0o600 });
});
afterEach(() => rmSync(folder, { recursive: true }));
const present = (): Keyring => openKeyring({ folder: '/nowhere', file });

/** So many credentials, a webhook and a mail server, sealed with the old key. */
async function fill(db: Database, credentials: number): Promise<void> {
  const ring = keyring([OLD]);
  for (let n = 0; n < credentials; n++) {
    const id = `019aa3c4-5b00-7000-8000-${String(n).padStart(12, '0')}`;
    const { sealed, keyId } = ring.seal({ table: 'credentials', row: id }, `{"community":"secret-${n}"}`);
    await db.query(
      `INSERT INTO credentials (id, name, version, facts, sealed, key_id) VALUES ($1::uuid, $2, 'v2c', '{}', $3, $4)`,
      [id, `c${n}`, sealed, keyId],
    );
  }
  const id = '019aa3c4-5b00-7000-8000-00000000ffff';
  const hook = ring.seal({ table: 'subscriptions', row: id }, '{"current":"whsec"}');
  await db.query(
    `INSERT INTO subscriptions (id, name, kind, url, addresses, types, site_ids, sealed, key_id)
     VALUES ($1::uuid, 'hook', 'webhook', 'https://example.net', '{}', '{}', '{}', $2, $3)`,
    [id, hook.sealed, hook.keyId],
  );
  const mail = ring.seal({ table: 'mail_settings', row: 'mail' }, 'password');
  await db.query(
    `INSERT INTO mail_settings (host, port, security, sender, sealed, key_id, updated_at)
     VALUES ('mail', 25, 'none', 'a@example.net', $1, $2, now())`,
    [mail.sealed, mail.keyId],
  );
}
/** Opens everything; throws where something does not open. */
async function opened(db: Database, ring: Keyring): Promise<string[]> {
  const texts: string[] = [];
  for (const [table, row] of [
    ['credentials', 'id::text'],
    ['subscriptions', 'id::text'],
    ['mail_settings', `'mail'`],
  ] as const)
    for (const each of await db.query<{ row: string; sealed: Uint8Array; key: string }>(
      `SELECT ${row} AS row, sealed, key_id AS key FROM ${table} ORDER BY 1`,
    ))
      texts.push(ring.open({ table, row: each.row }, each.key, each.sealed));
  return texts;
}

describe.each(databases())('case 149: changing the key on %s', (_name, open) => {
  it('seals everything anew, webhooks and mail too, and leaves one key for its owner alone', async () => {
    const db = await open();
    await fill(db, 3);
    const before = await opened(db, present());
    expect(await rotate(file, (work) => work(db), log)).toEqual({ resealed: 5, left: 0 });
    expect(readFileSync(file, 'utf8')).toMatch(/^[A-Za-z0-9+/]{43}=\n$/);
    expect(readFileSync(file, 'utf8')).not.toContain(OLD.toString('base64'));
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(await opened(db, present())).toEqual(before);
    await expect(opened(db, keyring([OLD]))).rejects.toThrow(/not in the key file/);
  });

  it('killed after any statement: what the file holds opens everything, and the next call ends it', async () => {
    const db = await open();
    await fill(db, 3);
    const before = await opened(db, present());
    // Each try comes one statement further than the last, as far as there are any.
    for (let most = 0; ; most++) {
      let statements = 0;
      const dying = {
        query: ((text: string, params?: readonly unknown[]) => {
          if (statements++ === most) throw new Error('killed');
          return db.query(text, params);
        }) as Database['query'],
      };
      const ended = await rotate(file, (work) => work(dying), log).then(
        () => true,
        () => false,
      );
      expect(await opened(db, present())).toEqual(before);
      if (ended) break;
      expect(
        readFileSync(file, 'utf8')
          .trim()
          .split('\n')
          .filter((line) => !line.startsWith('#')),
      ).toHaveLength(2);
    }
    expect(readFileSync(file, 'utf8').trim().split('\n')).toHaveLength(1);
  });

  it('keeps the old key while something cannot be opened, and says so', async () => {
    const db = await open();
    await fill(db, 2);
    await db.query(`UPDATE credentials SET sealed = '\\x00' WHERE name = 'c1'`);
    expect(await rotate(file, (work) => work(db), log)).toEqual({ resealed: 3, left: 1 });
    await db.query(`DELETE FROM credentials WHERE name = 'c1'`);
    expect(await rotate(file, (work) => work(db), log)).toEqual({ resealed: 0, left: 0 });
    expect(readFileSync(file, 'utf8').trim().split('\n')).toHaveLength(1);
  });
});

const server = process.env.TEST_DATABASE_URL;
describe.runIf(server)('case 149: the server, killed for good while it seals anew at its start', () => {
  const SERVER = fileURLToPath(new URL('../../packages/server/bin/rollcall-server.js', import.meta.url));
  const MANY = 3_000;

  it('leaves what either key opens; the next start ends it', async () => {
    const { db, url } = await createPostgres(server ?? '');
    await fill(db, MANY);
    writeFileSync(file, `${Buffer.alloc(32, 2).toString('base64')}\n${OLD.toString('base64')}\n`, {
      mode: 0o600,
    });
    const env = {
      ...process.env,
      ...{ PORT: '0', ROLLCALL_DATA: folder, DATABASE_URL: url, ROLLCALL_KEY_FILE: file, LOG_LEVEL: 'error' },
    };
    const start = (): ChildProcess => spawn(process.execPath, [SERVER, 'serve'], { env, stdio: 'ignore' });
    const left = async () => {
      const [row] = await db.query<{ n: number }>(
        'SELECT count(*) AS n FROM credentials WHERE key_id <> $1',
        [present().keyId],
      );
      return Number(row?.n);
    };
    const reached = async (holds: (n: number) => boolean) => {
      for (const end = Date.now() + 60_000; ; ) {
        const n = await left();
        if (holds(n)) return n;
        if (Date.now() > end) throw new Error(`${n} are left`);
        await setTimeout(20);
      }
    };
    const first = start();
    await reached((n) => n < MANY);
    first.kill('SIGKILL');
    await new Promise((resolve) => first.once('exit', resolve));
    const half = await left();
    expect([half > 0, half < MANY]).toEqual([true, true]);
    expect(await opened(db, present())).toHaveLength(MANY + 2);
    const second = start();
    await reached((n) => n === 0);
    // Its port is not known here, as that of a server on another host: the database tells that there is one.
    const rotating = spawnSync(process.execPath, [SERVER, 'rotate-key', '--file', file], {
      env,
      encoding: 'utf8',
    });
    expect([rotating.status, rotating.stderr]).toEqual([
      1,
      expect.stringContaining('a server runs on this database'),
    ]);
    second.kill('SIGTERM');
    await new Promise((resolve) => second.once('exit', resolve));
    expect(await opened(db, keyring([Buffer.alloc(32, 2)]))).toHaveLength(MANY + 2);
    expect(await reseal(db, present(), log)).toBe(0);
  }, 120_000);
});
