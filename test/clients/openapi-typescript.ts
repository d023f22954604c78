import createClient from 'openapi-fetch';
import { type Client, cook, must, server } from './cookbook';
import type { paths } from './generated/openapi-typescript/schema';

// A list inside one parameter is separated by commas.
const client = createClient<paths>({
  baseUrl: server,
  querySerializer: { array: { style: 'form', explode: false } },
});

async function ok<T>(asking: Promise<{ data?: T; error?: unknown }>): Promise<NonNullable<T>> {
  const { data, error } = await asking;
  return must(data, `answer: ${JSON.stringify(error)}`);
}
const of = (id: string) => ({ path: { id } });
const scan = (scanId: string) => ({ path: { scanId } });

const table: Client = {
  signIn: async (body, headers) => (await client.POST('/api/session', { body, headers })).response,
  makeToken: (body, headers) => ok(client.POST('/api/tokens', { body, headers })),
  session: () => ok(client.GET('/api/session')),
  tokens: () => ok(client.GET('/api/tokens')),
  revoke: (id) => ok(client.DELETE('/api/tokens/{id}', { params: of(id) })),
  devices: (query) => ok(client.GET('/api/devices', { params: { query } })),
  devicesEtag: async (query) => (await client.GET('/api/devices', { params: { query } })).response.headers,
  devicesAgain: async (query, headers) =>
    (await client.GET('/api/devices', { params: { query }, headers, parseAs: 'text' })).response.status,
  devicesCsv: (query, headers) =>
    ok(client.GET('/api/devices', { params: { query }, headers, parseAs: 'text' })),
  device: (id) => ok(client.GET('/api/devices/{id}', { params: of(id) })),
  missing: async (id) =>
    must((await client.GET('/api/devices/{id}', { params: of(id) })).error, 'error').error.code,
  interfaces: (query) => ok(client.GET('/api/interfaces', { params: { query } })),
  freePorts: (query) => ok(client.GET('/api/interfaces/free', { params: { query } })),
  explain: (id) => ok(client.GET('/api/devices/{id}/explain', { params: of(id) })),
  events: (query) => ok(client.GET('/api/events', { params: { query } })),
  acknowledge: (id) => ok(client.POST('/api/events/{id}/acknowledge', { params: of(id) })),
  cases: ({ tag, ...query }) =>
    ok(client.GET('/api/cases', { params: { query: { ...query, ...(tag && { tag: [tag] }) } } })),
  bulk: ({ filter, set }) =>
    ok(
      client.POST('/api/devices/bulk', {
        body: { filter: { ...filter, class: filter.class?.join() }, set },
      }),
    ),
  defineField: (body) => ok(client.POST('/api/fields', { body })),
  bulkInterfaces: (body) => ok(client.POST('/api/interfaces/bulk', { body })),
  addDevice: (body) => ok(client.POST('/api/devices', { body })),
  importDevices: (body) => ok(client.POST('/api/devices/import', { body })),
  scan: (body, headers) => ok(client.POST('/api/discovery/scan', { body, headers })),
  scanState: (id) => ok(client.GET('/api/discovery/scans/{scanId}', { params: scan(id) })),
  scanAddresses: (id, query) =>
    ok(client.GET('/api/discovery/scans/{scanId}/addresses', { params: { ...scan(id), query } })),
  cancel: (id) => ok(client.POST('/api/discovery/scans/{scanId}/cancel', { params: scan(id) })),
  plan: (body) => ok(client.POST('/api/discovery/plan', { body })),
  openCase: (body) => ok(client.POST('/api/cases', { body })),
  comment: (id, body) => ok(client.POST('/api/cases/{id}/comments', { params: of(id), body })),
  updateCase: (id, body) => ok(client.PATCH('/api/cases/{id}', { params: of(id), body })),
  stream: async () => {
    const body = must(await ok(client.GET('/api/stream', { parseAs: 'stream' })), 'stream');
    const reader = body.getReader();
    const { value } = await reader.read();
    await reader.cancel();
    return value;
  },
  siteEtag: async (id) => (await client.GET('/api/sites/{id}', { params: of(id) })).response.headers,
  updateSite: (id, body, headers) => ok(client.PATCH('/api/sites/{id}', { params: of(id), body, headers })),
  metrics: () => ok(client.GET('/metrics', { parseAs: 'text' })),
  ready: () => ok(client.GET('/api/health/ready')),
  prometheus: (query) => ok(client.GET('/api/export/prometheus', { params: { query } })),
  ansible: (query) => ok(client.GET('/api/export/ansible', { params: { query } })),
  oxidized: () => ok(client.GET('/api/export/oxidized', { parseAs: 'text' })),
  netbox: () => ok(client.GET('/api/export/netbox', { parseAs: 'text' })),
};
await cook(table);
