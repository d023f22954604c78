/** Notifications (RFC 3416 section 4.2.6) and traps of SNMPv1 as one thing, and the generic ones read by meaning. */
import type { PlainPdu, TrapV1Pdu, Varbind } from './pdu.ts';

const SNMP_TRAPS = '1.3.6.1.6.3.1.1.5';
/** The generic notifications of SNMPv2-MIB and IF-MIB (RFC 3418, RFC 2863). */
export const TRAPS = {
  coldStart: `${SNMP_TRAPS}.1`,
  warmStart: `${SNMP_TRAPS}.2`,
  linkDown: `${SNMP_TRAPS}.3`,
  linkUp: `${SNMP_TRAPS}.4`,
  authenticationFailure: `${SNMP_TRAPS}.5`,
} as const;

const SYS_UP_TIME = '1.3.6.1.2.1.1.3.0';
const SNMP_TRAP_OID = '1.3.6.1.6.3.1.1.4.1.0';
const SNMP_TRAP_ENTERPRISE = '1.3.6.1.6.3.1.1.4.3.0';
/** Of SNMP-COMMUNITY-MIB: a proxy names the agent that the trap came from. */
const SNMP_TRAP_ADDRESS = '1.3.6.1.6.3.18.1.3.0';
const ENTERPRISE_SPECIFIC = 6;

export interface Notification {
  /** snmpTrapOID. */
  trapOid: string;
  /** Hundredths of a second. */
  sysUpTime: number | null;
  /** The agent as the message names it; null where it names none. */
  agentAddress: string | null;
  /** What it carries besides the two above. */
  varbinds: Varbind[];
}

/** A trap or inform by its meaning; null when it names no trap at all. */
export function notificationOf(pdu: PlainPdu | TrapV1Pdu): Notification | null {
  return pdu.type === 'trapV1' ? translated(pdu) : named(pdu);
}

/** RFC 3584 section 3.1. */
function translated(pdu: TrapV1Pdu): Notification {
  const { enterprise, genericTrap, specificTrap } = pdu;
  const generic = genericTrap >= 0 && genericTrap < ENTERPRISE_SPECIFIC;
  return {
    trapOid: generic ? `${SNMP_TRAPS}.${genericTrap + 1}` : `${enterprise}.0.${specificTrap}`,
    sysUpTime: pdu.timestamp,
    agentAddress: pdu.agentAddress === '0.0.0.0' ? null : pdu.agentAddress,
    varbinds: generic
      ? [...pdu.varbinds, { oid: SNMP_TRAP_ENTERPRISE, type: 'oid', value: enterprise }]
      : pdu.varbinds,
  };
}

function named({ varbinds }: PlainPdu): Notification | null {
  const trap = varbinds.find(({ oid }) => oid === SNMP_TRAP_OID);
  if (trap?.type !== 'oid') return null;
  const uptime = varbinds.find(({ oid }) => oid === SYS_UP_TIME);
  const agent = varbinds.find(({ oid }) => oid === SNMP_TRAP_ADDRESS);
  return {
    trapOid: trap.value,
    sysUpTime: uptime?.type === 'timeticks' ? uptime.value : null,
    agentAddress: agent?.type === 'ipaddress' && agent.value !== '0.0.0.0' ? agent.value : null,
    varbinds: varbinds.filter(({ oid }) => oid !== SNMP_TRAP_OID && oid !== SYS_UP_TIME),
  };
}

/** A trap as it is told: values as text. */
export interface ToldTrap {
  trapOid: string;
  varbinds: readonly { oid: string; value: string }[];
}

const IF_ENTRY = '1.3.6.1.2.1.2.2.1';
const IF_INDEX = `${IF_ENTRY}.1`;
const IF_ADMIN_STATUS = `${IF_ENTRY}.7`;
const IF_CELL = /^1\.3\.6\.1\.2\.1\.(?:2\.2\.1|31\.1\.1\.1)\.\d+\.(\d{1,10})$/;

/** What a link trap says, and of which ifIndex; null for other traps. A link that an operator shut is no trouble. */
export function linkTrap(trap: ToldTrap): { state: 'down' | 'up' | 'shut'; ifIndex: number | null } | null {
  if (trap.trapOid !== TRAPS.linkDown && trap.trapOid !== TRAPS.linkUp) return null;
  const shut = trap.varbinds.some(
    ({ oid, value }) => oid.startsWith(`${IF_ADMIN_STATUS}.`) && /^(2|down(\(2\))?)$/.test(value),
  );
  const state = trap.trapOid === TRAPS.linkUp ? 'up' : shut ? 'shut' : 'down';
  return { state, ifIndex: ifIndexOf(trap.varbinds) };
}

/** ifIndex is a varbind of its own; some agents send only other columns of the row, whose last sub-identifier it is. */
function ifIndexOf(varbinds: ToldTrap['varbinds']): number | null {
  const own = varbinds.find(({ oid }) => oid === IF_INDEX || oid.startsWith(`${IF_INDEX}.`));
  const number = own ? own.value : varbinds.map(({ oid }) => IF_CELL.exec(oid)?.[1]).find(Boolean);
  return number !== undefined && /^\d{1,10}$/.test(number) ? Number(number) : null;
}
