/** What changed: the inventory over time, and what may have led to a case. */
import { z } from 'zod';
import { mac, text, time } from './members.ts';
import type { Operation } from './operation.ts';
import { id, idParams, paging, queryTime, repeated, siteFilter, wholeNumber } from './operation.ts';

/** Kinds of events that tell of a change rather than of trouble. The index `events_changes` has the same ones. */
export const CHANGE_KINDS = [
  'device.new',
  'device.gone',
  'device.renumbered',
  'device.moved',
  'device.swapped',
  'device.upgraded',
  'device.changed',
  'device.addresses',
  'device.hardware',
  'device.vlans',
  'device.merged',
  'device.split',
  'device.rebooted',
  'interface.added',
  'interface.removed',
  'interface.changed',
  'interface.shut',
  'interface.speed',
  'interface.duplex',
  'neighbour.changed',
  'address.moved',
  'address.conflict',
] as const;

/** Kinds of changes of endpoints, which have a table of their own: there are many, and none is trouble. */
export const ENDPOINT_CHANGE_KINDS = ['endpoint.added', 'endpoint.moved', 'endpoint.removed'] as const;
export type EndpointChangeKind = (typeof ENDPOINT_CHANGE_KINDS)[number];
export type ChangeKind = (typeof CHANGE_KINDS)[number] | EndpointChangeKind;

/** Where an endpoint enters the network, as a change of it tells: several ports where it may be at any of them. */
export interface EndpointPorts {
  ports: {
    deviceId: string;
    device: string;
    ifIndex: number;
    interfaceId: string | null;
    port: string | null;
  }[];
}

const members = {
  id: id.meta({ description: 'Of the event that tells it; of a change of an endpoint there is none.' }),
  at: time,
  kind: z.string().meta({ example: 'device.upgraded' }),
  siteId: id,
  site: z.string(),
  deviceId: id.nullable(),
  device: text('core-1'),
  interfaceId: id.nullable(),
  interface: text('Gi1/0/1'),
  endpoint: mac.meta({ description: 'The endpoint that came, moved or went; null of other changes.' }),
  message: z.string().meta({ example: 'core-1 changed its version from 17.6.5 to 17.9.4a' }),
  before: z.unknown().meta({ description: 'What was; null where it is not known.' }),
  after: z.unknown().meta({ description: 'What is since.' }),
  collector: text('head-office-1').meta({ description: 'Who saw it; null: a person, or the server.' }),
};
export const change = z.strictObject(members).meta({ id: 'Change' });
export type Change = z.infer<typeof change>;

/** Where a change was, as seen from the root of a case. */
export const PLACES = ['port', 'link', 'root', 'neighbour'] as const;
const likelyChange = z
  .strictObject({
    ...members,
    place: z.enum(PLACES).meta({
      id: 'ChangePlace',
      description:
        'On a port or the device that the case is about, on either end of a link of that device, or on a device with a link to it.',
    }),
    likelihood: z.int().min(0).max(100).meta({
      description: 'How well it fits as the cause; an order, not a probability.',
    }),
    reasons: z.array(z.string()).meta({ example: ['on core-1 itself', '4 min before'] }),
  })
  .meta({ id: 'LikelyChange' });
export type LikelyChange = z.infer<typeof likelyChange>;

const changeFilters = {
  site: siteFilter,
  device: z.uuid().optional(),
  kind: repeated(z.enum([...CHANGE_KINDS, ...ENDPOINT_CHANGE_KINDS]).meta({ id: 'ChangeKind' })).optional(),
  endpoints: wholeNumber(0, 1).optional().meta({
    description:
      '1: those of endpoints too. They are many: without it they come only where `kind` names one of theirs.',
  }),
  from: queryTime.optional().meta({ description: 'Unix seconds; 24 hours before `to` when absent.' }),
  to: queryTime.optional().meta({ description: 'Unix seconds; now when absent.' }),
};
const changeQuery = z.strictObject({ ...changeFilters, ...paging });
export type ChangeQuery = z.output<typeof changeQuery>;

/** Spans that a time is cut into, at most. */
export const CHANGE_SPANS = 96;
const changeCountQuery = z.strictObject(changeFilters);
export type ChangeCountQuery = z.output<typeof changeCountQuery>;
export const changeCounts = z
  .strictObject({
    from: time,
    to: time,
    step: z
      .int()
      .min(1)
      .meta({
        description: `Seconds of a span; so many that there are at most ${CHANGE_SPANS + 1} of them.`,
        example: 900,
      }),
    counts: z
      .array(
        z.strictObject({
          at: time.meta({ description: 'When the span begins: a multiple of `step`.' }),
          kind: z.string().meta({ example: 'device.upgraded' }),
          count: z.int().min(1),
        }),
      )
      .meta({ description: 'By time and kind; spans and kinds without any are left out.' }),
  })
  .meta({ id: 'ChangeCounts' });
export type ChangeCounts = z.infer<typeof changeCounts>;

export const changeOperations = {
  'changes.list': {
    method: 'GET',
    path: '/api/changes',
    tag: 'Changes',
    summary: 'What changed in the inventory, newest first',
    description:
      'Devices, interfaces, addresses, neighbours and, where they are asked for, endpoints that came, went or are different, as collectors saw it.',
    access: 'viewer',
    query: changeQuery,
    data: change,
    envelope: 'list',
  },
  'changes.counts': {
    method: 'GET',
    path: '/api/changes/counts',
    tag: 'Changes',
    summary: 'How many changes of which kind there were when',
    access: 'viewer',
    query: changeCountQuery,
    data: changeCounts,
    envelope: 'item',
  },
  'cases.changes': {
    method: 'GET',
    path: '/api/cases/{id}/changes',
    tag: 'Cases',
    summary: 'What changed in the hour before a case began, the likeliest cause first',
    description:
      'On the device that the case is about and on those with a link to it; of endpoints, those that came to, moved to or left the ports that it is about.',
    access: 'viewer',
    params: idParams,
    data: z.array(likelyChange),
    envelope: 'item',
  },
} as const satisfies Record<string, Operation>;
