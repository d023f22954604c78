import { plural } from './format.ts';

export const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const two = (text: string): string => text.padStart(2, '0');
const isNumber = (text: string | undefined): text is string => text !== undefined && /^\d{1,2}$/.test(text);

/** The usual cron lines in words; an unusual one as it stands. */
export function cronInWords(cron: string): string {
  const [minute, hour, day, month, weekday, rest] = cron.trim().split(/\s+/);
  if (weekday === undefined || rest !== undefined) return 'five fields: minute, hour, day, month, weekday';
  const everyDay = day === '*' && month === '*' && weekday === '*';
  if (everyDay && hour === '*') {
    if (minute === '*') return 'every minute';
    if (isNumber(minute)) return minute === '0' ? 'every hour' : `every hour at ${minute} past`;
    const step = /^\*\/(\d+)$/.exec(minute ?? '')?.[1];
    if (step) return step === '1' ? 'every minute' : `every ${plural(Number(step), 'minute')}`;
  }
  const everyHours = /^\*\/(\d+)$/.exec(hour ?? '')?.[1];
  if (everyDay && everyHours && isNumber(minute))
    return `every ${everyHours === '1' ? 'hour' : plural(Number(everyHours), 'hour')} at ${minute} past`;
  if (!isNumber(minute) || !isNumber(hour) || month !== '*') return cron;
  const at = `at ${two(hour)}:${two(minute)}`;
  if (everyDay) return `every day ${at}`;
  if (day === '*' && weekday === '1-5') return `Monday to Friday ${at}`;
  if (day === '*' && /^[0-7](,[0-7])*$/.test(weekday))
    return `${weekday
      .split(',')
      .map((one) => DAYS[Number(one) % 7])
      .join(', ')} ${at}`;
  if (isNumber(day) && weekday === '*') return `on day ${day} of the month ${at}`;
  return cron;
}

export const EVERY = ['hour', 'day', 'workday', 'week', 'month', 'cron'] as const;
/** A cron line as people choose it; `cron`: none of the usual ones. */
export interface Recurrence {
  every: (typeof EVERY)[number];
  /** `02:30`; of an hour only its minutes count. */
  time: string;
  /** Of a week: 0 is Sunday. */
  weekdays: number[];
  /** Of a month. */
  day: number;
}

export function readCron(cron: string): Recurrence {
  const usual: Recurrence = { every: 'cron', time: '02:30', weekdays: [0], day: 1 };
  const [minute, hour, day, month, weekday, rest] = cron.trim().split(/\s+/);
  if (rest !== undefined || month !== '*' || !isNumber(minute) || weekday === undefined) return usual;
  if (hour === '*')
    return day === '*' && weekday === '*' ? { ...usual, every: 'hour', time: `00:${two(minute)}` } : usual;
  if (!isNumber(hour)) return usual;
  const at = { ...usual, time: `${two(hour)}:${two(minute)}` };
  if (isNumber(day) && weekday === '*') return { ...at, every: 'month', day: Number(day) };
  if (day !== '*') return usual;
  if (weekday === '*') return { ...at, every: 'day' };
  if (weekday === '1-5') return { ...at, every: 'workday' };
  if (!/^[0-7](,[0-7])*$/.test(weekday)) return usual;
  const weekdays = [...new Set(weekday.split(',').map((one) => Number(one) % 7))].sort();
  return { ...at, every: 'week', weekdays };
}

/** The cron line; `cron` itself has none. */
export function writeCron({ every, time, weekdays, day }: Recurrence): string {
  const [hour = 0, minute = 0] = time.split(':').map(Number);
  const at = `${minute} ${hour}`;
  switch (every) {
    case 'hour':
      return `${minute} * * * *`;
    case 'day':
      return `${at} * * *`;
    case 'workday':
      return `${at} * * 1-5`;
    case 'week':
      return `${at} * * ${weekdays.length > 0 ? weekdays.join() : '0'}`;
    case 'month':
      return `${at} ${day} * *`;
    case 'cron':
      return '';
  }
}
