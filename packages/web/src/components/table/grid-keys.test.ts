import { act, useState } from 'react';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { renderHook, window } from '../../testing/render-hook.ts';
import { rowAfterKey, useGridKeys } from './grid-keys.ts';

it.each([
  ['ArrowDown', -1, 0],
  ['j', 0, 1],
  ['j', 99, 99],
  ['ArrowUp', -1, 0],
  ['k', 5, 4],
  ['PageDown', -1, 9],
  ['PageDown', 3, 13],
  ['PageUp', 3, 0],
  ['Home', 50, 0],
  ['End', 50, 99],
  ['x', 50, undefined],
])('%s leads from row %d to %s', (key, from, to) => expect(rowAfterKey(key, from, 100, 10)).toBe(to));

it('leads nowhere in an empty list', () => expect(rowAfterKey('End', -1, 0, 10)).toBeUndefined());

const ROW = 32;
const body = new EventTarget();
const element = { clientHeight: 10 * ROW, scrollTop: 0, focus: vi.fn() };
const onEnter = vi.fn();
beforeEach(() => {
  Object.assign(globalThis, { document: { body } });
  element.scrollTop = 0;
  vi.clearAllMocks();
});

let mounted: { unmount: () => void } | undefined;
afterEach(() => mounted?.unmount());
const grid = () => {
  const run = renderHook(() => {
    const [focus, setFocus] = useState(-1);
    const scroller = { current: element as unknown as HTMLElement };
    const [stable] = useState(scroller);
    const count = 100;
    return {
      focus,
      onKey: useGridKeys({ scroller: stable, count, rowHeight: ROW, focus, onFocus: setFocus, onEnter }),
    };
  }, undefined);
  mounted = run;
  return run;
};

/** A key that somebody presses in `target`. */
const press = (key: string, target: EventTarget | typeof element, more: object = {}) =>
  Object.defineProperty(
    Object.assign(new Event('keydown', { cancelable: true }), { key, ...more }),
    'target',
    { value: target },
  ) as KeyboardEvent;

it('scrolls as little as shows the whole row, below the titles', () => {
  const hook = grid();
  act(() => hook.current.onKey(press('PageDown', element)));
  expect([hook.current.focus, element.scrollTop]).toEqual([7, 0]);
  act(() => hook.current.onKey(press('PageDown', element)));
  // Nine rows have room below the titles: the last of them is the focused one.
  expect([hook.current.focus, element.scrollTop]).toEqual([15, (15 - 8) * ROW]);
  act(() => hook.current.onKey(press('Home', element)));
  expect([hook.current.focus, element.scrollTop]).toEqual([0, 0]);
});

it('leaves keys with a modifier to the browser, and opens with Enter', () => {
  const hook = grid();
  const withCtrl = press('j', element, { ctrlKey: true });
  act(() => hook.current.onKey(withCtrl));
  expect([hook.current.focus, withCtrl.defaultPrevented]).toEqual([-1, false]);
  act(() => hook.current.onKey(press('Enter', element)));
  expect(onEnter).toHaveBeenCalledOnce();
  act(() => hook.current.onKey(press('Enter', new EventTarget())));
  expect(onEnter).toHaveBeenCalledOnce();
});

it('takes keys that are pressed while nothing has the focus, until it goes', () => {
  const hook = grid();
  act(() => void window.dispatchEvent(press('j', body)));
  expect(hook.current.focus).toBe(0);
  expect(element.focus).toHaveBeenCalledOnce();
  act(() => void window.dispatchEvent(press('j', new EventTarget())));
  expect(hook.current.focus).toBe(0);
  hook.unmount();
  mounted = undefined;
  window.dispatchEvent(press('j', body));
  expect(element.focus).toHaveBeenCalledOnce();
});
