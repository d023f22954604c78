import { expect, it } from 'vitest';
import { hearCollectorMessage, parseCollectorMessage } from './protocol.ts';
import { pruned, unstorable, WIRE_DEPTH } from './storable.ts';

const nested = (levels: number): unknown => JSON.parse('['.repeat(levels) + ']'.repeat(levels));

it('tells what the database cannot store, in keys as in values, at any depth it takes', () => {
  expect(unstorable({ a: ['plain', 'ünï', '😀', 1, null, true] })).toBeNull();
  expect(unstorable({ a: [{ b: 'x\0' }] })).toBe('text with a NUL');
  expect(unstorable({ 'a\0': 1 })).toBe('text with a NUL');
  for (const lone of ['\ud83d', 'a\ude00b', '\ude00\ud83d']) {
    expect(unstorable([lone])).toBe('text with a lone surrogate');
    expect(unstorable({ [lone]: 1 })).toBe('text with a lone surrogate');
  }
  expect(unstorable(nested(WIRE_DEPTH))).toBeNull();
  expect(unstorable(nested(WIRE_DEPTH + 1))).toMatch(/nested deeper/);
});

it('cuts what is nested so deep that nothing could write it', () => {
  const deep = { a: 1, deep: nested(100_000) };
  expect(() => JSON.stringify(deep)).toThrow(RangeError);
  expect(JSON.stringify(pruned(deep))).toContain('…');
  expect(pruned({ a: [1, { b: null }] })).toEqual({ a: [1, { b: null }] });
});

const beat = (more: object) =>
  JSON.stringify({
    type: 'heartbeat',
    time: 1,
    outbox: { depth: 0, bytes: 0, oldest: null },
    drops: {},
    ...more,
  });
const watch = (reason: string) => ({
  targets: 1,
  up: 1,
  down: 0,
  refused: 0,
  lagMs: 0,
  traps: { port: null, received: 0, reason },
});

it('attack: a heartbeat with text that no database stores is refused where it enters', () => {
  expect(parseCollectorMessage(beat({ drops: { bytes: 1 }, watch: watch('port in use') })).ok).toBe(true);
  for (const attack of [
    beat({ drops: { 'a\0b': 1 } }),
    beat({ drops: { '\ud800': 1 } }),
    beat({ watch: watch('\0') }),
    beat({ watch: watch('cut \ud83d') }),
    beat({ drops: Object.fromEntries(Array.from({ length: 90_000 }, (_, i) => [`drop ${i}`, i])) }),
    beat({ later: 'deep' }).replace('"deep"', '['.repeat(100_000) + ']'.repeat(100_000)),
  ])
    expect(hearCollectorMessage(Buffer.from(attack))).toMatchObject({ ok: false, newer: false });
});

it.each([
  { type: 'working', jobs: [{ job: '019aa3c4-5b00-7000-8000-000000000001', fence: 2 ** 53 - 1 }] },
  {
    type: 'outcome',
    job: '019aa3c4-5b00-7000-8000-000000000001',
    fence: 2 ** 31,
    result: 'failed',
    reason: '',
  },
])('attack: a number that no column holds is refused where it enters: %j', (message) => {
  expect(parseCollectorMessage(JSON.stringify(message)).ok).toBe(false);
});

it('attack: a batch stays readable whatever one of its items is; each is judged alone', () => {
  const frame = `{"type":"observations","epoch":"7f0c1d6e-3a51-4e0e-9a55-0d7a3a1f2b11","stream":"state","from":0,"items":[{"a":"\\u0000"},${'['.repeat(100_000)}${']'.repeat(100_000)},1]}`;
  const read = parseCollectorMessage(frame);
  expect(read.ok && read.message.type === 'observations' && read.message.items).toHaveLength(3);
});
