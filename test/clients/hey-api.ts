import { type Client, cook, must, server } from './cookbook';
import * as api from './generated/hey-api';
import { client } from './generated/hey-api/client.gen';

client.setConfig({ baseUrl: server });

async function ok<T>(asking: Promise<{ data?: T; error?: unknown }>): Promise<NonNullable<T>> {
  const { data, error } = await asking;
  return must(data, `answer: ${JSON.stringify(error)}`);
}
const of = (id: string) => ({ path: { id } });
const scan = (scanId: string) => ({ path: { scanId } });
const parseAs = 'text';

const table: Client = {
  signIn: async (body, headers) => must((await api.sessionCreate({ body, headers })).response, 'answer'),
  makeToken: (body, headers) => ok(api.tokensCreate({ body, headers })),
  session: () => ok(api.sessionGet()),
  tokens: () => ok(api.tokensList()),
  revoke: (id) => ok(api.tokensDelete(of(id))),
  devices: (query) => ok(api.devicesList({ query })),
  devicesEtag: async (query) => must((await api.devicesList({ query })).response, 'answer').headers,
  devicesAgain: async (query, headers) =>
    must((await api.devicesList({ query, headers })).response, 'answer').status,
  devicesCsv: async (query, headers) => String(await ok(api.devicesList({ query, headers, parseAs }))),
  device: (id) => ok(api.devicesGet(of(id))),
  missing: async (id) => must((await api.devicesGet(of(id))).error, 'error').error.code,
  interfaces: (query) => ok(api.interfacesList({ query })),
  freePorts: (query) => ok(api.interfacesFree({ query })),
  explain: (id) => ok(api.devicesExplain(of(id))),
  events: (query) => ok(api.eventsList({ query })),
  acknowledge: (id) => ok(api.eventsAcknowledge(of(id))),
  cases: ({ tag, ...query }) => ok(api.casesList({ query: { ...query, ...(tag && { tag: [tag] }) } })),
  bulk: ({ filter, set }) =>
    ok(api.devicesBulk({ body: { filter: { ...filter, class: filter.class?.join() }, set } })),
  defineField: (body) => ok(api.fieldsCreate({ body })),
  bulkInterfaces: (body) => ok(api.interfacesBulk({ body })),
  addDevice: (body) => ok(api.devicesCreate({ body })),
  importDevices: (body) => ok(api.devicesImport({ body })),
  scan: (body, headers) => ok(api.scansCreate({ body, headers })),
  scanState: (id) => ok(api.scansGet(scan(id))),
  scanAddresses: (id, query) => ok(api.scansAddresses({ ...scan(id), query })),
  cancel: (id) => ok(api.scansCancel(scan(id))),
  plan: (body) => ok(api.scansPlan({ body })),
  openCase: (body) => ok(api.casesCreate({ body })),
  comment: (id, body) => ok(api.casesComment({ ...of(id), body })),
  updateCase: (id, body) => ok(api.casesUpdate({ ...of(id), body })),
  stream: async () => {
    const enough = new AbortController();
    // The first that is said: nothing of it is an event yet.
    const said = new Promise((resolve) => {
      void (async () => {
        const { stream } = await api.streamOpen({ signal: enough.signal, onSseEvent: resolve });
        for await (const _ of stream) break;
      })();
    });
    const first = await said;
    enough.abort();
    return first;
  },
  siteEtag: async (id) => must((await api.sitesGet(of(id))).response, 'answer').headers,
  updateSite: (id, body, headers) => ok(api.sitesUpdate({ ...of(id), body, headers })),
  metrics: async () => String(await ok(api.metricsGet({ parseAs }))),
  ready: () => ok(api.healthReady()),
  prometheus: (query) => ok(api.exportPrometheus({ query })),
  ansible: (query) => ok(api.exportAnsible({ query })),
  oxidized: async () => String(await ok(api.exportOxidized({ parseAs }))),
  netbox: async () => String(await ok(api.exportNetbox({ parseAs }))),
};
await cook(table);
