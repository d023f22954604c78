import type { SensorKind } from '@rollcall/shared/sensors';
import { expect, it } from 'vitest';
import type { ChangeOf, SensorTrouble } from '../../changes.ts';
import { SENSOR_EVENT_KINDS } from './sensors.ts';

const says = (of: SensorTrouble, kind: SensorKind, name: string, value: number | null, reason: string) => {
  const after = { of, sensorId: 'one', name, kind, component: 'other', value, reason };
  const change = { deviceName: 'web1', after } as ChangeOf<'sensor.unhealthy'>;
  return SENSOR_EVENT_KINDS[of].opens['sensor.unhealthy']?.(change)?.message;
};
const HELD = 'limit of 95 % reached for 10 min';

it.each<[Parameters<typeof says>, string]>([
  [
    ['storage.full', 'storage', '/srv', 96.875, 'limit of 95 % reached'],
    '/srv of web1: 96.9 % in use, limit of 95 % reached',
  ],
  [['memory.full', 'memory', 'Physical memory', 97, HELD], `Physical memory of web1: 97 % in use, ${HELD}`],
  [['processor.busy', 'processor', 'CPU 1', 100, HELD], `CPU 1 of web1: 100 % busy, ${HELD}`],
  [
    ['sensor.critical', 'fan', 'Fan 1', 0, 'below its critical limit of 600 rpm'],
    'Fan 1 of web1: 0 rpm, below its critical limit of 600 rpm',
  ],
  [['sensor.critical', 'storage', 'Pool', null, 'state: full'], 'Pool of web1: state: full'],
])('%j', (about, message) => {
  expect(says(...about)).toBe(message);
});
