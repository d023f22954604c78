import { operations } from '@rollcall/shared/api/index';
import { NOTICE_TYPES, notice, webhooks } from '@rollcall/shared/api/notices';
import { type Deprecation, errorCodes, type Operation, responseBody } from '@rollcall/shared/api/operation';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { openApiDocument } from './openapi.ts';

const table: Record<string, Operation> = operations;
interface Described {
  operationId: string;
  summary: string;
  'x-stable'?: boolean;
  security: Record<string, string[]>[];
  parameters?: { name: string; in: string; required: boolean; example: unknown; explode?: boolean }[];
  requestBody?: { content: { 'application/json': { example: unknown } } };
  responses: Record<string, { content?: Record<string, { example?: unknown }>; $ref?: string }>;
}
const document = openApiDocument(table, '1.2.3') as unknown as {
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, Described>>;
  components: { schemas: Record<string, unknown>; responses: Record<string, unknown> };
};
const described = new Map(
  Object.values(document.paths).flatMap((path) =>
    Object.values(path).map((o) => [o.operationId, o] as const),
  ),
);
const cases = Object.entries(table).map(([id, operation]) => [id, operation, described.get(id)!] as const);

/** Section 4 of the customer's document, and the description itself (sections 1 and 9). */
const STABLE = [
  'GET /api/cases',
  'GET /api/cases/{id}',
  'GET /api/devices',
  'GET /api/devices/{id}',
  'GET /api/events',
  'GET /api/events/{id}',
  'GET /api/interfaces',
  'GET /api/openapi.json',
  'GET /api/tokens',
  'POST /api/discovery/scan',
  'POST /api/tokens',
  'DELETE /api/tokens/{id}',
].sort();

/** Every further endpoint that the decisions name. */
const ADDITIONAL = `
  GET /api/discovery/scans, GET /api/discovery/scans/{scanId}, POST /api/discovery/scans/{scanId}/cancel,
  GET /api/discovery/profiles, POST /api/discovery/profiles, GET /api/discovery/profiles/{id},
  PATCH /api/discovery/profiles/{id}, DELETE /api/discovery/profiles/{id},
  GET /api/discovery/schedules, POST /api/discovery/schedules, GET /api/discovery/schedules/{id},
  PATCH /api/discovery/schedules/{id}, DELETE /api/discovery/schedules/{id},
  GET /api/credentials, POST /api/credentials, GET /api/credentials/{id}, PATCH /api/credentials/{id},
  DELETE /api/credentials/{id}, POST /api/events/{id}/acknowledge, POST /api/events/{id}/close, POST /api/cases,
  PATCH /api/cases/{id}, POST /api/cases/{id}/comments, POST /api/cases/{id}/events, PATCH /api/devices/{id},
  DELETE /api/devices/{id}, POST /api/devices/bulk, GET /api/sites, POST /api/sites, PATCH /api/sites/{id},
  GET /api/users, POST /api/users, PATCH /api/users/{id}, GET /api/collectors, PATCH /api/collectors/{id},
  POST /api/collectors/join-tokens, POST /api/collectors/{id}/rotate, POST /api/collectors/{id}/revoke,
  GET /api/summary, GET /api/topology, GET /api/audit, POST /api/session, DELETE /api/session, GET /api/session,
  GET /api/stream, GET /api/health/live, GET /api/health/ready, GET /metrics`
  .split(',')
  .map((each) => each.trim());

describe('the OpenAPI document', () => {
  it('has what else was decided', () => {
    const there = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(ADDITIONAL.filter((each) => !there.includes(each))).toEqual([]);
  });

  it('marks as stable what the customer was promised, and nothing else', () => {
    const stable = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).flatMap(([method, o]) =>
        o['x-stable'] ? [`${method.toUpperCase()} ${path}`] : [],
      ),
    );
    expect(stable.sort()).toEqual(STABLE);
  });

  it('says of each group what it is about, in more than its name', () => {
    for (const { name, description } of document.tags) expect(description, name).not.toBe(name);
  });

  it('names each operation once, and every $ref leads somewhere', () => {
    expect(described.size).toBe(Object.keys(table).length);
    const refs = [...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/(\w+)\/([^"]+)"/g)];
    expect(refs.length).toBeGreaterThan(100);
    for (const [, kind, name] of refs)
      expect(Object.keys(document.components[kind as 'schemas']), `${kind}/${name}`).toContain(name);
  });

  it('has patterns that other languages can compile', () => {
    const patterns = [...JSON.stringify(document).matchAll(/"pattern":("(?:[^"\\\\]|\\\\.)*")/g)].map(
      ([, text]) => JSON.parse(text ?? '') as string,
    );
    expect(patterns.length).toBeGreaterThan(5);
    expect(patterns.filter((pattern) => /\\[pPzZkuU]\{|\(\?</.test(pattern))).toEqual([]);
  });

  it('names every list of words or codes once, so that generated clients have one type for it', () => {
    const unnamed: string[] = [];
    const look = (value: unknown, path: string[]): void => {
      if (value === null || typeof value !== 'object') return;
      if (Array.isArray((value as { enum?: unknown }).enum) && path.length > 1) unnamed.push(path.join('/'));
      for (const [key, part] of Object.entries(value)) if (key !== 'example') look(part, [...path, key]);
    };
    for (const [name, schema] of Object.entries(document.components.schemas)) look(schema, [name]);
    look(document.paths, ['paths', 'of']);
    expect(unnamed).toEqual([]);
  });

  it('names the columns of every list as CSV', () => {
    for (const [id, { method, envelope }, d] of cases)
      expect('x-csv-columns' in d, id).toBe(method === 'GET' && envelope === 'list');
    expect(described.get('devices.list')).toMatchObject({
      'x-csv-columns': expect.arrayContaining(['name', 'reachable.icmp']),
      description: expect.stringContaining('`Accept: text/csv`'),
    });
  });

  it.each(cases)('%s has named types for what is sent and answered', (_id, operation, d) => {
    const shapes = [d.requestBody, ...Object.values(d.responses)].flatMap((part) => {
      const schema = (part as { content?: Record<string, { schema: object }> } | undefined)?.content?.[
        'application/json'
      ];
      return schema ? [schema.schema] : [];
    });
    for (const shape of shapes) expect(Object.keys(shape)).toEqual(['$ref']);
    if (operation.body) expect(shapes.length).toBeGreaterThan(0);
  });

  it.each(cases)(
    '%s has an example that its own schemas accept, errors and security',
    (_id, operation, d) => {
      expect(d.summary.length).toBeGreaterThan(3);
      if (operation.body) {
        const { example } = d.requestBody!.content['application/json'];
        expect(operation.body.safeParse(example).error?.message).toBeUndefined();
      }
      if (operation.envelope !== 'raw' && operation.produces === undefined) {
        const success = Object.values(d.responses).find((r) => r.content)!;
        const { example } = success.content!['application/json']!;
        expect(responseBody(operation).safeParse(example).error?.message).toBeUndefined();
      }
      for (const code of errorCodes(operation))
        expect(Object.values(d.responses)).toContainEqual({ $ref: `#/components/responses/${code}` });
      expect(d.security.length > 0).toBe(operation.access !== 'public');
    },
  );

  it.each(cases.filter(([, { query }]) => query))(
    '%s has parameters whose examples work when sent',
    (_id, operation, d) => {
      const sent: Record<string, unknown> = {};
      for (const { name, in: where, example, explode } of d.parameters ?? []) {
        if (where !== 'query') continue;
        expect(example, name).toBeDefined();
        sent[name] = Array.isArray(example)
          ? explode
            ? example.map(String)
            : example.join(',')
          : String(example);
      }
      expect(operation.query!.safeParse(sent).error?.message).toBeUndefined();
    },
  );

  it('marks what ends, and refuses to end it sooner than docs/api.md promises', () => {
    const operation = (deprecated: Deprecation, stable = false): Operation => ({
      method: 'GET',
      path: '/api/x',
      tag: 'Service',
      summary: 'Test',
      access: 'viewer',
      data: z.null(),
      envelope: 'item',
      stable,
      deprecated,
    });
    const of = (each: Operation) => (openApiDocument({ x: each }, '1') as unknown as typeof document).paths;
    const soon = { since: '2026-01-01', sunset: '2026-04-01', instead: 'GET /api/y' };
    expect(of(operation(soon))['/api/x']?.get).toMatchObject({
      deprecated: true,
      description: expect.stringContaining('since 2026-01-01, ends on 2026-04-01. Use GET /api/y instead.'),
    });
    expect(() => of(operation({ ...soon, sunset: '2026-03-31' }))).toThrow('for 90 days');
    expect(() => of(operation(soon, true))).toThrow('for 365 days');
    expect(() => of(operation({ ...soon, sunset: 'later' }))).toThrow('for 90 days');
  });

  it('keeps apart what a name means as input and as output', () => {
    const settings = z.strictObject({ tries: z.int().default(2) }).meta({ id: 'TestSettings' });
    const wrapper = z.strictObject({ settings }).meta({ id: 'TestWrapper' });
    const operation: Operation = {
      method: 'POST',
      path: '/api/x',
      tag: 'Service',
      summary: 'Test',
      access: 'admin',
      body: z.strictObject({ wrapper }),
      data: wrapper,
      envelope: 'item',
    };
    const { components } = openApiDocument({ x: operation }, '1') as unknown as typeof document;
    const named = components.schemas as Record<
      string,
      { required?: string[]; properties: { settings: object } }
    >;
    expect(named.TestSettings?.required).toBeUndefined();
    expect(named.TestSettingsOutput?.required).toEqual(['tries']);
    expect(named.TestWrapperOutput?.properties.settings).toEqual({
      $ref: '#/components/schemas/TestSettingsOutput',
    });
    expect(named.TestWrapper?.properties.settings).toEqual({ $ref: '#/components/schemas/TestSettings' });
  });

  it('has what the server itself sends, signed, with the payload that a receiver gets', () => {
    const { webhooks: told, components } = openApiDocument(table, '1.2.3', webhooks) as unknown as {
      webhooks: Record<string, { post: Described }>;
      components: { schemas: Record<string, { enum?: string[]; properties: Record<string, object> }> };
    };
    expect(Object.keys(told)).toEqual([...NOTICE_TYPES, 'test']);
    for (const [type, { post }] of Object.entries(told)) {
      expect(post.parameters?.map(({ name }) => name)).toEqual([
        'webhook-id',
        'webhook-timestamp',
        'webhook-signature',
      ]);
      expect(Object.keys(post.responses).sort(), 'every class of answers').toEqual(
        ['2XX', '3XX', '410', '4XX', '5XX'].sort(),
      );
      const content = post.requestBody?.content['application/json'];
      expect(content).toMatchObject({ schema: { $ref: '#/components/schemas/Notice' }, example: { type } });
      expect(notice.safeParse(content?.example).error).toBeUndefined();
    }
    expect(components.schemas.Notice?.properties.type).toEqual({ $ref: '#/components/schemas/NoticeOrTest' });
    expect(components.schemas.NoticeOrTest?.enum).toEqual([...NOTICE_TYPES, 'test']);
  });
});
