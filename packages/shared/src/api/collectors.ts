/** Collectors, how they join, and what was lost on the way: dead letters and gaps. */
import { z } from 'zod';
import { collectorStatus } from '../model.ts';
import { STREAMS } from '../observation.ts';
import type { Operation } from './operation.ts';
import {
  codes,
  id,
  line,
  paging,
  queryTime,
  resource,
  siteFilter,
  sortBy,
  unixSeconds,
} from './operation.ts';

const count = z.int().min(0).meta({ example: 3 });
const maybeTime = unixSeconds.nullable();
const siteName = z.string().meta({ example: 'Berlin' });

export const COLLECTOR_NAME = /^[\p{L}\p{N}][\p{L}\p{N}._-]*$/u;
const collectorName = line(63)
  .regex(COLLECTOR_NAME, 'must be letters, digits and . _ - only')
  .meta({ description: 'Letters and digits of any language and . _ - only.', example: 'berlin-1' });

// ── Collector ────────────────────────────────────────────────────────────────────────────────────────────────

/** What a collector last said of itself. Shown, never decided on. */
const collectorHealth = z
  .strictObject({
    at: maybeTime.meta({ description: 'When it said so; null: not yet.' }),
    outbox: z
      .strictObject({
        depth: count.meta({ description: 'Observations not yet acknowledged.' }),
        bytes: count,
        oldest: maybeTime.meta({ description: 'Time of the oldest of them.' }),
      })
      .nullable(),
    drops: z.record(z.string(), z.int()).meta({ description: 'What it dropped, by reason.', example: {} }),
    rssBytes: z.int().nullable().meta({ example: 104_857_600 }),
    loopDelayMs: z.number().nullable().meta({ example: 1.2 }),
    watch: z
      .strictObject({
        targets: count.meta({ description: 'Devices it monitors.' }),
        up: count,
        down: count,
        refused: count.meta({ description: 'Left alone: the settings of its host do not allow them.' }),
        lagMs: count.meta({ description: 'How long the most overdue ping or reading has waited.' }),
        traps: z.strictObject({
          port: z.int().nullable().meta({ description: 'UDP port; null: none are received.', example: 162 }),
          received: count,
          reason: z.string().nullable().meta({ description: 'Why none are received.', example: null }),
        }),
      })
      .nullable(),
    engines: z
      .array(z.strictObject({ name: z.string(), ok: z.boolean(), reason: z.string() }))
      .meta({ description: 'Ways to send ICMP on its host.' }),
    capacity: z.int().nullable().meta({ description: 'Jobs it takes at once.', example: 4 }),
  })
  .meta({ id: 'CollectorHealth' });
export type CollectorHealth = z.infer<typeof collectorHealth>;

export const collector = z
  .strictObject({
    id,
    siteId: id,
    site: siteName,
    name: z.string().meta({ example: 'berlin-1' }),
    status: collectorStatus,
    statusReason: z.string().meta({ example: '' }),
    online: z.boolean(),
    connectedAt: maybeTime,
    lastSeenAt: maybeTime,
    createdAt: unixSeconds,
    hostname: z.string().meta({ example: 'probe.berlin.example.net' }),
    software: z.string().meta({ example: 'rollcall-collector 0.1.0' }),
    clockOffsetMs: z.int().meta({ description: 'Server clock minus its clock, milliseconds.', example: -12 }),
    jobs: count.meta({ description: 'Jobs it works on right now.' }),
    health: collectorHealth,
  })
  .meta({ id: 'Collector' });
export type Collector = z.infer<typeof collector>;

// ── Joining ──────────────────────────────────────────────────────────────────────────────────────────────────

/** Longest life of a join token, and the usual one. @setting join token `expiresIn` */
export const JOIN_TOKEN_SECONDS = 3600;

export const joinToken = z
  .strictObject({
    id,
    siteId: id,
    site: siteName,
    createdBy: z.string().nullable().meta({ example: 'ada' }),
    createdAt: unixSeconds,
    expiresAt: unixSeconds,
    usedAt: maybeTime,
    collectorId: id.nullable().meta({ description: 'Who joined with it.' }),
  })
  .meta({ id: 'JoinToken' });
export type JoinToken = z.infer<typeof joinToken>;

const joinRequest = z.strictObject({
  token: z.string().max(300).meta({ example: 'rcj_EXAMPLEexampleEXAMPLEexampleEXAMPLE0000' }),
  name: collectorName.optional().meta({
    description: 'Without it the first label of the host name; a number is appended where it is taken.',
    example: 'berlin-1',
  }),
  hostname: line(255).meta({ example: 'probe.berlin.example.net' }),
  publicKey: z.base64().length(44).meta({
    description: 'Ed25519 public key, 32 raw bytes in base64.',
    example: '11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=',
  }),
});
export type JoinRequest = z.infer<typeof joinRequest>;

export const joined = z
  .strictObject({
    collectorId: id,
    name: z.string().meta({ example: 'berlin-1' }),
    site: z.strictObject({ id, name: siteName }),
    generation: z.int().min(0).meta({ description: 'To be said in the first hello.', example: 0 }),
    path: z.string().meta({ description: 'Where to open the WebSocket.', example: '/api/collectors/link' }),
    protocol: z.strictObject({ version: z.int().meta({ example: 1 }), oldest: z.int().meta({ example: 1 }) }),
    serverTime: unixSeconds,
  })
  .meta({ id: 'Joined' });
export type Joined = z.infer<typeof joined>;

// ── Losses ───────────────────────────────────────────────────────────────────────────────────────────────────

/** Where an observation came from; together its name for ever. */
const origin = {
  siteId: id,
  site: siteName,
  collectorId: id,
  collector: z.string().nullable().meta({ description: 'null: deleted since.', example: 'berlin-1' }),
  epoch: id.meta({ description: 'Of the outbox.' }),
  stream: z.enum(STREAMS).meta({ id: 'Stream' }),
};
/** Characters of a dead letter that the list shows. */
export const DEAD_LETTER_SHOWN = 4096;

const deadLetter = z
  .strictObject({
    ...origin,
    seq: z.int().min(0).meta({ example: 1042 }),
    at: unixSeconds,
    reason: z.string().meta({ example: 'address: invalid' }),
    body: z.string().meta({ description: `As it came, the first ${DEAD_LETTER_SHOWN} characters.` }),
    hash: z.string().meta({ description: 'SHA-256 of the whole item, hex.' }),
  })
  .meta({ id: 'DeadLetter' });
export type DeadLetter = z.infer<typeof deadLetter>;

/** Why observations were lost, in words; a reason of a later collector stands as it is. */
export const LOSSES: Readonly<Record<string, string>> = {
  bytes: 'the queue was full',
  age: 'they waited too long in the queue',
  disk: 'the disk was full',
  damaged: 'the queue on the disk was damaged',
  time: 'their times are wrong, as after a clock was set, or they came too late',
};

export const gap = z
  .strictObject({
    ...origin,
    fromSeq: z.int().min(0).meta({ example: 1042 }),
    toSeq: z.int().min(0).meta({ example: 1099 }),
    count,
    reason: z.string().meta({
      description:
        '`bytes`, `age`, `disk` or `damaged`; `time`: samples that were too late, or whose time was wrong because a clock was set.',
      example: 'bytes',
    }),
    at: unixSeconds,
  })
  .meta({ id: 'Gap' });
export type Gap = z.infer<typeof gap>;

const time = queryTime;
const losses = z.strictObject({
  ...paging,
  from: time.optional().meta({ description: 'Unix seconds, inclusive.', example: 1_763_700_000 }),
  to: time.optional().meta({ description: 'Unix seconds, inclusive.', example: 1_763_786_400 }),
  collector: z.uuid().toLowerCase().optional(),
  site: siteFilter,
});

const joinTokens = resource('/api/collectors/join-tokens', 'Collectors', joinToken);
const collectors = resource('/api/collectors', 'Collectors', collector);

export const collectorOperations = {
  // Before `/api/collectors/{id}`: the first path that fits is taken.
  'joinTokens.list': joinTokens.list('admin', 'List join tokens, newest first', {
    description: 'Those of the last seven days; never the secret.',
    query: z.strictObject({ ...paging, site: siteFilter }),
  }),
  'joinTokens.create': joinTokens.create('admin', 'Let one collector join a site', {
    description:
      'The plaintext stands in `token`, this once. It works once, for an hour at most. On the host: `rollcall-collector join URL TOKEN`.',
    body: z.strictObject({
      siteId: z.uuid().toLowerCase(),
      expiresIn: z
        .int()
        .min(60)
        .max(JOIN_TOKEN_SECONDS)
        .default(JOIN_TOKEN_SECONDS)
        .meta({ description: 'Seconds.', example: JOIN_TOKEN_SECONDS }),
    }),
    extra: z.strictObject({
      token: z.string().meta({
        description: 'The plaintext, shown once.',
        example: 'rcj_EXAMPLEexampleEXAMPLEexampleEXAMPLE0000',
      }),
      install: z.string().nullable().meta({
        description:
          'The line to run on the host: fetches the collector from this server, which it knows by its certificate or by the key in the line, checks its SHA-256, installs and joins it. null: this server was not installed from its package.',
        example:
          'curl -fsS https://rollcall.example.net/api/collectors/install.sh | sh -s -- https://rollcall.example.net rcj_EXAMPLEexampleEXAMPLEexampleEXAMPLE0000',
      }),
      container: z.string().nullable().meta({
        description:
          'The line that starts a collector in a container of its image, which the host must have (`npm run images`). null: the address of this server is not known.',
        example:
          'podman run --detach --name rollcall-collector --restart always --network host --read-only --tmpfs /tmp --volume rollcall-collector:/var/lib/rollcall-collector localhost/rollcall-collector:0.1.0 run --join https://rollcall.example.net --token rcj_EXAMPLEexampleEXAMPLEexampleEXAMPLE0000',
      }),
    }),
    example: { siteId: '019aa3c4-5b00-7000-8000-000000000001' },
  }),
  'joinTokens.delete': joinTokens.remove('admin', 'Revoke a join token'),
  'collectors.installer': {
    method: 'GET',
    path: '/api/collectors/install.sh',
    tag: 'Collectors',
    summary: 'Script that installs a collector of this version',
    description:
      'With the SHA-256 of every package. Its arguments are the address of the server and a join token.',
    access: 'public',
    data: z.string(),
    envelope: 'raw',
    produces: 'text/x-shellscript',
    errors: ['not_found'],
  },
  'collectors.package': {
    method: 'GET',
    path: '/api/collectors/packages/{file}',
    tag: 'Collectors',
    summary: 'A package of the collector of this version',
    description: '`….deb`, and `….tar` with the same files for hosts without dpkg. Names are in the script.',
    access: 'public',
    params: z.strictObject({
      file: z.string().max(120).meta({ example: 'rollcall-collector_0.1.0_amd64.deb' }),
    }),
    data: z.string(),
    envelope: 'raw',
    produces: 'application/octet-stream',
    errors: ['not_found'],
  },
  'collectors.join': {
    method: 'POST',
    path: '/api/collectors/join',
    tag: 'Collectors',
    summary: 'Join a site (collectors only)',
    description: 'A join token is taken once; unknown, used, expired and malformed ones read the same (401).',
    access: 'public',
    body: joinRequest,
    data: joined,
    envelope: 'item',
    status: 201,
    errors: ['unauthorized', 'conflict'],
    example: {
      token: 'rcj_EXAMPLEexampleEXAMPLEexampleEXAMPLE0000',
      hostname: 'probe.berlin.example.net',
      publicKey: '11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=',
    },
  },
  'collectors.list': collectors.list('viewer', 'List collectors', {
    query: z.strictObject({
      ...paging,
      search: z
        .string()
        .max(200)
        .optional()
        .meta({ description: 'Part of the name or host name.', example: 'ber' }),
      status: codes(collectorStatus)
        .optional()
        .meta({ description: 'One status, or several separated by commas.', example: 'active' }),
      site: siteFilter,
      sort: sortBy(['name', 'status', 'lastSeenAt', 'createdAt']),
    }),
  }),
  'collectors.get': collectors.get('viewer', 'Get a collector'),
  'collectors.update': collectors.update('admin', 'Rename a collector', {
    body: z.strictObject({ name: collectorName }),
    errors: ['conflict'],
    example: { name: 'berlin-2' },
  }),
  'collectors.revoke': collectors.act('revoke')('admin', 'Revoke a collector', {
    description:
      'Its link is closed within a second and never opened again; its jobs go to other collectors of the site; what it had not delivered stays on its host. Final: the host may join again with a new token.',
  }),
  'collectors.rotate': collectors.act('rotate')('admin', 'Have a collector make a new key', {
    description:
      'The collector makes the key itself, so it must be online (409 otherwise). The old key dies when the new one was used.',
    status: 202,
    errors: ['conflict'],
  }),
  'collectors.release': collectors.act('release')('admin', 'Release a collector from quarantine', {
    description:
      'Once it is clear which of the holders of its key is the right one and the other is stopped: the next holder that connects is taken for it. 409 unless it is quarantined.',
    errors: ['conflict'],
  }),
  'collectors.delete': collectors.remove('admin', 'Delete a revoked collector', {
    description: 'What it found stays. 409 unless it is revoked.',
    errors: ['conflict'],
  }),
  'deadLetters.list': {
    method: 'GET',
    path: '/api/dead-letters',
    tag: 'Collectors',
    summary: 'Observations that could not be stored, newest first',
    access: 'viewer',
    query: losses,
    data: deadLetter,
    envelope: 'list',
  },
  'gaps.list': {
    method: 'GET',
    path: '/api/gaps',
    tag: 'Collectors',
    summary: 'Observations that collectors had to drop, newest first',
    access: 'viewer',
    query: losses,
    data: gap,
    envelope: 'list',
  },
} as const satisfies Record<string, Operation>;
