import { AddressSpace } from '@rollcall/shared/address-space';
import { parseCidr, Range } from '@rollcall/shared/ip';
import { OUTCOMES, type OutcomeCode } from '@rollcall/shared/model';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type AddressFilter,
  excludedFrom,
  type JobOutcomes,
  readWithin,
  selectAddresses,
} from './addresses.ts';

const jobs: JobOutcomes[] = [
  {
    id: 'one',
    spans: [
      { first: '10.0.0.1', count: 3 },
      { first: '10.0.1.0', count: 2 },
    ],
    outcomes: '_is.=',
  },
  { id: 'two', spans: [{ first: '2001:db8::', count: 3 }], outcomes: 'ss_' },
];
const whole = { offset: 0, limit: 1000 };
const addresses = (filter: AddressFilter, page = whole) => {
  const { total, hits } = selectAddresses(jobs, filter, page);
  return { total, hits: hits.map(({ job, index }) => AddressSpace.ofSpans(job.spans).at(index)) };
};

describe('the addresses of a scan', () => {
  it('come in order, page by page, with the count of all', () => {
    const all = addresses({}).hits;
    expect(all).toEqual([
      '10.0.0.1',
      '10.0.0.2',
      '10.0.0.3',
      '10.0.1.0',
      '10.0.1.1',
      '2001:db8::',
      '2001:db8::1',
      '2001:db8::2',
    ]);
    expect(addresses({}, { offset: 3, limit: 3 })).toEqual({ total: 8, hits: all.slice(3, 6) });
    expect(addresses({}, { offset: 99, limit: 3 })).toEqual({ total: 8, hits: [] });
  });

  it('are filtered by outcome, by address, by both', () => {
    expect(addresses({ outcomes: ['snmp'] })).toEqual({
      total: 3,
      hits: ['10.0.0.3', '2001:db8::', '2001:db8::1'],
    });
    expect(addresses({ outcomes: ['silent', 'not-probed'] }).total).toBe(3);
    expect(addresses({ within: readWithin('10.0.1.1') })).toEqual({ total: 1, hits: ['10.0.1.1'] });
    expect(addresses({ within: readWithin('10.0.0.0/30') }).total).toBe(3);
    expect(addresses({ within: readWithin('2001:db8::/127'), outcomes: ['snmp'] }).total).toBe(2);
    expect(addresses({ within: readWithin('192.0.2.0/24') })).toEqual({ total: 0, hits: [] });
    expect(() => readWithin('10.0.0.300')).toThrow(/address/);
  });

  it('were excluded by the targets themselves, the profile or the site', () => {
    const visited = [parseCidr('10.0.0.0/29')].flatMap((cidr) =>
      cidr.ok ? cidr.value.range.subtract(Range.single(cidr.value.range.at(0))) : [],
    );
    const shown = (targets: string, exclude: string[]) =>
      excludedFrom({ targets, exclude }, visited).map(({ range, note }) => `${range} ${note}`);
    expect(shown('10.0.0.0/28, !10.0.0.12', ['10.0.0.8/30'])).toEqual([
      '10.0.0.12 by ! in the targets',
      '10.0.0.8/30 by the profile',
      '10.0.0.13-10.0.0.14 by the site',
    ]);
    expect(shown('10.0.0.1-10.0.0.7', [])).toEqual([]);
    expect(shown('', [])).toEqual([]);
  });

  it('are the same as by looking at each of them', () => {
    const code = fc.constantFrom(...(Object.keys(OUTCOMES) as OutcomeCode[]));
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(200), fc.array(code, { minLength: 1, maxLength: 20 })), { maxLength: 5 }),
        fc.option(fc.subarray(Object.values(OUTCOMES)), { nil: undefined }),
        fc.option(fc.integer({ min: 24, max: 32 }), { nil: undefined }),
        fc.nat(30),
        fc.integer({ min: 1, max: 30 }),
        (made, outcomes, bits, offset, limit) => {
          const list = made.map(([start, codes], i) => ({
            id: String(i),
            spans: [{ first: `10.0.${i}.${start}`, count: codes.length }],
            outcomes: codes.join(''),
          }));
          const within = bits === undefined ? undefined : readWithin(`10.0.0.8/${bits}`);
          const plain = list.flatMap(({ spans, outcomes: text }) => {
            const space = AddressSpace.ofSpans(spans);
            return [...text].flatMap((each, i) =>
              (!outcomes || outcomes.includes(OUTCOMES[each as OutcomeCode])) &&
              (!within || within.contains(space.addressAt(i)))
                ? [space.at(i)]
                : [],
            );
          });
          const { total, hits } = selectAddresses(list, { outcomes, within }, { offset, limit });
          expect(total).toBe(plain.length);
          expect(hits.map(({ job, index }) => AddressSpace.ofSpans(job.spans).at(index))).toEqual(
            plain.slice(offset, offset + limit),
          );
        },
      ),
    );
  });
});
