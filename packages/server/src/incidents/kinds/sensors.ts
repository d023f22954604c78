/** Kinds that sensors find: what devices say of their own health. `measurements/sensors/judge.ts` says what is wrong. */
import { Severity } from '@rollcall/shared/model';
import { SENSOR_UNITS, type SensorKind } from '@rollcall/shared/sensors';
import type { ChangeOf, SensorTrouble } from '../../changes.ts';
import { declare, type EventKind, type Opening } from './kind.ts';

type UnhealthySensor = ChangeOf<'sensor.unhealthy'>;

/** What a share is of, where the name of the sensor does not say it: a disk could be 97 % free. */
const SHARES: { readonly [Kind in SensorKind]?: string } = {
  storage: 'in use',
  memory: 'in use',
  processor: 'busy',
};

/** The value as people read it, with a blank before it; nothing where there is none. */
const valued = ({ value, kind }: UnhealthySensor['after']): string =>
  value === null
    ? ''
    : ` ${[Number(value.toPrecision(3)), SENSOR_UNITS[kind], SHARES[kind] ?? ''].filter((part) => part !== '').join(' ')}`;

const said = (c: UnhealthySensor): string =>
  `${c.after.name} of ${c.deviceName}:${valued(c.after)}${valued(c.after) && ','} ${c.after.reason}`;

/** Opened by trouble of one sort, and cleared when the sensor is well, is gone, or has another sort of trouble. */
const unhealthy = (of: SensorTrouble, says: (c: UnhealthySensor) => string = said) => ({
  source: 'snmp' as const,
  opens: {
    'sensor.unhealthy': (c: UnhealthySensor): Opening | null =>
      c.after.of === of ? { subject: c.after.sensorId, message: says(c), details: { after: c.after } } : null,
  },
  clears: {
    'sensor.healthy': (c: ChangeOf<'sensor.healthy'>): string => c.after.sensorId,
    'sensor.unhealthy': (c: UnhealthySensor): string | null => (c.after.of === of ? null : c.after.sensorId),
  },
  suppressedBy: ['device.down'],
  cases: 'opens' as const,
});

/** That its device is down, which explains it, is found within this time. */
const HOLD_MS = 30_000;

export const SENSOR_EVENT_KINDS = declare({
  'hardware.failed': {
    about: 'A device reports that a part of it has failed: power supply, fan, disk, battery, redundancy.',
    severity: Severity.major,
    ...unhealthy('hardware.failed', (c) => `${c.after.name} of ${c.deviceName} failed (${c.after.reason})`),
    holdMs: HOLD_MS,
  },
  'sensor.critical': {
    about: 'A reading is beyond a critical limit of the device, or the device reports it as critical.',
    severity: Severity.major,
    ...unhealthy('sensor.critical'),
    holdMs: HOLD_MS,
  },
  'sensor.warning': {
    about:
      'A reading is beyond a warning limit of the device, or the device reports that a part is not well.',
    severity: Severity.warning,
    ...unhealthy('sensor.warning'),
    holdMs: HOLD_MS,
  },
  'power.on-battery': {
    about: 'A UPS has no mains and runs on its battery.',
    severity: Severity.major,
    ...unhealthy('power.on-battery', (c) => `${c.deviceName} is on battery`),
    holdMs: HOLD_MS,
  },
  'storage.full': {
    about: 'A disk or another storage is nearly full.',
    severity: Severity.minor,
    ...unhealthy('storage.full'),
    holdMs: HOLD_MS,
  },
  'memory.full': {
    about: 'Memory has been nearly full for a while.',
    severity: Severity.warning,
    ...unhealthy('memory.full'),
  },
  'processor.busy': {
    about: 'A processor has been busy for a while.',
    severity: Severity.warning,
    ...unhealthy('processor.busy'),
  },
  'session.down': {
    about: 'A BGP or OSPF session is not established, and no dead link or device explains it.',
    severity: Severity.minor,
    ...unhealthy('session.down', (c) => `${c.after.name} of ${c.deviceName} is down (${c.after.reason})`),
    // Ports are read once a minute: the one that explains it is found down by then.
    holdMs: 90_000,
  },
} satisfies Record<SensorTrouble, EventKind>);
