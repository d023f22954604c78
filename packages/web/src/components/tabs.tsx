import { Link } from '@tanstack/react-router';
import classes from './tabs.module.css';

export interface Tab {
  id: string;
  label: string;
  count?: number | undefined;
}

/** Parts of one page; each has an address of its own (`?tab=`), the first one none. */
export function Tabs({ tabs, active, label }: { tabs: readonly Tab[]; active: string; label: string }) {
  return (
    <nav className={classes.tabs} aria-label={label}>
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
