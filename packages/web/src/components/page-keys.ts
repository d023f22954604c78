import { useEffect, useRef } from 'react';

/** Keys pressed while nothing has the focus go to the table. */
export function useKeysOfThePage(
  scroller: { current: HTMLElement | null },
  onKey: (event: globalThis.KeyboardEvent) => void,
) {
  const handler = useRef(onKey);
  handler.current = onKey;
  useEffect(() => {
    const listen = (event: globalThis.KeyboardEvent) => {
      if (event.target !== document.body || !/^(Arrow(Up|Down)|Page(Up|Down)|[jk])$/.test(event.key)) return;
      scroller.current?.focus({ preventScroll: true });
      handler.current(event);
    };
    window.addEventListener('keydown', listen);
    return () => window.removeEventListener('keydown', listen);
  }, [scroller]);
}
