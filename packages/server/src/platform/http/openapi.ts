/** Pure: the table of operations → one OpenAPI 3.1 document. Nothing is described twice. */

import type { Webhook } from '@rollcall/shared/api/notices';
import {
  ERROR_STATUS,
  type ErrorCode,
  errorBody,
  errorCodes,
  NOTICE_DAYS,
  type Operation,
  responseBody,
} from '@rollcall/shared/api/operation';
import type { z } from 'zod';
import { columnsOf, rowOf } from './csv.ts';
import { exampleOf, type Json, type Schema, Schemas } from './openapi-schema.ts';
import { webhookObject } from './openapi-webhooks.ts';

const ABOUT = `Rollcall discovers the network of many sites and watches it.

Every answer is an envelope: \`success\`, \`data\`, and on lists \`totalCount\`. Errors have \`success: false\` and \`error\` with a \`code\` out of a closed list. Times are Unix seconds. Lists are answered as CSV (RFC 4180) as well, with the names of the columns first: ask with \`Accept: text/csv\`. Parameter names are case-sensitive; unknown ones are refused with 400. Operations marked \`x-stable\` never change incompatibly; the others serve the web application and may. An operation that ends is marked \`deprecated\` before, and its answers bear the headers \`Deprecation\` (RFC 9745) and \`Sunset\` (RFC 8594).`;

const TAGS: Record<string, string> = {
  Devices: 'Everything with an address that answered.',
  Interfaces: 'The ports of devices.',
  'Custom fields': 'What the installation keeps of devices and interfaces besides tags and notes.',
  Endpoints: 'Where MAC addresses enter the network.',
  Search: 'One box, one answer: devices, interfaces, endpoints and cases by whatever is known of them.',
  Topology: 'Which device is connected to which.',
  Metrics: 'What was measured of devices and interfaces over time: traffic, errors, round trip and loss.',
  Sensors: 'What devices say of their own health.',
  Events: 'What is or went wrong or changed.',
  Changes: 'What of the inventory came, went or is different.',
  Cases: "Events that belong together, with people's work on them.",
  Maintenance: 'Planned work: events raised meanwhile open no case.',
  Notifications: 'Webhooks and mail about cases, and what became of each delivery.',
  Discovery: 'Scans: what is looked at, by whom, and what came of it.',
  Profiles: 'What a scan does with the addresses it is given.',
  Schedules: 'Scans that start by themselves.',
  Credentials: 'SNMP communities and users; their secrets are write-only.',
  Collectors: 'The daemons at the sites.',
  Sites: 'Places, each with an address space of its own.',
  'API tokens': "The caller's own tokens. A token has exactly its owner's present rights.",
  Session: 'Signing in, and what people change about themselves.',
  Users: 'Accounts of people.',
  Audit: 'Who did what.',
  Service: 'The service about itself.',
  Lab: 'The simulated network of the demonstration; other servers have none.',
};

const WHEN: Record<ErrorCode, string> = {
  invalid_request: 'The request is not what the operation asks for; `details` names the places.',
  unauthorized: 'The credentials are missing or invalid.',
  forbidden: 'The caller lacks the right, or access to the site.',
  not_found: 'It does not exist, or the caller may not know of it.',
  conflict: 'It does not fit the present state.',
  payload_too_large: 'The body is larger than 256 KiB, or 16 KiB where nobody is signed in.',
  unsupported_media_type: 'The body is not JSON.',
  rate_limited: 'Too many requests; `Retry-After` says when to come again.',
  internal: 'A fault of the server; the log has it under the request id.',
  unavailable: 'The database is away; `Retry-After` says when to come again.',
};
const SAID: Record<ErrorCode, string> = {
  invalid_request: 'unknown parameter severity, did you mean Severity?',
  unauthorized: 'the token is invalid',
  forbidden: 'this needs the role operator or admin',
  not_found: 'no such device',
  conflict: 'the name Berlin is taken',
  payload_too_large: 'the body is larger than 256 KiB',
  unsupported_media_type: 'the body must be JSON (Content-Type: application/json)',
  rate_limited: 'more than the 60000 requests per minute allowed; wait and go on',
  internal: 'something went wrong here; the log has it under this request id',
  unavailable: 'the database is away; try again shortly',
};

/** The document of a table, as a plain JSON value. `version` is the product's, `webhooks` what the server itself sends. */
export function openApiDocument(
  operations: Record<string, Operation>,
  version: string,
  webhooks: Readonly<Record<string, Webhook>> = {},
): Json {
  const schemas = new Schemas();
  const paths: Record<string, Record<string, Json>> = {};
  for (const [id, operation] of Object.entries(operations)) {
    const methods = paths[operation.path] ?? {};
    methods[operation.method.toLowerCase()] = operationObject(id, operation, schemas);
    paths[operation.path] = methods;
  }
  const used = new Set(Object.values(operations).map(({ tag }) => tag));
  const told = Object.entries(webhooks).map(([type, each]) => [type, webhookObject(type, each, schemas)]);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Rollcall',
      version,
      description: ABOUT,
      contact: { name: 'The Rollcall authors' },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/', description: 'This installation.' }],
    tags: [...used].sort().map((name) => ({ name, description: TAGS[name] ?? name })),
    paths: Object.fromEntries(Object.entries(paths).sort(([a], [b]) => (a < b ? -1 : 1))),
    ...(told.length > 0 && { webhooks: Object.fromEntries(told) }),
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'A personal API token, `svc_…`.' },
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: '__Host-rollcall',
          description:
            'The session of a signed-in browser (`rollcall` on plain HTTP). Requests that change something must also say by `Origin` or `Sec-Fetch-Site` that they come from the same origin.',
        },
      },
      responses: errorResponses(operations, schemas),
      schemas: schemas.named(),
    },
  };
}

function operationObject(id: string, operation: Operation, schemas: Schemas): Json {
  refuseShortNotice(id, operation);
  const parameters = [
    ...Object.entries(operation.params?.shape ?? {}).map(([name, schema]) =>
      parameter(id, 'path', name, schema as z.ZodType, schemas),
    ),
    ...Object.entries(operation.query?.shape ?? {}).map(([name, schema]) =>
      parameter(id, 'query', name, schema as z.ZodType, schemas),
    ),
  ];
  return {
    operationId: id,
    tags: [operation.tag],
    summary: operation.summary,
    description: describe(operation),
    ...(operation.stable && { 'x-stable': true }),
    ...(operation.deprecated && { deprecated: true }),
    ...(isCsvToo(operation) && { 'x-csv-columns': columnsOf(rowOf(operation)) }),
    security: security(operation),
    ...(parameters.length > 0 && { parameters }),
    ...(operation.body && { requestBody: requestBody(id, operation, operation.body, schemas) }),
    responses: {
      [String(operation.status ?? 200)]: success(id, operation, schemas),
      ...(isRevalidated(operation) && {
        304: { description: 'What `If-None-Match` names is still what would be answered.' },
      }),
      ...Object.fromEntries(
        errorCodes(operation).map((code) => [
          String(ERROR_STATUS[code]),
          { $ref: `#/components/responses/${code}` },
        ]),
      ),
    },
  };
}

/** Whether `If-None-Match` is compared with the answer. */
const isRevalidated = ({ method, envelope }: Operation): boolean => method === 'GET' && envelope !== 'raw';

/** The table would break what docs/api.md promises. */
function refuseShortNotice(id: string, { deprecated, stable }: Operation): void {
  if (!deprecated) return;
  const least = stable ? NOTICE_DAYS.stable : NOTICE_DAYS.other;
  const days = (Date.parse(deprecated.sunset) - Date.parse(deprecated.since)) / 86_400_000;
  // Not a number where either is no date.
  if (!(days >= least))
    throw new Error(`${id} must stay for ${least} days after it is deprecated, not ${days}`);
}

const CSV = 'As CSV with `Accept: text/csv`, in the same pages; `x-csv-columns` are its columns.';

const describe = (operation: Operation): string => {
  const { description, access, by, stable, deprecated } = operation;
  return [
    description,
    isCsvToo(operation) && CSV,
    deprecated &&
      `Deprecated since ${deprecated.since}, ends on ${deprecated.sunset}.${deprecated.instead ? ` Use ${deprecated.instead} instead.` : ''}`,
    access === 'public'
      ? 'Needs no credentials.'
      : `Needs the role ${access}${access === 'admin' ? '' : ' or a higher one'}${by === 'session' ? ', and a signed-in session' : ''}.`,
    stable ? 'Stable.' : 'Not stable: may change with a release.',
  ]
    .filter(Boolean)
    .join('\n\n');
};

const security = ({ access, by }: Operation): Json[] =>
  access === 'public' ? [] : by === 'session' ? [{ session: [] }] : [{ bearer: [] }, { session: [] }];

/**
 * Query values travel as text and arrive as what they mean, so a parameter is described by its meaning: a list inside
 * one value is an array that is not exploded, a parameter that may come again is one that is.
 */
function parameter(
  id: string,
  where: 'path' | 'query',
  name: string,
  type: z.ZodType,
  schemas: Schemas,
): Json {
  const { description, example, ...schema } = schemas.meaning(type);
  const isList = schema.type === 'array';
  const comesAgain = isList && schemas.input(type).type === 'array';
  const shown = example ?? exampleOf(schema, schemas);
  return {
    name,
    in: where,
    required: where === 'path' || !type.safeParse(undefined).success,
    ...(description !== undefined && { description }),
    ...(isList && { style: 'form', explode: comesAgain }),
    schema: 'enum' in schema ? schemas.name(nameOf(id, name), schema) : schema,
    example: isList && typeof shown === 'string' ? listOf(shown, schema) : (shown as Json),
  };
}

/** `0,1` as the list it means. */
const listOf = (text: string, { items }: Schema): Json => {
  const numeric = ['integer', 'number'].includes(String((items as Schema | undefined)?.type));
  return text.split(',').map((part) => (numeric ? Number(part) : part));
};

/** What generated clients call the types of an operation: `devices.update` has `DevicesUpdateRequest`. */
const nameOf = (id: string, part: string): string =>
  `${id}.${part}`.replace(/(?:^|\W)(\w)/g, (_, first: string) => first.toUpperCase());

function requestBody(id: string, operation: Operation, body: z.ZodType, schemas: Schemas): Json {
  const schema = schemas.input(body);
  return {
    required: !body.safeParse(undefined).success,
    content: {
      'application/json': {
        schema: schemas.name(nameOf(id, 'request'), schema),
        example: (operation.example ?? exampleOf(schema, schemas)) as Json,
      },
    },
  };
}

function success(id: string, operation: Operation, schemas: Schemas): Json {
  const headers = {
    'X-Request-Id': {
      description: 'Names the request in the log.',
      schema: { type: 'string', format: 'uuid' },
    },
    ...(isRevalidated(operation) && {
      ETag: { description: 'Changes whenever what is answered does.', schema: { type: 'string' } },
    }),
    ...(isCsvToo(operation) && {
      'X-Total-Count': {
        description: 'Of CSV only: items on all pages.',
        schema: { type: 'integer' },
      },
    }),
    ...(operation.status === 303 && {
      Location: { description: 'Where the browser goes on.', schema: { type: 'string' } },
    }),
  };
  const type = operation.produces ?? 'application/json';
  const schema = schemas.output(responseBody(operation));
  const content =
    type === 'application/json'
      ? {
          schema: schemas.name(nameOf(id, 'response'), schema),
          example: exampleOf(schema, schemas) as Json,
        }
      : { schema };
  return {
    description: operation.envelope === 'list' ? 'The list.' : 'Done.',
    headers,
    content: { [type]: content },
  };
}

/**
 * CSV is told in words and by `x-csv-columns`: as a second `content` it would make every generated client say "an object or a
 * text" of what it never asks as text.
 */
const isCsvToo = ({ method, envelope }: Operation): boolean => method === 'GET' && envelope === 'list';

const ERROR_HEADERS: Partial<Record<ErrorCode, string>> = {
  unauthorized: 'WWW-Authenticate',
  rate_limited: 'Retry-After',
  unavailable: 'Retry-After',
};

function errorResponses(operations: Record<string, Operation>, schemas: Schemas): Json {
  const used = new Set(Object.values(operations).flatMap(errorCodes));
  const schema: Schema = schemas.output(errorBody.meta({ id: 'Error' }));
  return Object.fromEntries(
    [...used].map((code) => {
      const header = ERROR_HEADERS[code];
      const error = { code, message: SAID[code], requestId: '019aa3c4-5b00-7000-8000-00000000000f' };
      return [
        code,
        {
          description: WHEN[code],
          ...(header && { headers: { [header]: { schema: { type: 'string' } } } }),
          content: { 'application/json': { schema, example: { success: false, error } } },
        },
      ];
    }),
  );
}
