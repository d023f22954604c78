/** Readers of single flags: each says what it wants when it does not get it. */
import { InvalidArgumentError } from 'commander';
import type { Rate } from '../runner/pace.ts';

export const whole =
  (least: number, most: number) =>
  (text: string): number => {
    const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= least && value <= most) return value;
    throw new InvalidArgumentError(`must be a whole number from ${least} to ${most}.`);
  };

export const rate = (text: string): Rate => (text === 'max' ? 'max' : whole(1, 1_000_000)(text));

export const repeated = (text: string, before: string[] | undefined): string[] => [...(before ?? []), text];

export const oneOf =
  <T extends string>(allowed: readonly T[]) =>
  (text: string): T => {
    const found = allowed.find((each) => each === text);
    if (found !== undefined) return found;
    throw new InvalidArgumentError(`must be one of ${allowed.join(', ')}.`);
  };
