import {
  casesComment,
  casesList,
  devicesGet,
  devicesList,
  eventsList,
  scansCreate,
  scansGet,
} from './generated/orval/client';
import { authorization, must, NOBODY, server, site, targets, tell } from './story';

// Its functions ask for paths; where they lead and who asks stands here.
const ask = globalThis.fetch;
globalThis.fetch = (path, init) =>
  ask(new URL(String(path), server), { ...init, headers: { ...init?.headers, authorization } });

/** The answer where it has one of these statuses; its type says which members it has. */
function got<Answer extends { status: number }, Status extends Answer['status']>(
  answer: Answer,
  status: Status,
): Extract<Answer, { status: Status }> {
  if (answer.status !== status) throw new Error(`${answer.status} instead of ${status}`);
  return answer as Extract<Answer, { status: Status }>;
}

const devices = got(await devicesList({ pageSize: 5 }), 200).data;
const id = must(devices.data[0], 'device').id;
const one = got(await devicesGet(id), 200).data.data;
const scan = got(await scansCreate({ targets, profile: 'standard', site }), 202).data;
const state = got(await scansGet(scan.scanId), 200).data.data;
const events = got(await eventsList({ pageSize: 5 }), 200).data;
const cases = got(await casesList({ pageSize: 5 }), 200).data;
const comment = await casesComment(must(cases.data[0], 'case').id, { text: 'seen' });
const missing = got(await devicesGet(NOBODY), 404).data;
tell({
  devices: devices.totalCount,
  name: one.name,
  scan: state.status,
  events: events.totalCount,
  commented: comment.status === 201,
  cases: cases.totalCount,
  missing: missing.error.code,
});
