import type { Summary } from '@rollcall/shared/api/service';
import { describe, expect, it } from 'vitest';
import { type Facts, nextOf, stepsOf } from './steps.ts';

const facts = (
  more: Partial<Omit<Facts, 'summary'>> & { online?: number; total?: number; monitored?: number } = {},
): Facts => {
  const { online = 0, total = 0, monitored = 0, ...counts } = more;
  const summary = {
    collectors: { online, offline: 0, quarantined: 0 },
    devices: { total, monitored, up: 0, down: 0, unknown: 0 },
  } as Summary;
  return {
    summary,
    sites: 0,
    collectors: 0,
    credentials: 0,
    scans: 0,
    subscriptions: 0,
    users: 1,
    ...counts,
  };
};

describe('the first steps', () => {
  const site = { sites: 1 };
  const collector = { ...site, collectors: 1, online: 1 };
  const credentials = { ...collector, credentials: 2 };
  const scan = { ...credentials, scans: 1, total: 12 };
  const monitored = { ...scan, monitored: 3 };
  it.each([
    ['nothing there', {}, 'site'],
    ['a site', site, 'collector'],
    ['a collector that is offline', { ...collector, online: 0 }, 'collector'],
    ['a collector online', collector, 'credentials'],
    ['credentials', credentials, 'scan'],
    ['a scan of one address, to try credentials', { ...credentials, scans: 1, total: 1 }, 'scan'],
    ['devices', scan, 'monitor'],
    ['monitored ones', monitored, 'tell'],
    ['a subscription', { ...monitored, subscriptions: 1 }, 'people'],
    [
      'a second person; a second collector is no need',
      { ...monitored, subscriptions: 1, users: 2 },
      undefined,
    ],
  ])('%s: next is %s', (_, given, next) => {
    expect(nextOf(stepsOf(facts(given)))?.id).toBe(next);
  });
});
