/** Health as tables keep it: a rank, what is wrong first, so that lists and indexes are in its order. */
import type { SensorStatus } from '@rollcall/shared/sensors';

const RANKS: readonly SensorStatus[] = ['critical', 'warning', 'unknown', 'ok'];

export const rankOf = (health: SensorStatus): number => RANKS.indexOf(health);
export const healthOf = (rank: number): SensorStatus => RANKS[rank] ?? 'unknown';

/** Of a thing with these parts: what nothing judges makes no device better or worse. */
export const worstOf = (parts: readonly SensorStatus[]): SensorStatus =>
  (['critical', 'warning', 'ok'] as const).find((health) => parts.includes(health)) ?? 'unknown';
