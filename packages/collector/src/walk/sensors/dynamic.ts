/** Readings whose kind, unit or scale the same row says in other columns. Pure. */
import type { SensorKind } from '@rollcall/shared/sensors';
import type { Varbind } from '@rollcall/snmp/message/pdu';
import type { By, Reading } from './catalogue.ts';
import { fromUnit, isMarker, type Shown, shownBy, textIn, unitOf } from './values.ts';

/** Words of scale → power of ten, as entPhySensorScale has them (RFC 3433). */
const PREFIXES: Record<string, number> = {
  pico: -12,
  nano: -9,
  micro: -6,
  milli: -3,
  centi: -2,
  deci: -1,
  units: 0,
  unit: 0,
  deca: 1,
  kilo: 3,
  mega: 6,
  giga: 9,
};

/**
 * What a row says; whether it can be, and whether all of the column keep another scale, is for the caller to see.
 * @param at the value of a column in the same row
 * @param name what the row is called: it may be all that tells the kind
 */
export function dynamicReading(
  { by = {} }: Reading,
  shown: Shown,
  name: string,
  at: (oid: string) => Varbind | undefined,
): { kind: SensorKind; value: number } | undefined {
  const said = (what: By): string | undefined => {
    const column = by[what];
    const varbind = column && at(column.oid);
    if (!varbind) return undefined;
    return typeof varbind.value === 'number' && column.labels
      ? column.labels[String(varbind.value)]
      : (textIn(varbind) ?? (typeof varbind.value === 'number' ? String(varbind.value) : undefined));
  };
  const words = [said('unit'), said('unitText'), said('type')];
  // A row that leaves its unit empty measures nothing, whatever it is called.
  const isTold = by.type ?? by.unit ?? (by.unitText && at(by.unitText.oid));
  const unit =
    unitIn([...words, shown.unit]) ?? kindIn(words.join(' ')) ?? (isTold ? undefined : kindIn(name));
  if (!unit || isMarker(unit.kind, shown.value)) return undefined;
  const exponent = exponentOf(said('scale')) - precisionOf(by.precision && at(by.precision.oid));
  const value = fromUnit(
    shown.decimal ? shown.value * unit.factor : shown.value * 10 ** exponent * unit.factor,
    unit.unit,
  );
  return { kind: unit.kind, value };
}

function unitIn(words: readonly (string | undefined)[]): ReturnType<typeof unitOf> {
  for (const word of words) {
    const found =
      word === undefined
        ? undefined
        : (unitOf(word) ?? unitOf(word.replace(/([a-z])([A-Z])/g, '$1 $2')) ?? scaledUnit(word));
    if (found) return found;
  }
  return undefined;
}

/** `tenthsVolts`, `0.1 A`, `deciDegC`: a unit with its scale before it. */
function scaledUnit(word: string): ReturnType<typeof unitOf> {
  const found = /^(0?\.0*1|tenths?|hundredths?|thousandths?|deci|centi|milli)(?:of)?[\s-]*(.+)$/i.exec(word);
  const unit = found && unitOf(found[2] as string);
  if (!unit) return undefined;
  const [, scale = ''] = found;
  const factor =
    Number(scale) || (/^t(enth)|^deci/i.test(scale) ? 0.1 : /^hundredth|^centi/i.test(scale) ? 0.01 : 0.001);
  return { ...unit, factor: unit.factor * factor };
}

function exponentOf(scale: string | undefined): number {
  if (scale === undefined) return 0;
  const named = PREFIXES[scale.toLowerCase()];
  if (named !== undefined) return named;
  const number = Number(scale);
  if (!Number.isFinite(number) || number === 0) return 0;
  // A power of ten, or a divisor.
  if (number < 0 && number > -10) return number;
  const power = Math.log10(Math.abs(number));
  return Number.isInteger(power) ? -power : 0;
}

function precisionOf(varbind: Varbind | undefined): number {
  const digits = varbind && shownBy(varbind)?.value;
  // Some state the exponent, which is negative.
  return digits !== undefined && Math.abs(digits) <= 9 ? Math.abs(digits) : 0;
}

/** Kinds that names of sensors tell. */
const NAMED: readonly [RegExp, SensorKind][] = [
  [/\b[rt]x ?power|optical power/i, 'signal-power'],
  [/temp|thermal|°c/i, 'temperature'],
  [/\bfan(?! ?(ok|status))|rpm|blower/i, 'fan'],
  [/volt(?! ?ok)|\bvcc|\b[+-]?\d+(\.\d+)? ?v\b|\dV\d/i, 'voltage'],
  [/humid/i, 'humidity'],
  [/\bamps?\b|current|\bbias\b/i, 'current'],
  [/watt|power(?! supply)/i, 'power'],
];
const kindIn = (name: string): ReturnType<typeof unitOf> => {
  const words = name.replace(/([a-z\d])([A-Z])/g, '$1 $2');
  const kind = NAMED.find(([pattern]) => pattern.test(words))?.[1];
  return kind && { kind, factor: 1 };
};
