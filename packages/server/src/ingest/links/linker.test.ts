import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Change } from '../../changes.ts';
import type { Database } from '../../platform/db/db.ts';
import { closeDatabases, databases } from '../../testing/database.ts';
import { answered, asked, NOW, openSite, port, type TestSite, table } from '../testing/site.ts';
import { createLinker, type Linker } from './linker.ts';

afterAll(closeDatabases);

const DAY = 24 * 3600_000;
const mac = (n: number) => `00:1b:54:00:00:${n.toString(16).padStart(2, '0')}`;
/** Two ports and what is learnt there. */
const ports = (n: number, count = 4) =>
  Array.from({ length: count }, (_, i) => port(i + 1, `p${i + 1}`, i === 0 ? { physAddress: mac(n) } : {}));
const learnt = (...entries: [mac: number, ifIndex: number][]) =>
  entries.map(([n, ifIndex]) => ({ mac: mac(n), ifIndex, bridgePort: ifIndex }));
const eth0 = (n: number) => ({ interfaces: [port(7, 'eth0', { physAddress: mac(n) })] });

describe.each(databases())('links on %s', (_name, open) => {
  let db: Database;
  beforeAll(async () => {
    db = await open();
  });

  interface Linked extends TestSite {
    linker: Linker;
    changes: Change[];
    /** `near port → far port protocol`, by names. */
    links(): Promise<string[]>;
    device(name: string, n: number, tables: Record<string, unknown[]>, more?: object): Promise<void>;
  }
  async function site(): Promise<Linked> {
    const base = await openSite(db);
    const changes: Change[] = [];
    const still = async () => undefined;
    const linker = createLinker({
      db,
      clock: { ...base.clock, monotonic: base.clock.now, sleep: still, every: () => () => undefined },
      log: pino({ level: 'silent' }),
      recordChanges: async (_sql, some) => void changes.push(...some),
    });
    return {
      ...base,
      linker,
      changes,
      links: async () =>
        (
          await db.query<{ link: string }>(
            `SELECT d.name || ' ' || coalesce(i.name, '?') || ' → ' || coalesce(r.name, '?') || ' '
               || coalesce(ri.name, '?') || ' ' || n.protocol AS link
             FROM neighbours n JOIN devices d ON d.site_id = n.site_id AND d.id = n.device_id
             LEFT JOIN interfaces i ON i.device_id = n.device_id AND i.if_index = n.if_index
             LEFT JOIN devices r ON r.id = n.remote_device_id
             LEFT JOIN interfaces ri ON ri.device_id = r.id AND ri.if_index = n.remote_if_index
             WHERE n.site_id = $1::uuid ORDER BY 1`,
            [base.siteId],
          )
        ).map(({ link }) => link),
      device: async (name, n, tables, more = {}) => {
        const seen = asked({ sysName: name, macs: [mac(n)], ...more }, `10.0.0.${n}`);
        const at = base.clock.now();
        await base.send([
          { ...seen, at },
          ...Object.entries(tables).map(([each, rows]) => table(seen, each as 'fdb', rows, { at })),
        ]);
      },
    };
  }

  describe('that forwarding tables prove', () => {
    it('a station behind the port that sees nothing else, written once', async () => {
      const s = await site();
      await s.device('sw', 1, { interfaces: ports(1), fdb: learnt([2, 2], [3, 3], [4, 3]) });
      await s.device('host', 2, eth0(2));
      await s.device('behind-a-hub', 3, eth0(3));
      expect(await s.linker.link(s.siteId)).toBe(1);
      expect(await s.links()).toEqual(['sw p2 → host eth0 fdb']);
      expect(await s.linker.link(s.siteId)).toBe(0);
    });

    it('a host that only a router knows by its address', async () => {
      const s = await site();
      await s.device('sw', 1, { interfaces: ports(1), fdb: learnt([2, 2], [3, 3]) });
      await s.device('router', 3, { ...eth0(3), arp: [{ ifIndex: 7, address: '10.0.0.2', mac: mac(2) }] });
      await s.send([answered('10.0.0.2')]);
      await s.linker.link(s.siteId);
      expect(await s.links()).toEqual(['sw p2 → 10.0.0.2 ? fdb', 'sw p3 → router eth0 fdb']);
    });

    it('a chain of switches, from both ends, and stations at the nearest', async () => {
      const s = await site();
      // a p4 — p1 b p4 — p1 c; one host at each, all see all.
      await s.device('a', 1, {
        interfaces: ports(1),
        fdb: learnt([2, 4], [3, 4], [11, 2], [12, 4], [13, 4]),
      });
      await s.device('b', 2, {
        interfaces: ports(2),
        fdb: learnt([1, 1], [3, 4], [11, 1], [12, 2], [13, 4]),
      });
      await s.device('c', 3, {
        interfaces: ports(3),
        fdb: learnt([1, 1], [2, 1], [11, 1], [12, 1], [13, 2]),
      });
      for (const n of [11, 12, 13]) await s.device(`h${n}`, n, eth0(n));
      await s.linker.link(s.siteId);
      expect(await s.links()).toEqual([
        'a p2 → h11 eth0 fdb',
        'a p4 → b p1 fdb',
        'b p1 → a p4 fdb',
        'b p2 → h12 eth0 fdb',
        'b p4 → c p1 fdb',
        'c p1 → b p4 fdb',
        'c p2 → h13 eth0 fdb',
      ]);
    });

    it('none between switches that share an unmanaged one, nor past one that is silent', async () => {
      const s = await site();
      // Three switches on one hub.
      await s.device('a', 1, { interfaces: ports(1), fdb: learnt([2, 4], [3, 4]) });
      await s.device('b', 2, { interfaces: ports(2), fdb: learnt([1, 4], [3, 4]) });
      await s.device('c', 3, { interfaces: ports(3), fdb: learnt([1, 4], [2, 4]) });
      await s.linker.link(s.siteId);
      expect(await s.links()).toEqual([]);
      // d — e — f, where e shows neither of the others its own address: only e itself says that it is between.
      const t = await site();
      await t.device('d', 4, { interfaces: ports(4), fdb: learnt([6, 2]) });
      await t.device('e', 5, { interfaces: ports(5), fdb: learnt([4, 1], [6, 2]) });
      await t.device('f', 6, { interfaces: ports(6), fdb: learnt([4, 1]) });
      await t.linker.link(t.siteId);
      expect((await t.links()).filter((link) => /^[df] .*→ [df]/.test(link))).toEqual([]);
    });

    it('none at a port where a stranger is seen, and none to hardware addresses of two devices', async () => {
      const s = await site();
      const shared = { interfaces: [port(7, 'eth0', { physAddress: mac(9) })] };
      await s.device('sw', 1, { interfaces: ports(1), fdb: learnt([2, 2], [99, 2], [9, 3]) });
      await s.device('host', 2, eth0(2));
      await s.device('twin-1', 8, shared);
      await s.device('twin-2', 9, shared);
      await s.linker.link(s.siteId);
      expect(await s.links()).toEqual([]);
    });

    it('stay known while nothing is seen there, for 30 days', async () => {
      const s = await site();
      await s.device('sw', 1, { interfaces: ports(1), fdb: learnt([2, 2], [3, 3]) });
      await s.device('host', 2, eth0(2));
      await s.device('other', 3, eth0(3));
      await s.linker.link(s.siteId);
      const both = ['sw p2 → host eth0 fdb', 'sw p3 → other eth0 fdb'];
      expect(await s.links()).toEqual(both);
      await s.device('sw', 1, { fdb: learnt([3, 3]) });
      await s.linker.link(s.siteId);
      expect(await s.links()).toEqual(both);
      s.clock.set(NOW + 31 * DAY);
      await s.linker.link(s.siteId);
      expect(await s.links()).toEqual(['sw p3 → other eth0 fdb']);
    });

    it('move with the station, and say so', async () => {
      const s = await site();
      await s.device('sw', 1, { interfaces: ports(1), fdb: learnt([2, 2]) });
      await s.device('host', 2, eth0(2));
      await s.linker.link(s.siteId);
      expect(s.changes).toEqual([]);
      await s.device('sw', 1, { fdb: learnt([2, 3]) });
      await s.linker.link(s.siteId);
      expect(await s.links()).toEqual(['sw p3 → host eth0 fdb']);
      expect(s.changes).toMatchObject([
        {
          kind: 'device.moved',
          deviceName: 'host',
          before: { deviceName: 'sw', port: 'p2', ifIndex: 2 },
          after: { deviceName: 'sw', port: 'p3', ifIndex: 3 },
        },
      ]);
    });
  });

  describe('that neighbours report', () => {
    const lldp = (ifIndex: number, more: object) => ({ protocol: 'lldp', ifIndex, ...more });

    it.each<[string, object, string]>([
      ['chassis MAC and port name', { chassisId: `macAddress:${mac(2)}`, portId: 'p3' }, 'far p3'],
      ['a port that nobody knows', { chassisId: `macAddress:${mac(2)}`, portId: 'x9' }, 'far ?'],
      ['the port alone, by MAC', { chassisId: 'local:x', portId: mac(2) }, 'far p1'],
      ['a management address', { chassisId: 'local:x', addresses: ['10.0.0.2'], portId: 'p2' }, 'far p2'],
      ['the address as chassis', { chassisId: 'networkAddress:10.0.0.2', portId: 'p2' }, 'far p2'],
      ['the name, with a domain', { sysName: 'far.example.org', portId: 'p2' }, 'far p2'],
      ['the name, as CDP adorns it', { sysName: 'FAR(SAL1234ABCD)', portId: 'p2' }, 'far p2'],
      ['a name of nobody', { sysName: 'near-far', portId: 'p2' }, '? ?'],
      ['a stranger of that name', { chassisId: `macAddress:${mac(77)}`, sysName: 'far' }, '? ?'],
      ['itself', { chassisId: `macAddress:${mac(1)}`, portId: 'p1' }, '? ?'],
    ])('are resolved by %s', async (_what, row, far) => {
      const s = await site();
      await s.device('near', 1, { interfaces: ports(1), neighbours: [lldp(4, row)] });
      await s.device('far', 2, { interfaces: ports(2) }, { lldpChassisId: `macAddress:${mac(2)}` });
      await s.linker.link(s.siteId);
      expect(await s.links()).toEqual([`near p4 → ${far} lldp`]);
    });

    it('find their far end when it is found later, and lose it with the device', async () => {
      const s = await site();
      const heard = [lldp(4, { chassisId: `macAddress:${mac(2)}`, portId: 'p3' })];
      await s.device('near', 1, { interfaces: ports(1), neighbours: heard });
      expect(await s.linker.link(s.siteId)).toBe(0);
      await s.device('far', 2, { interfaces: ports(2) });
      expect(await s.linker.link(s.siteId)).toBe(1);
      expect(await s.links()).toEqual(['near p4 → far p3 lldp']);
      await db.query(`DELETE FROM devices WHERE site_id = $1::uuid AND name = 'far'`, [s.siteId]);
      await s.linker.link(s.siteId);
      expect(await s.links()).toEqual(['near p4 → ? ? lldp']);
    });

    it('are not told again by forwarding tables', async () => {
      const s = await site();
      const heard = [lldp(4, { chassisId: `macAddress:${mac(2)}`, portId: 'p3' })];
      await s.device('near', 1, { interfaces: ports(1), neighbours: heard, fdb: learnt([2, 4]) });
      await s.device('far', 2, { interfaces: ports(2), fdb: learnt([1, 3]) });
      await s.linker.link(s.siteId);
      expect(await s.links()).toEqual(['near p4 → far p3 lldp']);
    });

    it('leave an aggregate alone whose members may hear a stranger', async () => {
      const s = await site();
      const lag = port(9, 'lag1', { ifType: 161 });
      const stranger = [lldp(4, { chassisId: `macAddress:${mac(88)}`, sysName: 'nobody' })];
      await s.device('near', 1, {
        interfaces: [...ports(1), lag],
        neighbours: stranger,
        fdb: learnt([2, 9], [3, 2]),
      });
      await s.device('behind', 2, eth0(2));
      await s.device('here', 3, eth0(3));
      await s.linker.link(s.siteId);
      expect(await s.links()).toEqual(['near p2 → here eth0 fdb', 'near p4 → ? ? lldp']);
    });

    it('are no links where everybody in the network is heard on one port', async () => {
      const s = await site();
      const heard = (n: number) => ({ protocol: 'mndp', ifIndex: 4, chassisId: `macAddress:${mac(n)}` });
      await s.device('near', 1, { interfaces: ports(1), neighbours: [heard(2), heard(3)] });
      await s.device('far', 2, { interfaces: ports(2) });
      await s.device('farther', 3, { interfaces: ports(3) });
      await s.linker.link(s.siteId);
      expect(await s.links()).toEqual(['near p4 → ? ? mndp', 'near p4 → ? ? mndp']);
    });
  });
});
