/**
 * What pings over a line meet, as a pure function of box and time. The line to the branch in the north is full, so it
 * loses some and makes the others wait, at work more than at night.
 */

export interface Line {
  /** Share of the pings that get lost, and how much longer the others take, ms. */
  loss: number;
  delayMs: number;
}

const DAY = 86_400;
const CREST = 13 * 3600;
const SHORT = 613;
const wave = (time: number, period: number): number =>
  (1 + Math.cos((2 * Math.PI * (time - CREST)) / period)) / 2;

/** The box at the far end of the line. */
const BRANCH = 'branch-1';

/** @param time local time, seconds. Null: nothing happens on the way to this box */
export function lineTo(box: string, time: number): Line | null {
  if (box !== BRANCH) return null;
  const busy = wave(time, DAY);
  return { loss: 0.15 + 0.15 * busy, delayMs: 25 + 40 * busy + 10 * wave(time, SHORT) };
}
