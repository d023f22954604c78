/**
 * What the sensors of a box show, as a pure function of box, sensor and time: the afternoon is warmer than the night, and
 * a working day loads processors and memory.
 */
import type { Device } from './device.ts';
import { digest } from './seed.ts';

const DAY = 86_400;
/** Seconds of the day's crest, and of the short waves on it. */
const CREST = 15 * 3600;
const SHORT = 540;

interface Course {
  /** On average over a day. */
  mean: number;
  /** Height of the day's wave, and of the short one. */
  day: number;
  short: number;
}

/** @param time local time, seconds */
export function shown(device: Device, sensor: string, { mean, day, short }: Course, time: number): number {
  const shift = digest(`${device.name} ${sensor} crest`, 3600) - 1800;
  const turn = (period: number) => (2 * Math.PI * (time - CREST - shift)) / period;
  return mean + day * Math.cos(turn(DAY)) + short * Math.cos(turn(SHORT));
}
