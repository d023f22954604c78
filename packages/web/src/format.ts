const UNITS = ['bit/s', 'kbit/s', 'Mbit/s', 'Gbit/s', 'Tbit/s'] as const;

/** `1 Gbit/s`. */
export function bitrate(bps: number): string {
  let value = bps;
  let unit = 0;
  while (value >= 1_000 && unit < UNITS.length - 1) {
    value /= 1_000;
    unit += 1;
  }
  return `${Number(value.toPrecision(3))} ${UNITS[unit]}`;
}

const SIZES = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const;

/** `104 MiB`. */
export function bytes(count: number): string {
  let value = count;
  let unit = 0;
  while (value >= 1_024 && unit < SIZES.length - 1) {
    value /= 1_024;
    unit += 1;
  }
  return `${value < 10 && unit > 0 ? value.toFixed(1) : Math.round(value)} ${SIZES[unit]}`;
}

export const count = (value: number): string => value.toLocaleString('en');

const formats = new Map<string, Intl.DateTimeFormat>();

/**
 * Times in the zone of the person's choice, `local` or a name of IANA. Each format is made once: to make one takes
 * 50 µs, and a chart with a table writes thousands of times.
 */
export function timeFormat(
  locale: string,
  zone: string,
  options: Intl.DateTimeFormatOptions,
): Intl.DateTimeFormat {
  const key = JSON.stringify([locale, zone, options]);
  const known = formats.get(key);
  if (known) return known;
  const made = new Intl.DateTimeFormat(locale, {
    ...options,
    ...(zone === 'local' ? {} : { timeZone: zone }),
  });
  formats.set(key, made);
  return made;
}

const rules = new Intl.PluralRules('en');

/** `device` of one, `devices` of any other number. */
export const form = (value: number, one: string, more = `${one}s`): string =>
  rules.select(value) === 'one' ? one : more;

/** `1 device`, `2 devices`. */
export const plural = (value: number, one: string, more?: string): string =>
  `${count(value)} ${form(value, one, more)}`;

/** How a link was learnt: `fdb` is a forwarding database, the others are protocols of neighbours. */
export const protocolName = (protocol: string): string =>
  protocol === 'fdb' ? 'MAC table' : protocol.toUpperCase();
