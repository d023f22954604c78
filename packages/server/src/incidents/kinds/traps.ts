/** Traps as changes carry them: what they mean, and what people call them. */
import { linkTrap as linkTrapOf, TRAPS } from '@rollcall/shared/trap';
import type { ChangeOf } from '../../changes.ts';

export { TRAPS };

const NAMES = new Map<string, string>(Object.entries(TRAPS).map(([name, oid]) => [oid, name]));

/** Its name where a standard gives one, else the OID. */
export const trapName = (oid: string): string => NAMES.get(oid) ?? oid;

/** What a link trap says, and of which ifIndex; null for other traps. */
export const linkTrap = ({ after }: Pick<ChangeOf<'trap.received'>, 'after'>) => linkTrapOf(after);
