/** Notifications (RFC 3416 section 4.2.6) and traps of SNMPv1 as one thing. */
import { GENERIC_TRAPS } from '@rollcall/shared/trap';
import type { PlainPdu, TrapV1Pdu, Varbind } from './pdu.ts';

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
    trapOid: generic ? `${GENERIC_TRAPS}.${genericTrap + 1}` : `${enterprise}.0.${specificTrap}`,
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
