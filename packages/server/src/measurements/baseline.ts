/**
 * What is usual of a device: round trip and loss of its pings in each hour of the week, learnt hour by hour, and from where
 * on they are unusual; and how many packets its interfaces carry. Pure. A link that is slow, noisy or lossy every week is usual so.
 */
import { THRESHOLDS, type Threshold } from '@rollcall/shared/api/sites';
import { PACKET_COUNTERS, type Series } from './series.ts';

const HOUR_MS = 3_600_000;
const HOURS_OF_WEEK = 168;

/** An hour of the week of a device, over the weeks in which it was measured. */
export interface Usual {
  /** Weeks. */
  weeks: number;
  /** Milliseconds: the middle, and how far the highest twentieth lies above it. Null: never answered. */
  rtt: number | null;
  rttSpread: number;
  /** Percent: the mean, and the standard deviation of a minute. */
  loss: number;
  lossSpread: number;
}

/** Weeks that count: what was before fades. */
const WEEKS = 4;
/** An hour of fewer intervals says nothing. */
const INTERVALS_LEAST = 10;
/** Fewer pings of an interval say nothing of loss. */
const PINGS_LEAST = 3;
/** Unusual is what lies so many spreads above; of one week twice as many, which know nothing of other weeks. */
const RTT_SPREADS = 4;
const LOSS_SPREADS = 3;
/** And so many times the middle at least: a route may change by a little for good. */
const RTT_PART = 2;
/** And so much more than the middle at least: on a short link nobody notices less. */
const RTT_MORE_MS = 20;
/** Loss is told from here on, however lossy a link usually is. */
const LOSS_MOST = 90;

/** The hour of the week, UTC, that an interval belongs to by its end; counted from the Unix epoch. */
export const hourOfWeek = (end: number): number => Math.floor((end - 1) / HOUR_MS) % HOURS_OF_WEEK;
/** The hours that say what is usual in one: itself first, and those beside it, because people and clocks move by an hour. */
export const besides = (hour: number): [number, number, number] => [
  hour,
  (hour + HOURS_OF_WEEK - 1) % HOURS_OF_WEEK,
  (hour + 1) % HOURS_OF_WEEK,
];

/** What is usual after one more week; null: nothing can be said yet. */
export function learn(before: Usual | null, { columns }: Series): Usual | null {
  const [sent = [], lost = [], mean = []] = [columns.sent, columns.lost, columns.avgMs];
  const rtts: number[] = [];
  const losses: number[] = [];
  for (const [i, pings] of sent.entries()) {
    const gone = lost[i] ?? 0;
    // None answered: it was down, which is no loss of a link.
    if (pings === null || pings < PINGS_LEAST || gone >= pings) continue;
    losses.push((gone * 100) / pings);
    const rtt = mean[i];
    if (typeof rtt === 'number') rtts.push(rtt);
  }
  if (losses.length < INTERVALS_LEAST) return before;
  const weeks = Math.min((before?.weeks ?? 0) + 1, WEEKS);
  // An hour of trouble is believed up to what was unusual: what lasts for weeks becomes usual, one bad night does not.
  const limits = before ? unusual([before]) : {};
  const faded = (old: number | null | undefined, now: number): number =>
    typeof old === 'number' ? old + (now - old) / weeks : now;
  const loss = Math.min(average(losses), limits.loss ?? 100);
  const rtt = rtts.length < INTERVALS_LEAST ? null : Math.min(at(rtts, 0.5), limits.latency ?? Infinity);
  return {
    weeks,
    loss: faded(before?.loss, loss),
    lossSpread: faded(
      before?.lossSpread,
      Math.max(deviation(losses), Math.abs(loss - (before?.loss ?? loss))),
    ),
    rtt: rtt === null ? (before?.rtt ?? null) : faded(before?.rtt, rtt),
    rttSpread:
      rtt === null
        ? (before?.rttSpread ?? 0)
        : faded(
            before?.rtt == null ? null : before.rttSpread,
            Math.max(at(rtts, 0.95) - at(rtts, 0.5), Math.abs(rtt - (before?.rtt ?? rtt))),
          ),
  };
}

/** From where on a device is told, by what is usual in these hours. Absent: not known. */
export function unusual(hours: readonly Usual[]): Partial<Record<Threshold, number>> {
  const latencies = hours.flatMap(({ rtt, rttSpread, weeks }) =>
    rtt === null
      ? []
      : [Math.max(rtt + RTT_SPREADS * (1 + 1 / weeks) * rttSpread, rtt * RTT_PART, rtt + RTT_MORE_MS)],
  );
  const losses = hours.map(({ loss, lossSpread, weeks }) =>
    Math.max(loss + LOSS_SPREADS * (1 + 1 / weeks) * lossSpread, THRESHOLDS.loss),
  );
  return {
    ...(latencies.length > 0 && { latency: rounded(Math.max(...latencies)) }),
    ...(losses.length > 0 && { loss: rounded(Math.min(Math.max(...losses), LOSS_MOST)) }),
  };
}

/** What an interface carries in its quietest hour, packets a second, and over how many hours that is known. */
export interface Traffic {
  least: number;
  hours: number;
}

/** Measured hours in a row with traffic until it counts as usual: an interface that works at certain hours only is not told. */
const HOURS_LEAST = 24;

/** After one more hour; null: an hour without traffic, and all begins anew. About the same is the same: rarely written. */
export function learnTraffic(before: Traffic | null, { over, columns }: Series): Traffic | null {
  let [packets, ms] = [0, 0];
  for (const [i, overMs] of over.entries()) {
    const known = PACKET_COUNTERS.flatMap((column) => columns[column]?.[i] ?? []);
    packets += known.reduce((sum, growth) => sum + growth, 0);
    ms += known.length === 0 ? 0 : overMs;
  }
  if (ms === 0) return before;
  if (packets === 0) return null;
  const now = Number(((packets * 1000) / ms).toPrecision(2));
  const hours = Math.min((before?.hours ?? 0) + 1, HOURS_LEAST);
  if (before === null || now < before.least) return { least: now, hours };
  // One busy hour is not what is usual.
  return { least: now > before.least * 2 ? before.least * 2 : before.least, hours };
}

/** Packets a second that are usual; null: not known, or there is not always traffic. */
export const usualPackets = (traffic: Traffic | undefined): number | null =>
  traffic && traffic.hours >= HOURS_LEAST ? traffic.least : null;

const rounded = (value: number): number => Math.ceil(value * 10) / 10;
const average = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;
function deviation(values: readonly number[]): number {
  const mean = average(values);
  return Math.sqrt(average(values.map((value) => (value - mean) ** 2)));
}
/** The value that so large a part lies below. */
function at(values: readonly number[], part: number): number {
  const sorted = [...values].sort((x, y) => x - y);
  return sorted[Math.floor((sorted.length - 1) * part)] ?? 0;
}
