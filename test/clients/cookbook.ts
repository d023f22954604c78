/** The recipes of docs/api.md, in its order, for any generated client: each says in its own functions how it asks. */
declare const process: { env: Record<string, string | undefined>; stdout: { write(text: string): void } };

const env = (name: string): string => {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set`);
  return value;
};
export const server = env('ROLLCALL');
const [site, device, targets] = [env('SITE'), env('DEVICE'), env('TARGETS')];
const NOBODY = '019aa3c4-5b00-7000-8000-00000000dead';

/** What was asked: method, path without ids, names of what stands in the query, and the status that came. */
const asked: string[] = [];
/** Whom a request is of: it goes along with what the client sends. */
let authorization: Record<string, string> = { authorization: `Bearer ${env('TOKEN')}` };

// Underneath each client: what it sends is what is told, and where it leads and who asks stands here.
const plainFetch = globalThis.fetch;
globalThis.fetch = async (input, init) => {
  const request = new Request(input instanceof Request ? input : new URL(String(input), server), init);
  for (const [name, value] of Object.entries(authorization)) request.headers.set(name, value);
  const response = await plainFetch(request);
  const { pathname, searchParams } = new URL(request.url);
  const path = pathname.replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '{}');
  const names = [...new Set(searchParams.keys())].sort().join('&');
  asked.push(`${request.method} ${path}?${names} ${response.status}`);
  return response;
};

export function must<T>(value: T, what: string): NonNullable<T> {
  if (value === null || value === undefined) throw new Error(`no ${what}`);
  return value;
}

type Sent = Record<string, string>;
interface Item<T> {
  data: T;
}
interface List<T> {
  data: T[];
  totalCount: number;
}
interface Named {
  id: string;
  name: string | null;
}
interface DeviceQuery {
  monitor?: 1;
  sort?: '-status' | 'vendor';
  Address?: string;
  class?: ('switch' | 'router')[];
  search?: string;
  tag?: string[];
  field?: string[];
  site?: string;
  page?: number;
  pageSize?: number;
}
interface DeviceSet {
  monitor?: 1;
  addTags?: string[];
  fields?: Record<string, string>;
}

/** How a client asks each of them. What it gives back is `data` as its types have it. */
export interface Client {
  signIn(body: { name: string; password: string }, headers: Sent): Promise<{ headers: Headers }>;
  makeToken(body: { name: string }, headers: Sent): Promise<{ token: string }>;
  session(): Promise<Item<{ user: { name: string } }>>;
  tokens(): Promise<List<{ id: string; name: string }>>;
  revoke(id: string): Promise<unknown>;
  devices(query: DeviceQuery): Promise<List<Named>>;
  /** With its validator; `again` sends it, and is answered a status without a body. */
  devicesEtag(query: DeviceQuery): Promise<Headers>;
  devicesAgain(query: DeviceQuery, headers: Sent): Promise<number>;
  devicesCsv(query: DeviceQuery, headers: Sent): Promise<string>;
  device(id: string): Promise<Item<Named>>;
  /** Code of the error for a device that does not exist. */
  missing(id: string): Promise<string>;
  interfaces(query: { deviceId: string; pageSize: number }): Promise<List<{ id: string }>>;
  freePorts(query: {
    site: string;
    unusedDays: number;
    class: 'switch'[];
    pageSize: number;
  }): Promise<List<{ port: string }>>;
  explain(id: string): Promise<Item<object>>;
  events(query: {
    Severity?: 2;
    Status?: 0[];
    Device?: string;
    from?: number;
    pageSize?: number;
  }): Promise<List<{ id: string }>>;
  acknowledge(id: string): Promise<unknown>;
  cases(query: {
    status?: (0 | 1)[];
    assignee?: string;
    tag?: string;
    q?: string;
  }): Promise<List<{ id: string; number: number }>>;
  bulk(body: { filter: DeviceQueryOfBulk; set: DeviceSet }): Promise<unknown>;
  defineField(body: { appliesTo: 'device'; name: string; type: 'text' }): Promise<unknown>;
  bulkInterfaces(body: {
    filter: { deviceId: string; unusedDays: number };
    set: { addTags: string[] };
  }): Promise<unknown>;
  addDevice(body: {
    site: string;
    address: string;
    name: string;
    class: 'pdu';
    tags: string[];
  }): Promise<Item<Named>>;
  importDevices(body: {
    csv: string;
    dryRun: boolean;
  }): Promise<Item<{ rows: { changes: { column: string }[] }[] }>>;
  scan(body: { targets: string; profile: string; site: string }, headers: Sent): Promise<{ scanId: string }>;
  scanState(scanId: string): Promise<Item<{ status: string }>>;
  scanAddresses(scanId: string, query: { pageSize: number }): Promise<List<object>>;
  cancel(scanId: string): Promise<unknown>;
  plan(body: { targets: string; profile: string; site: string }): Promise<Item<object>>;
  openCase(body: {
    siteId: string;
    title: string;
    priority: 4;
    tags: string[];
  }): Promise<Item<{ id: string; number: number }>>;
  comment(id: string, body: { text: string }): Promise<unknown>;
  updateCase(id: string, body: { status: 1; assignee: string }): Promise<unknown>;
  /** The first piece of the stream of changes. */
  stream(): Promise<unknown>;
  siteEtag(id: string): Promise<Headers>;
  updateSite(id: string, body: { networks: string[] }, headers: Sent): Promise<Item<{ networks: string[] }>>;
  metrics(): Promise<string>;
  ready(): Promise<unknown>;
  prometheus(query: { snmp: 1 }): Promise<object[]>;
  ansible(query: { class: ('switch' | 'router')[] }): Promise<object>;
  oxidized(): Promise<string>;
  netbox(): Promise<string>;
}
interface DeviceQueryOfBulk {
  class?: ['switch'];
  Address?: string;
}

/** Every recipe, once. @throws at the first that is not answered as it should be */
export async function cook(client: Client): Promise<void> {
  const token = authorization;
  authorization = {};
  const headers = { Origin: server };
  const { headers: signed } = await client.signIn({ name: env('NAME'), password: env('PASSWORD') }, headers);
  const cookie = must(signed.get('set-cookie'), 'cookie').split(';')[0] ?? '';
  const made = await client.makeToken({ name: 'report script' }, { ...headers, cookie });
  authorization = { authorization: `Bearer ${made.token}` };
  const me = (await client.session()).data.user.name;
  const old = must(
    (await client.tokens()).data.find(({ name }) => name === 'old'),
    'token to revoke',
  );
  await client.revoke(old.id);
  authorization = token;

  const monitored = await client.devices({ monitor: 1, sort: '-status' });
  await client.devices({ Address: '10.77.0.0/16', class: ['switch', 'router'] });
  await client.devices({ search: 'cisco', sort: 'vendor' });
  const { name } = (await client.device(device)).data;
  await client.interfaces({ deviceId: device, pageSize: 1000 });
  await client.freePorts({ site, unusedDays: 90, class: ['switch'], pageSize: 1000 });
  await client.explain(device);
  await client.events({ Severity: 2, Status: [0], from: Math.floor(Date.now() / 1000) - 86_400 });
  await client.cases({ status: [0, 1] });
  const csv = await client.devicesCsv({ pageSize: 1000, page: 1 }, { Accept: 'text/csv' });

  await client.bulk({ filter: { class: ['switch'], Address: '10.77.0.0/16' }, set: { monitor: 1 } });
  const open = (await client.events({ Device: device, Status: [0], pageSize: 1000 })).data;
  for (const { id } of open) await client.acknowledge(id);
  await client.defineField({ appliesTo: 'device', name: 'Rack', type: 'text' });
  await client.bulk({
    filter: { Address: '10.77.0.0/16' },
    set: { addTags: ['hall-2'], fields: { Rack: 'A-17' } },
  });
  await client.bulkInterfaces({ filter: { deviceId: device, unusedDays: 90 }, set: { addTags: ['free'] } });
  const tagged = await client.devices({ tag: ['hall-2'], field: ['Rack:A-17'] });
  const pdu = { site, address: '10.77.9.7', name: 'pdu-7', class: 'pdu', tags: ['hall-2', 'power'] } as const;
  const added = (await client.addDevice({ ...pdu, tags: [...pdu.tags] })).data.name;
  const changes = `site,address,name,field:Rack\n${site},10.77.9.7,pdu-8,A-17\n`;
  const [row] = (await client.importDevices({ csv: changes, dryRun: true })).data.rows;

  const wanted = { targets, profile: 'standard', site };
  const key = { 'Idempotency-Key': 'nightly-2026-11-21' };
  const { scanId } = await client.scan(wanted, key);
  const again = (await client.scan(wanted, key)).scanId === scanId;
  const before = (await client.scanState(scanId)).data.status;
  await client.scanAddresses(scanId, { pageSize: 1000 });
  await client.cancel(scanId);
  const after = (await client.scanState(scanId)).data.status;
  await client.plan({ ...wanted, profile: 'deep' });

  const priority = 4;
  const { id, number } = (
    await client.openCase({ siteId: site, title: 'Printers of floor 3', priority, tags: ['printers'] })
  ).data;
  await client.comment(id, { text: 'Ticket 4711 opened.' });
  await client.updateCase(id, { status: 1, assignee: 'me' });
  const mine = await client.cases({ assignee: 'me', tag: 'printers' });
  const byNumber = await client.cases({ q: `#${number}` });
  const first = await client.stream();
  const networks = ['10.77.0.0/16', '10.78.0.0/16'];
  const ifMatch = must((await client.siteEtag(site)).get('etag'), 'etag of the site');
  const site_ = (await client.updateSite(site, { networks }, { 'If-Match': ifMatch })).data;
  const etag = must((await client.devicesEtag({ site })).get('etag'), 'etag of the devices');
  const notModified = await client.devicesAgain({ site }, { 'If-None-Match': etag });

  const metrics = await client.metrics();
  await client.ready();
  await client.prometheus({ snmp: 1 });
  const inventory = await client.ansible({ class: ['switch', 'router'] });
  await client.oxidized();
  const netbox = await client.netbox();
  const told = {
    ...{
      me,
      monitored: monitored.totalCount,
      name,
      tagged: tagged.totalCount,
      added,
      imported: row?.changes.map(({ column }) => column),
    },
    ...{ csv: csv.split('\r\n').length, open: open.length, again, before, after },
    ...{ mine: mine.totalCount, byNumber: byNumber.data[0]?.id === id, stream: first !== undefined },
    ...{
      networks: site_.networks,
      notModified,
      inventory: Object.keys(inventory),
      missing: await client.missing(NOBODY),
    },
    ...{ metrics: metrics.includes('# TYPE'), netbox: netbox.split('\n')[0] },
  };
  process.stdout.write(JSON.stringify({ asked, told }));
}
