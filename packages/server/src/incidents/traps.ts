/** The generic traps of SNMPv2-MIB and IF-MIB (RFC 3418, RFC 2863), and reading them. */
import type { ChangeOf } from '../kernel/change.ts';

const SNMP_TRAPS = '1.3.6.1.6.3.1.1.5';
export const TRAPS = {
  coldStart: `${SNMP_TRAPS}.1`,
  warmStart: `${SNMP_TRAPS}.2`,
  linkDown: `${SNMP_TRAPS}.3`,
  linkUp: `${SNMP_TRAPS}.4`,
  authenticationFailure: `${SNMP_TRAPS}.5`,
} as const;
const NAMES = new Map<string, string>(Object.entries(TRAPS).map(([name, oid]) => [oid, name]));

/** Its name where a standard gives one, else the OID. */
export const trapName = (oid: string): string => NAMES.get(oid) ?? oid;

const IF_INDEX = '1.3.6.1.2.1.2.2.1.1';
const IF_ADMIN_STATUS = '1.3.6.1.2.1.2.2.1.7';
const IF_ENTRY = /^1\.3\.6\.1\.2\.1\.2\.2\.1\.\d+\.(\d+)$/;

type Trap = Pick<ChangeOf<'trap.received'>, 'after'>;

/** What a link trap says, and of which ifIndex; null for other traps. A link that an operator shut is no trouble. */
export function linkTrap({ after }: Trap): { state: 'down' | 'up' | 'shut'; ifIndex: number | null } | null {
  if (after.trapOid !== TRAPS.linkDown && after.trapOid !== TRAPS.linkUp) return null;
  const shut = after.varbinds.some(
    ({ oid, value }) => oid.startsWith(`${IF_ADMIN_STATUS}.`) && /^(2|down(\(2\))?)$/.test(value),
  );
  const state = after.trapOid === TRAPS.linkUp ? 'up' : shut ? 'shut' : 'down';
  return { state, ifIndex: ifIndexOf(after.varbinds) };
}

/** ifIndex is a varbind of its own; some agents send only other columns of the row, whose last sub-identifier it is. */
function ifIndexOf(varbinds: Trap['after']['varbinds']): number | null {
  const named = varbinds.find(({ oid }) => oid === IF_INDEX || oid.startsWith(`${IF_INDEX}.`));
  const number = named ? named.value : varbinds.map(({ oid }) => IF_ENTRY.exec(oid)?.[1]).find(Boolean);
  return number !== undefined && /^\d{1,10}$/.test(number) ? Number(number) : null;
}
