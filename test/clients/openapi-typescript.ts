import createClient from 'openapi-fetch';
import type { paths } from './generated/openapi-typescript/schema';
import { authorization, must, NOBODY, server, site, targets, tell } from './story';

const client = createClient<paths>({ baseUrl: server, headers: { authorization } });
const devices = must(
  (await client.GET('/api/devices', { params: { query: { pageSize: 5 } } })).data,
  'devices',
);
const id = must(devices.data[0], 'device').id;
const one = must((await client.GET('/api/devices/{id}', { params: { path: { id } } })).data, 'device').data;
const scan = must(
  (await client.POST('/api/discovery/scan', { body: { targets, profile: 'standard', site } })).data,
  'scan',
);
const state = must(
  (await client.GET('/api/discovery/scans/{scanId}', { params: { path: { scanId: scan.scanId } } })).data,
  'state of the scan',
).data;
const events = must((await client.GET('/api/events', { params: { query: { pageSize: 5 } } })).data, 'events');
const cases = must((await client.GET('/api/cases', { params: { query: { pageSize: 5 } } })).data, 'cases');
const path = { id: must(cases.data[0], 'case').id };
const comment = await client.POST('/api/cases/{id}/comments', { params: { path }, body: { text: 'seen' } });
const { error } = await client.GET('/api/devices/{id}', { params: { path: { id: NOBODY } } });
tell({
  devices: devices.totalCount,
  name: one.name,
  scan: state.status,
  events: events.totalCount,
  commented: comment.response.ok,
  cases: cases.totalCount,
  missing: must(error, 'error').error.code,
});
