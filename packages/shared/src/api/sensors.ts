/** What devices say of their own health, as it was read last. `docs/health.md` explains it. */
import { z } from 'zod';
import { SENSOR_COMPONENTS, SENSOR_KINDS, SENSOR_STATUS } from '../sensors.ts';
import { text, time } from './members.ts';
import type { Operation } from './operation.ts';
import { codes, id, paging, resource, siteFilter } from './operation.ts';

export const health = z.enum(SENSOR_STATUS).meta({
  id: 'Health',
  description: 'As judged by state and limits; unknown: nothing to judge it by.',
  example: 'ok',
});
const sensorKind = z.enum(SENSOR_KINDS).meta({ id: 'SensorKind' });
const limit = z.number().nullable();

export const sensor = z
  .strictObject({
    id,
    siteId: id,
    deviceId: id,
    deviceName: z.string().meta({ example: 'core-1' }),
    key: z.string().meta({
      description: 'OID of its value, index included.',
      example: '1.3.6.1.2.1.99.1.1.1.4.1001',
    }),
    name: z.string().meta({ example: 'Inlet' }),
    kind: sensorKind,
    component: z.enum(SENSOR_COMPONENTS).meta({ id: 'SensorComponent' }),
    value: z.number().nullable().meta({ description: 'In `unit`.', example: 41.5 }),
    unit: z.string().meta({ example: '°C' }),
    usedBytes: z.number().nullable(),
    totalBytes: z.number().nullable(),
    state: text('normal').meta({ description: 'The word of the device for its state.' }),
    limits: z
      .strictObject({ low: limit, lowWarning: limit, highWarning: limit, high: limit })
      .meta({ description: 'As the device states them, in `unit`; null: it states none.' }),
    interfaceId: id.nullable().meta({ description: 'The interface whose optics these are.' }),
    interfaceName: z.string().nullable(),
    health,
    reason: z.string().meta({ example: 'above its critical limit of 70 °C' }),
    healthSince: time.meta({ description: 'Since when its health is this one.' }),
    firstSeen: time,
    lastSeen: time,
  })
  .meta({ id: 'Sensor' });
export type Sensor = z.infer<typeof sensor>;

const sensorQuery = z.strictObject({
  deviceId: z.uuid().optional().meta({ description: 'Only of this device.' }),
  kind: codes(sensorKind).optional().meta({ example: 'temperature,fan' }),
  health: codes(health).optional().meta({ example: 'critical,warning' }),
  site: siteFilter,
  ...paging,
});
export type SensorQuery = z.output<typeof sensorQuery>;

const sensors = resource('/api/sensors', 'Sensors', sensor);

export const sensorOperations = {
  'sensors.list': sensors.list('viewer', 'List sensors, what is wrong first', {
    description: 'Values over time: `GET /api/metrics?deviceId=…&sensorId=…&metrics=sensor`.',
    query: sensorQuery,
  }),
} as const satisfies Record<string, Operation>;
