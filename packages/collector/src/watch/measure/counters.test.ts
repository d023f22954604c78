import fc from 'fast-check';
import { expect, it } from 'vitest';
import { CounterRow, Counters } from './counters.ts';
import { RAW } from './growth.ts';

const SPEED = 1e9;
const BYTES_PER_MS = SPEED / 8000;
const IN_OCTETS = RAW.indexOf('inOctets');

/** A reading: how long after the last one, how old what it shows is (net-snmp: up to 15 s), and the load since the last. */
const reading = fc.record({
  overMs: fc.integer({ min: 10_000, max: 900_000 }),
  oldMs: fc.integer({ min: 0, max: 15_000 }),
  load: fc.constantFrom(0, 0.3, 1, 1, 1),
});

it('an agent that refreshes its counters in steps never shows more than the speed, and every octet once', () => {
  fc.assert(
    fc.property(fc.array(reading, { minLength: 2, maxLength: 20 }), (readings) => {
      const counters = new Counters();
      // What has flowed at each moment; between two readings evenly.
      const flowed: [at: number, octets: number][] = [[0, 0]];
      let shown = 0;
      const take = (at: number, octets: number) => {
        shown = Math.max(shown, Math.floor(octets));
        const row = new CounterRow();
        row.put(IN_OCTETS, { value: BigInt(shown), wide: true });
        return counters.take(new Map([[1, row]]), at, () => SPEED)[0]?.inOctets?.[0];
      };
      take(0, 0);
      let [at, told] = [0, 0];
      // At last nothing flows any more: what was held back is told.
      for (const { overMs, oldMs, load } of [...readings, { overMs: 30_000, oldMs: 0, load: 0 }]) {
        const octets = (flowed.at(-1)?.[1] ?? 0) + overMs * load * BYTES_PER_MS;
        flowed.push([at + overMs, octets]);
        at += overMs;
        const grew = take(at, octetsAt(flowed, at - oldMs));
        expect(grew).toBeTypeOf('number');
        expect(grew).toBeGreaterThanOrEqual(0);
        expect(grew).toBeLessThanOrEqual(overMs * BYTES_PER_MS);
        told += grew ?? 0;
        expect(told).toBeLessThanOrEqual(shown);
        expect(shown - told).toBeLessThanOrEqual(15_000 * BYTES_PER_MS);
      }
      expect(told).toBe(shown);
    }),
  );
});

function octetsAt(flowed: readonly [number, number][], at: number): number {
  const after = flowed.findIndex(([end]) => end >= at);
  const [[begin, less] = [0, 0], [end, more] = [0, 0]] = [flowed[after - 1], flowed[after]];
  return end === begin ? more : less + ((more - less) * (at - begin)) / (end - begin);
}

it('growth that no refresh explains is a gap, and holds nothing back', () => {
  const counters = new Counters();
  const take = (at: number, value: number) => {
    const row = new CounterRow();
    row.put(IN_OCTETS, { value: BigInt(value), wide: true });
    const [ports] = counters.take(new Map([[1, row]]), at, () => SPEED);
    return [ports?.inOctets?.[0], ports?.gap?.[0]];
  };
  take(0, 0);
  expect(take(60_000, 70_000 * BYTES_PER_MS)).toEqual([60_000 * BYTES_PER_MS, undefined]);
  // 10 s are held back: these and 66 s are more than 60 s and a refresh of 15 s.
  expect(take(120_000, 136_000 * BYTES_PER_MS)).toEqual([null, 'over-speed']);
  expect(take(180_000, 136_001 * BYTES_PER_MS)).toEqual([BYTES_PER_MS, undefined]);
});
