import type { SensorMemory } from '../../walk/sensors/read.ts';

/** What is known of a device's sensors. */
export class SensorState {
  memory: SensorMemory = { plan: null, learntAt: 0, levels: new Set() };
  /** Next reading, monotonic milliseconds; the first is due with the first answer of the agent. */
  due = 0;
  readAt: number | null = null;
  /** The last reading told some. */
  hadSome = false;
  reading = false;
}
