import { CASE_TITLE } from '@rollcall/shared/api/incidents';

/**
 * What a case is called that nobody named: as the event that it is about says it, so of its root from when that is
 * recognised (`late-roots.ts`). A title that a person wrote stays: `title_by_hand`.
 */
export const titleOf = (message: string): string => message.slice(0, CASE_TITLE);
