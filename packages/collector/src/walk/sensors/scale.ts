/** The scale of a column, where the MIB states none or the device keeps another. Pure. */
import type { SensorKind } from '@rollcall/shared/sensors';
import { canBe, fromUnit } from './values.ts';

/** Voltages and frequencies that power supplies, batteries and lines have. */
const NOMINAL: Partial<Record<SensorKind, readonly number[]>> = {
  voltage: [
    1, 1.2, 1.5, 1.8, 2.5, 3.3, 5, 12, 13.6, 24, 27.2, 48, 54, 110, 115, 120, 208, 220, 230, 240, 277, 380,
    400,
  ],
  frequency: [50, 60],
};
const NEAR = 0.12;
const SUPPLY = 3.3;
const STEPS = [1, 0.1, 0.01, 0.001, 0.0001];
/** Lasers are measured in mA or µA. */
const METRIC = [1, 1e-3, 1e-6];
/** What a kind usually is; a scale that nothing states is chosen to stay within. */
const USUAL: Partial<Record<SensorKind, readonly [least: number, most: number]>> = {
  temperature: [-40, 130],
  voltage: [-450, 450],
  current: [-400, 400],
  humidity: [0, 100],
  frequency: [0, 70],
  'signal-power': [-36, 14],
};
/** No device is this cold throughout, °C; and how warm parts of one are. */
const COLD = 12;
const MOSTLY = 0.8;
/** No battery lasts so many minutes: they are seconds. */
const LONG_MIN = 1440;
const WARM: readonly [least: number, most: number] = [14, 110];

export interface ScaleStated {
  factor: number;
  guessed: boolean;
  unit?: 'F' | 'K' | 'mW';
  component?: string;
  /** What the values usually are, where they are more than of their kind. */
  within?: readonly [least: number, most: number];
}

/** Light that optics send, in dBm; what they receive may be much less. */
export const SENT: readonly [number, number] = [-12, 14];

/**
 * The step between the scale that its MIB states and that of a column: 1 where its values can be.
 * @param values raw × factor, of all its rows, without "no reading"
 */
export function stepOf(
  kind: SensorKind,
  values: readonly number[],
  { factor, guessed, unit, component, within: ownRange }: ScaleStated,
): number {
  const someAbove = values.some((value) => value > 0);
  // Optics without light say 0 or −1; a number far below what can be, beside sound ones, is no reading.
  const told = values.filter(
    (value) =>
      value !== 0 &&
      !(kind === 'signal-power' && value === -factor) &&
      !(someAbove && value < 0 && unit === undefined && !canBe(kind, value, component)),
  );
  if (told.length === 0) return 1;
  const possible = (step: number) => (value: number) => canBe(kind, fromUnit(value * step, unit), component);
  if (
    kind === 'temperature' &&
    unit === undefined &&
    factor < 1 &&
    told.every((value) => Math.abs(value) < COLD)
  ) {
    const whole = told.map((value) => value / factor);
    const warm = whole.filter((value) => value >= WARM[0] && value <= WARM[1]);
    if (whole.every((value) => value <= WARM[1]) && warm.length >= MOSTLY * whole.length) return 1 / factor;
  }
  // Transceivers run on 3.3 V.
  if (kind === 'voltage' && component === 'optics') {
    const step = STEPS.find((each) =>
      told.every((value) => Math.abs(value * each - SUPPLY) <= NEAR * SUPPLY),
    );
    if (step !== undefined) return step;
  }
  // Of most rows that can be the scale stays: one broken probe does not move the others.
  if (!guessed && told.filter(possible(1)).length * 2 > told.length) return 1;
  const isLaser = kind === 'current' && component === 'optics';
  const steps = isLaser ? METRIC : STEPS;
  const mostly = (step: number) => told.filter(possible(step)).length >= MOSTLY * told.length;
  const stated = steps.find(mostly) ?? 1;
  if (kind === 'runtime' && guessed) return told.some((value) => value > LONG_MIN) ? 1 / 60 : 1;
  const usual = isLaser ? undefined : (ownRange ?? USUAL[kind]);
  if (!guessed || usual === undefined || unit !== undefined)
    return stated === 1 || unit !== undefined ? stated : (nominalStep(kind, told) ?? stated);
  const within = (value: number) => value >= usual[0] && value <= usual[1];
  if (kind === 'signal-power') {
    if (component === 'wireless') return stated;
    const fits = (step: number) =>
      told.filter((value) => within(value * step)).length >= MOSTLY * told.length;
    return STEPS.find(fits) ?? stated;
  }
  if (told.every(within)) return 1;
  return (
    nominalStep(kind, told) ?? STEPS.find((step) => told.every((value) => within(value * step))) ?? stated
  );
}

/** The step by which most values come near to what lines and batteries have. */
export function nominalStep(kind: SensorKind, told: readonly number[]): number | undefined {
  const nominal = NOMINAL[kind];
  if (!nominal) return undefined;
  const near = (value: number) => nominal.some((each) => Math.abs(Math.abs(value) - each) <= NEAR * each);
  const hits = STEPS.map((step) => ({ step, hits: told.filter((value) => near(value * step)).length }));
  const [best] = hits.sort((a, b) => b.hits - a.hits || b.step - a.step);
  return best && best.hits * 2 > told.length ? best.step : undefined;
}
