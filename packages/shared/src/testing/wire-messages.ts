/**
 * Messages of earlier protocol versions, and what a later version might make of them.
 *
 * `wire/version-N-SIDE.jsonl` holds what that side says in version N: every type of message, every kind of observation,
 * every table, every optional member, each line taken by that version's own readers. When the version is raised, the
 * lines of the one before stay as they are and new files join them.
 */
import { readFileSync } from 'node:fs';
import { z } from 'zod';

export type Json = null | boolean | number | string | Json[] | { [member: string]: Json };
export type Path = readonly (string | number)[];
export type Saying = { type: string } & { [member: string]: Json };

/** Version 3 says what version 2 says. */
export const RECORDED = [2, 4] as const;
export const LATEST_RECORDED = 4;

export const recorded = (side: 'server' | 'collector', version: number): Saying[] =>
  readFileSync(new URL(`./wire/version-${version}-${side}.jsonl`, import.meta.url), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

/** Objects whose members are data: keys that somebody chose, not members of the protocol. */
const MAPS = ['known', 'drops', 'counts', 'notes', 'vendor', 'raw', 'failed'];
const LATER_MEMBER = { laterMember: { deep: [1, 'two'] } };
export const LATER_WORD = 'later-word';

/** Places in a value: each object with members of the protocol. */
function* objectsIn(value: Json, path: Path = []): Generator<Path> {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) yield path;
  for (const [name, inner] of Object.entries(value))
    if (!MAPS.includes(name)) yield* objectsIn(inner, [...path, Array.isArray(value) ? Number(name) : name]);
}

/** Places in a value where its schema has words: enumerations, and numbers that may be a word. */
export function* wordsIn(schema: z.core.$ZodType, value: Json | undefined, path: Path = []): Generator<Path> {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault)
    yield* wordsIn(schema.unwrap(), value, path);
  else if (value === undefined || value === null) return;
  else if (schema instanceof z.ZodEnum || schema instanceof z.ZodLiteral) yield path;
  else if (schema instanceof z.ZodArray && Array.isArray(value))
    for (const [i, item] of value.entries()) yield* wordsIn(schema.element, item, [...path, i]);
  else if (schema instanceof z.ZodUnion) yield* wordsOfUnion(schema, value, path);
  else if (schema instanceof z.ZodObject && typeof value === 'object' && !Array.isArray(value))
    for (const [name, member] of Object.entries(schema.shape))
      yield* wordsIn(member, value[name], [...path, name]);
}

function* wordsOfUnion(schema: z.ZodUnion, value: Json, path: Path): Generator<Path> {
  const option = schema.options.find((one) => z.safeParse(one, value).success);
  if (schema.options.some((one) => one instanceof z.ZodLiteral)) yield path;
  else if (option) yield* wordsIn(option, value, path);
}

/** The value with another one at `path`; undefined takes it away. */
export function replaced(value: Json, path: Path, by: Json | undefined): Json {
  const copy = structuredClone(value);
  const last = path.at(-1);
  let inner = copy as Record<string | number, Json>;
  for (const step of path.slice(0, -1)) inner = inner[step] as Record<string | number, Json>;
  if (last === undefined) return by ?? null;
  if (by !== undefined) inner[last] = by;
  else if (Array.isArray(inner)) inner.splice(Number(last), 1);
  else delete inner[last];
  return copy;
}

const at = (value: Json, path: Path): Json =>
  path.reduce<Json>((inner, step) => (inner as Record<string | number, Json>)[step] ?? null, value);

export interface Later<T extends Json> {
  /** Where it differs. */
  path: Path;
  value: T;
}

/** The value with one unknown member, once for each object in it. */
export const withLaterMember = <T extends Json>(value: T): Later<T>[] =>
  [...objectsIn(value)].map((path) => ({
    path,
    value: replaced(value, path, { ...(at(value, path) as object), ...LATER_MEMBER }) as T,
  }));

/** The value with one unknown word, once for each word in it. */
export const withLaterWord = <T extends Json>(schema: z.core.$ZodType, value: T): Later<T>[] =>
  [...wordsIn(schema, value)].map((path) => ({ path, value: replaced(value, path, LATER_WORD) as T }));
