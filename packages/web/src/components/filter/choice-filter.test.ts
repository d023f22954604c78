import { describe, expect, it } from 'vitest';
import { choicesOf, codeChoices } from './choice-filter.tsx';

describe('choices of a filter', () => {
  it('words are their own labels, drawn where somebody says how', () => {
    expect(choicesOf(['up', 'down'])).toEqual([
      { value: 'up', label: 'up' },
      { value: 'down', label: 'down' },
    ]);
    expect(choicesOf(['up'], (word) => `${word}!`)).toEqual([{ value: 'up', label: 'up', content: 'up!' }]);
  });

  it('codes count from 0, or from the first', () => {
    const values = (first?: number) =>
      codeChoices(['highest', 'high'], (code) => code, first).map(({ value, content }) => [value, content]);
    expect(values()).toEqual([
      ['0', 0],
      ['1', 1],
    ]);
    expect(values(1)).toEqual([
      ['1', 1],
      ['2', 2],
    ]);
  });
});
