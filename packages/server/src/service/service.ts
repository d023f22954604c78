/** The service about itself: its description, its documentation, its health, its figures. */
import { readFile } from 'node:fs/promises';
import { operations } from '@rollcall/shared/api/index';
import { webhooks } from '@rollcall/shared/api/notices';
import type { Clock } from '@rollcall/shared/clock';
import type { Database } from '../platform/db/db.ts';
import type { Handlers } from '../platform/http/handler.ts';
import { openApiDocument } from '../platform/http/openapi.ts';
import type { Metrics } from '../platform/ops/metrics.ts';
import { version } from '../platform/ops/version.ts';
import { notFound, Problem } from '../platform/problem.ts';
import { DOCS_PAGE, docsFile } from './docs.ts';

/** Written where a package is made. */
const NOTICES = new URL('../../../../THIRD-PARTY-NOTICES.txt', import.meta.url);
/** A database that does not answer by then is not there. */
const READY_MS = 2_000;

export interface ServiceDeps {
  db: Database;
  clock: Clock;
  metrics: Metrics;
  /** Brings the figures up to date. */
  refresh: () => Promise<void>;
  /** False from the moment the server begins to stop: no new work is to be sent here. */
  accepting: () => boolean;
}

type Ids =
  | 'openapi.get'
  | 'docs.get'
  | 'docs.file'
  | 'licenses.get'
  | 'health.live'
  | 'health.ready'
  | 'metrics.get';

export function serviceHandlers({ db, clock, metrics, refresh, accepting }: ServiceDeps): Handlers<Ids> {
  const description = JSON.stringify(openApiDocument(operations, version, webhooks));
  const answers = async (): Promise<void> => {
    const timer = new AbortController();
    const late = clock.sleep(READY_MS, timer.signal).then(() => {
      throw unready('the database does not answer');
    });
    try {
      await Promise.race([db.query('SELECT 1'), late]);
    } finally {
      late.catch(() => undefined);
      timer.abort();
    }
  };

  return {
    'openapi.get': async () => ({
      raw: (response) => {
        response.setHeader('Cache-Control', 'no-cache');
        response.type('application/json').end(description);
      },
    }),

    'docs.get': async () => ({
      raw: (response) => {
        response.setHeader('Cache-Control', 'no-cache');
        response.type('text/html').end(DOCS_PAGE);
      },
    }),

    'docs.file': async ({ params }) => {
      const { type, bytes } = docsFile(params.file);
      return {
        raw: (response) => {
          response.setHeader('Cache-Control', 'public, max-age=3600');
          response.setHeader('Content-Type', type);
          response.end(bytes);
        },
      };
    },

    'licenses.get': async () => {
      const text = await readFile(NOTICES, 'utf8').catch(() => {
        throw notFound(
          'file of licences: this server runs from its sources, and each package brings its own',
        );
      });
      return { raw: (response) => void response.type('text/plain').end(text) };
    },

    'health.live': async () => ({ data: { status: 'live' } }),

    'health.ready': async () => {
      if (!accepting()) throw unready('the server is stopping');
      // The embedded database is there as long as we are; a question would only wait behind what it is busy with.
      if (db.kind === 'postgresql') await answers();
      return { data: { status: 'ready' } };
    },

    'metrics.get': async ({ actor }) => {
      if (actor.sites !== 'all')
        throw new Problem(
          'forbidden',
          'the figures are of all sites, and this account does not see all of them',
        );
      await refresh();
      const text = await metrics.registry.metrics();
      return {
        raw: (response) => {
          response.setHeader('Content-Type', metrics.registry.contentType);
          response.end(text);
        },
      };
    },
  };
}

const unready = (message: string): Problem =>
  new Problem('unavailable', message, { headers: { 'Retry-After': '5' } });
