/** Two instances of the gateway on one database, and collectors that talk to them. */
import { randomUUID } from 'node:crypto';
import type { CollectorMessage } from '@rollcall/shared/protocol';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import type { Database } from '../platform/db/db.ts';
import type { Call } from '../platform/http/handler.ts';
import type { AuditRecord } from '../ports.ts';
import { type Instance, openInstance } from './gateway.ts';
import { addSite } from './rows.ts';
import { type Disk, hello, shakeHands, talkOver } from './scripted-collector.ts';

export const ADMIN = {
  userId: randomUUID(),
  name: 'ada',
  role: 'admin' as const,
  sites: 'all' as const,
  via: { kind: 'token' as const, tokenId: randomUUID() },
};
/** A call as the mount would make it; handlers see no more than they declare. */
export const call = (more: object): never =>
  ({
    params: {},
    query: { page: 1, pageSize: 25 },
    actor: ADMIN,
    address: '192.0.2.9',
    header: () => undefined,
    ...more,
  }) as unknown as Call<never> as never;

export type CollectorScene = ReturnType<typeof collectorScene>;

/** Registers its own hooks: `db`, `one` and `two` are there once tests run. */
export function collectorScene(open: () => Promise<Database>) {
  let db: Database;
  let one: Instance;
  let two: Instance;
  const audited: AuditRecord[] = [];
  const talks: { talk: { hangUp(): void } }[] = [];

  beforeAll(async () => {
    db = await open();
    one = await openInstance(db, {
      audit: async (_sql, record) => {
        audited.push(record);
      },
    });
    two = await openInstance(db);
  });
  afterEach(() => {
    for (const { talk } of talks.splice(0)) talk.hangUp();
  });
  afterAll(async () => {
    await one.stop();
    await two.stop();
  });

  const site = (more: Record<string, unknown> = {}) => addSite(db, `site ${randomUUID()}`, more);
  /** Collector → its last connection. */
  const lines = new Map<string, { hangUp(): void }>();
  /** `dead`: answers no ping, as the server's end of a line that broke without a word. */
  const over = (at: Instance = one, dead = false) => {
    const made = talkOver(at.base, dead ? { autoPong: false } : {});
    talks.push(made);
    return made.talk;
  };
  const connect = async (
    disk: Disk,
    at: Instance = one,
    more: Parameters<typeof shakeHands>[3] = {},
    dead = false,
  ) => {
    // A collector leaves one connection before it opens the next.
    if (!dead) lines.get(disk.id)?.hangUp();
    const talk = over(at, dead);
    lines.set(disk.id, talk);
    const { nonce } = await shakeHands(talk, disk, at.host, more);
    talk.say(heartbeat());
    await talk.next('heartbeat');
    await confirmed(disk);
    return Object.assign(talk, { nonce });
  };
  /** The generation that a collector wrote down is the one that counts. */
  const confirmed = (disk: Disk) =>
    expect.poll(async () => (await row(disk.id)).generation).toBe(disk.generation);
  const row = async (id: string) => {
    const [found] = await db.query<{
      status: string;
      status_reason: string;
      instance: string | null;
      generation: number;
      pending_generation: number | null;
      health: Record<string, unknown>;
      connected: boolean;
    }>('SELECT *, connected_at IS NOT NULL AS connected FROM collectors WHERE id = $1', [id]);
    if (!found) throw new Error('no such collector');
    return found;
  };
  const scan = (siteId: string, targets: string, profile = 'ping') =>
    one.scans.scans.create({ targets, profile, site: siteId }, { userId: null, name: 'test', sites: null });
  const refusedHello = async (
    disk: Disk,
    at: Instance = one,
    more: Parameters<typeof hello>[3] = {},
    host = at.host,
  ) => {
    const talk = over(at);
    const { nonce } = await talk.next('challenge');
    talk.say(hello(disk, { nonce }, host, more));
    return talk.closed;
  };

  return {
    get db() {
      return db;
    },
    get one() {
      return one;
    },
    get two() {
      return two;
    },
    audited,
    site,
    over,
    connect,
    confirmed,
    row,
    scan,
    refusedHello,
  };
}

export const heartbeat = (
  more: Partial<Extract<CollectorMessage, { type: 'heartbeat' }>> = {},
): CollectorMessage => ({
  type: 'heartbeat',
  time: Date.now(),
  outbox: { depth: 0, bytes: 0, oldest: null },
  drops: {},
  ...more,
});

/** Observations of the state stream from a sequence on. */
export const batch = (disk: Disk, from: number, items: unknown[]): CollectorMessage => ({
  type: 'observations',
  epoch: disk.epoch,
  stream: 'state',
  from,
  items,
});
