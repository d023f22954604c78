import { operations } from '@rollcall/shared/api/index';
import { serviceOperations } from '@rollcall/shared/api/service';
import { brokenConventions } from '@rollcall/shared/testing/metric-names';
import { uuidv7 } from '@rollcall/shared/uuid';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mintToken } from '../platform/access/token.ts';
import type { Database } from '../platform/db/db.ts';
import { unavailable } from '../platform/db/db.ts';
import { openMetrics } from '../platform/ops/metrics.ts';
import { closeDatabases, databases } from '../testing/database.ts';
import { type RestServer, startRest } from '../testing/rest.ts';
import { serviceHandlers } from './service.ts';

afterAll(closeDatabases);

const { 'summary.get': _summary, 'stream.open': _stream, ...table } = serviceOperations;

describe.each(databases())('the service on %s', (_name, open) => {
  let db: Database;
  let server: RestServer;
  let accepting = true;
  let away = false;

  beforeAll(async () => {
    db = await open();
    const metrics = openMetrics();
    const guarded: Database = {
      ...db,
      query: async (text, params) => {
        if (away) throw unavailable(new Error('gone'));
        return db.query(text, params);
      },
    };
    server = await startRest(db, table, (_auth, clock) =>
      serviceHandlers({
        db: guarded,
        clock,
        metrics,
        refresh: async () => undefined,
        accepting: () => accepting,
      }),
    );
  });
  afterAll(() => server.close());

  it('describes every operation of the table, to anybody', async () => {
    const { status, json } = await server.ask('GET', '/api/openapi.json');
    expect(status).toBe(200);
    expect(json.openapi).toBe('3.1.0');
    const described = Object.values(json.paths as Record<string, object>).flatMap((path) =>
      Object.values(path),
    );
    expect(described.map((o: { operationId: string }) => o.operationId).sort()).toEqual(
      Object.keys(operations).sort(),
    );
  });

  it('serves the documentation page from disk, with nothing inline and nothing from elsewhere', async () => {
    const page = await server.ask('GET', '/api/docs');
    expect(page.headers['content-type']).toContain('text/html');
    expect(page.text).not.toMatch(/https?:|<script>|<style|style=|\son\w+=/);
    const files = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path]) => path);
    expect(files).toHaveLength(4);
    for (const file of files) {
      const { status, headers, text } = await server.ask('GET', `/api/${file}`);
      expect([file, status]).toEqual([file, 200]);
      expect(headers['x-content-type-options']).toBe('nosniff');
      expect(text.length).toBeGreaterThan(100);
    }
    for (const path of ['/api/docs/package.json', '/api/docs/..%2fpackage.json', '/api/docs/'])
      expect((await server.ask('GET', path)).status).toBe(404);
  });

  it('is live without the database, and ready only with it and while it accepts work', async () => {
    expect((await server.ask('GET', '/api/health/ready')).json.data).toEqual({ status: 'ready' });
    away = true;
    const { status, headers, json } = await server.ask('GET', '/api/health/ready');
    // The embedded one is as near as we are; it may be too busy to answer in time.
    if (db.kind === 'pglite') expect(status).toBe(200);
    else expect([status, headers['retry-after'], json.error.code]).toEqual([503, '5', 'unavailable']);
    expect((await server.ask('GET', '/api/health/live')).status).toBe(200);
    away = false;
    accepting = false;
    expect((await server.ask('GET', '/api/health/ready')).status).toBe(503);
    accepting = true;
  });

  it('gives its figures to an account that sees every site', async () => {
    const user = async (allSites: boolean) => {
      const { plaintext, hash, hint } = mintToken();
      const id = uuidv7();
      await db.query(
        `INSERT INTO users (id, name, password_hash, role, all_sites) VALUES ($1, $2, '', 'viewer', $3)`,
        [id, `u${allSites}`, allSites],
      );
      await db.query(`INSERT INTO api_tokens (id, user_id, name, hash, hint) VALUES ($1, $2, 't', $3, $4)`, [
        uuidv7(),
        id,
        hash,
        hint,
      ]);
      return { token: plaintext };
    };
    const figures = await server.ask('GET', '/metrics', await user(true));
    expect(brokenConventions(figures.text)).toEqual([]);
    expect(figures.status).toBe(200);
    expect(figures.headers['content-type']).toContain('text/plain');
    expect(figures.text).toContain('rollcall_http_request_seconds');
    expect((await server.ask('GET', '/metrics', await user(false))).status).toBe(403);
    expect((await server.ask('GET', '/metrics')).status).toBe(401);
  });
});
