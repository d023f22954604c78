import type { ArpRow } from '@rollcall/shared/observation';
import { ManualClock } from '@rollcall/shared/testing/manual-clock';
import { afterEach, describe, expect, it } from 'vitest';
import { nameServer, type Said } from '../testing/name-server.ts';
import { AddressNames, NAMES_MS, type NameOf, reverseDns } from './names.ts';

const HOUR = 3_600_000;
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

describe('reverse DNS', () => {
  /** A server that says this of addresses; of all others that they have no name. */
  async function serving(zone: Record<string, Said>) {
    const server = await nameServer((name) => zone[name.replace(/\.in-addr\.arpa$/, '')] ?? 'none');
    closing.push(() => server.close());
    return server;
  }

  it('asks for the pointer of an address and takes a host name alone, in lower case', async () => {
    const server = await serving({
      '7.0.0.10': ['Printer-7.Example.NET'],
      '8.0.0.10': ['z.example.net', 'a.example.net'],
      '9.0.0.10': ['<script>.example.net'],
      [`${'0.'.repeat(24)}8.b.d.0.1.0.0.2.ip6.arpa`.replace(/^0/, '1')]: ['six.example.net'],
      '5.0.0.10': 'fails',
    });
    const nameOf = reverseDns({ servers: [server.server] });
    expect(await nameOf('10.0.0.7')).toBe('printer-7.example.net');
    expect(await nameOf('10.0.0.8')).toBe('a.example.net');
    expect(await nameOf('10.0.0.9')).toBeNull();
    expect(await nameOf('10.0.0.6')).toBeNull();
    expect(await nameOf('2001:db8::1')).toBe('six.example.net');
    await expect(nameOf('10.0.0.5')).rejects.toThrow('ESERVFAIL');
  });

  it('asks once more where a question was lost, if it may', async () => {
    const lost = new Set(['7', '8']);
    const server = await nameServer((name) =>
      lost.delete(name.slice(0, 1)) ? 'silent' : ['slow.example.net'],
    );
    closing.push(() => server.close());
    const nameOf = reverseDns({ servers: [server.server], tries: 2 });
    expect(await nameOf('10.0.0.7')).toBe('slow.example.net');
    const once = reverseDns({ servers: [server.server] });
    await expect(once('10.0.0.8')).rejects.toThrow('ETIMEOUT');
  });

  it('ends what it asks when it is closed', async () => {
    const server = await serving({ '7.0.0.10': 'silent' });
    const end = new AbortController();
    const nameOf = reverseDns({ servers: [server.server], signal: end.signal });
    const asked = expect(nameOf('10.0.0.7')).rejects.toThrow('ECANCELLED');
    await expect.poll(() => server.asked.length).toBe(1);
    end.abort();
    await asked;
    await expect(nameOf('10.0.0.8')).rejects.toThrow('abort');
    expect(server.asked).toHaveLength(1);
  });
});

describe('names of the addresses in ARP tables', () => {
  type Says = string | null | 'ESERVFAIL' | 'ETIMEOUT';
  const row = (address: string, mac = '00:1b:21:00:00:01'): ArpRow => ({ ifIndex: 1, address, mac });
  const many = (count: number, net = 1) =>
    Array.from({ length: count }, (_, n) => row(`10.${net}.${n >> 8}.${n & 255}`));

  /** By what resolvers say of an address; each answer takes so long. */
  function open(say: (address: string) => Says, clock = new ManualClock(0), delayMs = 0) {
    const [warned, asked]: [string[], string[]] = [[], []];
    let [under, most] = [0, 0];
    const nameOf: NameOf = async (address) => {
      asked.push(address);
      under += 1;
      most = Math.max(most, under);
      if (delayMs > 0) await clock.sleep(delayMs);
      under -= 1;
      const said = say(address);
      if (said === 'ESERVFAIL' || said === 'ETIMEOUT') throw Object.assign(new Error(said), { code: said });
      return said;
    };
    const log = { warn: (_of: unknown, text: string) => void warned.push(text) };
    const names = new AddressNames({ clock, log: log as never, nameOf });
    closing.push(() => names.close());
    return { clock, warned, asked, names, most: () => most };
  }

  it('tells the names that are known and waits for none', async () => {
    const says: Record<string, Says> = { '10.0.0.7': 'printer.example.net', '10.0.0.5': 'ESERVFAIL' };
    const { clock, names, asked } = open((address) => says[address] ?? null, undefined, 20);
    const rows = [row('10.0.0.7'), row('10.0.0.8'), row('10.0.0.5')];
    const named = names.look(rows);
    expect(named()).toEqual(rows);
    await clock.pass(1000);
    expect(named()).toEqual([{ ...rows[0], name: 'printer.example.net' }, { ...rows[1], name: '' }, rows[2]]);
    expect(names.look(rows)()).toEqual(named());
    await clock.pass(1000);
    expect(asked).toHaveLength(3);
  });

  it('asks again when a name is old, sooner where there is none or nobody could say, at once when another station has the address', async () => {
    let said: Says = 'printer.example.net';
    const { clock, names, asked } = open((address) => (address.endsWith('.7') ? said : null));
    const rows = [row('10.0.0.7'), row('10.0.0.8')];
    const after = async (ms: number) => {
      await clock.pass(ms);
      const before = asked.length;
      const named = names.look(rows);
      await clock.pass(100);
      const again = asked.slice(before).map((address) => address.slice(-1));
      return [again.join(''), named()[0]?.name];
    };
    expect(await after(0)).toEqual(['78', 'printer.example.net']);
    expect(await after(HOUR - 1000)).toEqual(['', 'printer.example.net']);
    expect(await after(1000)).toEqual(['8', 'printer.example.net']);
    for (said of ['ESERVFAIL', 'ETIMEOUT']) {
      expect(await after(NAMES_MS), 'a server that fails takes no name away').toEqual([
        '78',
        'printer.example.net',
      ]);
      expect(await after(HOUR - 1000)).toEqual(['', 'printer.example.net']);
    }
    said = null;
    expect(await after(1000)).toEqual(['78', '']);
    said = 'laptop.example.net';
    rows[0] = row('10.0.0.7', '00:1b:21:00:00:02');
    expect(await after(0)).toEqual(['7', 'laptop.example.net']);
  });

  it('asks 50 times a second and 64 at once at most', async () => {
    const { clock, names, asked, most } = open(() => null, undefined, 5000);
    names.look(many(200));
    await clock.pass(1000);
    expect(asked.length).toBeGreaterThan(40);
    expect(asked.length).toBeLessThanOrEqual(52);
    await clock.pass(60_000);
    expect(asked).toHaveLength(200);
    expect(most()).toBe(64);
  });

  it('takes so many addresses of one table, and never asks for those that no one device has', async () => {
    const { names, asked, clock, warned } = open(() => null);
    const nobody = ['0.0.0.0', '127.0.0.5', '169.254.1.1', '224.0.0.1', '::1', 'fe80::1', 'ff02::1'];
    names.look(nobody.map((address) => row(address)));
    await clock.pass(1000);
    expect(asked).toEqual([]);
    names.look(many(10_500));
    expect(names.waiting).toBe(10_000);
    expect(warned).toEqual([expect.stringContaining('more names')]);
    names.look(many(1, 9));
    expect(names.waiting, 'another table has room').toBe(10_001);
    for (const net of [2, 3]) names.look(many(10_000, net));
    expect(names.waiting).toBe(30_000);
    names.close();
    expect(names.waiting).toBe(0);
  });

  it('gives the room of what holds no longer to others', async () => {
    /** Nothing waits for its turn, so that much is asked in no time. */
    class Hasty extends ManualClock {
      override sleep() {
        return Promise.resolve();
      }
    }
    const { clock, names, asked } = open(
      (address) => (address.startsWith('10.1.') ? 'a.net' : null),
      new Hasty(0),
    );
    for (let net = 1; net <= 11; net += 1) {
      names.look(many(10_000, net));
      await expect.poll(() => names.waiting, { interval: 1, timeout: 10_000 }).toBe(0);
    }
    expect(asked, 'no room for the last').toHaveLength(100_000);
    await clock.pass(HOUR);
    names.look(many(10_000, 11));
    expect(names.waiting).toBe(10_000);
    expect(names.look(many(1, 1))()[0]?.name, 'a name holds longer').toBe('a.net');
  });

  it('goes on past a zone whose servers are silent', async () => {
    const { clock, names, asked, warned } = open((address) =>
      address.startsWith('10.1.') ? 'ETIMEOUT' : address === '127.0.0.1' ? null : 'a.net',
    );
    const rows = [...many(300, 1), ...many(1, 2)];
    const named = names.look(rows);
    await clock.pass(60_000);
    expect(named().at(-1)?.name).toBe('a.net');
    expect(warned).toEqual([]);
    const before = asked.length;
    names.look(rows);
    await clock.pass(60_000);
    expect(asked, 'not asked for again at once').toHaveLength(before);
  });

  it('leaves resolvers alone that do not answer, and tries them again later', async () => {
    let said: Says = 'ETIMEOUT';
    const { clock, names, asked, warned } = open(() => said, undefined, 1000);
    const rows = many(300);
    names.look(rows);
    await clock.pass(60_000);
    expect(asked.length).toBeLessThan(150);
    expect(asked).toContain('127.0.0.1');
    expect(names.waiting).toBe(0);
    const before = asked.length;
    names.look(rows);
    await clock.pass(500_000);
    expect(asked).toHaveLength(before);
    await clock.pass(100_000);
    names.look(rows);
    await clock.pass(60_000);
    expect(asked.length).toBeGreaterThan(before);
    expect(warned).toEqual([expect.stringContaining('no resolver answers')]);
    said = 'ESERVFAIL';
    await clock.pass(HOUR);
    names.look(rows);
    await clock.pass(60_000);
    expect(new Set(asked), 'an answer, though no name').toEqual(
      new Set([...rows.map((r) => r.address), '127.0.0.1']),
    );
  });
});
