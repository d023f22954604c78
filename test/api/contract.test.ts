/** The customer's document, sentence by sentence, as a client sees it that was written from that document alone. */
import type { Database } from '@rollcall/server/platform/db/db';
import { closeDatabases } from '@rollcall/server/testing/database';
import { ask, type Reply } from '@rollcall/server/testing/rest';
import { uuidv7 } from '@rollcall/shared/uuid';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiServer, kinds, startApi } from './server.ts';
import { makeWorld, person, type World } from './world.ts';

afterAll(closeDatabases);

/** What the decisions write down of each resource; more may be there. */
const DEVICE =
  'id, siteId, site, collectorId, collector, name, address, addresses, macAddress, class, vendor, model, os, osVersion, serialNumber, sysName, sysDescr, sysObjectId, location, contact, uptimeSeconds, monitor, status, reachable, rttMs, interfaceCount, openEvents, firstSeen, lastSeen, lastScanId';
const CASE =
  'id, number, siteId, title, description, status, severity, priority, assigneeId, assignee, tags, eventCount, openEventCount, rootDeviceId, createdAt, updatedAt, resolvedAt, closedAt';
const SCAN =
  'id, scanId, targets, profile, siteId, status, createdBy, createdAt, startedAt, finishedAt, addressesTotal, addressesProbed, hostsAlive, devicesFound, devicesNew, devicesChanged, errors';
const FIELDS: [string, (world: World) => string, string][] = [
  ['device of a list', () => '/api/devices', DEVICE],
  ['device', ({ id }) => `/api/devices/${id.device}`, `${DEVICE}, neighbours, entities, openCases`],
  [
    'interface',
    ({ id }) => `/api/interfaces?deviceId=${id.device}`,
    'id, deviceId, ifIndex, name, description, alias, type, speedBps, mtu, macAddress, adminStatus, operStatus, lastChange, addresses, vlan, neighbour, firstSeen, lastSeen',
  ],
  [
    'event',
    ({ id }) => `/api/events/${id.event}`,
    'id, siteId, deviceId, interfaceId, collectorId, caseId, kind, source, severity, status, message, details, dedupKey, count, firstSeen, timestamp, acknowledgedAt, acknowledgedBy, closedAt, closedBy, closeReason',
  ],
  ['case of a list', () => '/api/cases', CASE],
  ['case', ({ id }) => `/api/cases/${id.case}`, `${CASE}, events, activity`],
  ['token', () => '/api/tokens', 'id, name, hint, createdAt, lastUsedAt, expiresAt, revokedAt'],
  ['scan of a list', () => '/api/discovery/scans', SCAN],
  ['scan', ({ id }) => `/api/discovery/scans/${id.scan}`, `${SCAN}, jobs`],
];

/** Every member of an answer that is a time by its name, at any depth. */
function timesIn(value: unknown): [string, unknown][] {
  if (value === null || typeof value !== 'object') return [];
  return Object.entries(value).flatMap(([name, inner]): [string, unknown][] =>
    /^(at|timestamp|lastChange|(first|last)Seen)$|At$/.test(name) ? [[name, inner]] : timesIn(inner),
  );
}

describe.each(kinds())('the contract on %s', (kind) => {
  let db: Database;
  let server: ApiServer;
  let world: World;
  let bearer: { authorization: string };

  beforeAll(async () => {
    server = await startApi(kind);
    db = server.db;
    world = await makeWorld(db, server.keyring);
    bearer = { authorization: `Bearer ${person(world, 'admin', 'all').token}` };
    for (const [severity, status] of [1, 2, 3, 4, 5].flatMap((s) => [0, 1, 2].map((t) => [s, t] as const)))
      await db.query(
        `INSERT INTO events (site_id, id, device_id, kind, source, severity, status, message, dedup_key, first_seen, timestamp)
         VALUES ($1, $2::uuid, $3, 'test', 'snmp', $4, $5, 'x', $2::uuid::text, to_timestamp(1000), to_timestamp($6))`,
        [world.site.beta, uuidv7(), null, severity, status, 1000 + severity * 10 + status],
      );
  });
  afterAll(() => server.stop());

  const get = (path: string): Promise<Reply> => ask(server.url, 'GET', path, { headers: bearer });
  const post = (path: string, json: object, headers: Record<string, string> = bearer): Promise<Reply> =>
    ask(server.url, 'POST', path, { json, headers });

  it.each(['/api/devices', '/api/events', '/api/cases', '/api/interfaces', '/api/tokens'])(
    '2.1, 8: %s is a list in the envelope, page 1 of 25, with its count',
    async (resource) => {
      const needed = resource === '/api/interfaces' ? `deviceId=${world.id.device}&` : '';
      const path = `${resource}?${needed}`;
      const { status, json, headers } = await get(path);
      expect(status).toBe(200);
      expect(headers['content-type']).toMatch(/^application\/json/);
      expect([json.success, Array.isArray(json.data), Number.isInteger(json.totalCount)]).toEqual([
        true,
        true,
        true,
      ]);
      // The table gives tokens no parameter, so all are there without one.
      expect([json.page, json.pageSize]).toEqual([1, resource === '/api/tokens' ? 1000 : 25]);
      const second = await get(`${path}page=2&pageSize=1`);
      const both = await get(`${path}pageSize=2`);
      expect([second.status, second.json.data[0]]).toEqual([200, both.json.data[1]]);
      for (const far of ['page=4000', 'page=1000000000&pageSize=1000']) {
        const beyond = await get(path + far);
        expect([beyond.status, beyond.json.data, beyond.json.totalCount]).toEqual([200, [], json.totalCount]);
      }
    },
  );

  it('the decisions: a site is named by its id or its name, in a bulk change too', async () => {
    const { data } = (await get(`/api/sites/${world.site.alpha}`)).json;
    const count = async (site: string) =>
      (await get(`/api/devices?site=${encodeURIComponent(site)}`)).json.totalCount;
    expect(await count(data.name)).toBe(await count(data.id));
    const bulk = (site: string) => post('/api/devices/bulk', { filter: { site }, set: { monitor: 0 } });
    expect((await bulk(data.name)).json.data.matched).toBe(await count(data.id));
    expect((await bulk('no such site')).status).toBe(403);
    expect((await get('/api/devices?site=no-such-site')).status).toBe(403);
  });

  it.each([
    '/api/devices?search=no-such-thing',
    '/api/devices?Address=192.0.2.1',
    '/api/devices?Address=2001:db8:ffff::/48',
    '/api/devices?class=pdu',
    '/api/events?from=1&to=1',
    '/api/events?Source=trap&Severity=1',
    '/api/events?Device=no-such-device',
    '/api/events?Device=192.0.2.1',
    '/api/cases?status=3',
    '/api/cases?assignee=nobody',
    '/api/cases?tag=no-such-tag',
    '/api/cases?q=no-such-word',
    '/api/cases?q=%23999999',
  ])('the decisions: nothing found is an empty list: %s', async (path) => {
    const { status, json } = await get(path);
    expect([status, json]).toEqual([200, { success: true, data: [], totalCount: 0, page: 1, pageSize: 25 }]);
  });

  it('2.1: timestamps are whole Unix seconds, wherever they stand', async () => {
    const now = Date.now() / 1000;
    const [device, event, incident] = await Promise.all([
      get(`/api/devices/${world.id.device}`),
      get(`/api/events/${world.id.event}`),
      get(`/api/cases/${world.id.case}`),
    ]);
    for (const time of [device.json.data.lastSeen, event.json.data.timestamp, incident.json.data.createdAt]) {
      expect(Number.isInteger(time)).toBe(true);
      expect(Math.abs(time - now)).toBeLessThan(3600);
    }
    expect(incident.json.data.events.length).toBe(2);
    expect(incident.json.data.activity.length).toBe(1);
    expect(device.json.data).toMatchObject({ id: world.id.device, siteId: world.site.alpha });
    const scan = await get(`/api/discovery/scans/${world.id.scan}`);
    const lists = await Promise.all(
      ['/api/tokens', `/api/interfaces?deviceId=${world.id.device}`].map((path) => get(path)),
    );
    const times = [device, event, incident, scan, ...lists].flatMap(({ json }) => timesIn(json.data));
    expect(new Set(times.map(([name]) => name)).size).toBeGreaterThan(12);
    for (const [name, value] of times)
      expect([name, value === null || Number.isInteger(value)]).toEqual([name, true]);
  });

  it.each(FIELDS)(
    'the decisions: a %s has the fields that are written down',
    async (_name, pathOf, fields) => {
      const { status, json } = await get(pathOf(world));
      const found = Array.isArray(json.data) ? json.data[0] : json.data;
      expect(status).toBe(200);
      expect(Object.keys(found)).toEqual(expect.arrayContaining(fields.split(', ')));
    },
  );

  it('4.1: parameter names are case-sensitive, and the wrong case is told the right one', async () => {
    for (const [path, wrong, right] of [
      ['/api/events', 'severity', 'Severity'],
      ['/api/events', 'status', 'Status'],
      ['/api/events', 'source', 'Source'],
      ['/api/events', 'device', 'Device'],
      ['/api/devices', 'address', 'Address'],
      ['/api/devices', 'Search', 'search'],
      ['/api/cases', 'Status', 'status'],
      ['/api/cases', 'Severity', 'severity'],
      ['/api/interfaces', 'deviceid', 'deviceId'],
    ]) {
      const { status, json } = await get(`${path}?${wrong}=1`);
      expect([status, json.error.message]).toEqual([
        400,
        `unknown parameter ${wrong}, did you mean ${right}?`,
      ]);
    }
  });

  it('4.2, 4.3, 4.4: events by time in Unix seconds, by severity up to a ceiling, by status code', async () => {
    const beta = `/api/events?site=${world.site.beta}&pageSize=100`;
    const within = async (query: string) => (await get(`${beta}&${query}`)).json;
    expect((await within('from=1010&to=1012')).totalCount).toBe(3);
    expect((await within('from=1012')).totalCount).toBe(13);
    expect((await within('to=1010')).totalCount).toBe(1);
    const severe = await within('Severity=3');
    expect([severe.totalCount, new Set(severe.data.map((e: { severity: number }) => e.severity))]).toEqual([
      9,
      new Set([1, 2, 3]),
    ]);
    for (const code of [0, 1, 2]) {
      const { data } = await within(`Status=${code}`);
      expect(new Set(data.map((e: { status: number }) => e.status))).toEqual(new Set([code]));
    }
    expect((await within('Status=0,1')).totalCount).toBe(10);
    expect((await within('Source=snmp&Severity=1&Status=2')).totalCount).toBe(1);
    expect((await get('/api/events?from=2&to=1')).status).toBe(400);
    const milliseconds = await get('/api/events?from=1763600000000');
    expect([milliseconds.status, milliseconds.json.error.message]).toEqual([
      400,
      'from: must be Unix seconds; these look like milliseconds',
    ]);
    expect((await get(`/api/events?Device=${world.id.device}`)).json.totalCount).toBe(3);
    expect((await get('/api/events?Device=10.77.0.11')).json.totalCount).toBe(3);
  });

  it('4.5, 4.6: cases by several status codes, devices by the flag monitor', async () => {
    const [all, open, none] = await Promise.all([
      get('/api/cases'),
      get('/api/cases?status=0,1'),
      get('/api/cases?status=2,3'),
    ]);
    expect([all.json.totalCount, open.json.totalCount, none.json.totalCount]).toEqual([2, 2, 0]);
    const [on, off] = await Promise.all([get('/api/devices?monitor=1'), get('/api/devices?monitor=0')]);
    expect(on.json.totalCount + off.json.totalCount).toBe(2);
    expect(on.json.data.every((d: { monitor: number }) => d.monitor === 1)).toBe(true);
    expect((await get('/api/devices?monitor=true')).status).toBe(400);
  });

  it('4.7: a scan is started with a network and a profile, and named in the answer', async () => {
    const { status, json } = await post('/api/discovery/scan', { targets: '10.77.0.0/30', profile: 'ping' });
    expect([Math.floor(status / 100), json.success, typeof json.scanId]).toEqual([2, true, 'string']);
    expect(json.data.scanId).toBe(json.scanId);
    for (const body of [
      { targets: '10.77.0.0/33', profile: 'ping' },
      { targets: '10.77.0.0/30', profile: 'none' },
      { targets: '10.77.0.0/30' },
      { profile: 'ping' },
    ])
      expect([body, (await post('/api/discovery/scan', body)).status]).toEqual([body, 400]);
  });

  it('4.8: the interfaces of no device are asked in vain', async () => {
    expect((await get('/api/interfaces')).status).toBe(400);
    const { json } = await get(`/api/interfaces?deviceId=${world.id.device}`);
    expect([json.totalCount, json.data[0].deviceId]).toEqual([1, world.id.device]);
    expect((await get(`/api/interfaces?deviceId=${uuidv7()}`)).status).toBe(404);
  });

  it('4.9, 5: a token is made from a session, shown once, listed without its secret, and dead when it is revoked', async () => {
    const { cookie } = person(world, 'viewer', 'all');
    const made = await post('/api/tokens', { name: 'report' }, { cookie, origin: server.url });
    expect(made.json).toMatchObject({
      success: true,
      token: expect.stringMatching(/^svc_/),
      data: { name: 'report' },
    });
    const own = { authorization: `Bearer ${made.json.token}` };
    // A client that goes on with the session's cookie in its jar acts by the token all the same.
    const both = await ask(server.url, 'GET', '/api/session', { headers: { ...own, cookie } });
    expect([both.status, both.json.data.via]).toEqual([200, 'token']);
    const listed = await ask(server.url, 'GET', '/api/tokens', { headers: own });
    expect(listed.text).not.toContain(made.json.token.slice(4));
    expect(listed.json.data.map(({ id }: { id: string }) => id)).toContain(made.json.data.id);
    expect(
      (await ask(server.url, 'DELETE', `/api/tokens/${made.json.data.id}`, { headers: own })).json.success,
    ).toBe(true);
    expect((await ask(server.url, 'GET', '/api/devices', { headers: own })).status).toBe(401);
  });

  it('7: 401 without a valid token, 403 without the right, 404 for what is not or is not to be seen', async () => {
    expect((await ask(server.url, 'GET', '/api/devices')).status).toBe(401);
    expect(
      (await ask(server.url, 'GET', '/api/devices', { headers: { authorization: 'Bearer svc_x' } })).status,
    ).toBe(401);
    const viewer = { authorization: `Bearer ${person(world, 'viewer', 'alpha').token}` };
    expect(
      (await post('/api/discovery/scan', { targets: '10.77.0.0/30', profile: 'ping' }, viewer)).status,
    ).toBe(403);
    const beta = { authorization: `Bearer ${person(world, 'admin', 'beta').token}` };
    for (const path of ['devices', 'events', 'cases']) {
      const id = { devices: world.id.device, events: world.id.event, cases: world.id.case }[path];
      expect((await ask(server.url, 'GET', `/api/${path}/${id}`, { headers: beta })).status).toBe(404);
      expect((await get(`/api/${path}/${uuidv7()}`)).status).toBe(404);
      expect((await get(`/api/${path}/1`)).status).toBe(404);
    }
  });

  it('the decisions: loopback, multicast, link-local and 0.0.0.0/8 only where the site allows them', async () => {
    const site = `/api/sites/${world.site.alpha}`;
    const patch = (json: object, headers = bearer) => ask(server.url, 'PATCH', site, { json, headers });
    const scan = async (targets: string) => {
      const body = { targets, profile: 'ping', site: world.site.alpha };
      const [planned, started] = [
        await post('/api/discovery/plan', body),
        await post('/api/discovery/scan', body),
      ];
      if (started.status < 300) await post(`/api/discovery/scans/${started.json.scanId}/cancel`, {});
      expect(planned.status < 300).toBe(started.status < 300);
      return started;
    };
    const special = ['224.0.0.251', 'ff02::fb', '169.254.10.0/30', 'fe80::1', '0.0.0.1'];
    const kinds = { allowSpecial: special, allowLoopback: ['127.0.0.1', '::1'] };
    const operator = { authorization: `Bearer ${person(world, 'operator', 'alpha').token}` };
    expect((await patch({ allowSpecial: true }, operator)).status).toBe(403);
    for (const [flag, targets] of Object.entries(kinds)) {
      for (const text of targets) {
        const { status, json } = await scan(text);
        expect([text, status, json.error?.code]).toEqual([text, 400, 'invalid_request']);
        expect(json.error.details).toEqual([
          { path: 'targets', message: expect.stringContaining('is not swept unless allowed') },
        ]);
      }
      expect((await patch({ [flag]: true })).json.data[flag]).toBe(true);
      for (const text of targets) expect([text, (await scan(text)).status]).toEqual([text, 202]);
      expect((await get(site)).json.data[flag]).toBe(true);
      expect((await patch({ [flag]: false })).json.data[flag]).toBe(false);
      expect((await scan(targets[0] ?? '')).status).toBe(400);
    }
  });

  it('the decisions: status codes, headers and bounds that the document leaves open', async () => {
    const answers: [Promise<Reply>, number][] = [
      [get('/api/devices?page=0'), 400],
      [get('/api/devices?pageSize=1000'), 200],
      [get('/api/devices?pageSize=1001'), 400],
      [get('/api/nothing'), 404],
      [ask(server.url, 'DELETE', '/api/devices', { headers: bearer }), 405],
      [
        ask(server.url, 'POST', '/api/tokens', {
          headers: { ...bearer, 'content-type': 'application/json' },
          body: '{',
        }),
        400,
      ],
      [
        ask(server.url, 'POST', '/api/tokens', {
          headers: { ...bearer, 'content-type': 'text/plain' },
          body: '{"name":"x"}',
        }),
        415,
      ],
      [post('/api/tokens', { name: 'x'.repeat(300_000) }), 413],
      [get(`/api/devices?site=${uuidv7()}`), 200],
      [get('/api/cases?tag=canary-alpha'), 200],
      [get('/api/cases?q=%231'), 200],
      [get('/api/cases?assignee=me'), 200],
      [get('/api/cases?assignee=none'), 200],
      [get('/api/health/live'), 200],
      [get('/api/openapi.json'), 200],
      [get('/api/docs'), 200],
    ];
    for (const [answer, status] of answers) {
      const { headers, ...reply } = await answer;
      expect(reply.status, reply.text.slice(0, 200)).toBe(status);
      expect(headers['x-request-id']).toMatch(/^[\w-]{36}$/);
      if (status < 400) continue;
      expect(reply.json).toMatchObject({ success: false, error: { requestId: headers['x-request-id'] } });
      if (status === 405) expect(headers.allow).toContain('GET');
    }
    expect((await get('/api/cases?tag=canary-alpha')).json.totalCount).toBe(2);
    const again = () =>
      post(
        '/api/discovery/scan',
        { targets: '10.77.1.0/30', profile: 'ping' },
        { ...bearer, 'idempotency-key': 'once' },
      );
    expect((await again()).json.scanId).toBe((await again()).json.scanId);
    const many = await post('/api/discovery/scan', {
      targets: '10.0.0.0/8',
      profile: 'ping',
      site: world.site.alpha,
    });
    expect([many.status, many.json.error.message]).toEqual([400, expect.stringMatching(/16,?777,?214/)]);
    const twice = await ask(server.url, 'GET', '/api/devices', {
      headers: { authorization: [bearer.authorization, bearer.authorization] },
    });
    expect([twice.status, twice.headers['www-authenticate']]).toEqual([401, 'Bearer']);
  });
});
