import type { FarEnd } from '@rollcall/shared/far-end';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type LearntAt, place } from './place.ts';

const port = (
  deviceId: string,
  ifIndex: number,
  bridges: string[] = [],
  others = 0,
  more: Partial<LearntAt> = {},
): LearntAt => ({ ...{ deviceId, ifIndex, bridges, others, since: 0 }, ...more });
/** On no aggregate, as was read, unless told. */
const since = (deviceId: string, ifIndex: number, minutes: number, more: Partial<LearntAt> = {}) =>
  port(deviceId, ifIndex, [], 0, { since: minutes * 60, aggregate: null, ...more });
const member = (deviceId: string, ifIndex: number, aggregate: number, linked: string[] = []) =>
  since(deviceId, ifIndex, 0, { aggregate, linked });
const stands = (kind: FarEnd, own: boolean, others: number) =>
  port('a', 1, [], others, { stands: { kind, name: 'x-1', own } });
/** Unix seconds: ten hours after the ports began to have it. */
const NOW = 36_000;

describe('where an address enters the network', () => {
  it.each([
    ['the only port', [port('a', 1)], 'placed', ['a 1'], /^the only port that has it$/],
    ['past uplinks', [port('core', 9, ['a']), port('a', 1)], 'placed', ['a 1'], /; 1 between bridges/],
    [
      'with company',
      [port('a', 1, [], 3)],
      'placed',
      ['a 1'],
      /3 other addresses are on this port.* unmanaged switch$/,
    ],
    [
      'as a phone with a PC behind',
      [stands('phone', true, 1)],
      'placed',
      ['a 1'],
      /it is the phone x-1 itself, .*, and 1 other address is behind it$/,
    ],
    ['behind a phone', [stands('phone', false, 1)], 'placed', ['a 1'], /it is behind the phone x-1, /],
    [
      'behind an access point',
      [stands('access-point', false, 9)],
      'placed',
      ['a 1'],
      /it is behind the access point x-1, /,
    ],
    [
      'on a hypervisor',
      [stands('hypervisor', false, 9)],
      'placed',
      ['a 1'],
      /it is behind the hypervisor x-1, /,
    ],
    ['as a station', [stands('station', false, 0)], 'placed', ['a 1'], /^the only port that has it$/],
    [
      'on an aggregate',
      [member('a', 7, 50), member('a', 50, 50)],
      'placed',
      ['a 50'],
      /^2 ports of one aggregate/,
    ],
    [
      'on members of an aggregate',
      [member('a', 7, 50), member('a', 8, 50)],
      'placed',
      ['a 7'],
      /^2 ports of one a/,
    ],
    [
      'on an MLAG pair',
      [member('a', 7, 7, ['b']), member('b', 9, 9)],
      'alternatives',
      ['a 7', 'b 9'],
      /both are right$/,
    ],
    [
      'on two aggregates without a link',
      [member('a', 7, 7), member('b', 9, 9)],
      'alternatives',
      ['a 7', 'b 9'],
      /a link between these switches is not known$/,
    ],
    [
      'moved',
      [since('a', 7, 0), since('b', 9, 580)],
      'alternatives',
      ['a 7', 'b 9'],
      /it has just moved to the one/,
    ],
    [
      'long ago',
      [since('a', 7, 0), since('b', 9, 560)],
      'alternatives',
      ['a 7', 'b 9'],
      /a link between .* known$/,
    ],
    [
      'at two ports of one switch',
      [since('a', 7, 0), since('a', 9, 0)],
      'alternatives',
      ['a 7', 'a 9'],
      /all of one switch/,
    ],
    [
      'where aggregates were not read',
      [port('a', 7), port('b', 7)],
      'alternatives',
      ['a 7', 'b 7'],
      /MLAG.*not read$/,
    ],
    ['behind a bridge that lost it', [port('core', 9, ['a'])], 'unknown', [], /behind one of a$/],
    ['nowhere', [], 'unknown', [], /no forwarding table/],
  ])('%s', (_name, learnt, verdict, ports, reason) => {
    const found = place(learnt, NOW);
    expect(found.verdict).toBe(verdict);
    expect(found.ports.map(({ deviceId, ifIndex }) => `${deviceId} ${ifIndex}`)).toEqual(ports);
    expect(found.reason).toMatch(reason);
  });

  it('names few of many bridges', () => {
    const bridges = Array.from({ length: 8 }, (_, i) => `b${i}`);
    expect(place([port('core', 1, bridges)], NOW).reason).toMatch(/b4 and 3 more$/);
  });

  it('names exactly the edges that have learnt a station, in random networks whose links are known', () => {
    let stations = 0;
    fc.assert(
      fc.property(network, ({ parents, hosts, forgetful }) => {
        for (const host of hosts) {
          const { learnt, truth } = learntOf(parents, host, forgetful);
          const found = place(learnt, NOW);
          const keys = found.ports.map(({ deviceId, ifIndex }) => `${deviceId} ${ifIndex}`);
          stations++;
          expect(keys.sort()).toEqual(truth.sort());
          expect(found.verdict).toBe((['unknown', 'placed'] as const)[keys.length] ?? 'alternatives');
        }
      }),
      { numRuns: 300, seed: 28 },
    );
    expect(stations).toBeGreaterThan(3000);
  });
});

/**
 * A tree of switches: `parents[i]` is the one above switch `i + 1`. A host hangs on one switch, or on a pair of switches with a
 * common port; others share its port behind an unmanaged switch or a phone. `forgetful`: switches
 * with 0 have forgotten every station.
 */
const network = fc.array(fc.nat(), { minLength: 3, maxLength: 20 }).chain((drawn) => {
  const parents = drawn.map((n, i) => n % (i + 1));
  const host = fc.record({
    on: fc.nat(parents.length),
    mlag: fc.boolean(),
    behind: fc.constantFrom(0, 0, 1, 8),
  });
  return fc.record({
    parents: fc.constant(parents),
    hosts: fc.array(host, { minLength: 10, maxLength: 40 }),
    forgetful: fc.array(fc.nat(199), { minLength: parents.length + 1, maxLength: parents.length + 1 }),
  });
});

function learntOf(
  parents: readonly number[],
  { on, mlag, behind }: { on: number; mlag: boolean; behind: number },
  forgetful: readonly number[],
): { learnt: LearntAt[]; truth: string[] } {
  const above = (n: number) => parents[n - 1] ?? 0;
  const peer = mlag && on > 0 ? above(on) : null;
  const HOST_PORT = 1000;
  const edges = peer === null ? [on] : [on, peer];
  const pathTo = (n: number): number[] => (n === 0 ? [0] : [n, ...pathTo(above(n))]);
  const learnt: LearntAt[] = [];
  for (let n = 0; n <= parents.length; n++) {
    if (forgetful[n] === 0) continue;
    if (edges.includes(n)) {
      learnt.push(port(`s${n}`, HOST_PORT, [], behind));
      continue;
    }
    // Downwards where the host is below, else to the switch above: the port is named by the switch behind it.
    const path = pathTo(on);
    const next = path.includes(n) ? (path[path.indexOf(n) - 1] ?? on) : above(n);
    learnt.push(port(`s${n}`, next, [`s${next}`], 20));
  }
  const remember = edges.filter((n) => forgetful[n] !== 0);
  return { learnt, truth: remember.map((n) => `s${n} ${HOST_PORT}`) };
}
