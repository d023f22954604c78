import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import classes from './entries.module.css';
import { Panel, type PanelProps } from './page.tsx';

interface EntryProps {
  start?: ReactNode;
  end?: ReactNode;
  under?: ReactNode;
  children: ReactNode;
}

/** A line of a panel: its words take the room that is left, with marks before and after, and more beneath. */
export const Entry = ({ start, end, under, children }: EntryProps) => (
  <div className={classes.entry}>
    {start}
    <span className={`cut ${classes.words}`}>{children}</span>
    {end}
    {under && <span className={classes.under}>{under}</span>}
  </div>
);

/** The first things of a list, one an entry. Without words for an empty list it shows nothing then. */
export function EntriesPanel<T>({
  query,
  empty,
  children,
  ...panel
}: Omit<PanelProps, 'children'> & {
  query: UseQueryResult<{ data: T[] }>;
  empty?: string;
  children: (item: T) => ReactNode;
}) {
  const items = query.data?.data;
  if (!empty && !items?.length) return null;
  return (
    <Panel {...panel}>
      {items?.length === 0 && <p className="none">{empty}</p>}
      {items?.map(children)}
    </Panel>
  );
}
