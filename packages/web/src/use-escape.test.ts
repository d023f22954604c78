import { beforeEach, expect, it, vi } from 'vitest';
import { renderHook, window } from './testing/render-hook.ts';
import { useEscape } from './use-escape.ts';

let dialogs: { checkVisibility: () => boolean }[] = [];
class Element {
  readonly field: boolean;
  constructor(field: boolean) {
    this.field = field;
  }
  matches = () => this.field;
}
beforeEach(() => {
  dialogs = [];
  vi.stubGlobal('document', { querySelectorAll: () => dialogs });
  vi.stubGlobal('Element', Element);
});

const pressEscape = (target: Element | null = null, more: object = {}) =>
  window.dispatchEvent(
    Object.defineProperty(Object.assign(new Event('keydown'), { key: 'Escape', ...more }), 'target', {
      value: target,
    }),
  );

it('closes what was opened last, and only that', () => {
  const [outer, inner] = [vi.fn(), vi.fn()];
  const below = renderHook(() => useEscape(outer), undefined);
  const above = renderHook(() => useEscape(inner), undefined);
  pressEscape();
  expect([outer.mock.calls.length, inner.mock.calls.length]).toEqual([0, 1]);
  above.unmount();
  pressEscape();
  expect([outer.mock.calls.length, inner.mock.calls.length]).toEqual([1, 1]);
  below.unmount();
  pressEscape();
  expect(outer).toHaveBeenCalledOnce();
});

it('leaves the key to open dialogs, to fields that are typed into, and to unfinished letters', () => {
  const close = vi.fn();
  const hook = renderHook((active: boolean) => useEscape(close, active), true);
  pressEscape(new Element(true));
  pressEscape(null, { isComposing: true });
  dialogs = [{ checkVisibility: () => true }];
  pressEscape();
  expect(close).not.toHaveBeenCalled();
  dialogs = [{ checkVisibility: () => false }];
  pressEscape(new Element(false));
  expect(close).toHaveBeenCalledOnce();
  hook.render(false);
  pressEscape();
  expect(close).toHaveBeenCalledOnce();
  hook.unmount();
});
