import { PORT_COUNTERS, type PortCounter } from '@rollcall/shared/samples';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  grown,
  octetsMost,
  type PortCounters,
  portGrowth,
  RAW,
  type RawCounter,
  type Shown,
} from './growth.ts';

const N = 2 ** 32;
const W = 2n ** 64n;
const narrow = (value: number): Shown => ({ value: BigInt(value), wide: false });
const wide = (value: bigint): Shown => ({ value, wide: true });

describe('a counter', () => {
  it.each<[name: string, before: Shown, now: Shown, most: number, grew: unknown]>([
    ['grew', narrow(10), narrow(25), 1000, 15],
    ['stood still', narrow(10), narrow(10), 1000, 0],
    ['grew as much as it can', narrow(0), narrow(1000), 1000, 1000],
    ['grew by more than can be', narrow(0), narrow(1001), 1000, 'over-speed'],
    ['of 32 bits went round', narrow(N - 5), narrow(10), 1000, 15],
    ['of 32 bits went back', narrow(5000), narrow(10), 1000, 'counters-reset'],
    ['of 32 bits may have gone round twice', narrow(5), narrow(10), N, 'ambiguous'],
    ['of 64 bits went round', wide(W - 5n), wide(10n), 1000, 15],
    ['of 64 bits went back', wide(5000n), wide(10n), 1e15, 'counters-reset'],
    ['of 64 bits is exact above 2^53', wide(2n ** 60n + 1n), wide(2n ** 60n + 4n), 1000, 3],
    ['has another width now', narrow(10), wide(25n), 1000, 'ambiguous'],
  ])('%s', (_name, before, now, most, grew) => {
    expect(grown(before, now, most)).toBe(grew);
  });
});

type Values = Partial<Record<RawCounter, Shown>>;
const port = (values: Values, more: Partial<PortCounters> = {}): PortCounters => ({
  name: 'Gi0/1',
  discontinuity: 0,
  shown: (counter) => values[counter],
  ...more,
});
const MINUTE = { overMs: 60_000, speedBps: 1e9 };

describe('the counters of an interface', () => {
  const before = {
    inOctets: wide(1000n),
    inUnicast: wide(10n),
    inMulticast: wide(1n),
    inBroadcast: wide(2n),
  };
  const now = { inOctets: wide(9000n), inUnicast: wide(20n), inMulticast: wide(4n), inBroadcast: wide(7n) };
  const nothing = { inOctets: null, inUnicast: null, inNonUnicast: null };

  it('give what each grew by; those that the agent does not have are absent', () => {
    expect(portGrowth(port(before), port(now), MINUTE)).toMatchObject({
      grew: { inOctets: 8000, inUnicast: 10, inNonUnicast: 8 },
      gap: null,
    });
  });

  it.each<
    [name: string, before: PortCounters | null, now: PortCounters, between: typeof MINUTE, gap: string | null]
  >([
    ['were not read before', null, port(now), MINUTE, 'first-reading'],
    [
      'are of another interface: its ifIndex moved',
      port(before, { name: 'Gi0/2' }),
      port(now),
      MINUTE,
      'renamed',
    ],
    ['began anew by their own word', port(before), port(now, { discontinuity: 5 }), MINUTE, 'counters-reset'],
    ['were cleared without a word', port(now), port(before), MINUTE, 'counters-reset'],
    [
      'went back in one, and nothing else shows it',
      port({ ...before, inUnicast: wide(99n) }),
      port(now),
      MINUTE,
      'counters-reset',
    ],
    ['came twice', port(before), port(now), { ...MINUTE, overMs: 0 }, 'first-reading'],
    ['came late, after the next one', port(before), port(now), { ...MINUTE, overMs: -5 }, 'first-reading'],
  ])('say nothing where they %s', (_name, last, current, between, gap) => {
    expect(portGrowth(last, current, between)).toMatchObject({ grew: nothing, gap });
  });

  it('of 32 bits on a fast interface are known as far as its packets show that they did not go round again', () => {
    const values = (octets: number, packets: number): Values => ({
      inOctets: narrow(octets),
      inUnicast: narrow(packets),
      inMulticast: narrow(0),
    });
    const inOctets = (packets: number) =>
      portGrowth(port(values(N - 100, 0)), port(values(400, packets)), MINUTE).grew.inOctets;
    expect(inOctets(5)).toBe(500);
    expect(inOctets(100_000)).toBeNull();
  });

  it('of errors have 32 bits at any speed', () => {
    const errors = (value: number) => port({ inErrors: narrow(value) });
    const fast = { ...MINUTE, speedBps: 4e11 };
    expect(portGrowth(errors(N - 1), errors(6), fast).grew).toEqual({ inErrors: 7 });
    expect(portGrowth(errors(1000), errors(6), fast)).toMatchObject({
      grew: { inErrors: null },
      gap: 'counters-reset',
    });
  });

  it('a speed that says nothing bounds nothing', () => {
    const octets = (value: bigint) => port({ inOctets: wide(value) });
    for (const speedBps of [undefined, 0, 9000])
      expect(portGrowth(octets(0n), octets(10n ** 12n), { overMs: 60_000, speedBps }).grew).toEqual({
        inOctets: 1e12,
      });
  });
});

describe('an interface that is read for a while', () => {
  const SPEED = 100e6;
  /** What happens between two readings, and how long after the last one the next is. */
  const step = fc.record({
    overMs: fc.integer({ min: 1000, max: 300_000 }),
    /** Of what it can carry. */
    load: fc.double({ min: 0, max: 1, noNaN: true }),
    what: fc.constantFrom(
      'goes on',
      'goes on',
      'goes on',
      'cleared',
      'cleared and told',
      'moved',
      'narrower',
    ),
  });

  const model = fc.record({
    begins: fc.bigInt({ min: 0n, max: W - 1n }),
    wide: fc.boolean(),
    steps: fc.array(step, { maxLength: 12 }),
  });

  it('never shows more than its speed allows, never less than nothing, and exactly what flowed where it is known', () => {
    fc.assert(
      fc.property(model, ({ begins, steps, ...has }) => {
        let isWide = has.wide;
        let [discontinuity, name] = [0, 'Gi0/1'];
        const truth = new Map(RAW.map((counter, i) => [counter, begins + BigInt(i) * 7n]));
        const look = (): PortCounters => {
          const range = isWide ? W : BigInt(N);
          const seen = new Map([...truth].map(([counter, value]) => [counter, value % range]));
          const width = isWide;
          return {
            name,
            discontinuity,
            shown: (counter) => ({ value: seen.get(counter) ?? 0n, wide: width }),
          };
        };
        let last = look();
        for (const { overMs, load, what } of steps) {
          const octets = Math.floor((overMs * SPEED * load) / 8000);
          const flowed = (counter: RawCounter) =>
            counter.endsWith('Octets') ? octets : Math.floor(octets / 8 / 1500);
          if (what.startsWith('cleared')) for (const counter of RAW) truth.set(counter, 0n);
          if (what === 'cleared and told') discontinuity += 1;
          if (what === 'moved') name = `${name}.`;
          if (what === 'narrower') isWide = false;
          const sameWidth = what !== 'narrower' || !has.wide;
          for (const counter of RAW) truth.set(counter, (truth.get(counter) ?? 0n) + BigInt(flowed(counter)));
          const now = look();
          const { grew } = portGrowth(last, now, { overMs, speedBps: SPEED });
          last = now;
          for (const counter of PORT_COUNTERS) {
            const by = grew[counter];
            if (what === 'moved' || what === 'cleared and told') expect(by).toBeNull();
            if (by === null) continue;
            expect(by).toBeGreaterThanOrEqual(0);
            expect(by).toBeLessThanOrEqual((overMs * SPEED) / 8000);
            if (what === 'goes on' && sameWidth) expect(by).toBe(of(counter, flowed));
          }
          // Where nothing happened it is known, as long as the counter cannot have gone round twice.
          if (what === 'goes on' && octetsMost({ overMs, speedBps: SPEED }, false) < N)
            expect(grew.inOctets).toBe(octets);
        }
      }),
    );
  });

  const of = (counter: PortCounter, flowed: (raw: RawCounter) => number): number => {
    if (counter === 'inNonUnicast') return flowed('inMulticast') + flowed('inBroadcast');
    if (counter === 'outNonUnicast') return flowed('outMulticast') + flowed('outBroadcast');
    return flowed(counter);
  };
});
