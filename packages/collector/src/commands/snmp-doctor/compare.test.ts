import { describe, expect, it } from 'vitest';
import { differencesOf, endsDiffer } from './compare.ts';
import type { Reading, ReadValue } from './reading.ts';

const reading = (values: Record<string, ReadValue>, stopped: string | null = null): Reading => ({
  values: new Map(Object.entries(values)),
  stopped,
});
const counter = (text: string): ReadValue => ({ type: 'counter32', text });
const gauge = (text: string): ReadValue => ({ type: 'gauge32', text });
const kinds = (before: Reading, netSnmp: Reading, after = before) =>
  differencesOf(before, netSnmp, after).map(({ oid, kind }) => `${oid} ${kind}`);

describe('what two implementations read of one agent', () => {
  it('differs in value, in type, and in what one of them does not have', () => {
    const own = reading({ '1.1': gauge('1'), '1.2': gauge('2'), '1.3': gauge('3') });
    const other = reading({ '1.1': gauge('9'), '1.2': counter('2'), '1.4': gauge('4') });
    expect(kinds(own, own)).toEqual([]);
    expect(kinds(own, other)).toEqual(['1.1 value', '1.2 type', '1.3 missing', '1.4 missing']);
  });

  it.each([
    ['a counter between both readings', counter('5'), counter('7'), counter('9'), 0],
    ['a counter below both', counter('5'), counter('4'), counter('9'), 1],
    ['a counter above both', counter('5'), counter('10'), counter('9'), 1],
    ['a counter that wrapped meanwhile', counter('4294967290'), counter('3'), counter('9'), 0],
    ['a counter that stood still', counter('5'), counter('7'), counter('5'), 1],
    ['a gauge that moves', gauge('5'), gauge('7'), gauge('6'), 0],
    ['a gauge that stood still', gauge('5'), gauge('7'), gauge('5'), 1],
  ])('%s', (_, before, between, after, differences) => {
    const [own, other, later] = [before, between, after].map((value) => reading({ '1.1': value }));
    expect(kinds(own as Reading, other as Reading, later)).toHaveLength(differences);
  });

  it('a row that came or went between the readings is no difference', () => {
    const without = reading({ '1.1': gauge('1') });
    const withRow = reading({ '1.1': gauge('1'), '1.2': gauge('2') });
    expect(kinds(withRow, without, without)).toEqual([]);
    expect(kinds(without, withRow, withRow)).toEqual([]);
  });

  it('what lies behind an early end is not missing; that only one ended early is the difference', () => {
    const whole = reading({ '1.1': gauge('1'), '1.2': gauge('2') });
    const cut = reading({ '1.1': gauge('1') }, 'timeout');
    expect(kinds(whole, cut)).toEqual([]);
    expect(kinds(cut, whole)).toEqual([]);
    expect([endsDiffer(whole, cut), endsDiffer(cut, whole), endsDiffer(cut, cut)]).toEqual([
      true,
      true,
      false,
    ]);
  });
});
