/** When a subscription is told: hours of days of the week, by the clock on the wall of its time zone. Pure. */
import type { SubscriptionHours } from '@rollcall/shared/api/subscriptions';

const DAY = 24 * 60;
const DAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];

/** Hours that end before they begin end on the next day; such that begin and end alike are whole days. */
export function isWithin(hours: SubscriptionHours | null, at: number): boolean {
  if (hours === null) return true;
  const { timezone, days, from, to } = hours;
  const { day, minute } = wallTime(timezone, at);
  const begin = minuteOf(from);
  const length = (minuteOf(to) - begin + DAY) % DAY || DAY;
  const yesterday = day === 1 ? 7 : day - 1;
  return (
    (days.includes(day) && minute >= begin && minute < begin + length) ||
    (days.includes(yesterday) && minute + DAY < begin + length)
  );
}

const minuteOf = (time: string): number => Number(time.slice(0, 2)) * 60 + Number(time.slice(3));

/** One per time zone: to make one takes far longer than to use it. */
const clocks = new Map<string, Intl.DateTimeFormat>();

function clockOf(timezone: string): Intl.DateTimeFormat {
  let clock = clocks.get(timezone);
  if (!clock) {
    clock = new Intl.DateTimeFormat('en', {
      ...{ timeZone: timezone, weekday: 'short', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' },
    });
    clocks.set(timezone, clock);
  }
  return clock;
}

/** Day of the week, 1 is Monday, and minute of the day. */
function wallTime(timezone: string, at: number): { day: number; minute: number } {
  const parts = clockOf(timezone).formatToParts(at);
  const part = (type: string) => parts.find((each) => each.type === type)?.value ?? '';
  return {
    day: DAYS.indexOf(part('weekday')) + 1,
    minute: Number(part('hour')) * 60 + Number(part('minute')),
  };
}
