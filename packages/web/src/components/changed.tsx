import classes from './changed.module.css';

/** Any value as one line of text. */
export function valueText(value: unknown): string {
  if (value === null || value === undefined || value === '') return '—';
  if (typeof value === 'object') return JSON.stringify(value);
  return String(value);
}

const members = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : value === null || value === undefined
      ? {}
      : { value };

/** Both sides of a change, member by member. */
export function Changed({ before, after }: { before: unknown; after: unknown }) {
  const [was, is] = [members(before), members(after)];
  const names = [...new Set([...Object.keys(was), ...Object.keys(is)])];
  if (names.length === 0) return null;
  return (
    <table className={classes.table}>
      <thead>
        <tr>
          <th scope="col">Changed</th>
          <th scope="col">before</th>
          <th scope="col">since</th>
        </tr>
      </thead>
      <tbody>
        {names.map((name) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td className={classes.before}>{valueText(was[name])}</td>
            <td>{valueText(is[name])}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** The same on one line: `osVersion 17.6.5 → 17.9.4a`. */
export function ChangedLine({ before, after }: { before: unknown; after: unknown }) {
  const [was, is] = [members(before), members(after)];
  const names = [...new Set([...Object.keys(was), ...Object.keys(is)])].slice(0, 3);
  if (before === null || before === undefined) return null;
  return (
    <span className={classes.inline}>
      {names.map((name, i) => (
        <span key={name}>
          {i > 0 && ', '}
          {name} {valueText(was[name])} → <b>{valueText(is[name])}</b>
        </span>
      ))}
    </span>
  );
}
