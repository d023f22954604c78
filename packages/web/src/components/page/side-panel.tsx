import { CloseButton } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useEscape } from '../../use-escape.ts';
import { Loaded } from '../feedback/index.ts';
import { Body } from './page.tsx';
import classes from './side-panel.module.css';

/** A list that fills the page, and beside it the one thing that was picked from it. */
export function Split({ list, children }: { list: ReactNode; children: ReactNode }) {
  return (
    <div className={classes.split}>
      <Body>{list}</Body>
      {children}
    </div>
  );
}

interface SidePanelProps {
  title: string;
  onClose: () => void;
  actions?: ReactNode;
  children: ReactNode;
}

/** One thing beside its list; Esc closes it. */
export function SidePanel({ title, onClose, actions, children }: SidePanelProps) {
  useEscape(onClose);
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

interface LoadedSidePanelProps<T> {
  /** While it cannot be read. */
  title: string;
  query: UseQueryResult<T>;
  onClose: () => void;
  children: (data: T) => ReactNode;
}

/** One thing beside its list that has to be read first. */
export const LoadedSidePanel = <T,>({ title, query, onClose, children }: LoadedSidePanelProps<T>) => (
  <Loaded
    query={query}
    frame={(instead) =>
      instead && (
        <SidePanel title={title} onClose={onClose}>
          {instead}
        </SidePanel>
      )
    }
  >
    {children}
  </Loaded>
);
