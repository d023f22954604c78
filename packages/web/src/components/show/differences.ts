import { INTERFACE_STATUSES } from '@rollcall/shared/api/interfaces';
import { FIELD_NAMES } from '@rollcall/shared/field-names';
import { bitrate } from '../../format.ts';
import { absolute } from './time.tsx';

/** A member in words: `holdSeconds` is hold seconds; what is no such name stays as it is. */
export const fieldName = (name: string): string =>
  FIELD_NAMES[name] ??
  (/^[a-z]+([A-Z][a-z]+)+$/.test(name)
    ? name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
    : name);

/** Any value as one line of text. */
export function valueAsText(value: unknown): string {
  if (value === null || value === undefined || value === '') return '—';
  if (Array.isArray(value) && value.every((one) => typeof one !== 'object')) return value.join(', ') || '—';
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
  if (name === 'speedBps') return bitrate(value);
  return name.endsWith('At')
    ? absolute(Math.floor(value / 1000), zone)
    : String(Number.isInteger(value) ? value : Number(value.toPrecision(4)));
}

/** What a measurement is of: its event says it in words. */
const OF_MEASUREMENTS = new Set(['of', 'sensorId', 'kind']);

/** Where nothing was before: what was measured, or what was found, each by its name in words. Else null. */
export function readings(before: unknown, after: unknown, zone: string): [name: string, is: string][] | null {
  if (Object.keys(members(before)).length > 0) return null;
  return Object.entries(members(after))
    .filter(([name]) => !OF_MEASUREMENTS.has(name))
    .map(([name, value]) => [fieldName(name), memberText(name, value, zone)]);
}

/** Members that differ, by their names in words, as text on both sides. */
export function differences(
  before: unknown,
  after: unknown,
  zone: string,
): [name: string, was: string, is: string][] {
  const [was, is] = [members(before), members(after)];
  return [...new Set([...Object.keys(was), ...Object.keys(is)])]
    .map((name): [string, string, string] => [
      fieldName(name),
      memberText(name, was[name], zone),
      memberText(name, is[name], zone),
    ])
    .filter(([, one, other]) => one !== other);
}
