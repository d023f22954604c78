import { useNavigate } from '@tanstack/react-router';
import { Fragment, useEffect } from 'react';
import { Dialog } from '../components/form/index.ts';
import classes from './keyboard.module.css';
import { PLACES, type Place } from './places.ts';

/** After this the key `g` is forgotten. */
const WAIT_MS = 1_500;

const JUMPS: readonly Place[] = [...PLACES.watch, ...PLACES.run];

/** Who types means the field, and an open dialog or menu takes the keys itself. */
const isElsewhere = (target: EventTarget | null): boolean =>
  (target instanceof Element && target.closest('input:not([type="checkbox"]), textarea, select') !== null) ||
  document.querySelector('[role="dialog"][aria-modal="true"]') !== null;

/** `g` and a letter lead to a page; `?` shows all keys. */
export function usePageKeys(onHelp: () => void): void {
  const navigate = useNavigate();
  useEffect(() => {
    let begun = Number.NEGATIVE_INFINITY;
    const listen = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isElsewhere(event.target)) return;
      const waited = event.timeStamp - begun;
      begun = Number.NEGATIVE_INFINITY;
      if (event.key === '?') return onHelp();
      if (waited > WAIT_MS) {
        if (event.key === 'g') begun = event.timeStamp;
        return;
      }
      const place = JUMPS.find(({ jump }) => jump === event.key);
      if (!place) return;
      event.preventDefault();
      // Before the list in focus takes the letter.
      event.stopPropagation();
      void navigate({ to: place.to, search: (place.search ?? {}) as never });
    };
    window.addEventListener('keydown', listen, { capture: true });
    return () => window.removeEventListener('keydown', listen, { capture: true });
  }, [navigate, onHelp]);
}

const KEYS: readonly { title: string; keys: readonly (readonly [keys: string, does: string])[] }[] = [
  {
    title: 'Everywhere',
    keys: [
      ['Ctrl K', 'search, pages and actions'],
      ['/', 'search of this page'],
      ['?', 'this list'],
      ['Esc', 'close, clear the selection, leave the wall'],
    ],
  },
  {
    title: 'Lists',
    keys: [
      ['↓ ↑, j k', 'next and previous row'],
      ['Enter', 'open the row'],
      ['x, Space', 'select the row'],
      ['Page ↓ ↑', 'next and previous page'],
      ['Home, End', 'first and last row'],
    ],
  },
  {
    title: 'Go to',
    keys: JUMPS.flatMap(({ jump, label }) => (jump ? [[`g ${jump}`, label] as const] : [])),
  },
];

/** All keys. */
export const KeyboardHelp = ({ onClose }: { onClose: () => void }) => (
  <Dialog title="Keyboard shortcuts" onClose={onClose} size={640}>
    <div className={classes.groups}>
      {KEYS.map(({ title, keys }) => (
        <section key={title} aria-label={title}>
          <h3>{title}</h3>
          <dl className={classes.keys}>
            {keys.map(([key, does]) => (
              <Fragment key={key}>
                <dt>
                  <kbd>{key}</kbd>
                </dt>
                <dd>{does}</dd>
              </Fragment>
            ))}
          </dl>
        </section>
      ))}
    </div>
  </Dialog>
);
