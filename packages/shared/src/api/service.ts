/** The service about itself: its description, its health, its overview, its live stream. */
import { z } from 'zod';
import { deviceClass } from '../model.ts';
import type { Operation } from './operation.ts';
import { id, siteFilter, unixSeconds } from './operation.ts';

/** Files of the documentation page, and nothing else in that folder. */
export const DOCS_FILES = [
  'swagger-ui.css',
  'swagger-ui-bundle.js',
  'start.js',
  'favicon-32x32.png',
] as const;

const count = z.int().min(0).meta({ example: 3 });

/** What changed, for a client to read again. `ids` is absent when there were too many to name. */
export const change = z.object({
  /** Null: of no one site; told to those who see every site. */
  site: z.uuid().nullable(),
  kind: z.enum([
    'device',
    'event',
    'case',
    'scan',
    'collector',
    'interface',
    'site',
    'maintenance',
    'delivery',
  ]),
  ids: z.array(z.uuid()).optional(),
});
export type LiveChange = z.infer<typeof change>;

const siteSummary = z.strictObject({
  id,
  name: z.string().meta({ example: 'Berlin' }),
  devices: z.strictObject({ up: count, down: count, unknown: count }),
  collectors: z.strictObject({ online: count, offline: count }),
  openEvents: count,
  worstSeverity: z.int().min(1).max(5).nullable().meta({ description: 'Of the open events.', example: 2 }),
  openCases: count,
});

export const summary = z
  .strictObject({
    at: unixSeconds,
    devices: z.strictObject({ total: count, monitored: count, up: count, down: count, unknown: count }),
    health: z
      .strictObject({ critical: count, warning: count })
      .meta({ description: 'Devices that are unhealthy, by their worst sensor.' }),
    classes: z
      .array(z.strictObject({ class: deviceClass, count }))
      .meta({ description: 'Only classes that occur, most frequent first.' }),
    events: z.strictObject({
      open: count,
      acknowledged: count,
      bySeverity: z
        .array(z.strictObject({ severity: z.int().min(1).max(5), open: count, acknowledged: count }))
        .meta({ description: 'All five severities, worst first.' }),
    }),
    cases: z.strictObject({ open: count, investigating: count, resolved: count }),
    collectors: z.strictObject({ online: count, offline: count, quarantined: count }),
    scans: z.strictObject({ queued: count, running: count }),
    sites: z.array(siteSummary).max(1000).meta({ description: 'By name; at most 1,000.' }),
  })
  .meta({ id: 'Summary' });
export type Summary = z.infer<typeof summary>;

export const serviceOperations = {
  'openapi.get': {
    method: 'GET',
    path: '/api/openapi.json',
    tag: 'Service',
    summary: 'This description, as OpenAPI 3.1',
    stable: true,
    access: 'public',
    data: z.looseObject({ openapi: z.string().meta({ example: '3.1.0' }) }),
    envelope: 'raw',
    produces: 'application/json',
  },
  'docs.get': {
    method: 'GET',
    path: '/api/docs',
    tag: 'Service',
    summary: 'Interactive documentation',
    access: 'public',
    data: z.string(),
    envelope: 'raw',
    produces: 'text/html',
  },
  'docs.file': {
    method: 'GET',
    path: '/api/docs/{file}',
    tag: 'Service',
    summary: 'A file of the interactive documentation',
    access: 'public',
    params: z.strictObject({ file: z.enum(DOCS_FILES).meta({ id: 'DocsFile' }) }),
    data: z.string(),
    envelope: 'raw',
    produces: 'application/octet-stream',
  },
  'licenses.get': {
    method: 'GET',
    path: '/licenses',
    tag: 'Service',
    summary: 'Licences of the software of others that this is made of',
    description: 'Packages bring it. 404 where the server runs from its sources.',
    access: 'public',
    data: z.string(),
    envelope: 'raw',
    produces: 'text/plain',
    errors: ['not_found'],
  },
  'health.live': {
    method: 'GET',
    path: '/api/health/live',
    tag: 'Service',
    summary: 'The process runs',
    description: 'Asks nothing else: true even while the database is away.',
    access: 'public',
    data: z.strictObject({ status: z.literal('live') }),
    envelope: 'item',
  },
  'health.ready': {
    method: 'GET',
    path: '/api/health/ready',
    tag: 'Service',
    summary: 'The service can work',
    description: '503 while the database is away or the server is stopping: send no requests here.',
    access: 'public',
    data: z.strictObject({ status: z.literal('ready') }),
    envelope: 'item',
  },
  'metrics.get': {
    method: 'GET',
    path: '/metrics',
    tag: 'Service',
    summary: 'Figures for Prometheus',
    description: 'The figures are of all sites, so the account must see every site (403 otherwise).',
    access: 'viewer',
    data: z.string(),
    envelope: 'raw',
    produces: 'text/plain',
  },
  'summary.get': {
    method: 'GET',
    path: '/api/summary',
    tag: 'Service',
    summary: 'Overview of all visible sites',
    access: 'viewer',
    query: z.strictObject({ site: siteFilter }),
    data: summary,
    envelope: 'item',
  },
  'stream.open': {
    method: 'GET',
    path: '/api/stream',
    tag: 'Service',
    summary: 'What changes, as it changes',
    description:
      'Server-sent events of the visible sites: `change` with `{site, kind, ids?}` (`site` is null where it is about no one site), and `resync` when some may have been missed. Ends within a second when the caller loses a right; reconnect to go on.',
    access: 'viewer',
    query: z.strictObject({ site: siteFilter }),
    data: z.string(),
    envelope: 'raw',
    produces: 'text/event-stream',
  },
} as const satisfies Record<string, Operation>;
