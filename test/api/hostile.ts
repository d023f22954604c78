/** Values that have broken servers before, and requests made of them after the published description. */

/** Small and fast, so that a run can be repeated from its seed (mulberry32). */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t = (t + Math.imul(t ^ (t >>> 7), t | 61)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}
export type Random = () => number;
export const pick = <T>(random: Random, from: readonly T[]): T => {
  const one = from[Math.floor(random() * from.length)];
  if (one === undefined) throw new Error('nothing to pick from');
  return one;
};

/** Text, for any place that takes text. */
export const TEXTS: readonly string[] = [
  '',
  ' ',
  '0',
  '-0',
  '-1',
  '1e9',
  '1e400',
  '9007199254740993',
  '99999999999999999999',
  'NaN',
  'Infinity',
  'null',
  'undefined',
  'true',
  '[]',
  '{}',
  '0x10',
  '１２',
  '٣',
  '1,2,,3',
  ',',
  ',,,,',
  '1;2',
  '0,0,0,0',
  '5,4,3,2,1,0,-1',
  "'",
  "''",
  '"',
  "' OR '1'='1",
  "'; DROP TABLE users; --",
  '1) OR (1=1',
  '%',
  '_',
  '%%%',
  '\\',
  '\\\\',
  "\\'",
  '$1',
  '$$',
  '$1::uuid',
  '{{7*7}}',
  '<script>alert(1)</script>',
  '<img src=x onerror=alert(1)>',
  'javascript:alert(1)',
  '../../../../etc/passwd',
  '..\\..\\',
  '%2e%2e%2f',
  '/etc/passwd\0.png',
  'file:///etc/passwd',
  'a\0b',
  '\0',
  '\r\nSet-Cookie: x=1',
  '\n',
  '\t',
  '\u001b[2J',
  '\u202egnp.exe',
  '\ufeff',
  '\u0000',
  '\ud800',
  '\udfff',
  '😀',
  'ﷺ'.repeat(30),
  `e${'\u0301'.repeat(500)}`,
  '(a+)+$',
  '.*'.repeat(50),
  '[',
  '(',
  '^$',
  '*',
  '?',
  '|',
  'x'.repeat(300),
  'x'.repeat(5_000),
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  'length',
  '00000000-0000-0000-0000-000000000000',
  'ffffffff-ffff-ffff-ffff-ffffffffffff',
  '019AA3C4-5B00-7000-8000-000000000001',
  '019aa3c4-5b00-7000-8000-00000000000g',
  '{019aa3c4-5b00-7000-8000-000000000001}',
  '0.0.0.0/0',
  '::/0',
  '10.0.0.0/33',
  '10.0.0.256',
  '010.1.1.1',
  '0x7f.1',
  '1.1',
  '::ffff:10.0.0.1',
  'fe80::1%eth0',
  '10.77.0.0/16',
  '127.0.0.1',
  '169.254.169.254',
  '10.77.0.1-10.77.0.9',
  '!10.0.0.0/8',
  '10.77.0.0/30 !10.77.0.1',
  '2001:db8::/127',
  '-iL',
  '--',
  '#1',
  '#',
  '#99999999999',
  'me',
  'none',
  '-name',
  '--name',
  '-',
  'name; DROP TABLE devices',
  'name,id',
  'lastSeen desc',
  '* * * * *',
  '0 0 31 2 *',
  '60 25 * * *',
  '@reboot',
  'Europe/Berlin',
  'Mars/Olympus',
  'icmp',
  'snmp',
  'switch,router',
  'SWITCH',
  'ping',
  'standard',
  'deep',
  'v2c',
  'v3',
  'viewer',
  'admin',
  'all',
  'svc_mail',
];

/** Anything else JSON can say. */
const VALUES: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -0,
  1,
  -1,
  0.5,
  2,
  3,
  5,
  6,
  25,
  1000,
  1001,
  65_536,
  2_147_483_647,
  2_147_483_648,
  -2_147_483_649,
  Number.MAX_SAFE_INTEGER,
  9_223_372_036_854_776_000,
  1e21,
  1e308,
  -1e308,
  5e-324,
  253_402_300_800,
  8_640_000_000_001,
  [],
  {},
  [[]],
  [null],
  [{}],
  { length: 1 },
  { $gt: '' },
  { contains: 'a' },
  { set: 'x' },
  { toString: 1 },
  { toJSON: 'x' },
  ['a', 'a'],
  Array.from({ length: 2_000 }, (_, i) => i),
  Array.from({ length: 300 }, () => 'x'),
  { a: { b: { c: { d: { e: {} } } } } },
];

/** Bodies that are wrong before anything is read out of them. */
const RAW_BODIES: readonly string[] = [
  '',
  ' ',
  'null',
  'true',
  '0',
  '"x"',
  '[]',
  '{',
  '}',
  '{"a":1',
  '{a:1}',
  "{'a':1}",
  '{"a":1,}',
  '[1,2',
  '\ufeff{}',
  '{}{}',
  'NaN',
  'undefined',
  '{"a":1e999}',
  '{"a":-0}',
  '{"a":"\\u0000"}',
  '{"a":"\\ud800"}',
  '{"a":"\\x"}',
  '{"a":"\n"}',
  '{"a":1,"a":2}',
  '{"__proto__":{"role":"admin"}}',
  '{"constructor":{"prototype":{"x":1}}}',
  `${'['.repeat(33)}${']'.repeat(33)}`,
  `${'['.repeat(20_000)}`,
  `${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`,
  `{"x":"${'y'.repeat(300_000)}"}`,
  `[${'1,'.repeat(50_000)}1]`,
  'a=1&b=2',
  '<xml/>',
  '--boundary\r\n',
  '\0',
  '{"name":"\u202e"}',
];
const TYPES = [
  'application/json',
  'application/json; charset=utf-8',
  'application/json;charset=utf-7',
  'text/plain',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'application/xml',
  '',
  'application/json, text/plain',
  'APPLICATION/JSON',
];
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'TRACE', 'PROPFIND'];
const HEADERS: readonly Record<string, string>[] = [
  { 'if-match': '"x"' },
  { 'if-match': '*' },
  { 'if-match': 'W/"' },
  { 'if-none-match': '*' },
  { 'idempotency-key': 'x'.repeat(2_000) },
  { 'idempotency-key': "' OR 1=1" },
  { 'x-forwarded-for': "1.2.3.4' OR '1" },
  { 'x-forwarded-host': 'evil.example' },
  { 'x-http-method-override': 'DELETE' },
  { 'last-event-id': '\u00ff' },
  { range: 'bytes=0-1,5-' },
  { accept: 'text/html' },
  { 'accept-encoding': 'gzip, br' },
  { host: 'evil.example' },
  { 'content-encoding': 'gzip' },
  { origin: 'null' },
  { cookie: 'rollcall=' },
  { 'user-agent': 'x'.repeat(5_000) },
  { expect: '100-continue' },
];

// biome-ignore lint/suspicious/noExplicitAny: a JSON Schema is whatever it is
export type Schema = Record<string, any>;
export interface Described {
  operationId: string;
  security: Record<string, unknown>[];
  parameters?: {
    name: string;
    in: 'path' | 'query';
    required: boolean;
    schema: Schema;
    example: unknown;
    explode?: boolean;
  }[];
  requestBody?: { required: boolean; content: { 'application/json': { schema: Schema; example: unknown } } };
  responses: Record<string, { $ref?: string; content?: Record<string, { schema: Schema }> }>;
}
export interface Attack {
  method: string;
  path: string;
  headers: Record<string, string>;
  body?: string;
}

/** What a fuzzer needs to know to reach deep: the paths, the document's schemas, ids that exist. */
export interface Ground {
  path: string;
  method: string;
  operation: Described;
  schemas: Record<string, Schema>;
  ids: readonly string[];
  /** What the path's parameter should be for the operation to find something. */
  fit: string | undefined;
}

/** The published description, as far as a fuzzer reads it. */
export interface Document {
  paths: Record<string, Record<string, Described>>;
  components: {
    schemas: Record<string, Schema>;
    responses: Record<string, { content: Record<string, { schema: Schema }> }>;
  };
}

/** Every operation of a description but those named. */
export const groundsOf = ({ paths, components }: Document, leftOut: ReadonlySet<string>): Ground[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, { operationId }]) => !leftOut.has(operationId))
      .map(([method, operation]) => ({
        path,
        method: method.toUpperCase(),
        operation,
        schemas: components.schemas,
        ids: [],
        fit: undefined,
      })),
  );

/** One request that begins as the description's own example and is then bent in up to three places. */
export function attack(random: Random, ground: Ground): Attack {
  const { operation } = ground;
  const parameters = operation.parameters ?? [];
  let path = ground.path;
  for (const { name, in: where } of parameters)
    if (where === 'path') path = path.replace(`{${name}}`, encode(random, pathValue(random, ground)));
  const query: string[] = [];
  for (const parameter of parameters.filter((p) => p.in === 'query'))
    if (parameter.required ? random() < 0.9 : random() < 0.35)
      query.push(...values(random, parameter, ground));
  if (random() < 0.05) query.push(`${encode(random, text(random))}=${encode(random, text(random))}`);
  if (random() < 0.03 && query[0]) query.push(query[0]);
  const headers: Record<string, string> = random() < 0.08 ? { ...pick(random, HEADERS) } : {};
  const method = random() < 0.03 ? pick(random, METHODS) : ground.method;
  const attack: Attack = { method, path: query.length ? `${path}?${query.join('&')}` : path, headers };
  if (!operation.requestBody) {
    if (random() < 0.1 && method !== 'TRACE') attack.body = pick(random, RAW_BODIES);
    return attack;
  }
  headers['content-type'] = random() < 0.05 ? pick(random, TYPES) : 'application/json';
  if (headers['content-type'] === '') delete headers['content-type'];
  const { schema, example } = operation.requestBody.content['application/json'];
  if (random() < 0.1) attack.body = pick(random, RAW_BODIES);
  else {
    let body = random() < 0.3 ? fromSchema(random, schema, ground, 0) : structuredClone(example);
    for (let bends = Math.floor(random() * 4); bends > 0; bends--) body = bend(random, body, schema, ground);
    attack.body = JSON.stringify(body) ?? '';
  }
  if (method === 'TRACE') delete attack.body;
  return attack;
}

function pathValue(random: Random, { fit, ids }: Ground): string {
  const dice = random();
  if (fit !== undefined && dice < 0.6) return fit;
  return dice < 0.8 ? pick(random, ids) : text(random);
}

const text = (random: Random): string => pick(random, TEXTS);
/** Percent-encoded, sometimes too much, sometimes wrongly. */
function encode(random: Random, value: string): string {
  const safe = value.replace(/\p{Surrogate}/gu, '\ufffd');
  const encoded = encodeURIComponent(safe);
  const dice = random();
  if (dice < 0.02) return `${encoded}%`;
  if (dice < 0.04) return `%E0%A4%A${encoded}`;
  if (dice < 0.06) return encodeURIComponent(encoded);
  return encoded.slice(0, 7_000);
}

function values(
  random: Random,
  parameter: NonNullable<Described['parameters']>[number],
  ground: Ground,
): string[] {
  const { name, schema, example, explode } = parameter;
  const one = (): string => {
    const dice = random();
    if (dice < 0.25) return String(Array.isArray(example) ? example.join(',') : example);
    if (dice < 0.4) return String(fromSchema(random, schema, ground, 0));
    if (dice < 0.5) return pick(random, ground.ids);
    return text(random);
  };
  const count = explode && random() < 0.3 ? 3 : 1;
  return Array.from({ length: count }, () => `${name}=${encode(random, one())}`);
}

const resolve = (schema: Schema, ground: Ground): Schema =>
  typeof schema.$ref === 'string' ? (ground.schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {}) : schema;

/** A value that fits a schema, mostly at its edges. */
export function fromSchema(random: Random, given: Schema, ground: Ground, depth: number): unknown {
  const schema = resolve(given, ground);
  if (depth > 6) return null;
  if ('const' in schema) return schema.const;
  if (schema.enum) return pick(random, schema.enum);
  const options = schema.anyOf ?? schema.oneOf;
  if (options) return fromSchema(random, pick(random, options), ground, depth);
  const type = Array.isArray(schema.type) ? pick(random, schema.type) : schema.type;
  switch (type) {
    case 'object': {
      const required: string[] = schema.required ?? [];
      const entries = Object.entries((schema.properties ?? {}) as Record<string, Schema>)
        .filter(([key]) => required.includes(key) || random() < 0.5)
        .map(([key, property]) => [key, fromSchema(random, property, ground, depth + 1)]);
      return Object.fromEntries(entries);
    }
    case 'array': {
      const [least, most] = [schema.minItems ?? 0, Math.min(schema.maxItems ?? 5, 5)];
      const length = pick(random, [least, Math.max(least, 1), most]);
      return Array.from({ length }, () => fromSchema(random, schema.items ?? {}, ground, depth + 1));
    }
    case 'integer':
    case 'number':
      return pick(random, [
        schema.minimum ?? 0,
        schema.maximum ?? 1_000_000,
        (schema.minimum ?? 0) + 1,
        schema.exclusiveMinimum ?? 7,
      ]);
    case 'boolean':
      return random() < 0.5;
    case 'string':
      if (schema.format === 'uuid') return pick(random, ground.ids);
      return pick(random, [
        schema.examples?.[0] ?? 'text',
        'x'.repeat(Math.min(schema.minLength ?? 1, 5_000)),
        'x'.repeat(Math.min(schema.maxLength ?? 50, 5_000)),
        text(random),
      ]);
    default:
      return type === 'null' ? null : pick(random, VALUES);
  }
}

/** Changes one thing: a field gone, foreign, of another type, at its edge, or swapped for something hostile. */
export function bend(random: Random, body: unknown, schema: Schema, ground: Ground): unknown {
  if (random() < 0.1) return pick(random, VALUES);
  if (body === null || typeof body !== 'object') return random() < 0.5 ? text(random) : pick(random, VALUES);
  if (Array.isArray(body)) {
    if (body.length === 0 || random() < 0.3)
      return [...body, random() < 0.5 ? text(random) : pick(random, VALUES)];
    const at = Math.floor(random() * body.length);
    return body.map((item, i) =>
      i === at ? bend(random, item, resolve(schema, ground).items ?? {}, ground) : item,
    );
  }
  const object = { ...(body as Record<string, unknown>) };
  const properties = (resolve(schema, ground).properties ?? {}) as Record<string, Schema>;
  const key = pick(random, [
    ...Object.keys(object),
    ...Object.keys(properties),
    'siteId',
    'role',
    'id',
    'createdAt',
  ]);
  const dice = random();
  if (dice < 0.1) delete object[key];
  else if (dice < 0.2) object[random() < 0.5 ? text(random) : `${key} `] = text(random);
  else if (dice < 0.45) object[key] = text(random);
  else if (dice < 0.65) object[key] = pick(random, VALUES);
  else if (dice < 0.8 && properties[key]) object[key] = fromSchema(random, properties[key], ground, 0);
  else object[key] = bend(random, object[key], properties[key] ?? {}, ground);
  return object;
}
