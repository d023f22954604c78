/** Traps as changes carry them: what they mean, and what people call them. */
import { linkTrap as linkTrapOf, TRAPS } from '@rollcall/shared/trap';
import type { ChangeOf } from '../../changes.ts';
import { OBJECT_NAMES, TRAP_NAMES, VARIABLES, type Variable } from './trap-names.ts';

export { TRAPS };

/** Its name where a standard gives one, else the OID. */
export const trapName = (oid: string): string =>
  // A trap of SNMPv1 has a 0 before its number, also where the MIB has none (RFC 3584 section 3.1).
  TRAP_NAMES.get(oid) ?? TRAP_NAMES.get(oid.replace(/\.0(\.\d+)$/, '$1')) ?? oid;

/** What a link trap says, and of which ifIndex; null for other traps. */
export const linkTrap = ({ after }: Pick<ChangeOf<'trap.received'>, 'after'>) => linkTrapOf(after);

type Varbinds = readonly { oid: string; value: string }[];

/** Most variables of one trap that are put into words, and characters of a value. */
const TOLD_MOST = 16;
const VALUE_MOST = 100;

/** The known variables of a trap in words, as `ospfNbrState full`; `telling`: only those that say what it is about. */
export function trapWords(varbinds: Varbinds, telling = false): string[] {
  return varbinds
    .flatMap(({ oid, value }) => {
      const variable = variableOf(oid);
      if (!variable || (telling && !variable.tells && !variable.values)) return [];
      return [
        `${variable.name} ${valueName(variable, value)
          .replace(/\p{Cc}+/gu, ' ')
          .slice(0, VALUE_MOST)}`,
      ];
    })
    .slice(0, TOLD_MOST);
}

/** The variable that an instance is of: its OID without the index, which has any length. */
function variableOf(oid: string): Variable | undefined {
  for (let at = oid; at !== ''; at = at.slice(0, Math.max(0, at.lastIndexOf('.')))) {
    const found = VARIABLES.get(at);
    if (found) return found;
  }
  return undefined;
}

const valueName = ({ values }: Variable, value: string): string =>
  (/^\d{1,3}$/.test(value) ? values?.[Number(value) - 1] : undefined) ?? OBJECT_NAMES.get(value) ?? value;
