import { readFileSync } from 'node:fs';
import type { ConditionState } from '@rollcall/server/incidents/conditions/condition';
import { EVIDENCE_KINDS } from '@rollcall/server/ingest/identity/fingerprint';
import {
  type AddressRecord,
  DEVICE_GROUPS,
  type DeviceRow,
  MERGED_TABLES,
} from '@rollcall/server/ingest/tables/rows';
import { ANNOTATED, FIELD_TYPES } from '@rollcall/shared/api/annotations';
import { ENDPOINT_CHANGE_KINDS } from '@rollcall/shared/api/changes';
import { credential } from '@rollcall/shared/api/credentials';
import { DELIVERY_STATUSES, mailSettings } from '@rollcall/shared/api/deliveries';
import { ACKNOWLEDGED_UNTIL, ACTIVITY_KINDS, CLOSE_REASONS } from '@rollcall/shared/api/incidents';
import { networkInterface } from '@rollcall/shared/api/interfaces';
import type { DeviceExplanation } from '@rollcall/shared/api/inventory';
import { NOTICE_TYPES } from '@rollcall/shared/api/notices';
import { subscription, WEBHOOK_FORMATS } from '@rollcall/shared/api/subscriptions';
import { CAPABILITIES } from '@rollcall/shared/far-end';
import {
  CaseStatus,
  COLLECTOR_STATUSES,
  DEVICE_STATUSES,
  EVENT_SOURCES,
  EventStatus,
  JOB_STATUSES,
  ROLES,
  SCAN_STATUSES,
  Severity,
} from '@rollcall/shared/model';
import {
  type DeviceObservation,
  type GapObservation,
  type NeighbourRow,
  STP_STATES,
  STREAMS,
} from '@rollcall/shared/observation';
import { FACT_GROUPS } from '@rollcall/shared/profile';
import { SENSOR_STATUS } from '@rollcall/shared/sensors';
import { expect, it } from 'vitest';

/** The values of a union type: those that it does not have, or that are left out, do not compile. */
const union = <T extends string>(values: Record<T, true>): string[] => Object.keys(values);
const codes = (values: Record<string, number>): string[] =>
  Object.entries(values).map(([name, code]) => `${code} ${name}`);

/** Columns of prisma/schema.prisma whose values are a closed list, and where the code has it. */
const LISTS: Record<string, readonly string[]> = {
  'User.role': ROLES,
  'Collector.status': COLLECTOR_STATUSES,
  'Credential.version': credential.shape.version.options,
  'Scan.status': SCAN_STATUSES,
  'Job.status': JOB_STATUSES,
  'CollectorStream.stream': STREAMS,
  'DeadLetter.stream': STREAMS,
  'Gap.stream': STREAMS,
  'Gap.reason': union<GapObservation['reason']>({
    bytes: true,
    age: true,
    disk: true,
    damaged: true,
    time: true,
  }),
  'Device.status': DEVICE_STATUSES,
  'Device.snmpVersion': union<NonNullable<DeviceObservation['snmpVersion']>>({
    v1: true,
    v2c: true,
    v3: true,
  }),
  'Device.watchedSnmp': union<NonNullable<DeviceRow['watchedSnmp']>>({
    ok: true,
    timeout: true,
    'auth-failed': true,
  }),
  'Evidence.kind': EVIDENCE_KINDS,
  'IdentityDecision.verb': union<DeviceExplanation['decisions'][number]['verb']>({
    merge: true,
    split: true,
  }),
  'DeviceAddress.origin': union<AddressRecord['origin']>({ table: true, reached: true }),
  'Interface.stp': STP_STATES,
  'Interface.duplex': networkInterface.shape.duplex.unwrap().options,
  'Neighbour.protocol': union<NeighbourRow['protocol']>({
    lldp: true,
    cdp: true,
    fdp: true,
    edp: true,
    ndp: true,
    mndp: true,
  }),
  'Neighbour.capabilities': [...CAPABILITIES],
  'Sensor.status': SENSOR_STATUS,
  'WalkPart.tableName': MERGED_TABLES,
  'DeviceFacts.group': [...DEVICE_GROUPS, ...FACT_GROUPS, 'attachment'],
  'EndpointChange.kind': ENDPOINT_CHANGE_KINDS,
  'Event.source': EVENT_SOURCES,
  'Event.severity': codes(Severity),
  'Event.status': codes(EventStatus),
  'Event.acknowledgedUntil': ACKNOWLEDGED_UNTIL,
  'Event.closeReason': CLOSE_REASONS,
  'Condition.state': union<ConditionState>({
    held: true,
    suppressed: true,
    raised: true,
    cleared: true,
    flapping: true,
  }),
  'Case.status': codes(CaseStatus),
  'CaseActivity.kind': ACTIVITY_KINDS,
  'CaseOutbox.type': NOTICE_TYPES,
  'CustomField.appliesTo': ANNOTATED,
  'CustomField.type': FIELD_TYPES,
  'Subscription.kind': subscription.shape.kind.options,
  'Subscription.format': WEBHOOK_FORMATS,
  'Delivery.type': [...NOTICE_TYPES, 'test'],
  'Delivery.status': DELIVERY_STATUSES,
  'MailSettings.security': mailSettings.shape.security.options,
};

/** Every comment with ` | ` in it, by the column that it stands above. */
function listsOf(schema: string): Record<string, string[]> {
  const lists: Record<string, string[]> = {};
  let model = '';
  let list: string | undefined;
  for (const line of schema.split('\n')) {
    model = /^model (\w+)/.exec(line)?.[1] ?? model;
    const comment = /^\s*\/\/\/? (.*)/.exec(line)?.[1];
    if (comment?.includes(' | ')) list = comment;
    const column = /^\s+(\w+)\s+\w/.exec(line)?.[1];
    if (!column || list === undefined) continue;
    lists[`${model}.${column}`] = list.split(' | ');
    list = undefined;
  }
  return lists;
}

it('comments in prisma/schema.prisma that list values list those of the code', () => {
  const schema = readFileSync(new URL('../prisma/schema.prisma', import.meta.url), 'utf8');
  const body = schema.slice(schema.indexOf('model '));
  expect(listsOf(body), 'the form is `/// a | b | c`, a line of its own above the column').toEqual(LISTS);
});
