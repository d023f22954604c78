/**
 * What the database can keep of what a peer sends, whatever it means: text without NUL and without lone surrogates
 * (PostgreSQL takes neither), nested no deeper than code that calls itself can follow. Asked where something enters:
 * of each message (`protocol.ts`), and of each observation of a batch (`ingest.ts` of the server).
 */

/** Deepest nesting of arrays and objects. The deepest that is sent has 7 levels. */
export const WIRE_DEPTH = 16;

/** Why a value that was JSON cannot be stored; null if it can. */
export function unstorable(value: unknown, levels = WIRE_DEPTH): string | null {
  if (typeof value === 'string') return unstorableText(value);
  if (typeof value !== 'object' || value === null) return null;
  if (levels === 0) return `nested deeper than ${WIRE_DEPTH} levels`;
  if (Array.isArray(value)) return firstReason(value, (item) => unstorable(item, levels - 1));
  return firstReason(
    Object.entries(value),
    ([key, member]) => unstorableText(key) ?? unstorable(member, levels - 1),
  );
}

function firstReason<Item>(items: readonly Item[], reasonOf: (item: Item) => string | null): string | null {
  for (const item of items) {
    const reason = reasonOf(item);
    if (reason !== null) return reason;
  }
  return null;
}

/** Nearly no text has any of these: looked for first, because `LONE_SURROGATE` takes ten times as long. */
const SUSPECT = /[\0\ud800-\udfff]/;
const LONE_SURROGATE = /\p{Surrogate}/u;

function unstorableText(text: string): string | null {
  if (!SUSPECT.test(text)) return null;
  if (text.includes('\0')) return 'text with a NUL';
  return LONE_SURROGATE.test(text) ? 'text with a lone surrogate' : null;
}

/** The same value, cut where it is nested deeper: what `JSON.stringify` can write. */
export function pruned(value: unknown, levels = WIRE_DEPTH): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (levels === 0) return '…';
  if (Array.isArray(value)) return value.map((item) => pruned(item, levels - 1));
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, pruned(member, levels - 1)]));
}
