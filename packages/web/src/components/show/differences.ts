import { INTERFACE_STATUSES } from '@rollcall/shared/api/interfaces';
import { FIELD_NAMES } from '@rollcall/shared/field-names';
import { bitrate } from '../../format.ts';
import { absolute } from './time.tsx';

/** Ends of names that are no words. */
const SHORT: Record<string, string> = {
  Id: 'ID',
  Ip: 'IP',
  Mac: 'MAC',
  Ms: '(ms)',
  Os: 'OS',
  Bps: '(bit/s)',
};

/** A member in words: `holdSeconds` is hold seconds; what is no such name stays as it is. */
export const fieldName = (name: string): string => {
  if (Object.hasOwn(FIELD_NAMES, name)) return FIELD_NAMES[name] ?? name;
  if (!/^[a-z]+([A-Z][a-z]+)+$/.test(name)) return name;
  return name.replaceAll(/[A-Z][a-z]+/g, (word) => ` ${SHORT[word] ?? word.toLowerCase()}`);
};

const NOTHING = '—';

/** Any value as one line of text. */
export function valueAsText(value: unknown): string {
  if (value === null || value === undefined || value === '') return NOTHING;
  if (Array.isArray(value) && value.every((one) => typeof one !== 'object'))
    return value.join(', ') || NOTHING;
  if (typeof value === 'object') return JSON.stringify(value);
  return String(value);
}

const members = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : value === null || value === undefined
      ? {}
      : { value };

/** A member as text: numbers that stand for words (IF-MIB) or for a time (milliseconds) as these, others at four digits. */
export function memberText(name: string, value: unknown, zone: string): string {
  if (typeof value !== 'number') return valueAsText(value);
  if (name === 'operStatus' || name === 'adminStatus') return INTERFACE_STATUSES[value - 1] ?? String(value);
  if (name === 'speedBps') return bitrate(value);
  if (name.endsWith('At')) return absolute(Math.floor(value / 1000), zone);
  return String(Math.abs(value) < 1000 ? Number(value.toPrecision(4)) : Number(value.toFixed(1)));
}

/** What a measurement is of: its event says it in words. */
const OF_MEASUREMENTS = new Set(['of', 'sensorId', 'kind']);

/** Where nothing was before: what was measured, or what was found, each by its name in words. Else null. */
export function readings(before: unknown, after: unknown, zone: string): [name: string, is: string][] | null {
  if (Object.keys(members(before)).length > 0) return null;
  const is = members(after);
  const isMeasured = 'value' in is && ('of' in is || 'sensorId' in is);
  return Object.entries(is)
    .filter(([name]) => !(isMeasured && OF_MEASUREMENTS.has(name)))
    .map(([name, value]): [string, string] => [fieldName(name), memberText(name, value, zone)])
    .filter(([, text]) => text !== NOTHING);
}

/** Members that differ, by their names in words, as text on both sides. */
export function differences(
  before: unknown,
  after: unknown,
  zone: string,
): [name: string, was: string, is: string][] {
  const [was, is] = [members(before), members(after)];
  return [...new Set([...Object.keys(was), ...Object.keys(is)])]
    .filter((name) => JSON.stringify(was[name]) !== JSON.stringify(is[name]))
    .map((name): [string, string, string] => {
      const [one, other] = [memberText(name, was[name], zone), memberText(name, is[name], zone)];
      // What differs only behind the digits that are shown is shown with all of them.
      return one === other
        ? [fieldName(name), valueAsText(was[name]), valueAsText(is[name])]
        : [fieldName(name), one, other];
    })
    .filter(([, one, other]) => one !== other);
}
