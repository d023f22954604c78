const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
export const CRON_EXAMPLES = [
  '30 2 * * *',
  '0 * * * *',
  '*/15 * * * *',
  '30 2 * * 1-5',
  '0 4 * * 0',
  '0 4 1 * *',
];

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
    if (step) return `every ${step} minutes`;
  }
  const everyHours = /^\*\/(\d+)$/.exec(hour ?? '')?.[1];
  if (everyDay && everyHours && isNumber(minute)) return `every ${everyHours} hours at ${minute} past`;
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
