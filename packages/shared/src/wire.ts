/**
 * Reading what a peer of another version says: members that this version does not know are left out, words that it does
 * not know (values of enumerations) are read as the schema declares. `docs/protocol.md` has the rules.
 *
 * The schema stays the one that checks settings strictly. It only declares what becomes of an unknown word:
 * - `orElse(words, fallback)`: it is read as the fallback;
 * - an optional member: it is left out;
 * - an item of `each(list)`: the item is left out, the others stand;
 * - anywhere else: the message is refused.
 */
import { z } from 'zod';

interface Declared {
  fallback?: unknown;
  each?: 'readable' | 'known';
}
const declared = z.registry<Declared>();

/** Reads a text that `words` does not have as `fallback`. */
export function orElse<T extends z.ZodType>(words: T, fallback: z.output<T>): T {
  declared.add(words, { fallback });
  return words;
}

/**
 * A list whose items stand each for itself.
 * @param kept `readable`: an item that cannot be read, for whatever reason, is left out. `known`: only one of a later
 *   version is; another fault refuses the message, where an item that is missing would say something.
 */
export function each<T extends z.ZodArray>(list: T, kept: 'readable' | 'known' = 'readable'): T {
  declared.add(list, { each: kept });
  return list;
}

/** A table of members by name, of so many at most. */
export const atMost = <T extends z.ZodRecord>(most: number, members: T): T =>
  members.refine((value) => Object.keys(value as object).length <= most, `more than ${most} members`);

/** What was read, or why nothing was; a value, never thrown. */
export type Parsed<T> =
  | {
      ok: true;
      message: T;
      /** Where something stood that was left out or read as something else, `credentials[].version`. */
      unknown: readonly string[];
    }
  | {
      ok: false;
      reason: string;
      /** Nothing is wrong with it but words that this version does not know: the peer is newer, not broken. */
      newer: boolean;
    };

/** Places named at most for one message. */
const NAMED = 20;

export function readWire<T>(schema: z.ZodType<T>, value: unknown): Parsed<T> {
  const strict = schema.safeParse(value);
  if (strict.success) return { ok: true, message: strict.data, unknown: [] };
  const reader = new Reader();
  const lenient = schema.safeParse(reader.read(schema, value, []));
  if (lenient.success)
    return { ok: true, message: lenient.data, unknown: [...reader.unknown].slice(0, NAMED) };
  const { issues } = lenient.error;
  const [issue] = issues;
  return {
    ok: false,
    reason: `${issue?.path.join('.') || 'message'}: ${issue?.message ?? 'invalid'}`,
    newer: reader.newer(issues),
  };
}

type Path = readonly (string | number)[];
type Members = Readonly<Record<string, unknown>>;

/** Walks a value along its schema; needed only for what the schema did not take as it came. */
class Reader {
  /** Places where something was left out or replaced. */
  readonly unknown = new Set<string>();
  /** Places of unknown words that nothing is declared for. */
  readonly #refused = new Set<string>();

  /** Whether unknown words are all that is wrong with what stands at `path`. */
  newer(issues: readonly z.core.$ZodIssue[], path: Path = []): boolean {
    return issues.every((issue) => this.#refused.has([...path, ...issue.path].join('.')));
  }

  read(schema: z.core.$ZodType, value: unknown, path: Path): unknown {
    if (schema instanceof z.ZodOptional) return this.#optional(schema.unwrap(), value, path);
    if (schema instanceof z.ZodNullable || schema instanceof z.ZodDefault)
      return this.read(schema.unwrap(), value, path);
    if (typeof value === 'string') return this.#text(schema, value, path);
    if (schema instanceof z.ZodArray && Array.isArray(value)) return this.#list(schema, value, path);
    if (!isMembers(value)) return value;
    if (schema instanceof z.ZodObject) return this.#members(schema, value, path);
    if (schema instanceof z.ZodDiscriminatedUnion) return this.#oneOf(schema, value, path);
    return value;
  }

  #optional(schema: z.core.$ZodType, value: unknown, path: Path): unknown {
    const read = this.read(schema, value, path);
    if (!this.#refused.delete(path.join('.'))) return read;
    this.#note(path);
    return undefined;
  }

  #text(schema: z.core.$ZodType, value: string, path: Path): unknown {
    if (!isWords(schema) || z.safeParse(schema, value).success) return value;
    const { fallback } = declared.get(schema) ?? {};
    if (fallback === undefined) this.#refused.add(path.join('.'));
    else this.#note(path);
    return fallback ?? value;
  }

  #list(schema: z.ZodArray, list: readonly unknown[], path: Path): unknown[] {
    const items = list.map((item, i) => this.read(schema.element, item, [...path, i]));
    const kept = declared.get(schema)?.each;
    if (kept === undefined) return items;
    return items.filter((item, i) => {
      const { success, error } = z.safeParse(schema.element, item);
      if (success || (kept === 'known' && !this.newer(error.issues, [...path, i]))) return true;
      this.#note([...path, i]);
      return false;
    });
  }

  #members({ shape, def }: z.ZodObject, members: Members, path: Path): Members {
    const read: Record<string, unknown> = {};
    for (const [name, schema] of Object.entries(shape)) {
      const value = Object.hasOwn(members, name)
        ? this.read(schema, members[name], [...path, name])
        : undefined;
      if (value !== undefined) read[name] = value;
    }
    // Others leave out what they do not know by themselves, and nobody needs to be told.
    if (def.catchall instanceof z.ZodNever)
      for (const name of Object.keys(members)) if (!Object.hasOwn(shape, name)) this.#note([...path, name]);
    return read;
  }

  #oneOf(schema: z.ZodDiscriminatedUnion, value: Members, path: Path): unknown {
    const { discriminator } = schema.def;
    const word = value[discriminator];
    const option = schema.options.find((one) => takes(one, discriminator, word));
    if (option) return this.read(option, value, path);
    if (typeof word === 'string') this.#refused.add([...path, discriminator].join('.'));
    return value;
  }

  #note(path: Path): void {
    this.unknown.add(
      path
        .map((part) => (typeof part === 'number' ? '[]' : `.${part}`))
        .join('')
        .slice(1, 200),
    );
  }
}

const isMembers = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** An enumeration, or a number that may also be a word. */
const isWords = (schema: z.core.$ZodType): boolean =>
  schema instanceof z.ZodEnum ||
  schema instanceof z.ZodLiteral ||
  declared.get(schema)?.fallback !== undefined;

const takes = (option: z.core.$ZodType, discriminator: string, word: unknown): boolean =>
  option instanceof z.ZodDiscriminatedUnion
    ? option.options.some((one) => takes(one, discriminator, word))
    : option instanceof z.ZodObject && z.safeParse(option.shape[discriminator], word).success;

/** Unknown places of one sender that are logged at most. */
const LOGGED_MOST = 100;
/** The unknown places below `where` that are not yet in `logged`, which takes them: a newer peer repeats itself. */
export function untold(logged: Set<string>, where: string, unknown: readonly string[]): string[] {
  const places = unknown.map((place) => `${where}.${place}`);
  const fresh = places.filter((place) => !logged.has(place)).slice(0, LOGGED_MOST - logged.size);
  for (const place of fresh) logged.add(place);
  return fresh;
}

/** The same for many senders: each has a bound of its own, so that one cannot silence the log lines of another. */
export class UnknownBySender {
  readonly #logged = new Map<string, Set<string>>();

  untold(sender: string, where: string, unknown: readonly string[]): string[] {
    if (unknown.length === 0) return [];
    const logged = this.#logged.get(sender) ?? new Set();
    this.#logged.set(sender, logged);
    return untold(logged, where, unknown);
  }
}
