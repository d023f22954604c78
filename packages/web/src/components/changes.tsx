import { INTERFACE_STATUSES } from '@rollcall/shared/api/interfaces';
import { usePreferences } from '../preferences.ts';
import classes from './changes.module.css';
import { absolute } from './time.tsx';

/** Any value as one line of text. */
export function valueAsText(value: unknown): string {
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

/** A member as text: numbers that stand for words (IF-MIB) or for a time (milliseconds) as these. */
function memberText(name: string, value: unknown, zone: string): string {
  if (typeof value !== 'number') return valueAsText(value);
  if (name === 'operStatus' || name === 'adminStatus') return INTERFACE_STATUSES[value - 1] ?? String(value);
  return name.endsWith('At') ? absolute(Math.floor(value / 1000), zone) : String(value);
}

/** Members that differ, as text on both sides. */
function differences(
  before: unknown,
  after: unknown,
  zone: string,
): [name: string, was: string, is: string][] {
  const [was, is] = [members(before), members(after)];
  return [...new Set([...Object.keys(was), ...Object.keys(is)])]
    .map((name): [string, string, string] => [
      name,
      memberText(name, was[name], zone),
      memberText(name, is[name], zone),
    ])
    .filter(([, one, other]) => one !== other);
}

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
