/** Every kind of event. Adding a kind is adding a member to one of these tables. */
import type { EventKind } from './event-kind.ts';
import { INVENTORY_KINDS } from './kinds-inventory.ts';
import { SERVICE_KINDS } from './kinds-service.ts';
import { WATCH_KINDS } from './kinds-watch.ts';

export const KINDS = { ...WATCH_KINDS, ...INVENTORY_KINDS, ...SERVICE_KINDS };

export type EventCode = keyof typeof KINDS;
export const kindOf = (code: EventCode): EventKind => KINDS[code];
export const isEventCode = (text: string): text is EventCode => Object.hasOwn(KINDS, text);
