/** Kinds that the watch of devices finds, and traps. */
import { HOLD_SECONDS } from '@rollcall/shared/api/sites';
import { Severity } from '@rollcall/shared/model';
import type { ChangeOf } from '../../changes.ts';
import {
  ADMIN_DOWN,
  beforeAndAfter,
  condition,
  DAY,
  declare,
  deviceSubject,
  negotiated,
  type Opening,
  portName,
} from './kind.ts';
import { linkTrap, TRAPS, trapName, trapWords } from './traps.ts';

/** IF-MIB ifOperStatus. */
const OPER_UP = 1;
/** down, lowerLayerDown */
const OPER_DOWN: ReadonlySet<number | null> = new Set([2, 7]);

const bits = (bps: number): string =>
  bps >= 1e9 ? `${bps / 1e9} Gbit/s` : bps >= 1e6 ? `${bps / 1e6} Mbit/s` : `${bps} bit/s`;

/** Characters of what a trap is about that tell its event from others. */
const TRAP_ABOUT_MOST = 200;

/** A trap as an event: what a standard names is told by name, one for each thing and state that it is about. */
function trapOpening(c: ChangeOf<'trap.received'>): Opening {
  const { source, trapOid, varbinds } = c.after;
  const name = trapName(trapOid);
  const words = trapWords(varbinds);
  // Anybody may send traps from an address of no device, with any variables: how many, the collector bounds.
  const about =
    c.deviceId === null || name === trapOid
      ? ''
      : trapWords(varbinds, true).join(', ').slice(0, TRAP_ABOUT_MOST);
  const sender = c.deviceId === null ? `${source}, which is no known device,` : c.deviceName;
  return {
    subject: `${c.deviceId ?? source}:${trapOid}${about && `:${about}`}`,
    message: `${sender} sent trap ${name}${about && `: ${about}`}`,
    details: { after: c.after, ...(words.length > 0 && { words }) },
  };
}

export const WATCH_KINDS = declare({
  'device.down': {
    about: 'A monitored device answers neither ping nor SNMP.',
    severity: Severity.major,
    source: 'icmp',
    opens: { 'device.down': (c) => condition(c, `${c.deviceName} does not answer`) },
    clears: { 'device.up': deviceSubject, 'device.returned': deviceSubject },
    // Long enough for what lies before it to be found down as well.
    holdMs: HOLD_SECONDS['device.down'] * 1000,
    explainable: true,
    cases: 'opens',
  },
  /** Raised in place of `device.down` while another device that is down explains it. */
  'device.unreachable': {
    about:
      'A monitored device is unreachable only because another one is down, by the links and networks that discovery found.',
    severity: Severity.warning,
    source: 'icmp',
    opens: {},
    clears: {},
    cases: 'joins',
  },
  'snmp.unreachable': {
    about: 'The device answers ping, its SNMP agent does not.',
    severity: Severity.minor,
    source: 'snmp',
    opens: {
      'device.snmp-lost': (c) =>
        c.after.reason === 'timeout' ? condition(c, `${c.deviceName} answers ping but not SNMP`) : null,
    },
    clears: {
      'device.snmp-restored': deviceSubject,
      'device.snmp-lost': (c) => (c.after.reason === 'timeout' ? null : deviceSubject(c)),
    },
    holdMs: HOLD_SECONDS['snmp.unreachable'] * 1000,
    suppressedBy: ['device.down'],
    cases: 'opens',
  },
  'snmp.auth-failed': {
    about: 'The SNMP agent refuses the credential that worked before.',
    severity: Severity.minor,
    source: 'snmp',
    opens: {
      'device.snmp-lost': (c) =>
        c.after.reason === 'auth-failed' ? condition(c, `${c.deviceName} refuses its SNMP credential`) : null,
    },
    clears: {
      'device.snmp-restored': deviceSubject,
      'device.snmp-lost': (c) => (c.after.reason === 'auth-failed' ? null : deviceSubject(c)),
    },
    holdMs: HOLD_SECONDS['snmp.auth-failed'] * 1000,
    suppressedBy: ['device.down'],
    cases: 'opens',
  },
  'device.rebooted': {
    about: 'sysUpTime began anew, or the device sent coldStart or warmStart.',
    severity: Severity.warning,
    source: 'snmp',
    opens: {
      'device.restarted': (c) => condition(c, `${c.deviceName} rebooted`),
      'trap.received': (c) =>
        c.deviceId !== null && (c.after.trapOid === TRAPS.coldStart || c.after.trapOid === TRAPS.warmStart)
          ? { ...condition(c, `${c.deviceName} rebooted`), source: 'trap' }
          : null,
    },
    expiresMs: DAY,
    // A trap and sysUpTime tell the same start.
    sameWithinMs: 600_000,
    cases: 'joins',
  },
  'interface.down': {
    about: 'A port that was up is down, and nobody shut it.',
    severity: Severity.minor,
    source: 'snmp',
    opens: {
      'interface.state': (c) =>
        c.monitor &&
        c.interfaceId !== undefined &&
        c.before.operStatus === OPER_UP &&
        OPER_DOWN.has(c.after.operStatus) &&
        c.after.adminStatus !== ADMIN_DOWN
          ? { subject: c.interfaceId, message: `${portName(c)} is down`, details: beforeAndAfter(c) }
          : null,
      'trap.received': (c) => {
        const trap = linkTrap(c);
        return trap?.state === 'down' && c.interfaceId !== undefined
          ? {
              subject: c.interfaceId,
              message: `${c.ifName || c.interfaceId} of ${c.deviceName} is down`,
              details: { after: c.after },
              source: 'trap',
              interfaceId: c.interfaceId,
            }
          : null;
      },
    },
    clears: {
      'interface.state': (c) =>
        c.after.operStatus === OPER_UP || c.after.adminStatus === ADMIN_DOWN ? (c.interfaceId ?? null) : null,
      'interface.removed': (c) => c.interfaceId ?? null,
      'trap.received': (c) => {
        const trap = linkTrap(c);
        return trap && trap.state !== 'down' ? (c.interfaceId ?? null) : null;
      },
    },
    holdMs: HOLD_SECONDS['interface.down'] * 1000,
    suppressedBy: ['device.down'],
    cases: 'opens',
  },
  /** Raised in place of a condition that came and went three times in short order; counts every further change. */
  flapping: {
    about:
      'Something came and went three times or more, each within ten minutes of the last; every further change counts.',
    severity: Severity.minor,
    source: 'snmp',
    opens: {},
    clears: {},
    cases: 'opens',
  },
  'interface.speed': {
    about: 'A port runs at another speed than before.',
    severity: Severity.warning,
    source: 'snmp',
    opens: {
      'interface.changed': (c) => {
        const turn = negotiated(c, 'speedBps');
        if (!turn) return null;
        const [before, after] = turn;
        return {
          subject: `${c.interfaceId}:${after}`,
          message: `${portName(c)}: speed changed from ${bits(before)} to ${bits(after)}`,
          details: { before: { speedBps: before }, after: { speedBps: after } },
        };
      },
    },
    expiresMs: DAY,
    cases: 'joins',
  },
  'interface.duplex': {
    about: 'A port runs half duplex that ran full, or the other way round.',
    severity: Severity.warning,
    source: 'snmp',
    opens: {
      'interface.changed': (c) => {
        const turn = negotiated(c, 'duplex');
        if (!turn) return null;
        const [before, after] = turn;
        return {
          subject: `${c.interfaceId}:${after}`,
          message: `${portName(c)}: duplex changed from ${before} to ${after}`,
          details: { before: { duplex: before }, after: { duplex: after } },
        };
      },
    },
    expiresMs: DAY,
    cases: 'joins',
  },
  'snmp.authentication-failure': {
    about: 'The device received an SNMP request with a wrong credential, and reports it by trap.',
    severity: Severity.warning,
    source: 'trap',
    opens: {
      'trap.received': (c) =>
        c.after.trapOid === TRAPS.authenticationFailure
          ? {
              subject: c.deviceId ?? c.after.source,
              message: `${c.deviceName || c.after.source} received an SNMP request with a wrong credential`,
              details: { after: c.after },
            }
          : null,
    },
    expiresMs: DAY,
    cases: 'none',
  },
  trap: {
    about: 'Any other trap, with its variables.',
    severity: Severity.warning,
    source: 'trap',
    opens: {
      'trap.received': (c) => {
        const explained =
          c.after.trapOid === TRAPS.authenticationFailure ||
          (c.deviceId !== null &&
            (c.after.trapOid === TRAPS.coldStart || c.after.trapOid === TRAPS.warmStart)) ||
          (linkTrap(c) !== null && c.interfaceId !== undefined);
        return explained ? null : trapOpening(c);
      },
    },
    expiresMs: DAY,
    cases: 'none',
  },
});
