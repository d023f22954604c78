/** Traps as changes carry them: what they mean, and what people call them. */
import { createHash } from 'node:crypto';
import { linkTrap as linkTrapOf, TRAPS } from '@rollcall/shared/trap';
import type { ChangeOf } from '../../changes.ts';

export { TRAPS };

const NAMES = new Map<string, string>(Object.entries(TRAPS).map(([name, oid]) => [oid, name]));

/** Its name where a standard gives one, else the OID. */
export const trapName = (oid: string): string => NAMES.get(oid) ?? oid;

/** What a link trap says, and of which ifIndex; null for other traps. */
export const linkTrap = ({ after }: Pick<ChangeOf<'trap.received'>, 'after'>) => linkTrapOf(after);

/** Events that traps of unknown senders have open at most, per site and kind. */
const SENDER_PLACES = 64;
/**
 * One of so many places for what an unknown sender says: anybody may send traps from any number of addresses. A few senders have
 * an event each; many share, and the event counts them.
 */
export const senderPlace = (source: string, trapOid: string): string =>
  `unknown sender ${createHash('sha1').update(`${source} ${trapOid}`).digest().readUInt32BE(0) % SENDER_PLACES}`;
