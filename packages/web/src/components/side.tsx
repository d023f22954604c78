import { CloseButton } from '@mantine/core';
import { type ReactNode, useEffect } from 'react';
import { Body } from './page.tsx';
import classes from './side.module.css';

/** A list that fills the page, and beside it the one thing that was picked from it. */
export function Split({ list, children }: { list: ReactNode; children: ReactNode }) {
  return (
    <div className={classes.split}>
      <Body>{list}</Body>
      {children}
    </div>
  );
}

/** A dialog, menu or list of choices is open; closed ones of some kinds stay in the page, hidden. */
const isCovered = (): boolean =>
  [...document.querySelectorAll('[role="dialog"],[role="menu"],[role="listbox"]')].some((element) =>
    element.checkVisibility(),
  );

/** One thing beside its list; Esc closes it. */
export function Side({
  title,
  onClose,
  actions,
  children,
}: {
  title: string;
  onClose: () => void;
  actions?: ReactNode;
  children: ReactNode;
}) {
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      // What is above it takes the key first.
      if (event.key === 'Escape' && !isCovered()) onClose();
    };
    window.addEventListener('keydown', listen);
    return () => window.removeEventListener('keydown', listen);
  }, [onClose]);
  return (
    <aside className={`panel ${classes.side}`} aria-label={title}>
      <header className={classes.head}>
        <h2>{title}</h2>
        <CloseButton size="sm" aria-label="Close" onClick={onClose} />
      </header>
      <div className={classes.body}>{children}</div>
      {actions && <footer className={classes.actions}>{actions}</footer>}
    </aside>
  );
}
