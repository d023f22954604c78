import { THRESHOLDS, type Threshold } from '@rollcall/shared/api/sites';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Series } from './series.ts';
import { crossings, type JudgedPort } from './thresholds.ts';

const limits = () => THRESHOLDS;
/** Minutes of a port of 1 Mbit/s, 7,500,000 octets a minute. */
const port = (columns: Series['columns'], n = Object.values(columns)[0]?.length ?? 0): Series => ({
  end: Array.from({ length: n }, (_, i) => (i + 1) * 60_000),
  over: Array.from({ length: n }, () => 60_000),
  columns: { speedBps: Array.from({ length: n }, () => 1_000_000), ...columns },
});
const OF_PORT = { isUp: true, usualPackets: 40 };
const told = (series: Series, port: JudgedPort | undefined = OF_PORT, present: Threshold[] = []) =>
  crossings(series, { port, limits, present: new Set(present) }).map(
    ({ of, kind, at }) => `${of} ${kind.slice(9)} ${at / 60_000}`,
  );
const toldOfDevice = (series: Series, present: Threshold[]) =>
  crossings(series, { limits, present: new Set(present) }).map(
    ({ of, kind, at }) => `${of} ${kind.slice(9)} ${at / 60_000}`,
  );
const full = (percent: number): number => 75_000 * percent;

describe('an interface', () => {
  it.each<[what: string, columns: Series['columns'], expected: string[]]>([
    ['of usual traffic', { inOctets: [full(50), full(94)], outOctets: [full(1), full(2)] }, []],
    ['that fills', { inOctets: [full(50), full(95), full(99)] }, ['utilisation above 2']],
    ['that fills outward', { inOctets: [0], outOctets: [full(97)] }, ['utilisation above 1']],
    ['that is a little less full stays so', { inOctets: [full(96), full(90)] }, ['utilisation above 1']],
    [
      'that is no more full',
      { inOctets: [full(96), full(80)] },
      ['utilisation above 1', 'utilisation below 2'],
    ],
    ['of unknown traffic in between', { inOctets: [full(96), null, full(97)] }, ['utilisation above 1']],
    ['without a speed', { speedBps: [0], inOctets: [full(99)] }, []],
    ['with few errors', { inErrors: [5], inUnicast: [5] }, []],
    ['with many errors', { inErrors: [600], inUnicast: [20_000] }, ['errors above 1']],
    ['with errors of an unknown number of packets', { inErrors: [600] }, []],
    ['with errors, of packets only the broadcasts known', { inErrors: [600], inNonUnicast: [9] }, []],
    ['with discards', { inErrors: [0], outDiscards: [600], outUnicast: [20_000] }, ['errors above 1']],
    ['with many packets', { inErrors: [600], inUnicast: [2_000_000] }, []],
  ])('%s', (_, columns, expected) => expect(told(port(columns))).toEqual(expected));
});

it('of a speed that nobody knows any more is full no longer', () =>
  expect(told(port({ speedBps: [null], inOctets: [full(99)] }), OF_PORT, ['utilisation'])).toEqual([
    'utilisation below 1',
  ]));

const SOME = { inUnicast: [9], outUnicast: [0] };
const NONE = { inUnicast: [0], outUnicast: [0] };
it.each<[what: string, columns: Series['columns'], port: JudgedPort, present: boolean, expected: string[]]>([
  ['with traffic', SOME, OF_PORT, false, []],
  ['without traffic', NONE, OF_PORT, false, ['noTraffic above 1']],
  ['without unicast, with broadcasts', { ...NONE, inNonUnicast: [3] }, OF_PORT, false, []],
  ['of which one direction is not known', { inUnicast: [0] }, OF_PORT, false, []],
  ['that is down', NONE, { ...OF_PORT, isUp: false }, false, []],
  ['that has little traffic', NONE, { isUp: true, usualPackets: 0.9 }, false, []],
  ['of which nothing is usual', NONE, { isUp: true, usualPackets: null }, false, []],
  ['whose traffic is back', SOME, OF_PORT, true, ['noTraffic below 1']],
  ['that goes down after it', NONE, { ...OF_PORT, isUp: false }, true, ['noTraffic below 1']],
  ['that stays without for hours', NONE, { isUp: true, usualPackets: null }, true, []],
])('an interface %s', (_, columns, of, present, expected) =>
  expect(told(port(columns), of, present ? ['noTraffic'] : [])).toEqual(expected),
);

it.each<[sent: number[], lost: number[], present: Threshold[], expected: string[]]>([
  [[4], [0], [], []],
  [[4], [1], [], ['loss above 1']],
  [[4], [4], [], []],
  [[2], [1], [], []],
  [[10, 20, 20], [3, 2, 1], [], ['loss above 1', 'loss below 3']],
  [[20], [2], ['loss'], []],
  // Heavy loss takes all pings of a minute now and then, and is still the same loss.
  [[12, 4, 12], [9, 4, 9], [], ['loss above 1']],
  // A site that pings once an interval: three times only where one is missed.
  [[3, 1], [2, 0], [], ['loss above 1', 'loss below 2']],
  [[3, 2], [2, 1], [], ['loss above 1']],
])('a device of which %j pings were sent and %j lost', (sent, lost, present, expected) =>
  expect(toldOfDevice({ ...port({ sent, lost }), columns: { sent, lost } }, present)).toEqual(expected),
);

it('of 0 is never told, and ends what was', () => {
  const series = port({ inOctets: [full(99), full(99)] });
  const never = () => ({ ...THRESHOLDS, utilisation: 0 });
  const at = (present: Threshold[]) =>
    crossings(series, { port: OF_PORT, limits: never, present: new Set(present) }).map(({ kind }) => kind);
  expect(at([])).toEqual([]);
  expect(at(['utilisation'])).toEqual(['measured.below']);
  // Also where nothing is known of it any more.
  const unknown = port({ inOctets: [null] });
  const ended = crossings(unknown, {
    port: OF_PORT,
    limits: never,
    present: new Set<Threshold>(['utilisation']),
  });
  expect(ended.map(({ kind }) => kind)).toEqual(['measured.below']);
});

it('takes turns: what is above is told below before it is told above again', () =>
  fc.assert(
    fc.property(fc.array(fc.option(fc.integer({ min: 0, max: 100 })), { maxLength: 80 }), (percents) => {
      const octets = percents.map((percent) => (percent === null ? null : full(percent)));
      const kinds = crossings(port({ inOctets: octets }, octets.length), {
        port: OF_PORT,
        limits,
        present: new Set(),
      });
      for (const [i, { kind }] of kinds.entries())
        expect(kind).toBe(i % 2 === 0 ? 'measured.above' : 'measured.below');
    }),
  ));
