/** Acknowledging a case by the link of a notice: the dispatcher sends it, anyone who has it uses it. */
import { randomBytes } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Clock } from '@rollcall/shared/clock';
import { uuidv7 } from '@rollcall/shared/uuid';
import { pino } from 'pino';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { DeliveryDeps } from './deliveries/deps.ts';
import { createDeliveryFeature } from './deliveries/feature.ts';
import { createDispatcher } from './deliveries/queue/dispatcher.ts';
import { createIncidentFeature } from './incidents/feature.ts';
import type { Database } from './platform/db/db.ts';
import { keyring } from './platform/keys/keyring.ts';
import type { AuditRecord } from './ports.ts';
import { closeDatabases, databases } from './testing/database.ts';
import { addSite, asCaller, caller, insert } from './testing/rows.ts';

afterAll(closeDatabases);
const DAY = 24 * 3600_000;

describe.each(databases())('the link of a notice on %s', (_name, open) => {
  let db: Database;
  let site: string;
  let now: number;
  let deps: DeliveryDeps;
  let audited: AuditRecord[];
  let receiver: Server;
  let url: string;
  let bodies: string[];
  const clock: Clock = {
    now: () => now,
    monotonic: () => now,
    sleep: async () => undefined,
    every: () => () => undefined,
  };

  beforeEach(async () => {
    db ??= await open();
    for (const table of ['case_outbox', 'subscriptions']) await db.query(`DELETE FROM ${table}`);
    site = await addSite(db, uuidv7());
    now = Date.parse('2026-11-20T12:00:00Z');
    audited = [];
    bodies = [];
    const log = pino({ level: 'silent' });
    const audit = async (_sql: unknown, record: AuditRecord) => void audited.push(record);
    const { acknowledgeCase } = createIncidentFeature({ db, clock, log, audit });
    deps = {
      ...{ db, clock, log, audit, acknowledgeCase },
      keyring: keyring([randomBytes(32)]),
      recordChanges: async () => undefined,
      eventKinds: [],
      publicUrl: 'https://rollcall.example.net',
    };
    receiver = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk) => {
        body += chunk;
      });
      request.on('end', () => {
        bodies.push(body);
        response.writeHead(204).end();
      });
    });
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
  });
  afterEach(() => void receiver.close());

  const call = (who = caller('admin')) => asCaller(createDeliveryFeature(deps).handlers, who);
  const subscribe = async (more: object = {}) => {
    const body = { kind: 'webhook', name: uuidv7(), url, allowPrivate: true, ...more };
    return ((await call()('subscriptions.create', { body })) as { data: { id: string; name: string } }).data;
  };
  /** Tells of a new case. @returns it, and what comes after # in the link of the last notice. */
  const told = async (status = 0, siteId = site, events: readonly number[] = []) => {
    const id = uuidv7();
    await db.query(
      `INSERT INTO cases (site_id, id, title, severity, status, tags, created_at, updated_at)
       VALUES ($1, $2, 'core does not answer', 2, $3, '{}', now(), now())`,
      [siteId, id, status],
    );
    const at = new Date(now).toISOString();
    await insert(
      db,
      'events',
      events.map((status) => ({
        ...{
          site_id: siteId,
          id: uuidv7(),
          case_id: id,
          kind: 'device.down',
          source: 'icmp',
          severity: 2,
          status,
        },
        ...{ message: 'core is down', dedup_key: uuidv7(), first_seen: at, timestamp: at },
      })),
    );
    await insert(db, 'case_outbox', [{ site_id: siteId, case_id: id, type: 'case.opened', at }]);
    await createDispatcher(deps).round();
    const { acknowledgeUrl } = JSON.parse(bodies.at(-1) ?? '{}').data;
    return { id, link: acknowledgeUrl?.slice('https://rollcall.example.net/acknowledge#'.length) as string };
  };
  const statusOf = async (id: string) =>
    (await db.query<{ status: number }>('SELECT status FROM cases WHERE id = $1::uuid', [id]))[0]?.status;
  const post = (verb: 'read' | 'acknowledge', link: string) =>
    call()(`caseLinks.${verb}`, { body: { link } });

  it('shows its case and changes nothing, then acknowledges it, once, under its own name', async () => {
    const { name } = await subscribe();
    const [{ id, link }, other] = [await told(), await told()];
    const shown = { title: 'core does not answer', severity: 2, subscription: name };
    expect((await post('read', link)).data).toMatchObject({ ...shown, status: 0 });
    expect(await statusOf(id)).toBe(0);
    expect((await post('acknowledge', link)).data).toMatchObject({ ...shown, status: 1 });
    expect((await post('acknowledge', link)).data).toMatchObject({ status: 1 });
    expect([await statusOf(id), await statusOf(other.id)]).toEqual([1, 0]);
    expect(audited.filter(({ action }) => action === 'case.acknowledge')).toEqual([
      expect.objectContaining({
        actor: expect.objectContaining({ name: `a link of ${name}`, userId: null }),
        siteId: site,
        detail: expect.objectContaining({ id, subscription: name }),
      }),
    ]);
    const written = await db.query('SELECT actor, kind, "to" FROM case_activity WHERE case_id = $1::uuid', [
      id,
    ]);
    expect(written).toEqual([{ actor: `a link of ${name}`, kind: 'status', to: 'investigating' }]);
  });

  it('acknowledges what came to a case that is investigated, and is offered while there is such', async () => {
    await subscribe();
    const { id, link } = await told(1, site, [0, 1]);
    expect((await post('read', link)).data).toMatchObject({ status: 1, acknowledgeable: true });
    expect((await post('acknowledge', link)).data).toMatchObject({ status: 1, acknowledgeable: false });
    expect(await db.query('SELECT DISTINCT status FROM events WHERE case_id = $1::uuid', [id])).toEqual([
      { status: 1 },
    ]);
    await post('acknowledge', link);
    expect(audited.map(({ action }) => action).filter((action) => action.startsWith('case.'))).toEqual([
      'case.acknowledge',
    ]);
    expect((await told(1, site, [1])).link).toBeUndefined();
    expect((await told(2, site, [0])).link).toBeUndefined();
  });

  it('opens no resolved case again', async () => {
    await subscribe();
    const { id, link } = await told();
    await db.query('UPDATE cases SET status = 2 WHERE id = $1::uuid', [id]);
    expect((await post('acknowledge', link)).data).toMatchObject({ status: 2 });
    expect(audited.filter(({ action }) => action === 'case.acknowledge')).toEqual([]);
  });

  it('is worth nothing once it was revoked, switched off, deleted or has ended, or its subscription was disabled', async () => {
    const useless = { code: 'not_found', message: expect.stringMatching(/has ended or was revoked/) };
    const one = await subscribe();
    const params = { id: one.id };
    const first = await told();
    await call()('subscriptions.revokeLinks', { params });
    await expect(post('acknowledge', first.link)).rejects.toMatchObject(useless);
    const second = await told();
    expect((await post('read', second.link)).data).toMatchObject({ status: 0 });
    await call()('subscriptions.update', { params, body: { acknowledge: false } });
    await expect(post('acknowledge', second.link)).rejects.toMatchObject(useless);
    await call()('subscriptions.update', { params, body: { acknowledge: true } });
    now += 7 * DAY;
    await expect(post('acknowledge', second.link)).rejects.toMatchObject(useless);
    const third = await told();
    // The subscription is about other sites since.
    const elsewhere = await addSite(db, uuidv7());
    await call()('subscriptions.update', { params, body: { siteIds: [elsewhere] } });
    await expect(post('read', third.link)).rejects.toMatchObject(useless);
    const fourth = await told(0, elsewhere);
    await call()('subscriptions.update', { params, body: { enabled: false } });
    await expect(post('read', fourth.link)).rejects.toMatchObject(useless);
    await expect(post('acknowledge', fourth.link)).rejects.toMatchObject(useless);
    await call()('subscriptions.update', { params, body: { enabled: true } });
    await call()('subscriptions.delete', { params });
    await expect(post('acknowledge', fourth.link)).rejects.toMatchObject(useless);
    for (const { id } of [first, second, third, fourth]) expect(await statusOf(id)).toBe(0);
  });

  it('attack: none can be made or changed: another case, another subscription, a later end, another key', async () => {
    await subscribe();
    const [{ link }, other] = [await told(), await told()];
    const bytes = Buffer.from(link, 'base64url');
    for (let at = 0; at < bytes.length; at += 1) {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ 1;
      await expect(post('acknowledge', changed.toString('base64url'))).rejects.toMatchObject({
        code: 'not_found',
      });
    }
    const mixed = Buffer.from(bytes);
    Buffer.from(other.link, 'base64url').copy(mixed, 16, 16, 32);
    await expect(post('acknowledge', mixed.toString('base64url'))).rejects.toMatchObject({
      code: 'not_found',
    });
    deps = { ...deps, keyring: keyring([randomBytes(32)]) };
    await expect(post('acknowledge', link)).rejects.toMatchObject({ code: 'not_found' });
  });

  it('is in no notice where nobody wants it, of a case that somebody is at, and of a server without an address', async () => {
    const { id } = await subscribe({ acknowledge: false });
    expect((await told()).link).toBeUndefined();
    await call()('subscriptions.update', { params: { id }, body: { acknowledge: true } });
    expect((await told(1)).link).toBeUndefined();
    expect((await told()).link).toMatch(/^[\w-]{91}$/);
    const { publicUrl: _, ...without } = deps;
    deps = without;
    expect((await told()).link).toBeUndefined();
  });

  it('keeps working when the key of the server changes, while the old one is there', async () => {
    await subscribe();
    const [old, next] = [randomBytes(32), randomBytes(32)];
    deps = { ...deps, keyring: keyring([old]) };
    await db.query('DELETE FROM subscriptions');
    await subscribe();
    const { link } = await told();
    deps = { ...deps, keyring: keyring([next, old]) };
    expect((await post('acknowledge', link)).data).toMatchObject({ status: 1 });
  });
});
