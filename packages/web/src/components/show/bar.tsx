import classes from './bar.module.css';

export interface Part {
  label: string;
  count: number;
  colour: string;
}

/** Shares of a whole as one bar; screen readers hear the counts. */
export function Bar({ parts }: { parts: readonly Part[] }) {
  const there = parts.filter((part) => part.count > 0);
  const said = parts.map((part) => `${part.count.toLocaleString('en')} ${part.label}`).join(', ');
  return (
    <span className={classes.bar} role="img" aria-label={said} title={said}>
      {there.map((part) => (
        <span key={part.label} style={{ flexGrow: part.count, background: part.colour }} />
      ))}
    </span>
  );
}

/** How much of a whole is done. */
export function Progress({ done, of, label }: { done: number; of: number; label: string }) {
  const share = of > 0 ? Math.min(1, done / of) : 0;
  return (
    <span
      className={`${classes.bar} ${classes.progress}`}
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={Math.floor(share * 100)}
    >
      <span style={{ flexGrow: share, minWidth: done > 0 ? 2 : 0 }} />
      <span style={{ flexGrow: 1 - share, minWidth: 0, background: 'none' }} />
    </span>
  );
}
