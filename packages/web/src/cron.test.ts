import { expect, it } from 'vitest';
import { cronInWords, readCron, writeCron } from './cron.ts';

it.each([
  ['30 2 * * *', 'every day at 02:30'],
  ['0 * * * *', 'every hour'],
  ['7 * * * *', 'every hour at 7 past'],
  ['*/15 * * * *', 'every 15 minutes'],
  ['0 */6 * * *', 'every 6 hours at 0 past'],
  ['30 2 * * 1-5', 'Monday to Friday at 02:30'],
  ['0 4 * * 0', 'Sunday at 04:00'],
  ['0 4 * * 7', 'Sunday at 04:00'],
  ['0 4 * * 2,4', 'Tuesday, Thursday at 04:00'],
  ['0 4 1 * *', 'on day 1 of the month at 04:00'],
  ['0 4 1 6 *', '0 4 1 6 *'],
  ['0 4-6 * * *', '0 4-6 * * *'],
  ['whenever', 'five fields: minute, hour, day, month, weekday'],
])('%j reads %j', (cron, words) => {
  expect(cronInWords(cron)).toBe(words);
});

it.each([
  ['0 * * * *', 'hour'],
  ['30 2 * * *', 'day'],
  ['5 22 * * 1-5', 'workday'],
  ['0 4 * * 0', 'week'],
  ['0 4 * * 2,4', 'week'],
  ['15 4 31 * *', 'month'],
])('%j is chosen as every %s, and written as it was', (cron, every) => {
  expect(readCron(cron).every).toBe(every);
  expect(writeCron(readCron(cron))).toBe(cron);
});

it.each(['*/15 * * * *', '0 4 1 6 *', '0 4-6 * * *', '0 4 1 * 1', '0 * 1 * *', '* * * * *', 'whenever', ''])(
  '%j is for the advanced',
  (cron) => expect(readCron(cron).every).toBe('cron'),
);
