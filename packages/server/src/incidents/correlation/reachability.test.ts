import { describe, expect, it } from 'vitest';
import { type Lost, type Place, type Router, reachOf } from './reachability.ts';

/** `10.0.1.1/24`; without a length where that is not known; `~` in front: not its own. */
const place = (text: string): Place => {
  const [address = '', length] = text.replace('~', '').split('/');
  return { address, prefixLength: length === undefined ? null : Number(length), own: !text.startsWith('~') };
};
const places = (text: string) => text.split(' ').filter(Boolean).map(place);

interface World {
  /** Where collectors stand; 10.0.1.5/24 without a word. */
  collectors?: string[];
  /** Name → addresses; in capitals those that are watched and answer. */
  routers: Record<string, string>;
  /** `10.0.2.9@1`: its last answer is of then; after all else without a word. */
  answering?: string[];
  /** What is down, in the order it went: name → addresses, watched at the first. Routers by name. */
  down: Record<string, string>;
  /** All of it went at one time. */
  together?: true;
}

const found = ({
  collectors = ['10.0.1.5/24'],
  routers,
  answering: addresses = [],
  down,
  together,
}: World) => {
  const lost = Object.entries(down).map(([deviceId, text], at): Lost => {
    const own = places(text || (routers[deviceId] ?? ''));
    return { deviceId, since: together ? 0 : at, address: own[0]?.address ?? null, places: own };
  });
  const known = Object.entries(routers).map(([deviceId, text]): Router => {
    const up = deviceId === deviceId.toUpperCase();
    return { deviceId, places: places(text), answeredAt: up ? 1000 : null };
  });
  const answering = addresses.map((address) => {
    const [text = '', at = 1000] = address.split('@');
    return { address: text, at: Number(at) };
  });
  return Object.fromEntries(
    [...reachOf(lost, { collectors, routers: known, answering }).cutOff].map(
      ([id, { routers: by, network }]) => [id, `${by.join(' ')} > ${network}`],
    ),
  );
};

const R1 = '10.0.1.1/24 10.0.2.1/24';
const HOST = '10.0.2.7/24';

describe('what dead routers cut off', () => {
  it.each<[string, World, Record<string, string>]>([
    [
      'what is behind the only router into a network',
      { routers: { r1: R1 }, down: { h1: HOST, r1: '', h2: '10.0.2.8' } },
      { h1: 'r1 > 10.0.2.0/24', h2: 'r1 > 10.0.2.0/24' },
    ],
    [
      'what answered before its router died is no proof that the network is reached',
      { routers: { r1: R1 }, down: { h1: HOST, r1: '' }, answering: ['10.0.2.9@0'] },
      { h1: 'r1 > 10.0.2.0/24' },
    ],
    [
      'what answered since is one',
      { routers: { r1: R1 }, down: { h1: HOST, r1: '' }, answering: ['10.0.2.9@1'] },
      {},
    ],
    ['while it is not known to be dead, nothing', { routers: { r1: R1 }, down: { h: HOST } }, {}],
    [
      'one of two routers is dead: any path counts',
      { routers: { r1: R1, r2: '10.0.1.2/24 10.0.2.2/24' }, down: { r1: '', h: HOST } },
      {},
    ],
    [
      'both are dead: the one that went first is named first',
      { routers: { r1: R1, r2: '10.0.1.2/24 10.0.2.2/24' }, down: { r2: '', r1: '', h: HOST } },
      { h: 'r2 r1 > 10.0.2.0/24' },
    ],
    [
      'both at one time: by name',
      {
        routers: { r1: R1, r2: '10.0.1.2/24 10.0.2.2/24' },
        down: { r2: '', r1: '', h: HOST },
        together: true,
      },
      { h: 'r1 r2 > 10.0.2.0/24' },
    ],
    [
      'a router joins no network whose length nobody knows',
      { routers: { r1: R1, r2: '10.0.1.2 10.0.3.1' }, down: { r2: '', h: '10.0.7.7' } },
      {},
    ],
    [
      'a chain: the router nearest to the collector, for the next one too',
      {
        routers: { r1: R1, r2: '10.0.2.2/24 10.0.3.1/24' },
        down: { r2: '10.0.2.2/24 10.0.3.1/24', r1: '', h: '10.0.3.7', m: '10.0.2.9' },
      },
      { r2: 'r1 > 10.0.2.0/24', h: 'r1 > 10.0.3.0/24', m: 'r1 > 10.0.2.0/24' },
    ],
    [
      'a chain whose second router is not watched',
      { routers: { r1: R1, r2: '10.0.2.2/24 10.0.3.1/24' }, down: { r1: '', h: '10.0.3.7' } },
      { h: 'r1 > 10.0.3.0/24' },
    ],
    [
      'a chain whose second router alone is dead',
      { routers: { r1: R1, r2: '10.0.2.2/24 10.0.3.1/24' }, down: { r2: '', h: '10.0.3.7', m: '10.0.2.9' } },
      { h: 'r2 > 10.0.3.0/24' },
    ],
    [
      'two dead routers lead in, one from farther off: the nearer one first',
      {
        routers: {
          r1: '10.0.1.1/24 10.0.9.1/24',
          r2: '10.0.8.2/24 10.0.9.2/24',
          R: '10.0.1.3/24 10.0.8.1/24',
        },
        down: { r2: '', r1: '', h: '10.0.9.7' },
      },
      { h: 'r1 r2 > 10.0.9.0/24' },
    ],
    [
      'nothing in a network of a collector, also where a dead router has an address in it',
      { routers: { r1: R1 }, down: { r1: '', a: '10.0.1.7', b: '10.0.1.8/24' } },
      {},
    ],
    [
      'a device in two networks is behind only when neither is reached',
      {
        routers: { r1: R1, r3: '10.0.1.3/24 10.0.3.1/24' },
        down: { r1: '', two: `${HOST} 10.0.3.7/24`, one: '10.0.2.9' },
      },
      { one: 'r1 > 10.0.2.0/24' },
    ],
    [
      'and then by the network it is watched in',
      {
        routers: { r1: R1, r3: '10.0.1.3/24 10.0.3.1/24' },
        down: { r1: '', r3: '', two: `${HOST} 10.0.3.7/24` },
      },
      { two: 'r1 > 10.0.2.0/24' },
    ],
    [
      'a leg in the network of a collector is a path',
      { routers: { r1: R1 }, down: { r1: '', h: `${HOST} 10.0.1.9/24` } },
      {},
    ],
    ['an address of no known network', { routers: { r1: R1 }, down: { r1: '', h: '10.0.7.7/24' } }, {}],
    [
      'watched in no known network, whatever else it has',
      { routers: { r1: R1 }, down: { r1: '', h: '10.0.7.7/24 10.0.2.7/24' } },
      {},
    ],
    [
      'a router that is watched at a loopback lies behind another by its networks',
      {
        routers: { r1: R1, r2: '10.255.0.2/32 10.0.2.2/24 10.0.3.1/24' },
        down: { r1: '', r2: '10.255.0.2/32 10.0.2.2/24 10.0.3.1/24' },
      },
      { r2: 'r1 > 10.0.2.0/24' },
    ],
    [
      'a router that answers at its loopback is a path to all it joins',
      { routers: { r1: R1, R2: '10.255.0.2/32 10.0.2.2/24 10.0.3.1/24' }, down: { r1: '', h: HOST } },
      {},
    ],
    [
      'a network in which another device answers is reached, nobody knows how',
      { routers: { r1: R1 }, answering: ['10.0.2.200'], down: { r1: '', h: HOST } },
      {},
    ],
    [
      'and so is what lies behind it',
      {
        routers: { r1: R1, r2: '10.0.2.2/24 10.0.3.1/24' },
        answering: ['10.0.3.200'],
        down: { r1: '', h: HOST },
      },
      {},
    ],
    [
      'a router beyond which nobody knows the way to the collector',
      { routers: { r1: '10.0.8.1/24 10.0.2.1/24' }, down: { r1: '', h: HOST } },
      {},
    ],
    [
      'unless something on its near side answers',
      { routers: { r1: '10.0.8.1/24 10.0.2.1/24' }, answering: ['10.0.8.9'], down: { r1: '', h: HOST } },
      { h: 'r1 > 10.0.2.0/24' },
    ],
    ['no collector stands anywhere', { collectors: [], routers: { r1: R1 }, down: { r1: '', h: HOST } }, {}],
    [
      'two collectors on both sides of a dead router',
      { collectors: ['10.0.1.5/24', '10.0.2.5/24'], routers: { r1: R1 }, down: { r1: '', h: HOST } },
      {},
    ],
    [
      'two collectors, and a network that is behind both',
      {
        collectors: ['10.0.1.5/24', '10.0.4.5/24'],
        routers: { r1: R1, r4: '10.0.4.1/24 10.0.2.4/24' },
        down: { r1: '', r4: '', h: HOST },
      },
      { h: 'r1 r4 > 10.0.2.0/24' },
    ],
    [
      'the longest prefix counts',
      {
        routers: { r1: '10.0.1.1/24 10.0.2.1/25', R2: '10.0.1.2/24 10.0.2.200/24' },
        down: { r1: '', h: HOST },
      },
      { h: 'r1 > 10.0.2.0/25' },
    ],
    [
      'a router whose mask is another than its neighbours’ leads in all the same',
      { routers: { r1: R1, r2: '10.0.1.2/24 10.0.2.2/23' }, down: { r1: '', h: HOST } },
      {},
    ],
    [
      'so does one whose masks nobody knows',
      { routers: { r1: R1, r2: '10.0.1.2 10.0.2.2' }, down: { r1: '', h: HOST } },
      {},
    ],
    [
      'the bridge that every container host has joins nobody',
      {
        routers: {
          r1: R1,
          D1: '10.0.1.40/24 ~172.17.0.1/16',
          d2: '10.0.2.40/24 ~172.17.0.1/16',
        },
        down: { r1: '', d2: '10.0.2.40/24 ~172.17.0.1/16', h: HOST },
      },
      { d2: 'r1 > 10.0.2.0/24', h: 'r1 > 10.0.2.0/24' },
    ],
    [
      'nor does the one that a collector has as well',
      {
        collectors: ['10.0.1.5/24', '172.17.0.1/16'],
        routers: { r1: R1, d2: '10.0.2.40/24 172.17.0.1/16' },
        down: { r1: '', d2: '10.0.2.40/24 172.17.0.1/16' },
      },
      { d2: 'r1 > 10.0.2.0/24' },
    ],
    [
      'a gateway that several have together: one of them lives, so nothing is claimed',
      {
        routers: { r1: R1, l1: '10.0.1.11/24 ~10.0.2.254/24', l2: '10.0.1.12/24 ~10.0.2.254/24' },
        down: { r1: '', l1: '', h: HOST },
      },
      {},
    ],
    [
      'all of them are dead',
      {
        routers: { r1: `${R1} ~10.0.2.254/24`, r2: '10.0.1.2/24 10.0.2.2/24 ~10.0.2.254/24' },
        down: { r1: '', r2: '', h: HOST },
      },
      { h: 'r1 r2 > 10.0.2.0/24' },
    ],
    [
      'an address within a VRF joins nothing: two VRFs of one router are no path',
      {
        routers: { r1: R1, pe: '10.0.3.2/24 10.0.4.2/24 ~10.0.1.9 ~10.0.5.9' },
        down: { r1: '', pe: '10.0.3.2/24 10.0.4.2/24', h: HOST, v: '10.0.5.7' },
      },
      { h: 'r1 > 10.0.2.0/24' },
    ],
    [
      'but where one lives, nothing is claimed',
      { routers: { r1: R1, PE: '10.0.9.2/24 ~10.0.2.9' }, down: { r1: '', h: HOST } },
      {},
    ],
    [
      'IPv6 as well',
      {
        collectors: ['2001:db8:1::5/64'],
        routers: { r1: '2001:db8:1::1/64 2001:db8:2::1/64 fe80::1/64' },
        down: { r1: '', h: '2001:db8:2::7/64 fe80::7/64' },
      },
      { h: 'r1 > 2001:db8:2::/64' },
    ],
  ])('%s', (_name, world, expected) => {
    expect(found(world)).toEqual(expected);
  });
});
