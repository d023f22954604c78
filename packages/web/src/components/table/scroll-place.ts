import { useLocation } from '@tanstack/react-router';
import { type RefObject, useEffect, useRef, useState } from 'react';

interface Position {
  offset: number;
  focus: number;
}
const TOP: Position = { offset: 0, focus: -1 };
const places = new Map<string, Position>();

/** Where the reader was in a list, by history entry: going back leads there. */
export function useScrollPlace(
  label: string,
  scroller: RefObject<HTMLElement | null>,
): { start: Position; focus: number; setFocus: (index: number) => void } {
  const here = `${useLocation({ select: (location) => location.state.__TSR_key })} ${label}`;
  const path = useLocation({ select: (location) => location.pathname });
  const home = useRef(path);
  const entry = useRef(here);
  // On the way to another page the address changes before this list goes.
  useEffect(() => {
    if (path === home.current) entry.current = here;
  }, [here, path]);
  const [start] = useState(() => places.get(here) ?? TOP);
  const [focus, setFocus] = useState(start.focus);
  const latest = useRef(focus);
  latest.current = focus;
  useEffect(() => {
    const element = scroller.current;
    return () => {
      if (element) places.set(entry.current, { offset: element.scrollTop, focus: latest.current });
    };
  }, [scroller]);
  return { start, focus, setFocus };
}
