/** Numbers of readings out of what agents answer, and whether they can be. Pure. */
import type { SensorKind } from '@rollcall/shared/sensors';
import type { Varbind } from '@rollcall/snmp/message/pdu';
import { textOf } from '../text.ts';

/** Column → index → value: what was read of a device. */
export class Values {
  readonly #columns = new Map<string, Map<string, Varbind>>();

  put(column: string, index: string, varbind: Varbind): void {
    let rows = this.#columns.get(column);
    if (!rows) {
      rows = new Map();
      this.#columns.set(column, rows);
    }
    rows.set(index, varbind);
  }

  column(oid: string): ReadonlyMap<string, Varbind> {
    return this.#columns.get(oid) ?? NOTHING;
  }

  has(oid: string): boolean {
    return this.#columns.has(oid);
  }

  number(column: string, index: string): number | undefined {
    const varbind = this.column(column).get(index);
    return varbind && shownBy(varbind)?.value;
  }

  text(column: string, index: string): string | undefined {
    const varbind = this.column(column).get(index);
    return varbind && textIn(varbind);
  }
}
const NOTHING: ReadonlyMap<string, Varbind> = new Map();

/** Text that can be shown, trimmed; undefined where it is blank or none. */
export function textIn({ type, value }: Varbind): string | undefined {
  if (type !== 'octets') return undefined;
  const text = textOf(value).replace(/\s+/g, ' ').trim();
  return text === '' || /\\x[0-9a-f]{2}|\ufffd/.test(text) ? undefined : text.slice(0, 200);
}

/** A number as the agent shows it, with the unit and decimals that its text has. */
export interface Shown {
  value: number;
  /** Unit behind the number of a text. */
  unit?: string;
  /** The text has a decimal point: it needs no scale. */
  decimal?: true;
}

/** Octets of the largest text that is a number. */
const NUMBER_MOST = 120;
const NUMBER = /^([-+]?(?:\d+(?:\.\d+)?|\.\d+)(?:e[-+]?\d+)?)(?![.:\d]|-\d)\s*([^\d,;/()]{0,16})/i;

export function shownBy(varbind: Varbind): Shown | undefined {
  const { type, value } = varbind;
  if (typeof value === 'number') return { value };
  if (type === 'counter64') return { value: Number(value) };
  if (type === 'opaque') return floatOf(value);
  if (type !== 'octets' || value.length > NUMBER_MOST) return undefined;
  const text = textIn(varbind);
  // What stands before a colon names the sensor.
  const found = text === undefined ? null : NUMBER.exec(text.slice(text.lastIndexOf(': ') + 1).trim());
  if (!found) return undefined;
  // `5 Secs (35.1%)`: a share over some time.
  const share = found[2] && !unitOf(found[2]) ? /(\d+(?:\.\d+)?) ?%/.exec(text ?? '')?.[1] : undefined;
  if (share !== undefined) return { value: Number(share), unit: '%', decimal: true };
  const unit = found[2] ? { unit: found[2].trim() } : {};
  return { value: Number(found[1]), ...unit, ...(found[1]?.includes('.') ? { decimal: true } : {}) };
}

/** Opaque float and double as net-snmp wraps them: 9f 78 04, 9f 79 08. */
function floatOf(octets: Buffer): Shown | undefined {
  const isFloat = octets.length === 7 && octets[0] === 0x9f && octets[1] === 0x78;
  const isDouble = octets.length === 11 && octets[0] === 0x9f && octets[1] === 0x79;
  if (!isFloat && !isDouble) return undefined;
  const value = isFloat ? octets.readFloatBE(3) : octets.readDoubleBE(3);
  return Number.isFinite(value) ? { value: Number(value.toPrecision(7)), decimal: true } : undefined;
}

/** Units as texts name them → kind, and factor into the kind's unit. */
const UNITS: readonly [RegExp, SensorKind, number | 'F' | 'K' | 'mW'][] = [
  [/^(°|deg|degrees?)?\.? ?c(el(sius)?)?( |$)|^celsius|degrees? ?c/i, 'temperature', 1],
  [/^(°|deg|degrees?)?\.? ?f(ahrenheit)?$|^fahrenheit|degrees? ?f/i, 'temperature', 'F'],
  [/^kelvin$/i, 'temperature', 'K'],
  [/^(%|percent) ?rh$|^rh ?%?$|humid/i, 'humidity', 1],
  [/^(mv|milli ?volts?)$/i, 'voltage', 1e-3],
  [/^(v|volts?|vac|vdc|volts? ?[ad]c|v ?[ad]c|volts?rms|v ?rms)$/i, 'voltage', 1],
  [/^kv$/i, 'voltage', 1e3],
  [/^(ma|milli ?amps?|milli ?amperes?)$/i, 'current', 1e-3],
  [/^(ua|µa|micro ?amps?|micro ?amperes?)$/i, 'current', 1e-6],
  [/^(a|amps?|amperes?|a ?[ad]c|amps? ?[ad]c|a ?rms)$/i, 'current', 1],
  [/^(mw|milli ?watts?)$/, 'power', 1e-3],
  [/^(uw|µw|micro ?watts?)$/i, 'power', 1e-6],
  [/^(w|watts?|va|volt-?amps?)$/i, 'power', 1],
  [/^(kw|kva|kilo ?watts?)$/i, 'power', 1e3],
  [/^(kwh|kilo ?watt ?-?hours?)$/i, 'energy', 1],
  [/^(wh|watt ?-?hours?)$/i, 'energy', 1e-3],
  [/^(hz|hertz)$/i, 'frequency', 1],
  [/^khz$/i, 'frequency', 1e3],
  [/^mhz$/i, 'frequency', 1e6],
  [/^rpm$|^revolutions/i, 'fan', 1],
  [/^dbm$/i, 'signal-power', 1],
  [/^db$/i, 'snr', 1],
  [/^cfm$|^cubic ?feet/i, 'airflow', 1],
  [/^kpa$/i, 'pressure', 1],
  [/^pa$|^pascals?$/i, 'pressure', 1e-3],
  [/^(bits?\/s|bps)$/i, 'bitrate', 1],
  [/^k(bits?\/s|bps)$/i, 'bitrate', 1e3],
  [/^m(bits?\/s|bps)$/i, 'bitrate', 1e6],
  [/^g(bits?\/s|bps)$/i, 'bitrate', 1e9],
  [/^ps\/nm$/i, 'chromatic-dispersion', 1],
  [/^(min|minutes?|mins)$/i, 'runtime', 1],
  [/^(%|percent|pct)$/i, 'percent', 1],
];

/** What a unit in words says; undefined: not known. */
export function unitOf(
  text: string,
): { kind: SensorKind; factor: number; unit?: 'F' | 'K' | 'mW' } | undefined {
  const found = UNITS.find(([pattern]) => pattern.test(text.trim()));
  if (!found) return undefined;
  const [, kind, factor] = found;
  return typeof factor === 'number' ? { kind, factor } : { kind, factor: 1, unit: factor };
}

/** Values of a kind that can be, in its unit. */
const RANGE: Partial<Record<SensorKind, readonly [least: number, most: number]>> = {
  temperature: [-60, 150],
  humidity: [0, 100],
  voltage: [-1200, 5000],
  current: [-2000, 20_000],
  power: [-100_000, 5_000_000],
  energy: [0, 1e12],
  frequency: [0, 1e12],
  fan: [0, 60_000],
  'signal-power': [-140, 60],
  snr: [-50, 130],
  'power-factor': [-1, 1],
  bitrate: [0, 1e15],
  'chromatic-dispersion': [-1e6, 1e6],
  processor: [0, 100],
  memory: [0, 100],
  storage: [0, 110],
  load: [0, 400],
  charge: [0, 110],
  percent: [-1000, 1000],
  runtime: [0, 525_600],
  supply: [0, 100],
};

/** Optics measure less than radios. */
const OPTICS: readonly [number, number] = [-50, 40];
/** Currents of lasers are milliamperes. */
const BIAS: readonly [number, number] = [0, 1];

export const canBe = (kind: SensorKind, value: number, component?: string): boolean => {
  const range =
    kind === 'signal-power' && component !== 'wireless'
      ? OPTICS
      : kind === 'current' && component === 'optics'
        ? BIAS
        : RANGE[kind];
  return Number.isFinite(value) && (!range || (value >= range[0] && value <= range[1]));
};

/** Largest and smallest numbers of 32, 31 and 16 bits, which stand for "no reading". */
const MARKERS = new Set([
  2147483647, -2147483648, 4294967295, -2147483647, 2147483646, 65535, -65535, 32767, -32768, -32767,
  // The same in tenths.
  327670, -327680, 655350,
]);
/** Kinds whose numbers get that large by themselves. */
const LARGE = new Set<SensorKind>(['count', 'energy', 'memory', 'storage', 'frequency', 'power', 'bitrate']);
const NEGATIVE = new Set<SensorKind>([
  'temperature',
  'voltage',
  'current',
  'power',
  'signal-power',
  'snr',
  'power-factor',
  'chromatic-dispersion',
  'count',
  'percent',
]);

/** Whether the raw number says that there is no reading. */
export function isMarker(kind: SensorKind, raw: number): boolean {
  if (MARKERS.has(raw)) return !LARGE.has(kind) || Math.abs(raw) > 2147483640;
  // What a byte holds at most, and least.
  if (kind === 'temperature' && (raw === 255 || raw === -255 || raw === -128 || raw === -127)) return true;
  if (/^-?9{3,}(\.9+)?$/.test(String(raw)) && (kind === 'temperature' || kind === 'signal-power'))
    return true;
  return raw < 0 && !NEGATIVE.has(kind);
}

/** What optics show that receive no light: a level that none measures, as −40, −99.9 or −100 dBm in any scale. */
export const isDark = (raw: number): boolean =>
  raw < 0 && /^-(40+|9+0*|10+)$/.test(String(raw).replace('.', ''));

export const fromUnit = (value: number, unit: 'F' | 'K' | 'mW' | undefined): number => {
  if (unit === 'F') return ((value - 32) * 5) / 9;
  if (unit === 'K') return value - 273.15;
  // No light is no number in dBm: the least that optics measure.
  if (unit === 'mW') return value > 0 ? 10 * Math.log10(value * 1000) : -40;
  return value;
};

/** Six digits are more than any sensor measures. */
export const rounded = (value: number): number => Number(value.toPrecision(Math.abs(value) >= 1e6 ? 12 : 6));
