/** Kinds about the service's own parts. */
import { LOSSES } from '@rollcall/shared/api/collectors';
import { HOLD_SECONDS } from '@rollcall/shared/api/sites';
import { Severity } from '@rollcall/shared/model';
import type { ChangeOf } from '../../changes.ts';
import { DAY, declare, type Opening } from './kind.ts';

const HOUR = DAY / 24;
const collector = (change: { collectorId: string }): string => change.collectorId;

/** Opened and cleared by one check of a server process of itself. */
const ofServer = (check: ChangeOf<'server.checked'>['check']) => ({
  source: 'api' as const,
  opens: {
    'server.checked': (c: ChangeOf<'server.checked'>): Opening | null =>
      c.check === check && !c.ok ? { subject: c.server, message: c.message } : null,
  },
  clears: {
    'server.checked': (c: ChangeOf<'server.checked'>): string | null =>
      c.check === check && c.ok ? c.server : null,
  },
  cases: 'opens' as const,
});

export const SERVICE_KINDS = declare({
  'collector.offline': {
    about: 'A collector is not connected.',
    severity: Severity.critical,
    source: 'collector',
    opens: {
      'collector.offline': (c) => ({
        subject: c.collectorId,
        message: `Collector ${c.collectorName} is offline: ${c.reason}`,
        details: { lastSeen: c.lastSeen, reason: c.reason },
      }),
    },
    clears: { 'collector.online': collector },
    // A restart and its reconnect are no outage.
    holdMs: HOLD_SECONDS['collector.offline'] * 1000,
    cases: 'opens',
  },
  'collector.quarantined': {
    about: 'A collector’s key looks copied: both holders are shut out.',
    severity: Severity.critical,
    source: 'collector',
    opens: {
      'collector.quarantined': (c) => ({
        subject: c.collectorId,
        message: `Collector ${c.collectorName} is quarantined: ${c.reason}`,
        details: { reason: c.reason },
      }),
    },
    clears: { 'collector.restored': collector },
    cases: 'opens',
  },
  'collector.key-changed': {
    about: 'The identity key of a collector changed. If nobody rotated it, revoke the collector.',
    severity: Severity.info,
    source: 'collector',
    opens: {
      'collector.key-changed': (c) => ({
        subject: c.collectorId,
        message: `The identity key of collector ${c.collectorName} changed when it connected from ${c.address}`,
        details: { address: c.address, fingerprint: c.fingerprint },
      }),
    },
    judged: true,
    expiresMs: 7 * DAY,
    cases: 'none',
  },
  'collector.gap': {
    about: 'A collector had to drop observations, and says how many and why.',
    severity: Severity.warning,
    source: 'collector',
    opens: {
      'observations.lost': (c) => ({
        subject: `${c.collectorId}:${c.after.stream}:${c.after.reason}`,
        message: `${c.after.count} ${c.after.count === 1 ? 'observation' : 'observations'} of the ${c.after.stream} stream lost: ${LOSSES[c.after.reason] ?? c.after.reason}`,
        details: { after: c.after },
      }),
    },
    expiresMs: DAY,
    cases: 'joins',
  },
  'collector.clock': {
    about: 'The clock of a collector is off.',
    severity: Severity.warning,
    source: 'collector',
    opens: {
      'collector.clock': (c) =>
        c.ok
          ? null
          : {
              subject: c.collectorId,
              message: `The clock of collector ${c.collectorName} is ${Math.round(Math.abs(c.offsetMs) / 1000)} s ${c.offsetMs > 0 ? 'behind' : 'ahead'}`,
              details: { offsetMs: c.offsetMs },
            },
    },
    clears: { 'collector.clock': (c) => (c.ok ? c.collectorId : null) },
    cases: 'none',
  },
  'collector.outdated': {
    about: 'A collector runs an older version than this server asks for.',
    severity: Severity.info,
    source: 'collector',
    opens: {
      'collector.version': (c) =>
        c.ok
          ? null
          : {
              subject: c.collectorId,
              message: `Collector ${c.collectorName} runs ${c.software}, older than this server asks for: update it`,
              details: { software: c.software },
            },
    },
    clears: { 'collector.version': (c) => (c.ok ? c.collectorId : null) },
    cases: 'none',
  },
  'collector.backlog': {
    about:
      'What a collector observed reaches the server late: its link is slow, or the server takes it in slowly.',
    severity: Severity.warning,
    source: 'collector',
    opens: {
      'collector.backlog': (c) =>
        c.ok
          ? null
          : {
              subject: c.collectorId,
              message: `Collector ${c.collectorName} is ${Math.round(c.behindMs / 1000)} s behind: ${c.waiting} ${c.waiting === 1 ? 'observation waits' : 'observations wait'} to be sent`,
              details: { behindMs: c.behindMs, waiting: c.waiting },
            },
    },
    clears: { 'collector.backlog': (c) => (c.ok ? c.collectorId : null), 'collector.offline': collector },
    // What waited during a break of the link is sent within seconds.
    holdMs: 20_000,
    cases: 'joins',
  },
  'collector.paused': {
    about: 'A collector observes nothing, because it has no room to keep what it observes.',
    severity: Severity.major,
    source: 'collector',
    opens: {
      'collector.paused': (c) =>
        c.ok
          ? null
          : {
              subject: c.collectorId,
              message: `Collector ${c.collectorName} is paused: ${c.reason}`,
              details: { reason: c.reason },
            },
    },
    clears: { 'collector.paused': (c) => (c.ok ? c.collectorId : null), 'collector.offline': collector },
    cases: 'opens',
  },
  'server.disk': {
    about: 'The disk of a server is nearly full.',
    severity: Severity.major,
    ...ofServer('disk'),
  },
  'server.certificate': {
    about: 'The certificate of a server ends soon.',
    severity: Severity.warning,
    ...ofServer('certificate'),
  },
  'server.metrics': {
    about: 'Measurements cannot be written to the engine that keeps them; they wait.',
    severity: Severity.major,
    ...ofServer('metrics'),
  },
  'samples.lost': {
    about: 'Measurements are lost: the engine refuses them, or they waited for a day.',
    severity: Severity.warning,
    source: 'api',
    opens: {
      'samples.lost': (c) => ({
        subject: c.siteId,
        message: `Measurements lost: ${c.count} ${c.count === 1 ? 'reading' : 'readings'} of devices (${c.reason})`,
        details: { count: c.count, reason: c.reason },
      }),
    },
    expiresMs: DAY,
    cases: 'none',
  },
  'scan.failed': {
    about: 'A scan could not be done.',
    severity: Severity.warning,
    source: 'discovery',
    opens: {
      'scan.failed': (c) => ({
        subject: c.scanId,
        message: `The scan of ${c.targets} failed: ${c.reason}`,
        details: { scanId: c.scanId, targets: c.targets, reason: c.reason },
      }),
    },
    expiresMs: 7 * DAY,
    cases: 'none',
  },
  'subscription.failing': {
    about:
      'A webhook or a mail subscription failed twice in a row, or for most of a minute; it is tried again.',
    severity: Severity.warning,
    source: 'api',
    opens: {
      'subscription.failing': (c) => ({
        subject: c.subscriptionId,
        message: `Subscription ${c.name} cannot deliver: ${c.error}`,
        details: { subscriptionId: c.subscriptionId, error: c.error },
      }),
    },
    expiresMs: HOUR,
    cases: 'none',
  },
  'subscription.disabled': {
    about: 'A webhook or a mail subscription failed for days, or its receiver wants no more (410 Gone).',
    severity: Severity.warning,
    source: 'api',
    opens: {
      'subscription.disabled': (c) => ({
        subject: c.subscriptionId,
        message: `Subscription ${c.name} was disabled: ${c.reason}`,
        details: { subscriptionId: c.subscriptionId, reason: c.reason },
      }),
    },
    expiresMs: 7 * DAY,
    cases: 'none',
  },
});
