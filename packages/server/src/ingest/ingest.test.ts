import { uuidv7 } from '@rollcall/shared/uuid';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Change } from '../changes.ts';
import type { Database, Pool, Sql } from '../platform/db/db.ts';
import { closeDatabases, databases } from '../testing/database.ts';
import { answered, asked, NOW, openSite, port, type TestSite, table } from './testing/site.ts';

afterAll(closeDatabases);

describe.each(databases())('ingest on %s', (_name, open) => {
  let db: Database;
  beforeAll(async () => {
    db = await open();
  });

  it('makes a device with interfaces and addresses out of one walk', async () => {
    const site = await openSite(db);
    const walk = asked(
      {
        sysName: 'sw1',
        serials: ['FCW1929B68S'],
        table: ['10.0.0.1', '10.0.1.1'],
        sysUpTime: 1000,
        macs: ['00:1b:54:00:00:01'],
      },
      '10.0.0.1',
      { rttMs: 2.5 },
    );
    const through = await site.send([
      answered('10.0.0.1', { snmp: 'answered' }),
      walk,
      table(walk, 'interfaces', [port(1, 'Gi0/1', { lastChange: 500 }), port(2, 'Gi0/2', { operStatus: 2 })]),
      table(walk, 'addresses', [
        { address: '10.0.0.1', prefixLength: 24, ifIndex: 1 },
        { address: '10.0.1.1', prefixLength: 24, ifIndex: 2 },
      ]),
    ]);
    expect(through).toBe(3);
    const [device, ...others] = await site.devices();
    expect(others).toEqual([]);
    expect(device).toMatchObject({
      name: 'sw1',
      ip: '10.0.0.1',
      serial_number: 'FCW1929B68S',
      status: 'up',
      icmp_reachable: true,
      snmp_reachable: true,
      interface_count: 2,
      booted_at: new Date(NOW - 10_000),
    });
    expect(device?.search_text).toContain('00:1b:54:00:00:01');
    const interfaces = await db.query(
      'SELECT * FROM interfaces WHERE device_id = $1::uuid ORDER BY if_index',
      [device?.id],
    );
    expect(interfaces).toMatchObject([
      { name: 'Gi0/1', speed_bps: 1e9, oper_status: 1, last_change: new Date(NOW - 5_000) },
      { name: 'Gi0/2', oper_status: 2 },
    ]);
    const addresses = await db.query(
      'SELECT host(address) AS a, origin, prefix_length FROM device_addresses WHERE device_id = $1::uuid ORDER BY address',
      [device?.id],
    );
    expect(addresses).toEqual([
      { a: '10.0.0.1', origin: 'table', prefix_length: 24 },
      { a: '10.0.1.1', origin: 'table', prefix_length: 24 },
    ]);
    expect(site.changes).toMatchObject([{ kind: 'device.new', deviceName: 'sw1' }]);
  });

  it.each(['identity', 'events'])(
    'stores what other sites send while some wait for their lock of %s',
    async (lock) => {
      // The embedded database does one thing at a time.
      if (db.kind === 'pglite') return;
      const locked = (sql: Sql, siteId: string) =>
        sql.query(`SELECT pg_advisory_xact_lock(hashtextextended($1, 0))`, [`${lock}:${siteId}`]);
      const deps = {
        recordChanges: async (sql: Sql, [change]: readonly Change[]) => {
          if (lock === 'events' && change) await locked(sql, change.siteId);
        },
      };
      const { ingest, ...free } = await openSite(db, { deps });
      const waiting = [await openSite(db), await openSite(db), await openSite(db)];
      const items = [asked({ sysName: 'box' }, '10.0.0.1')];
      const send = ({ siteId, collectors }: Pick<TestSite, 'siteId' | 'collectors'>) =>
        ingest.accept({
          siteId,
          collectorId: collectors[0] ?? '',
          epoch: uuidv7(),
          stream: 'state',
          from: 0,
          items,
          clockOffsetMs: 0,
        });
      let stored = 0;
      let late: Promise<unknown>[] = [];
      await db.transaction(async (sql) => {
        for (const { siteId } of waiting) await locked(sql, siteId);
        late = waiting.map((site) => send(site).then(() => (stored += 1)));
        expect(await send(free)).toEqual({ through: 0 });
        expect(stored).toBe(0);
      });
      await Promise.all(late);
      expect(stored).toBe(3);
    },
  );

  it.runIf(process.env.TEST_BY_SITE)('checks a reference in one part, never in all of them', async () => {
    const keys = await db.query<{ from: string; to: string; parts: boolean }>(
      `SELECT r.relname AS "from", f.relname AS "to", f.relkind = 'p' AS parts FROM pg_constraint k
       JOIN pg_class r ON r.oid = k.conrelid JOIN pg_class f ON f.oid = k.confrelid WHERE k.contype = 'f'`,
    );
    expect(keys).toContainEqual({ from: 'interfaces_15', to: 'devices_15', parts: false });
    expect(keys.filter(({ parts }) => parts)).toEqual([]);
  });

  it('keeps samples waiting for nobody who holds the lock of their site', async () => {
    // The embedded database does one thing at a time.
    if (db.kind === 'pglite') return;
    const { ingest, siteId, collectors } = await openSite(db);
    const items = [{ kind: 'samples', at: NOW, deviceId: uuidv7(), overMs: 60_000 }];
    const batch = { siteId, collectorId: collectors[0] ?? '', epoch: uuidv7(), from: 0, items };
    await db.transaction(async (sql) => {
      for (const lock of ['identity', 'events'])
        await sql.query(`SELECT pg_advisory_xact_lock(hashtextextended($1, 0))`, [`${lock}:${siteId}`]);
      expect(await ingest.accept({ ...batch, stream: 'sample', clockOffsetMs: 0 })).toEqual({ through: 0 });
    });
  });

  it('hands samples over as they were measured, by corrected time, and acknowledges them', async () => {
    const stored: unknown[] = [];
    const { ingest, siteId, collectors } = await openSite(db, {
      deps: {
        applySamples: async (_sql, samples, from) => {
          stored.push(...samples.map(({ observation, at }) => [observation.deviceId, at, from]));
          return { changes: [], refused: [] };
        },
      },
    });
    const collectorId = collectors[0] ?? '';
    const samples = { kind: 'samples', at: NOW - 60_000, deviceId: uuidv7(), overMs: 60_000 };
    const batch = { siteId, collectorId, epoch: uuidv7(), stream: 'sample', clockOffsetMs: 5000 } as const;
    const items = [samples, { ...samples, overMs: 0 }, { ...samples, at: NOW - 10_000 }];
    expect(await ingest.accept({ ...batch, from: 0, items })).toEqual({ through: 2 });
    expect(await ingest.accept({ ...batch, from: 0, items })).toEqual({ through: 2 });
    const from = { siteId, collectorId };
    expect(stored).toEqual([
      [samples.deviceId, NOW - 55_000, from],
      [samples.deviceId, NOW - 5_000, from],
    ]);
    const dead = await db.query('SELECT stream FROM dead_letters WHERE site_id = $1::uuid', [siteId]);
    expect(dead).toEqual([{ stream: 'sample' }]);
  });

  it('keeps the time between samples where a late heartbeat puts the clock of their collector wrong', async () => {
    const stored: number[] = [];
    const { ingest, siteId, collectors } = await openSite(db, {
      deps: {
        applySamples: async (_sql, samples) => {
          stored.push(...samples.map(({ at }) => at - NOW));
          return { changes: [], refused: [] };
        },
      },
    });
    const whose = { siteId, collectorId: collectors[0] ?? '', epoch: uuidv7(), stream: 'sample' } as const;
    const deviceId = uuidv7();
    const items = [-9_000, -5_000, -1_000, 90_000].map((ago) => ({
      ...{ kind: 'samples', deviceId, overMs: 4_000 },
      at: NOW + ago,
    }));
    await ingest.accept({ ...whose, clockOffsetMs: 8_000, from: 0, items });
    // The last is of a clock that was set, and is refused.
    expect(stored).toEqual([-8_000, -4_000, 0, 98_000]);
  });

  it('looks evidence up by its key in a site that the planner has not heard of', async () => {
    const boxes = Array.from({ length: 200 }, (_, n) =>
      asked({ sysName: `box-${n}`, serials: [`S${n}`] }, `10.1.0.${n}`),
    );
    const known = await openSite(db);
    await known.send(boxes);
    await db.query('ANALYZE');
    const asks: [string, readonly unknown[]][] = [];
    const transaction: Pool['transaction'] = (work) =>
      db.ingest.transaction((sql) =>
        work({
          query: (text, params = [], kept) => {
            if (/FROM evidence e WHERE/.test(text)) asks.push([text, params]);
            return sql.query(text, params, kept);
          },
        }),
      );
    const site = await openSite(db, { deps: { db: { ...db, ingest: { ...db.ingest, transaction } } } });
    await site.send(boxes);
    const [text, params] = asks[0] ?? [''];
    const plan = await db.query(`EXPLAIN ${text}`, params);
    expect(JSON.stringify(plan)).toMatch(/Index Cond: [^"]*kind/);
  });

  it('names the collector of a device that was seen without a job', async () => {
    const site = await openSite(db, { collectors: 2 });
    const { job: _, ...host } = answered('10.0.0.1') as { job?: string };
    await site.send([host], site.collectors[1]);
    expect(await site.devices()).toMatchObject([{ collector_id: site.collectors[1] }]);
  });

  it('keeps the octets of texts until a walk that read all has none', async () => {
    const site = await openSite(db);
    const box = { sysName: 'raw', engineId: '80000000aa' };
    const raw = { '1.3.6.1.2.1.1.6.0': '4dfc6e6368656e' };
    const kept = async () =>
      (
        await db.query<{ data: unknown }>(
          `SELECT data FROM device_facts WHERE site_id = $1::uuid AND "group" = 'raw'`,
          [site.siteId],
        )
      ).map(({ data }) => data);
    await site.send([asked(box, '10.0.0.1', { raw })]);
    expect(await kept()).toEqual([raw]);
    await site.send([asked(box, '10.0.0.1', { failed: { interfaces: 'timeout' } })]);
    expect(await kept()).toEqual([raw]);
    await site.send([asked(box, '10.0.0.1')]);
    expect(await kept()).toEqual([{}]);
  });

  it('upgrades a host to a device when its agent answers later, and doubles nothing', async () => {
    const site = await openSite(db);
    await site.send([answered('10.0.0.1', { hostname: 'pr1.example' })]);
    await site.send([asked({ sysName: 'printer' }, '10.0.0.1')]);
    const devices = await site.devices();
    expect(devices).toMatchObject([{ name: 'printer', snmp_reachable: true }]);
    expect(site.changes.map(({ kind }) => kind)).toEqual(['device.new']);
  });

  it('case 2: stores a batch once however often it comes, also twice at once, and answers the same', async () => {
    const site = await openSite(db);
    const batch = {
      collectorId: site.collectors[0]!,
      siteId: site.siteId,
      epoch: uuidv7(),
      stream: 'state' as const,
      from: 0,
      items: [answered('10.0.0.1'), asked({ sysName: 'a' }, '10.0.0.2')],
      clockOffsetMs: 0,
    };
    const answers = [];
    for (let i = 0; i < 3; i++) answers.push(await site.ingest.accept(batch));
    answers.push(...(await Promise.all([site.ingest.accept(batch), site.ingest.accept(batch)])));
    expect(new Set(answers.map(({ through }) => through))).toEqual(new Set([1]));
    expect(await site.devices()).toHaveLength(2);
    expect(site.changes).toHaveLength(2);
  });

  it('case 19: buries an item that cannot be read and one that the database refuses, and stores the rest', async () => {
    const site = await openSite(db);
    const poison = asked({ sysName: 'nul\u0000byte' }, '10.0.0.3');
    const through = await site.send([
      answered('10.0.0.1'),
      { kind: 'host', address: 'not one' },
      answered('10.0.0.2'),
      poison,
      answered('10.0.0.4'),
    ]);
    expect(through).toBe(4);
    expect((await site.devices()).map(({ ip }) => ip)).toEqual(['10.0.0.1', '10.0.0.2', '10.0.0.4']);
    const letters = await db.query(
      'SELECT seq, reason, body FROM dead_letters WHERE site_id = $1::uuid ORDER BY seq',
      [site.siteId],
    );
    expect(letters.map(({ seq }) => seq)).toEqual([1, 3]);
    expect(letters[1]?.reason).toBe('text with a NUL');
    expect(JSON.parse(letters[1]?.body as string)).toEqual(poison);
  });

  const countLetters = async (siteId: string): Promise<number> =>
    (await db.query('SELECT 1 FROM dead_letters WHERE site_id = $1::uuid', [siteId])).length;

  it('buries every value that a column does not hold, however many come in a row', async () => {
    const site = await openSite(db);
    const walk = asked({ sysName: 'liar' }, '10.0.0.1');
    const lies = Array.from({ length: 24 }, () =>
      table(walk, 'interfaces', [port(1, 'Gi0/1', { mtu: 2 ** 32 - 1 })]),
    );
    expect(await site.send([walk, ...lies, answered('10.0.0.2')])).toBe(25);
    const letters = await db.query('SELECT reason FROM dead_letters WHERE site_id = $1::uuid', [site.siteId]);
    expect(letters).toHaveLength(24);
    expect(letters[0]?.reason).toContain('4294967295');
    expect((await site.devices()).map(({ name }) => name).sort()).toEqual(['10.0.0.2', 'liar']);
  });

  it('attack: text that no database stores becomes a dead letter without a question to the database', async () => {
    const site = await openSite(db);
    const bad = Array.from({ length: 1000 }, (_, i) =>
      asked({ sysName: `liar ${i} ${i % 2 ? '\0' : '\ud83d'}` }, '10.0.0.3'),
    );
    const transactions = vi.spyOn(db.ingest, 'transaction');
    expect(await site.send([answered('10.0.0.1'), ...bad, answered('10.0.0.2')])).toBe(1001);
    expect(transactions).toHaveBeenCalledTimes(1);
    transactions.mockRestore();
    expect((await site.devices()).map(({ ip }) => ip)).toEqual(['10.0.0.1', '10.0.0.2']);
    expect(await countLetters(site.siteId)).toBe(1000);
  });

  it('attack: an item nested 100,000 deep, and one cut in a character, become dead letters', async () => {
    const site = await openSite(db);
    const deep = { kind: 'host', a: JSON.parse('['.repeat(100_000) + ']'.repeat(100_000)) };
    // The body of a dead letter ends after 65,536 characters: in the middle of one.
    const cut = { kind: 'nothing', a: `${'x'.repeat(65_536 - 22)}${'😀'.repeat(9)}` };
    expect(await site.send([deep, cut, { ...cut, a: `x${cut.a}` }, answered('10.0.0.1')])).toBe(3);
    expect(await countLetters(site.siteId)).toBe(3);
    expect((await site.devices()).map(({ ip }) => ip)).toEqual(['10.0.0.1']);
  });

  it('attack: a batch of nothing but bad items is halved a bounded number of times', async () => {
    const site = await openSite(db);
    const walk = asked({ sysName: 'liar' }, '10.0.0.1');
    const lies = Array.from({ length: 400 }, (_, i) =>
      table(walk, 'interfaces', [port(1, `Gi0/${i}`, { mtu: 2 ** 32 - 1 })]),
    );
    const transactions = vi.spyOn(db.ingest, 'transaction');
    expect(await site.send([walk, ...lies, answered('10.0.0.2')])).toBe(401);
    expect(transactions.mock.calls.length).toBeLessThan(200);
    transactions.mockRestore();
    expect(await countLetters(site.siteId)).toBeGreaterThanOrEqual(400);
  });

  it('stops taking what it cannot understand at all, rather than reject everything', async () => {
    let broken = true;
    const site = await openSite(db, {
      deps: {
        recordChanges: async () => {
          if (broken) throw new TypeError('a fault of ours');
        },
      },
    });
    const hosts = Array.from({ length: 40 }, (_, n) => answered(`10.0.0.${n + 1}`));
    await expect(site.send(hosts)).rejects.toThrow('a fault of ours');
    const letters = async () =>
      (await db.query('SELECT 1 FROM dead_letters WHERE site_id = $1::uuid', [site.siteId])).length;
    expect(await letters()).toBe(10);
    broken = false;
    expect(await site.send([answered('10.0.1.1')])).toBe(40);
    expect(await letters()).toBe(10);
  });

  it('cases 45 and 48: makes one device when two collectors report the same boxes at the same time', async () => {
    const site = await openSite(db, { collectors: 2 });
    const box = (n: number) => ({
      sysName: `r${n}`,
      engineId: `80000009030000aa0000${10 + n}`,
      table: [`10.0.${n}.1`, `10.0.${n}.2`],
    });
    const walks = (last: number, down: boolean) => {
      const list = Array.from({ length: 20 }, (_, n) => {
        const walk = asked(box(n), `10.0.${n}.${last}`);
        return [walk, table(walk, 'interfaces', [port(1, 'a'), port(2, 'b')])];
      });
      return (down ? list.reverse() : list).flat();
    };
    await Promise.all([
      site.send(walks(1, false), site.collectors[0]),
      site.send(walks(2, true), site.collectors[1]),
      site.send(walks(2, false), site.collectors[0]),
      site.send(walks(1, true), site.collectors[1]),
    ]);
    expect(await site.devices()).toHaveLength(20);
    expect(site.changes.filter(({ kind }) => kind === 'device.new')).toHaveLength(20);
    const ports = await db.query('SELECT 1 FROM interfaces WHERE site_id = $1::uuid', [site.siteId]);
    expect(ports).toHaveLength(40);
  });

  it('gives the same inventory however a stream is cut into batches and repeated', async () => {
    const boxes = Array.from({ length: 4 }, (_, n) => ({
      sysName: `r${n}`,
      serials: [`SER000${n}`],
      macs: [`00:1b:54:00:00:0${n}`],
    }));
    const step = fc.record({
      box: fc.nat(3),
      address: fc.nat(5),
      ports: fc.nat(4),
      complete: fc.boolean(),
      agent: fc.boolean(),
    });
    const stream = (
      steps: { box: number; address: number; ports: number; complete: boolean; agent: boolean }[],
    ) =>
      steps.flatMap(({ box, address, ports, complete, agent }, i): unknown[] => {
        const at = NOW + i * 1000;
        const where = `10.0.0.${address + 1}`;
        if (!agent) return [answered(where, { at, mac: boxes[box]?.macs[0] })];
        const walk = asked(boxes[box]!, where, { at });
        const rows = Array.from({ length: ports }, (_, p) => port(p + 1, `p${(p + i) % 5}`));
        return [walk, table(walk, 'interfaces', rows, { at, complete })];
      });
    const inventory = async (site: TestSite) => ({
      devices: await db.query(
        `SELECT name, host(address) AS address, mac_address, serial_number, interface_count, last_seen FROM devices
         JOIN sightings v USING (site_id) WHERE v.device_id = id AND site_id = $1::uuid ORDER BY 1, 2, 3`,
        [site.siteId],
      ),
      ports: await db.query(
        `SELECT d.name AS device, host(d.address) AS address, i.if_index, i.name, i.gone_at FROM interfaces i
         JOIN devices d ON d.id = i.device_id WHERE i.site_id = $1::uuid ORDER BY 1, 2, 3`,
        [site.siteId],
      ),
      evidence: await db.query(
        `SELECT e.kind, e.value, d.name FROM evidence e JOIN devices d ON d.id = e.device_id
         WHERE e.site_id = $1::uuid ORDER BY 1, 2`,
        [site.siteId],
      ),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 1, maxLength: 8 }),
        fc.array(fc.record({ size: fc.integer({ min: 1, max: 5 }), back: fc.nat(6) }), {
          minLength: 1,
          maxLength: 12,
        }),
        async (steps, cuts) => {
          const items = stream(steps);
          const [plain, torn] = [await openSite(db), await openSite(db)];
          for (const site of [plain, torn]) site.clock.set(NOW + 60_000);
          const accept = (site: TestSite, from: number, to: number) =>
            site.ingest.accept({
              collectorId: site.collectors[0]!,
              siteId: site.siteId,
              epoch: site.siteId,
              stream: 'state',
              from,
              items: items.slice(from, to),
              clockOffsetMs: 0,
            });
          await accept(plain, 0, items.length);
          let next = 0;
          for (let i = 0; next < items.length; i++) {
            const { size, back } = cuts[i % cuts.length]!;
            const from = Math.max(0, next - back);
            const to = Math.min(items.length, next + size);
            await accept(torn, from, to);
            next = to;
          }
          await accept(torn, 0, items.length);
          expect(await inventory(torn)).toEqual(await inventory(plain));
        },
      ),
      { numRuns: 25 },
    );
  });
});
