/** Traps as a collector reports them: the generic ones by their OIDs, and what a link trap means. */

/** `snmpTraps` of SNMPv2-MIB (RFC 3418). */
export const GENERIC_TRAPS = '1.3.6.1.6.3.1.1.5';
/** The generic notifications of SNMPv2-MIB and IF-MIB (RFC 3418, RFC 2863). */
export const TRAPS = {
  coldStart: `${GENERIC_TRAPS}.1`,
  warmStart: `${GENERIC_TRAPS}.2`,
  linkDown: `${GENERIC_TRAPS}.3`,
  linkUp: `${GENERIC_TRAPS}.4`,
  authenticationFailure: `${GENERIC_TRAPS}.5`,
} as const;

/** A trap as it is reported: values as text. */
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
