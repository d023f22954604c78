import { QueryClient } from '@tanstack/react-query';
import { act } from 'react';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { followChanges, useLive } from './live.ts';
import { renderHook, window } from './testing/render-hook.ts';

class Stream extends EventTarget {
  static readonly CLOSED = 2;
  static all: Stream[] = [];
  readyState = 1;
  close = vi.fn();
  constructor() {
    super();
    Stream.all.push(this);
  }
  tell = (type: string, data?: object) =>
    this.dispatchEvent(Object.assign(new Event(type), { data: JSON.stringify(data) }));
}
const stream = () => Stream.all.at(-1) as Stream;

let stop: () => void;
let asked: string[];
const client = new QueryClient();
beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal('EventSource', Stream);
  Stream.all = [];
  client.clear();
  for (const key of [
    ['devices', 'list', {}],
    ['devices', 'get', { params: { id: 'a' } }],
    ['devices', 'get', { params: { id: 'b' } }],
    ['scans', 'get', { params: { scanId: 's' } }],
    ['session', 'get', {}],
  ])
    client.setQueryData(key, {});
  stop = followChanges(client);
  stream().tell('open');
  asked = [];
  vi.spyOn(client, 'invalidateQueries').mockImplementation(async (filters) => {
    asked.push(
      ...client
        .getQueryCache()
        .findAll(filters as never)
        .map(({ queryKey: [resource, , request] }) => {
          const { params } = request as { params?: Record<string, string> };
          return [resource, ...Object.values(params ?? {})].join(' ');
        }),
    );
  });
});
afterEach(() => {
  stop();
  vi.restoreAllMocks();
  vi.useRealTimers();
});
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

it('asks again for lists and for the thing that changed, not for others of its kind', async () => {
  stream().tell('change', { kind: 'device', ids: ['a'] });
  await pass(59);
  expect(asked).toEqual([]);
  await pass(1);
  expect(asked).toEqual(['devices', 'devices a']);
});

it('a change without ids, or of very many, touches everything of its kind', async () => {
  stream().tell('change', { kind: 'device', ids: Array.from({ length: 501 }, (_, i) => `id ${i}`) });
  await pass(60);
  expect(asked).toEqual(['devices', 'devices a', 'devices b']);
});

it('takes changes that come in a burst together', async () => {
  for (let i = 0; i < 5; i += 1) stream().tell('change', { kind: 'scan', ids: ['s'] });
  await pass(60);
  stream().tell('change', { kind: 'scan', ids: ['s'] });
  await pass(699);
  expect(asked).toEqual(['scans s']);
  await pass(1);
  expect(asked).toEqual(['scans s', 'scans s']);
});

it('says since when it is stale; a stream that was refused is opened anew, and everything asked again', async () => {
  vi.spyOn(Math, 'random').mockReturnValue(0.5);
  const live = renderHook(() => useLive(), undefined);
  expect(live.current.status).toBe('live');
  stream().readyState = Stream.CLOSED;
  act(() => void stream().tell('error'));
  expect(live.current).toEqual({ status: 'stale', since: Date.now() });
  await pass(1_000);
  expect(Stream.all).toHaveLength(2);
  asked = [];
  act(() => void stream().tell('open'));
  expect(live.current.status).toBe('live');
  expect(new Set(asked)).toEqual(new Set(['devices', 'devices a', 'devices b', 'scans s', 'session']));
  live.unmount();
});

it('waits twice as long after each refusal, half a minute at most', async () => {
  vi.spyOn(Math, 'random').mockReturnValue(0.5);
  for (const seconds of [1, 2, 4, 8, 16, 30, 30]) {
    const before = Stream.all.length;
    stream().readyState = Stream.CLOSED;
    stream().tell('error');
    await pass(seconds * 1_000 - 1);
    expect(Stream.all).toHaveLength(before);
    await pass(1);
    expect(Stream.all).toHaveLength(before + 1);
  }
});

it('opens a new stream when the network is there again, and none after its end', () => {
  window.dispatchEvent(new Event('online'));
  expect(Stream.all).toHaveLength(2);
  expect(Stream.all[0]?.close).toHaveBeenCalledOnce();
  stop();
  window.dispatchEvent(new Event('online'));
  expect(Stream.all).toHaveLength(2);
  expect(vi.getTimerCount()).toBe(0);
});
