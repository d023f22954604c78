import { type Client, cook, must } from './cookbook';
import * as api from './generated/orval/client';

// It sends each value of a list by itself, also where the document says that they are one parameter (`explode: false`).
const ask = globalThis.fetch;
globalThis.fetch = (input, init) => {
  const [path = '', query = ''] = String(input).split('?');
  const given = new URLSearchParams(query);
  for (const name of new Set(given.keys()))
    if (name !== 'tag' && name !== 'field') given.set(name, given.getAll(name).join());
  return ask(`${path}?${given}`, init);
};

type Good<Answer> = Extract<Answer, { status: 200 | 201 | 202 }> extends { data: infer Data } ? Data : never;

/** The answer where it has a status of success; its type says which members it has. */
async function ok<Answer extends { status: number; data: unknown }>(
  asking: Promise<Answer>,
): Promise<Good<Answer>> {
  const { status, data } = await asking;
  if (status < 200 || status > 299) throw new Error(`${status}: ${JSON.stringify(data)}`);
  return data as Good<Answer>;
}
/** Its functions read JSON; what is none is read from the address that it makes. */
async function text(address: string, headers?: Record<string, string>): Promise<string> {
  const response = await fetch(address, { headers });
  if (!response.ok) throw new Error(`${response.status} of ${address}`);
  return response.text();
}

const table: Client = {
  signIn: (body, headers) => api.sessionCreate(body, { headers }),
  makeToken: (body, headers) => ok(api.tokensCreate(body, { headers })),
  session: () => ok(api.sessionGet()),
  tokens: () => ok(api.tokensList()),
  revoke: (id) => ok(api.tokensDelete(id)),
  devices: (query) => ok(api.devicesList(query)),
  devicesEtag: async (query) => (await api.devicesList(query)).headers,
  devicesAgain: async (query, headers) => (await api.devicesList(query, { headers })).status,
  devicesCsv: (query, headers) => text(api.getDevicesListUrl(query), headers),
  device: (id) => ok(api.devicesGet(id)),
  missing: async (id) => {
    const answer = await api.devicesGet(id);
    if (answer.status !== 404) throw new Error(`${answer.status} instead of 404`);
    return answer.data.error.code;
  },
  interfaces: (query) => ok(api.interfacesList(query)),
  freePorts: (query) => ok(api.interfacesFree(query)),
  explain: (id) => ok(api.devicesExplain(id)),
  events: (query) => ok(api.eventsList(query)),
  acknowledge: (id) => ok(api.eventsAcknowledge(id)),
  cases: ({ tag, ...query }) => ok(api.casesList({ ...query, ...(tag && { tag: [tag] }) })),
  bulk: ({ filter, set }) => ok(api.devicesBulk({ filter: { ...filter, class: filter.class?.join() }, set })),
  defineField: (body) => ok(api.fieldsCreate(body)),
  bulkInterfaces: (body) => ok(api.interfacesBulk(body)),
  addDevice: (body) => ok(api.devicesCreate(body)),
  importDevices: (body) => ok(api.devicesImport(body)),
  scan: (body, headers) => ok(api.scansCreate(body, { headers })),
  scanState: (id) => ok(api.scansGet(id)),
  scanAddresses: (id, query) => ok(api.scansAddresses(id, query)),
  cancel: (id) => ok(api.scansCancel(id)),
  plan: (body) => ok(api.scansPlan(body)),
  openCase: (body) => ok(api.casesCreate(body)),
  comment: (id, body) => ok(api.casesComment(id, body)),
  updateCase: (id, body) => ok(api.casesUpdate(id, body)),
  stream: async () => {
    const reader = must((await fetch(api.getStreamOpenUrl())).body, 'stream').getReader();
    const { value } = await reader.read();
    await reader.cancel();
    return value;
  },
  siteEtag: async (id) => (await api.sitesGet(id)).headers,
  updateSite: (id, body, headers) => ok(api.sitesUpdate(id, body, { headers })),
  metrics: () => text(api.getMetricsGetUrl()),
  ready: () => ok(api.healthReady()),
  prometheus: (query) => ok(api.exportPrometheus(query)),
  ansible: (query) => ok(api.exportAnsible(query)),
  oxidized: () => text(api.getExportOxidizedUrl()),
  netbox: () => text(api.getExportNetboxUrl()),
};
await cook(table);
