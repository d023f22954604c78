import { usePreferences } from '../../preferences.ts';
import classes from './changes.module.css';
import { differences } from './differences.ts';

/** Both sides of a change, member by member. */
export function Changed({ before, after }: { before: unknown; after: unknown }) {
  const { zone } = usePreferences();
  const changes = differences(before, after, zone);
  if (changes.length === 0) return null;
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
        {changes.map(([name, was, is]) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td className={classes.before}>{was}</td>
            <td>{is}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** The same on one line: `osVersion 17.6.5 → 17.9.4a`. */
export function ChangedLine({ before, after }: { before: unknown; after: unknown }) {
  const { zone } = usePreferences();
  if (before === null || before === undefined) return null;
  return (
    <span className={classes.inline}>
      {differences(before, after, zone)
        .slice(0, 3)
        .map(([name, was, is], i) => (
          <span key={name}>
            {i > 0 && ', '}
            {name} {was} → <b>{is}</b>
          </span>
        ))}
    </span>
  );
}
