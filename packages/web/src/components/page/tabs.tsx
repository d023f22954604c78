import { Link } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import classes from './tabs.module.css';

export interface Tab {
  id: string;
  label: string;
  count?: number | undefined;
}

/** Parts of one page; each has an address of its own (`?tab=`), the first one none. */
export function Tabs({ tabs, active, label }: { tabs: readonly Tab[]; active: string; label: string }) {
  const row = useRef<HTMLElement>(null);
  // Where there is little room they scroll.
  // biome-ignore lint/correctness/useExhaustiveDependencies: brought into sight when it is another one
  useEffect(() => {
    row.current?.querySelector('[data-active]')?.scrollIntoView({ block: 'nearest' });
  }, [active]);
  return (
    <nav ref={row} className={classes.tabs} aria-label={label}>
      {tabs.map((tab, i) => (
        <Link
          key={tab.id}
          to="."
          search={((old: Record<string, string>) => ({ ...old, tab: i === 0 ? undefined : tab.id })) as never}
          className={classes.tab}
          data-active={tab.id === active || undefined}
          aria-current={tab.id === active ? 'page' : undefined}
          activeProps={{}}
        >
          {tab.label}
          {tab.count !== undefined && <span className={classes.count}>{tab.count.toLocaleString('en')}</span>}
        </Link>
      ))}
    </nav>
  );
}
