import {
  casesComment,
  casesList,
  devicesGet,
  devicesList,
  eventsList,
  scansCreate,
  scansGet,
} from './generated/hey-api';
import { client } from './generated/hey-api/client.gen';
import { authorization, must, NOBODY, server, site, targets, tell } from './story';

client.setConfig({ baseUrl: server, headers: { authorization } });
const devices = must((await devicesList({ query: { pageSize: 5 } })).data, 'devices');
const id = must(devices.data[0], 'device').id;
const one = must((await devicesGet({ path: { id } })).data, 'device').data;
const scan = must((await scansCreate({ body: { targets, profile: 'standard', site } })).data, 'scan');
const state = must((await scansGet({ path: { scanId: scan.scanId } })).data, 'state of the scan').data;
const events = must((await eventsList({ query: { pageSize: 5 } })).data, 'events');
const cases = must((await casesList({ query: { pageSize: 5 } })).data, 'cases');
const path = { id: must(cases.data[0], 'case').id };
const comment = await casesComment({ path, body: { text: 'seen' } });
const { error } = await devicesGet({ path: { id: NOBODY } });
tell({
  devices: devices.totalCount,
  name: one.name,
  scan: state.status,
  events: events.totalCount,
  commented: comment.data !== undefined,
  cases: cases.totalCount,
  missing: must(error, 'error').error.code,
});
