/** From a request to the values an operation asked for: path, query and body, read strictly by its schemas. */
import type { Operation } from '@rollcall/shared/api/operation';
import { z } from 'zod';
import { closest } from '../ops/hint.ts';
import { notFound, Problem } from '../problem.ts';
import { readJson } from './json.ts';

type Detail = { path: string; message: string };

/** Most parameters in one query. */
const QUERY_PARAMETERS = 200;
const CONTROL = /\p{Cc}/u;

/** Made once: zod compiles a schema at its first use. */
const NO_PARAMS = z.object({});
const NO_QUERY = z.strictObject({});

/** What does not parse in a path does not exist. */
export function readParams(operation: Operation, raw: Record<string, unknown>): Record<string, unknown> {
  const result = (operation.params ?? NO_PARAMS).safeParse({ ...raw });
  if (!result.success) throw notFound(thingOf(operation.path));
  return result.data;
}

/** What a path is about: the word before its parameter. `/api/discovery/scans/{scanId}` is about a scan. */
const thingOf = (path: string): string => (/([\w-]+?)s?\/\{/.exec(path)?.[1] ?? 'thing').replace('-', ' ');

/**
 * Reads the text behind `?`. Names are case-sensitive, unknown ones refused (in a loose schema passed over), scalars may come
 * only once.
 */
export function readQuery(operation: Operation, search: string): Record<string, unknown> {
  const shape = operation.query?.shape ?? {};
  const names = Object.keys(shape);
  const given = new Map<string, string[]>();
  let count = 0;
  for (const [name, value] of new URLSearchParams(search)) {
    if (++count > QUERY_PARAMETERS) throw new Problem('invalid_request', 'too many query parameters');
    // What browsers' libraries append against caches.
    if (name === '_') continue;
    if (!Object.hasOwn(shape, name)) {
      if (operation.query?.def.catchall instanceof z.ZodUnknown) continue;
      throw unknownParameter(name, names);
    }
    if (value.includes('\0')) throw problemOf([{ path: name, message: 'must not contain NUL' }]);
    // A form sends the filters that nobody filled, too.
    if (value === '') continue;
    const values = given.get(name);
    if (values) values.push(value);
    else given.set(name, [value]);
  }
  const query: Record<string, unknown> = {};
  for (const [name, values] of given) {
    const many = takesMany(shape[name]);
    if (!many && values.length > 1) throw problemOf([{ path: name, message: 'is given more than once' }]);
    query[name] = many ? values : values[0];
  }
  const result = (operation.query ?? NO_QUERY).safeParse(query);
  if (!result.success) throw problemOf(result.error.issues.map((issue) => detailOf(issue)));
  return result.data;
}

/** Reads a body that came as JSON text; undefined when there was none. */
export function readBody(operation: Operation, text: string | undefined): unknown {
  if (!operation.body) return undefined;
  let value: unknown;
  if (text !== undefined) {
    const read = readJson(text);
    if (!read.ok) throw new Problem('invalid_request', read.reason);
    value = read.value;
  } else if (!operation.body.safeParse(undefined).success) {
    throw new Problem('invalid_request', 'a JSON body is needed');
  }
  const result = operation.body.safeParse(value);
  if (!result.success) throw problemOf(result.error.issues.map((issue) => detailOf(issue, operation.body)));
  return result.data;
}

const shorten = (name: string): string => (name.length > 60 ? `${name.slice(0, 60)}…` : name);

function unknownParameter(name: string, names: readonly string[]): Problem {
  const shown = CONTROL.test(name) ? JSON.stringify(shorten(name)) : shorten(name);
  const meant = closest(name, names);
  const hint = meant !== undefined ? `, did you mean ${meant}?` : names.length ? '' : '; there are none here';
  return new Problem('invalid_request', `unknown parameter ${shown}${hint}`, {
    details: [
      {
        path: shown,
        message: names.length ? `known parameters: ${names.join(', ')}` : 'no parameter is known here',
      },
    ],
  });
}

function problemOf(details: Detail[]): Problem {
  const [first] = details;
  const message = first ? `${first.path ? `${first.path}: ` : ''}${first.message}` : 'the request is invalid';
  return new Problem('invalid_request', message, { details: details.slice(0, 20) });
}

/** Whether a parameter may come several times: its schema takes an array. */
function takesMany(schema: unknown): boolean {
  let inner = schema;
  while (
    inner instanceof z.ZodOptional ||
    inner instanceof z.ZodDefault ||
    inner instanceof z.ZodNullable ||
    inner instanceof z.ZodPipe
  )
    inner = inner instanceof z.ZodPipe ? inner.in : inner.unwrap();
  return inner instanceof z.ZodArray;
}

type Issue = z.core.$ZodIssue;

/** An issue in our own words: no library's text reaches a caller. */
function detailOf(issue: Issue, schema?: z.ZodType): Detail {
  const path = issue.path.map((part) => shorten(String(part))).join('.');
  return { path, message: messageOf(issue, schema) };
}

const A: Record<string, string> = {
  array: 'a list',
  object: 'an object',
  int: 'a whole number',
  null: 'null',
};
const kind = (expected: string): string => A[expected] ?? `a ${expected}`;

function messageOf(issue: Issue, schema?: z.ZodType): string {
  switch (issue.code) {
    case 'invalid_type':
      return /received undefined$/.test(issue.message) && issue.path.length > 0
        ? `is missing (${kind(issue.expected)} is needed)`
        : `must be ${kind(issue.expected)}`;
    case 'invalid_value':
      return `must be ${issue.values.length > 1 ? 'one of ' : ''}${issue.values.slice(0, 40).map(String).join(', ')}`;
    case 'too_small':
      return bound(issue.origin, 'at least', issue.minimum);
    case 'too_big':
      return bound(issue.origin, 'at most', issue.maximum);
    case 'unrecognized_keys':
      return unknownKey(issue, schema);
    case 'invalid_format':
      return issue.format === 'regex'
        ? ownMessage(issue, 'has the wrong form')
        : `must be a valid ${issue.format}`;
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`;
    case 'invalid_union':
      return 'has none of the allowed forms';
    case 'custom':
      return ownMessage(issue, 'is not allowed');
    default:
      return 'is not allowed';
  }
}

/** A message that stands in one of our schemas; zod's own all begin with "Invalid". */
const ownMessage = (issue: Issue, otherwise: string): string =>
  issue.message && !/^Invalid\b/.test(issue.message) ? issue.message : otherwise;

function bound(origin: string, least: string, limit: number | bigint): string {
  if (origin === 'string') return `must have ${least} ${limit} characters`;
  if (origin === 'array' || origin === 'set') return `must have ${least} ${limit} items`;
  return `must be ${least} ${limit}`;
}

function unknownKey(issue: Extract<Issue, { code: 'unrecognized_keys' }>, schema?: z.ZodType): string {
  const key = issue.keys[0] ?? '';
  const known = schema instanceof z.ZodObject && issue.path.length === 0 ? Object.keys(schema.shape) : [];
  const meant = closest(key, known);
  return `unknown field ${JSON.stringify(shorten(key))}${meant === undefined ? '' : `, did you mean ${meant}?`}`;
}
