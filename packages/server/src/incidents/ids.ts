import { uuidv7 } from '@rollcall/shared/uuid';

/**
 * Ids of one transaction, each greater than the one before although all are of one moment: UUIDv7 with a counter in
 * rand_a (RFC 9562 section 6.2, method 1), so that a timeline reads in the order it was written.
 */
export function ascendingIds(now: number): () => string {
  let count = 0;
  return () => {
    const id = uuidv7(now + (count >> 12));
    const counter = (count++ & 0xfff).toString(16).padStart(3, '0');
    return `${id.slice(0, 15)}${counter}${id.slice(18)}`;
  };
}

export const idsOf = (rows: readonly { id: string }[]): string[] => rows.map(({ id }) => id);
