import { type KeyboardEvent, type RefObject, useEffect, useRef } from 'react';

/** Height of the row of titles, which covers the top of what scrolls. */
const HEAD = 32;

/** The row that a key leads to from the row `from`, -1 being none; undefined for keys that do not move. */
export function rowAfterKey(key: string, from: number, count: number, page: number): number | undefined {
  const steps: Record<string, number> = {
    ArrowDown: 1,
    j: 1,
    ArrowUp: -1,
    k: -1,
    PageDown: page,
    PageUp: -page,
    Home: -count,
    End: count,
  };
  const step = steps[key];
  if (step === undefined || count === 0) return undefined;
  return Math.max(0, Math.min(count - 1, from < 0 && step > 0 ? step - 1 : from + step));
}

/** Arrows, j and k, PageUp and so on move the focus of a grid; they do so, too, while nothing on the page has the focus. */
export function useGridKeys({
  scroller,
  count,
  rowHeight,
  focus,
  onFocus,
  onEnter,
  onSelect,
}: {
  scroller: RefObject<HTMLElement | null>;
  count: number;
  rowHeight: number;
  focus: number;
  onFocus: (index: number) => void;
  onEnter: () => void;
  /** x, also while a box in the grid has the focus, or Space: selects the row. */
  onSelect?: (() => void) | undefined;
}): (event: KeyboardEvent | globalThis.KeyboardEvent) => void {
  /** Scrolls as little as shows the whole row. */
  const reveal = (element: HTMLElement, index: number, view: number) => {
    const top = index * rowHeight;
    if (top < element.scrollTop) element.scrollTop = top;
    else if (top + rowHeight > element.scrollTop + view) element.scrollTop = top + rowHeight - view;
  };
  const onKey = (event: KeyboardEvent | globalThis.KeyboardEvent) => {
    const element = scroller.current;
    if (!element || event.ctrlKey || event.metaKey || event.altKey) return;
    const view = element.clientHeight - HEAD;
    // One row stays in sight, for the reader to go on from.
    const page = Math.max(1, Math.floor(view / rowHeight) - 1);
    const next = rowAfterKey(event.key, focus, count, page);
    if (next !== undefined) {
      event.preventDefault();
      onFocus(next);
      reveal(element, next, view);
    } else if (event.key === 'Enter' && event.target === element) onEnter();
    else if (onSelect && (event.key === 'x' || (event.key === ' ' && event.target === element))) {
      event.preventDefault();
      onSelect();
    }
  };
  const latest = useRef(onKey);
  latest.current = onKey;
  useEffect(() => {
    const listen = (event: globalThis.KeyboardEvent) => {
      if (event.target !== document.body || !/^(Arrow(Up|Down)|Page(Up|Down)|[jk])$/.test(event.key)) return;
      scroller.current?.focus({ preventScroll: true });
      latest.current(event);
    };
    window.addEventListener('keydown', listen);
    return () => window.removeEventListener('keydown', listen);
  }, [scroller]);
  return onKey;
}
