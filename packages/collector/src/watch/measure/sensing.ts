/**
 * The sensors of a device, read every few minutes behind a reading of its interfaces, and told in samples of their own.
 * Apart from that reading, because nobody who waits for it should wait for them.
 */
import { type Clock, wallTime } from '@rollcall/shared/clock';
import { SAMPLE_SENSORS, type SensorReading } from '@rollcall/shared/sensors';
import type { Session } from '@rollcall/snmp/engine/session';
import { inParts } from '../../walk/parts.ts';
import { readSensors, type SensorsRead } from '../../walk/sensors/read.ts';
import { onGrid } from '../due-queue.ts';
import type { ReportQueue } from '../report-queue.ts';
import type { Target } from '../target.ts';
import { intervalFor } from './pace.ts';

/** How often sensors are read. */
const SENSORS_MS = 300_000;
/** An agent may be busy with its sensors a quarter of what it may be with its interfaces. */
const SHARE = 4;
/** What the sensors of one device may cost: rows of a column, octets, time. */
const BUDGET = { rows: 2_000, bytes: 4 << 20, ms: 20_000 };
/** Devices whose sensors are read at once: each holds its values until it is done. */
const AT_ONCE = 64;
/** Of the sensors of one observation. */
const PART = { bytesMost: 80 * 1024, itemsMost: SAMPLE_SENSORS };

export class Sensing {
  readonly #clock: Pick<Clock, 'now' | 'monotonic'>;
  readonly #queue: Pick<ReportQueue, 'add' | 'isFull'>;
  #reading = 0;

  constructor(clock: Pick<Clock, 'now' | 'monotonic'>, queue: Pick<ReportQueue, 'add' | 'isFull'>) {
    this.#clock = clock;
    this.#queue = queue;
  }

  /** The agent has just answered in this session. Reads its sensors where that is due. Never rejects. */
  async answered(target: Target, session: Session, restarted: boolean): Promise<void> {
    const { sensors } = target;
    const now = this.#clock.monotonic();
    // After a start other parts may be in it.
    if (restarted) sensors.memory.plan = null;
    if (now < sensors.due || sensors.reading || this.#reading >= AT_ONCE || this.#queue.isFull) return;
    sensors.reading = true;
    this.#reading += 1;
    try {
      const read = await readSensors(session, { budget: BUDGET, memory: sensors.memory });
      const done = this.#clock.monotonic();
      sensors.due = onGrid(done, intervalFor(SENSORS_MS, SHARE * (done - now)), target.phase);
      if (!target.gone) this.#tell(target, now, read);
    } finally {
      sensors.reading = false;
      this.#reading -= 1;
    }
  }

  #tell({ deviceId, sensors }: Target, at: number, { sensors: found, complete }: SensorsRead): void {
    // That there are none is told where there were some.
    if (found.length === 0 && (!complete || !sensors.hadSome)) return;
    sensors.hadSome = found.length > 0;
    const overMs = Math.max(1, Math.round(sensors.readAt === null ? SENSORS_MS : at - sensors.readAt));
    sensors.readAt = at;
    const parts = partsOf(found);
    for (const [i, part] of parts.entries())
      this.#queue.add({
        kind: 'samples',
        at: wallTime(this.#clock, at),
        deviceId,
        overMs: Math.min(overMs, DAY_MS),
        sensors: part,
        ...(i === parts.length - 1 ? { sensorsComplete: complete } : {}),
      });
  }
}

const DAY_MS = 86_400_000;

export const partsOf = (sensors: readonly SensorReading[]): SensorReading[][] => inParts(sensors, PART);
