/** What a device says of its own health. `docs/health.md` explains it. */
import { z } from 'zod';
import { orElse } from './wire.ts';

/** What a sensor measures, and the unit in which its value travels. */
export const SENSOR_UNITS = {
  temperature: '°C',
  humidity: '%',
  voltage: 'V',
  current: 'A',
  power: 'W',
  energy: 'kWh',
  frequency: 'Hz',
  fan: 'rpm',
  /** Optical and radio power. */
  'signal-power': 'dBm',
  /** Signal to noise. */
  snr: 'dB',
  airflow: 'cfm',
  pressure: 'kPa',
  /** Real power by apparent power. */
  'power-factor': '',
  /** What a radio link, a DSL line or a video stream carries now. */
  bitrate: 'bit/s',
  /** Of the light that a coherent receiver gets. */
  'chromatic-dispersion': 'ps/nm',
  /** Load of a processor. */
  processor: '%',
  /** Share in use; `usedBytes` and `totalBytes` beside it where they are known. */
  memory: '%',
  storage: '%',
  /** Share of what it can deliver: output of a UPS, budget of PoE. */
  load: '%',
  /** Battery. */
  charge: '%',
  /** Time that a battery lasts. */
  runtime: 'min',
  /** Toner, paper and the like: share left. */
  supply: '%',
  /** A number of things: sessions, wireless clients. */
  count: '',
  /** A share of no kind above. */
  percent: '%',
  /** A component or session that has states and no value: power supply, fan, redundancy, BGP peer. */
  state: '',
} as const satisfies Record<string, string>;
export type SensorKind = keyof typeof SENSOR_UNITS;
export const SENSOR_KINDS = Object.keys(SENSOR_UNITS) as [SensorKind, ...SensorKind[]];

/** What a sensor belongs to. */
export const SENSOR_COMPONENTS = [
  'fan',
  'psu',
  'battery',
  'optics',
  'disk',
  'cpu',
  'memory',
  'module',
  'redundancy',
  'chassis',
  'session',
  'wireless',
  'other',
] as const;

export const SENSOR_STATUS = ['ok', 'warning', 'critical', 'unknown'] as const;
export type SensorStatus = (typeof SENSOR_STATUS)[number];

/** Most sensors of one `samples` observation; a device with more is several. */
export const SAMPLE_SENSORS = 300;
/** Most sensors that are read of one device. */
export const DEVICE_SENSORS = 1_500;

/** One sensor of a device as its agent answered: facts of the device, no judgement of ours. */
export const sensorReading = z.object({
  /** Names the sensor within its device for as long as the agent numbers it so: OID of its value, index included. */
  key: z.string().min(1).max(300),
  kind: orElse(z.enum(SENSOR_KINDS), 'count'),
  name: z.string().max(255),
  component: orElse(z.enum(SENSOR_COMPONENTS), 'other').optional(),
  /** In the unit of its kind. Absent where it has none, or the agent says that there is no reading. */
  value: z.number().optional(),
  usedBytes: z.number().min(0).optional(),
  totalBytes: z.number().min(0).optional(),
  /** The agent's word for its state, and what that word says. */
  state: z.string().max(100).optional(),
  status: orElse(z.enum(SENSOR_STATUS), 'unknown').optional(),
  /** Limits that the agent states, in the unit of the value; none is guessed. */
  limits: z
    .object({
      low: z.number().optional(),
      lowWarning: z.number().optional(),
      highWarning: z.number().optional(),
      high: z.number().optional(),
    })
    .optional(),
  /** The interface whose optics these are. */
  ifIndex: z.int().optional(),
});
export type SensorReading = z.infer<typeof sensorReading>;
