/** Kinds that measurements find: what is too much for too long. */
import { HOLD_SECONDS, type Threshold } from '@rollcall/shared/api/sites';
import { Severity } from '@rollcall/shared/model';
import type { ChangeOf } from '../../changes.ts';
import { declare, type EventKind, type Opening } from './kind.ts';

type Measured = ChangeOf<'measured.above' | 'measured.below'>;

const percent = (value: number): string => `${Number(value.toPrecision(3))} %`;
const milliseconds = (value: number): string => `${Number(value.toPrecision(3))} ms`;
const packets = (value: number): string => `${Number(value.toPrecision(2))} packets/s`;
const subject = (c: Measured): string => c.interfaceId ?? String(c.deviceId);
const whose = (c: Measured): string =>
  c.interfaceId === undefined ? c.deviceName : `${c.ifName || c.interfaceId} of ${c.deviceName}`;

/** Opened and cleared by measurements of one threshold. */
const over = (
  of: Threshold,
  says: (whose: string, value: string, limit: string) => string,
  shown: (value: number) => string = percent,
) => ({
  source: 'snmp' as const,
  severity: Severity.warning,
  opens: {
    'measured.above': (c: ChangeOf<'measured.above'>): Opening | null =>
      c.after.of === of
        ? {
            subject: subject(c),
            message: says(whose(c), shown(c.after.value), shown(c.after.limit)),
            details: { after: c.after },
          }
        : null,
  },
  clears: {
    'measured.below': (c: ChangeOf<'measured.below'>): string | null =>
      c.after.of === of ? subject(c) : null,
    'interface.removed': (c: ChangeOf<'interface.removed'>): string | null => c.interfaceId ?? null,
  },
  suppressedBy: ['device.down'],
  // One ping of the four of a minute is above the limit of loss: on a line that loses 1 %, three times within the window.
  blipsCount: false as const,
  cases: 'opens' as const,
});

export const MEASURED_KINDS = declare({
  'interface.utilisation': {
    about: 'Traffic in one direction takes nearly all of the speed of an interface.',
    ...over('utilisation', (port, value) => `${port}: utilisation ${value}`),
    holdMs: HOLD_SECONDS['interface.utilisation'] * 1000,
  },
  'interface.errors': {
    about: 'Many packets of an interface have errors or are discarded.',
    ...over('errors', (port, value) => `${port}: ${value} of packets have errors or are discarded`),
    holdMs: HOLD_SECONDS['interface.errors'] * 1000,
  },
  'interface.no-traffic': {
    about: 'An interface that is up carries no packet in either direction, though it usually does.',
    ...over(
      'noTraffic',
      (port, value) => `${port}: no traffic although it is up, usually at least ${value}`,
      packets,
    ),
    holdMs: HOLD_SECONDS['interface.no-traffic'] * 1000,
  },
  'device.loss': {
    about: 'Packet loss of a device that is up: many pings stay without an answer.',
    ...over('loss', (device, value) => `${device}: packet loss ${value}`),
    source: 'icmp',
    holdMs: HOLD_SECONDS['device.loss'] * 1000,
  },
  'device.latency': {
    about:
      'Pings of a device take much longer than usual at this hour of the week, or than its threshold says.',
    ...over(
      'latency',
      (device, value, limit) => `${device}: round trip time ${value}, more than ${limit}`,
      milliseconds,
    ),
    source: 'icmp',
    holdMs: HOLD_SECONDS['device.latency'] * 1000,
  },
} satisfies Record<string, EventKind>);
