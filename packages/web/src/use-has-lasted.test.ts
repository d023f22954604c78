import { act } from 'react';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { renderHook } from './testing/render-hook.ts';
import { useHasLasted } from './use-has-lasted.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('is true once something has been so for long enough, and at once false when it is no longer', () => {
  const hook = renderHook((on: boolean) => useHasLasted(on, 150), true);
  act(() => vi.advanceTimersByTime(149));
  expect(hook.current).toBe(false);
  act(() => vi.advanceTimersByTime(1));
  expect(hook.current).toBe(true);
  hook.render(false);
  expect(hook.current).toBe(false);
});

it('begins anew when it was interrupted', () => {
  const hook = renderHook((on: boolean) => useHasLasted(on, 150), true);
  act(() => vi.advanceTimersByTime(150));
  hook.render(false);
  hook.render(true);
  act(() => vi.advanceTimersByTime(100));
  expect(hook.current).toBe(false);
  hook.unmount();
  expect(vi.getTimerCount()).toBe(0);
});
