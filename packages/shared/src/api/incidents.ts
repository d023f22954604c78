/** Events and cases. */
import { z } from 'zod';
import { CaseStatus, EventStatus, eventSource } from '../model.ts';
import type { Operation } from './operation.ts';
import {
  id,
  line,
  numericCodes,
  paging,
  queryTime,
  repeated,
  resource,
  siteFilter,
  sortBy,
  unixSeconds,
  wholeNumber,
} from './operation.ts';

const time = unixSeconds;
const maybeTime = time.nullable();
const severity = z.int().min(1).max(5).meta({ description: '1 critical … 5 info.', example: 2 });
const priority = z.int().min(1).max(4).meta({ description: '1 highest … 4 lowest.', example: 3 });
const eventStatus = z
  .int()
  .min(EventStatus.open)
  .max(EventStatus.closed)
  .meta({ description: '0 open, 1 acknowledged, 2 closed.', example: 0 });
const caseStatus = z
  .int()
  .min(CaseStatus.open)
  .max(CaseStatus.closed)
  .meta({ description: '0 open, 1 investigating, 2 resolved, 3 closed.', example: 1 });

// ── Event ────────────────────────────────────────────────────────────────────────────────────────────────────

/** Why an event closed: by its opposite, by hand, by age (a notice), with what it was about, or as soon as it was made. */
export const CLOSE_REASONS = ['cleared', 'manual', 'expired', 'deleted', 'noted'] as const;
export const closeReason = z.enum(CLOSE_REASONS).meta({ id: 'CloseReason' });

/** What ends an acknowledgement: nothing before the event closes, or that it happens again or something worse does. */
export const ACKNOWLEDGED_UNTIL = ['clear', 'worse'] as const;
const acknowledgedUntil = z.enum(ACKNOWLEDGED_UNTIL).meta({
  id: 'AcknowledgedUntil',
  description:
    '`clear`: until the event closes. `worse`: until it happens again, or its device has a more severe one; it is open again then.',
  example: 'clear',
});
export type AcknowledgedUntil = z.infer<typeof acknowledgedUntil>;

export const event = z
  .strictObject({
    id,
    siteId: id,
    deviceId: id.nullable(),
    device: z.string().nullable().meta({ description: 'Name of the device today.', example: 'core-1' }),
    interfaceId: id.nullable(),
    collectorId: id.nullable(),
    caseId: id.nullable(),
    kind: z.string().meta({ example: 'interface.down' }),
    source: eventSource,
    severity,
    status: eventStatus,
    message: z.string().meta({ example: 'Gi1/0/48 of core-1 is down' }),
    details: z
      .record(z.string(), z.unknown())
      .meta({ example: { before: { operStatus: 1 }, after: { operStatus: 2 } } }),
    dedupKey: z.string().meta({ description: 'What one live event exists once for.' }),
    count: z.int().min(1).meta({ description: 'Occurrences.', example: 1 }),
    firstSeen: time,
    timestamp: time.meta({ description: 'Last occurrence.' }),
    acknowledgedAt: maybeTime,
    acknowledgedBy: z.string().nullable(),
    acknowledgedUntil: acknowledgedUntil.nullable(),
    closedAt: maybeTime,
    closedBy: z.string().nullable(),
    closeReason: closeReason.nullable(),
    maintenanceUntil: maybeTime.meta({ description: 'Raised in maintenance: in no case before this.' }),
  })
  .meta({ id: 'Event' });
export type Event = z.infer<typeof event>;

/** Ten digits: seconds until the year 2286; more are milliseconds, given by mistake. */
const EVENT_SORTS = ['timestamp', 'severity'] as const;
const eventQuery = z.strictObject({
  from: queryTime
    .optional()
    .meta({ description: 'Last occurrence at or after; Unix seconds.', example: 1_763_600_000 }),
  to: queryTime
    .optional()
    .meta({ description: 'Last occurrence at or before; Unix seconds.', example: 1_763_700_000 }),
  Severity: wholeNumber(1, 5)
    .optional()
    .meta({ description: 'Inclusive ceiling: 3 answers 1, 2 and 3.', example: 3 }),
  Status: numericCodes(0, 2)
    .optional()
    .meta({ description: 'One status code, or several separated by commas.', example: '0,1' }),
  Source: eventSource.optional().meta({ description: 'Exactly this source.', example: 'snmp' }),
  Device: z.string().min(1).max(200).optional().meta({
    description: 'Device id, one of its addresses, or its exact name.',
    example: 'core-1',
  }),
  site: siteFilter,
  sort: sortBy(EVENT_SORTS),
  ...paging,
});
export type EventQuery = z.output<typeof eventQuery>;

// ── Case ─────────────────────────────────────────────────────────────────────────────────────────────────────

export const ACTIVITY_KINDS = [
  'created',
  'event_added',
  'event_closed',
  'status',
  'assigned',
  'priority',
  'tag',
  'comment',
] as const;
export type ActivityKind = (typeof ACTIVITY_KINDS)[number];

export const incidentCase = z
  .strictObject({
    id,
    number: z.int().min(1).meta({ example: 1042 }),
    siteId: id,
    title: z.string().meta({ example: 'core-1 is down' }),
    description: z.string(),
    status: caseStatus,
    severity,
    priority,
    assigneeId: id.nullable(),
    assignee: z.string().nullable().meta({ description: 'User name.', example: 'ada' }),
    tags: z.array(z.string()),
    eventCount: z.int().min(0),
    openEventCount: z.int().min(0).meta({ description: 'Events that are not closed.' }),
    rootDeviceId: id.nullable(),
    createdAt: time,
    updatedAt: time,
    resolvedAt: maybeTime,
    closedAt: maybeTime,
  })
  .meta({ id: 'Case' });
export type Case = z.infer<typeof incidentCase>;

const caseActivity = z
  .strictObject({
    id,
    at: time,
    actor: z.string().meta({ description: 'User name, or `system`.', example: 'ada' }),
    kind: z.enum(ACTIVITY_KINDS).meta({ id: 'ActivityKind' }),
    text: z.string(),
    from: z.string().nullable(),
    to: z.string().nullable(),
  })
  .meta({ id: 'CaseActivity' });
export type CaseActivity = z.infer<typeof caseActivity>;

/** Events and activity in one answer, newest of each; more are read through the event list. */
export const CASE_EVENTS_MOST = 1000;
export const CASE_ACTIVITY_MOST = 1000;
const caseDetail = z
  .strictObject({
    ...incidentCase.shape,
    events: z.array(event).meta({
      description: `Newest first, at most ${CASE_EVENTS_MOST}; \`eventCount\` says how many there are.`,
    }),
    activity: z
      .array(caseActivity)
      .meta({ description: `Oldest first; of a long one the newest ${CASE_ACTIVITY_MOST}.` }),
  })
  .meta({ id: 'CaseDetail' });
export type CaseDetail = z.infer<typeof caseDetail>;

export const CASE_SORTS = ['updatedAt', 'createdAt', 'number', 'severity', 'priority', 'status'] as const;
const tag = line(60).meta({ example: 'core' });
const caseQuery = z.strictObject({
  status: numericCodes(0, 3)
    .optional()
    .meta({ description: 'Status codes separated by commas.', example: '0,1' }),
  severity: numericCodes(1, 5)
    .optional()
    .meta({ description: 'Severity codes separated by commas, exact.', example: '1,2' }),
  priority: numericCodes(1, 4)
    .optional()
    .meta({ description: 'Priorities separated by commas, exact.', example: '1' }),
  assignee: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .meta({ description: 'User id or name, `me`, or `none`.', example: 'me' }),
  tag: repeated(z.string().min(1).max(60))
    .optional()
    .meta({ description: 'One tag, exact but for case; given twice, both must be there.', example: 'core' }),
  q: z.string().max(200).optional().meta({
    description:
      'Words that all occur in title, description, tags, comments or device names; `#1042` is the number.',
    example: 'core #1042',
  }),
  site: siteFilter,
  sort: sortBy(CASE_SORTS),
  ...paging,
});
export type CaseQuery = z.output<typeof caseQuery>;

const prose = (most: number) => z.string().normalize('NFC').max(most);
const eventIds = z.array(z.uuid().toLowerCase()).min(1).max(1000);
const tags = z.array(tag).max(50);
/** Most characters of a case's title. */
export const CASE_TITLE = 200;
const assignee = z
  .string()
  .min(1)
  .max(200)
  .nullable()
  .meta({ description: 'User id or name, `me`, or null: unassigned.', example: 'me' });

const caseCreate = z.strictObject({
  siteId: z.uuid().toLowerCase(),
  title: line(CASE_TITLE),
  description: prose(10_000).default(''),
  severity: severity.optional().meta({ description: 'Absent: that of the worst event, else 4.' }),
  priority: priority.default(3),
  assignee: assignee.optional(),
  tags: tags.default([]),
  eventIds: eventIds.optional(),
});
const casePatch = z
  .strictObject({
    title: line(CASE_TITLE).optional(),
    description: prose(10_000).optional(),
    status: caseStatus.optional(),
    severity: severity.optional(),
    priority: priority.optional(),
    assignee: assignee.optional(),
    tags: tags.optional(),
  })
  .refine((patch) => Object.keys(patch).length > 0, 'nothing to change');

const events = resource('/api/events', 'Events', event);
const cases = resource('/api/cases', 'Cases', caseDetail);

export const incidentOperations = {
  'events.list': events.list('viewer', 'List events', {
    description: 'Last occurrence first.',
    stable: true,
    query: eventQuery,
  }),
  'events.get': events.get('viewer', 'One event', { stable: true }),
  'events.acknowledge': events.act('acknowledge')('operator', 'Say that somebody looks after an event', {
    body: z.strictObject({ until: acknowledgedUntil.default('clear') }).default({ until: 'clear' }),
    errors: ['conflict'],
    example: { until: 'worse' },
  }),
  'events.close': events.act('close')('operator', 'Close an event by hand', {
    description: 'A closed event never reopens; the next occurrence is a new one.',
    errors: ['conflict'],
  }),
  'cases.list': cases.list('viewer', 'List cases', {
    description: 'Newest change first.',
    stable: true,
    query: caseQuery,
    data: incidentCase,
  }),
  'cases.get': cases.get('viewer', 'One case with its events and activity', { stable: true }),
  'cases.create': cases.create('operator', 'Open a case by hand', {
    body: caseCreate,
    errors: ['not_found', 'conflict'],
    example: {
      siteId: '019aa3c4-5b00-7000-8000-000000000001',
      title: 'Printers of floor 3',
      priority: 4,
      tags: ['printers'],
    },
  }),
  'cases.update': cases.update('operator', 'Work a case: status, priority, assignee, tags, text', {
    description:
      'Each change is an entry of its activity. Status 1 (investigating) acknowledges its open events, also of a case that is investigated already; events that come later stay open. A closed case takes no change (409).',
    body: casePatch,
    errors: ['conflict'],
    example: { status: 1, assignee: 'me' },
  }),
  'cases.comment': cases.act('comments')('operator', 'Comment on a case', {
    body: z.strictObject({ text: prose(10_000).trim().min(1) }),
    data: caseActivity,
    status: 201,
    example: { text: 'Provider called, engineer on the way.' },
  }),
  'cases.addEvents': cases.act('events')('operator', 'Put events into a case', {
    description: 'Events of the same site; they leave the case they were in.',
    body: z.strictObject({ eventIds }),
    errors: ['conflict'],
    example: { eventIds: ['019aa3c4-5b00-7000-8000-000000000002'] },
  }),
  'cases.merge': cases.act('merge')('operator', 'Merge another case into this one', {
    description: 'Its events, comments and tags come over; it is closed and says where they went.',
    body: z.strictObject({ caseId: z.uuid().toLowerCase() }),
    errors: ['conflict'],
    example: { caseId: '019aa3c4-5b00-7000-8000-000000000003' },
  }),
  'cases.split': cases.act('split')('operator', 'Make a new case of some of its events', {
    body: z.strictObject({ eventIds, title: line(CASE_TITLE).optional() }),
    status: 201,
    errors: ['conflict'],
    example: { eventIds: ['019aa3c4-5b00-7000-8000-000000000002'], title: 'Uplink of floor 3' },
  }),
} as const satisfies Record<string, Operation>;
