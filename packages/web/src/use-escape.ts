import { useEffect, useRef } from 'react';

/** What Esc closes of ours, the last opened last. */
const open: { close: () => void }[] = [];

/** A dialog, menu or list of choices is open, and takes the key itself; closed ones of some kinds stay in the page, hidden. */
const isCovered = (): boolean =>
  [...document.querySelectorAll('[role="dialog"],[role="menu"],[role="listbox"]')].some((element) =>
    element.checkVisibility(),
  );

/** Who types means the field: it empties itself, or is left. */
const isTyped = (target: EventTarget | null): boolean =>
  target instanceof Element && target.matches('textarea, input:not([type="checkbox"], [type="radio"])');

// Before anybody else: what takes the key is gone from the page when it has.
window.addEventListener(
  'keydown',
  (event) => {
    if (event.key !== 'Escape' || event.isComposing || isCovered() || isTyped(event.target)) return;
    open.at(-1)?.close();
  },
  { capture: true },
);

/** Esc closes this while it is `active`: only it, when it is on top. */
export function useEscape(close: () => void, active = true): void {
  const latest = useRef(close);
  latest.current = close;
  useEffect(() => {
    if (!active) return;
    const own = { close: () => latest.current() };
    open.push(own);
    return () => void open.splice(open.indexOf(own), 1);
  }, [active]);
}
