/** Deepest nesting of arrays and objects in a body. Deeper parses, and then breaks JSON.stringify. */
export const JSON_DEPTH = 32;

export type ReadJson = { ok: true; value: unknown } | { ok: false; reason: string };

/** Keys that reach an object's prototype where code merges carelessly. */
const PROTOTYPE_KEYS = new Set(['__proto__', 'constructor', 'prototype']);
const LONE_SURROGATE = /\p{Surrogate}/u;

/**
 * Reads a JSON body and refuses what JSON.parse lets through: nesting deeper than JSON_DEPTH, the same key twice,
 * prototype keys, and text that PostgreSQL cannot store (NUL, lone surrogates).
 */
export function readJson(text: string): ReadJson {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { ok: false, reason: 'the body is not valid JSON' };
  }
  const reason = objection(text);
  return reason === null ? { ok: true, value } : { ok: false, reason };
}

/** Walks the tokens of a text that JSON.parse has accepted, so only strings and brackets need telling apart. */
function objection(text: string): string | null {
  /** Keys seen so far of each open object; null for an array. */
  const open: (Set<string> | null)[] = [];
  let awaitsKey = false;
  for (let at = 0; at < text.length; at++) {
    const char = text[at];
    if (char === '{' || char === '[') {
      open.push(char === '{' ? new Set() : null);
      if (open.length > JSON_DEPTH) return `the body is nested deeper than ${JSON_DEPTH} levels`;
      awaitsKey = char === '{';
    } else if (char === '}' || char === ']') {
      open.pop();
      awaitsKey = false;
    } else if (char === ',') {
      awaitsKey = open.at(-1) instanceof Set;
    } else if (char === '"') {
      const start = at;
      for (at++; text[at] !== '"'; at++) if (text[at] === '\\') at++;
      const string: string = JSON.parse(text.slice(start, at + 1));
      if (string.includes('\0')) return 'text must not contain NUL';
      if (LONE_SURROGATE.test(string)) return 'text must be valid Unicode (a surrogate stands alone)';
      if (!awaitsKey) continue;
      awaitsKey = false;
      const keys = open.at(-1);
      if (PROTOTYPE_KEYS.has(string)) return `the key ${string} is not allowed`;
      if (keys?.has(string)) return `the key ${JSON.stringify(string.slice(0, 60))} stands twice`;
      keys?.add(string);
    }
  }
  return null;
}
