/** How long devices, interfaces and sites were up, down, in maintenance and not observed. `docs/metrics.md` explains it. */
import { z } from 'zod';
import { text, time } from './members.ts';
import { id, type Operation, queryTime, siteFilter, wholeNumber } from './operation.ts';

/** Entries of a page: each is computed from all that happened to it. */
export const AVAILABILITY_PAGE_MOST = 100;
/** Calendar days of one answer. */
export const AVAILABILITY_DAYS_MOST = 400;

const count = (description: string) => z.int().min(0).meta({ description });
const seconds = {
  up: count('Seconds in which it was observed and not down.'),
  down: count('Seconds in which an event says that it was down.'),
  maintenance: count('Seconds in which a maintenance window covered it.'),
  notObserved: count(
    'Seconds in which it was not monitored, or no collector of the site was connected, unless its pings of that time came later.',
  ),
};
const availability = z.number().min(0).max(100).nullable().meta({
  description: 'Percent: `up` of `up` and `down`; null where both are 0.',
  example: 99.95,
});

const day = z
  .strictObject({ from: time, to: time, ...seconds, availability })
  .meta({ id: 'AvailabilityDay' });
const availabilityEntry = z
  .strictObject({
    siteId: id,
    site: z.string().meta({ example: 'Berlin' }),
    deviceId: id.nullable(),
    device: text('core-1'),
    interfaceId: id.nullable(),
    interface: text('Gi1/0/1'),
    devices: count('Devices that the seconds are of: of a site, those monitored at some time in the period.'),
    ...seconds,
    availability,
    days: z.array(day).nullable().meta({ description: 'By calendar day, where `timezone` is given.' }),
  })
  .meta({
    id: 'Availability',
    description: 'The four numbers of seconds add up to the length of the period, times `devices`.',
  });
export type Availability = z.infer<typeof availabilityEntry>;

const iso = z.iso.datetime().meta({ description: 'ISO 8601 in UTC.' });
const availabilityRow = z.strictObject({
  from: iso,
  to: iso,
  ...availabilityEntry.omit({ days: true }).shape,
});

/** A line per entry or, by calendar day, per entry and day. Spreadsheets know times as ISO 8601. */
const rowsOf = ({ from, to, data }: { from: number; to: number; data: Availability[] }) =>
  data.flatMap(({ days, ...entry }): z.infer<typeof availabilityRow>[] =>
    (days ?? [{ from, to }]).map((part) => ({
      ...entry,
      ...part,
      from: isoOf(part.from),
      to: isoOf(part.to),
    })),
  );
const isoOf = (seconds: number): string => new Date(seconds * 1000).toISOString().replace('.000', '');

const asked = {
  of: z.enum(['sites', 'devices', 'interfaces']).meta({ id: 'AvailabilityOf' }).default('sites').meta({
    description: 'What the entries are. Devices need `site` or `deviceId`, interfaces need `deviceId`.',
  }),
  site: siteFilter,
  deviceId: z.uuid().optional().meta({ description: 'Only this device, or its interfaces.' }),
  from: queryTime.optional().meta({ description: 'Unix seconds; 30 days before `to` when absent.' }),
  to: queryTime.optional().meta({ description: 'Unix seconds; now when absent or later.' }),
  timezone: z.string().min(1).max(100).optional().meta({
    description: 'Answers each calendar day of this IANA time zone as well.',
    example: 'Europe/Berlin',
  }),
};
const availabilityQuery = z.strictObject({
  ...asked,
  page: wholeNumber(1, 1_000_000).default(1).meta({ description: 'Page, 1-based.', example: 1 }),
  pageSize: wholeNumber(1, AVAILABILITY_PAGE_MOST)
    .default(25)
    .meta({ description: 'Items per page.', example: 25 }),
});
export type AvailabilityQuery = z.output<typeof availabilityQuery>;

/** States of availability, by the member that counts their seconds. */
export const AVAILABILITY_STATES = ['up', 'down', 'maintenance', 'notObserved'] as const;
export type AvailabilityState = (typeof AVAILABILITY_STATES)[number];
/** Spans of one answer. */
export const AVAILABILITY_SPANS_MOST = 10_000;

const span = z
  .strictObject({
    from: time,
    to: time,
    state: z.enum(AVAILABILITY_STATES).meta({ id: 'AvailabilityState' }),
  })
  .meta({ id: 'AvailabilitySpan' });
export type AvailabilitySpan = z.infer<typeof span>;

const spansQuery = z.strictObject({
  deviceId: id.meta({ description: 'Required: whose states.' }),
  interfaceId: z.uuid().optional().meta({ description: 'Of this interface of the device.' }),
  from: asked.from,
  to: asked.to,
});

const description = `Every second has one state: maintenance before not observed, before down, before up.
It follows from the events \`device.down\`, \`device.unreachable\` and \`interface.down\`, flapping ones included.
CSV has a line per entry or, with \`timezone\`, per entry and day, and its times as ISO 8601.`;

export const availabilityOperations = {
  'availability.list': {
    method: 'GET',
    path: '/api/availability',
    tag: 'Metrics',
    summary: 'Up, down, maintenance and not observed over a period',
    description,
    access: 'viewer',
    query: availabilityQuery,
    data: availabilityEntry,
    envelope: 'list',
    csv: { row: availabilityRow, rowsOf },
    extra: z.strictObject({ from: time, to: time }),
    errors: ['not_found'],
  },
  'availability.spans': {
    method: 'GET',
    path: '/api/availability/spans',
    tag: 'Metrics',
    summary: 'When a device or an interface was in which of these states',
    description: `In order of time, without holes: the lengths add up to the seconds of GET /api/availability. At most ${AVAILABILITY_SPANS_MOST}.`,
    access: 'viewer',
    query: spansQuery,
    data: z.array(span),
    envelope: 'item',
    errors: ['not_found'],
  },
} as const satisfies Record<string, Operation>;
