import type { Event } from '@rollcall/shared/api/incidents';
import { describe, expect, it } from 'vitest';
import { behindText, courseOf, impactText, isRootDown, worstFirst } from './course.ts';

const event = (kind: string, deviceId: string, firstSeen: number, acknowledgedAt: number | null = null) =>
  ({ kind, deviceId, firstSeen, acknowledgedAt }) as Event;
const open = { createdAt: 1_060, resolvedAt: null, closedAt: null };

it('lists the events of a case worst first, those that are over last', () => {
  const of = (name: string, status: Event['status'], severity: Event['severity'], firstSeen: number) => ({
    ...{ name, status, severity, firstSeen },
  });
  const events = [
    of('over', 2, 1, 10),
    of('behind, later', 0, 4, 30),
    of('acknowledged', 1, 2, 20),
    of('root', 0, 2, 15),
    of('behind', 0, 4, 12),
  ];
  expect(worstFirst(events).map(({ name }) => name)).toEqual([
    'root',
    'acknowledged',
    'behind',
    'behind, later',
    'over',
  ]);
});

describe('the course of a case', () => {
  it('begins with its first event and lasts until now', () => {
    const events = [event('device.unreachable', 'b', 1_030), event('device.down', 'a', 1_000)];
    expect(courseOf({ ...open, events }, 1_600)).toEqual({
      begunAt: 1_000,
      lasted: 600,
      over: false,
      acknowledgedAfter: null,
      down: 1,
      unreachable: 1,
    });
  });
  it('ends when it was resolved, else when it was closed', () => {
    const events = [event('device.down', 'a', 1_000)];
    expect(courseOf({ ...open, resolvedAt: 1_300, closedAt: 1_400, events }, 9_999)).toMatchObject({
      lasted: 300,
      over: true,
    });
    expect(courseOf({ ...open, closedAt: 1_400, events }, 9_999)).toMatchObject({ lasted: 400, over: true });
  });
  it('counts each device once, and the first acknowledgement', () => {
    const events = [
      event('device.down', 'a', 1_000, 1_500),
      event('device.down', 'a', 1_200, 1_240),
      event('interface.down', 'c', 1_100),
    ];
    expect(courseOf({ ...open, events }, 2_000)).toMatchObject({
      down: 1,
      unreachable: 0,
      acknowledgedAfter: 240,
    });
  });
  it('of a case opened by hand begins with it', () => {
    expect(courseOf({ ...open, events: [] }, 1_100)).toMatchObject({ begunAt: 1_060, lasted: 40, down: 0 });
    expect(courseOf({ ...open, events: [] }, 1_000).lasted, 'a clock that is behind').toBe(0);
  });
});

describe('the impact of a case', () => {
  it('counts what is down and what cannot be reached behind it', () => {
    expect(impactText({ down: 1, unreachable: 3 })).toBe('1 device down, 3 devices unreachable');
    expect(impactText({ down: 0, unreachable: 0 })).toBe('');
  });
  it('counts everything behind the root device, also what is not monitored', () => {
    const behind = [{ monitor: 1 }, { monitor: 0 }, { monitor: 0 }] as const;
    expect(behindText(behind)).toBe('3 devices behind the root device, 2 not monitored');
    expect(behindText(behind.slice(0, 1))).toBe('1 device behind the root device');
  });
  it('is what is behind the root device only while that is told down', () => {
    const events = [event('device.down', 'a', 1_000), event('interface.down', 'b', 1_000)];
    expect(isRootDown({ rootDeviceId: 'a', events })).toBe(true);
    expect(isRootDown({ rootDeviceId: 'b', events })).toBe(false);
    expect(isRootDown({ rootDeviceId: null, events })).toBe(false);
  });
});
