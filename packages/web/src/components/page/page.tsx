import { useDocumentTitle } from '@mantine/hooks';
import type { UseQueryResult } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Loaded } from '../feedback/index.ts';
import classes from './page.module.css';

/** A page's frame: title with a count, actions at the right, and what it is about. */
export function Page({
  title,
  heading = title,
  marks,
  up,
  count,
  actions,
  fill = false,
  children,
}: {
  /** Of the browser's tab, and of the page where there is no `heading`. */
  title: string;
  heading?: ReactNode;
  /** What is to be known of it at once, beside the heading. */
  marks?: ReactNode;
  /** The list this page is one thing of. */
  up?: { to: string; label: string };
  count?: number | undefined;
  actions?: ReactNode;
  /** The body takes the rest of the window and scrolls inside. */
  fill?: boolean;
  children: ReactNode;
}) {
  useDocumentTitle(`${title} · Rollcall`);
  return (
    <div className={classes.page} data-fill={fill || undefined}>
      <header className={classes.head}>
        <div className={classes.titles}>
          <div className={classes.title}>
            {up && (
              <Link to={up.to} className={classes.up}>
                {up.label}
              </Link>
            )}
            <h1 className="cut">{heading}</h1>
            {count !== undefined && (
              <output className={classes.count}>
                {count.toLocaleString('en')}
                <span className="hidden"> found</span>
              </output>
            )}
          </div>
          {marks && <div className={classes.marks}>{marks}</div>}
        </div>
        {actions && <div className={classes.actions}>{actions}</div>}
      </header>
      {children}
    </div>
  );
}

interface LoadedPageProps<T> {
  /** Until it is known, or where it cannot be read. */
  title: string;
  up: { to: string; label: string };
  query: UseQueryResult<T>;
  /** Before the reason why it cannot be read. */
  above?: ReactNode;
  children: (data: T) => ReactNode;
}

/** A page about one thing that has to be read first. */
export const LoadedPage = <T,>({ title, up, query, above, children }: LoadedPageProps<T>) => (
  <Loaded
    query={query}
    frame={(instead) => (
      <Page title={title} up={up}>
        {instead && above}
        {instead}
      </Page>
    )}
  >
    {children}
  </Loaded>
);

/** The part of a filled page that takes the rest of the window. */
export function Body({ children }: { children: ReactNode }) {
  return <div className={`panel ${classes.body}`}>{children}</div>;
}

export interface PanelProps {
  title: string;
  /** A word or two beside the title. */
  note?: ReactNode;
  /** Links and controls at the right. */
  end?: ReactNode;
  className?: string | undefined;
  children: ReactNode;
}

/** A titled surface. */
export function Panel({ title, note, end, className = '', children }: PanelProps) {
  return (
    <section className={`panel ${classes.panel} ${className}`} aria-label={title}>
      <header className={classes.panelHead}>
        <h2>{title}</h2>
        {note !== undefined && <span className={classes.note}>{note}</span>}
        {end && <div className={classes.end}>{end}</div>}
      </header>
      {children}
    </section>
  );
}
