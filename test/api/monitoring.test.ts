/** What the dashboard and the alert rules ask for exists, with the labels they use. */
import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { serveMetrics } from '@rollcall/collector/metrics';
import { closeDatabases } from '@rollcall/server/testing/database';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { type ApiServer, startApi } from './server.ts';
import { makeWorld, person } from './world.ts';

afterAll(closeDatabases);

const file = (name: string) =>
  readFileSync(fileURLToPath(new URL(`../../deploy/monitoring/${name}`, import.meta.url)), 'utf8');
const dashboard = JSON.parse(file('grafana-dashboard.json')) as {
  panels: { title: string; targets: { expr: string; legendFormat: string }[] }[];
};
const { groups } = parse(file('alerts.yaml')) as {
  groups: { rules: { alert: string; expr: string; annotations: Record<string, string> }[] }[];
};
const rules = groups.flatMap((group) => group.rules);
const asked = [
  ...dashboard.panels.flatMap(({ title, targets }) =>
    targets.map(({ expr, legendFormat }) => ({ where: title, expr, says: legendFormat })),
  ),
  ...rules.map(({ alert, expr, annotations }) => ({
    where: alert,
    expr,
    says: Object.values(annotations).join(' '),
  })),
];
const freePort = async (): Promise<number> => {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve));
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return port;
};
const NAME = /\b(?:rollcall|nodejs|process)_[a-z0-9_]+/g;

describe('monitoring', () => {
  let server: ApiServer;
  /** Figure → its labels, of server and collector together. */
  const known = new Map<string, Set<string>>();

  const note = (text: string): void => {
    for (const line of text.split('\n').filter((each) => each !== '' && !each.startsWith('#'))) {
      const [, name = '', labels = ''] = /^([a-z0-9_]+)(?:\{(.*)\})? \S+$/.exec(line) ?? [];
      const set = known.get(name) ?? new Set();
      known.set(name, set);
      for (const [, label = ''] of labels.matchAll(/(\w+)="/g)) set.add(label);
    }
  };

  beforeAll(async () => {
    server = await startApi('pglite');
    const world = await makeWorld(server.db, server.keyring);
    await server.db.query(
      `UPDATE collectors SET health = '{"outbox":{"depth":3,"bytes":9,"oldest":1000},"drops":{"age":2}}'`,
    );
    const { token } = person(world, 'viewer', 'all');
    const scrape = async () =>
      (await fetch(`${server.url}/metrics`, { headers: { authorization: `Bearer ${token}` } })).text();
    await scrape();
    note(await scrape());
    const collector = await serveMetrics({ host: '127.0.0.1', port: await freePort() }, () => ({
      linked: true,
      outbox: { depth: 1, bytes: 100, oldest: 5, drops: { age: 0, size: 0, disk: 0 } as never, paused: null },
      drops: { age: 1 },
      unhealthyReason: null,
      jobs: 1,
      watch: { targets: 3, up: 1, down: 1, refused: 1, lagMs: 5 },
      traps: 7,
      now: 1_005,
    }));
    const answer = await fetch(collector?.url ?? '');
    note(await answer.text());
    expect((await fetch(`${collector?.url}x`)).status).toBe(404);
    await collector?.close();
  }, 120_000);
  afterAll(() => server.stop());

  it.each(asked)('$where: every figure and label is there', ({ expr, says }) => {
    const names = [...expr.matchAll(NAME)].map(([name]) => name);
    expect(names.length + Number(/\bup\{/.test(expr))).toBeGreaterThan(0);
    for (const name of names) expect([...known.keys()]).toContain(name);
    // Labels that Prometheus adds by itself, and those a function makes.
    const free = ['job', 'instance', 'le'];
    const labels = [...says.matchAll(/\{\{\s*(?:\$labels\.)?(\w+)\s*\}\}/g)].map(([, label = '']) => label);
    const grouped = [...expr.matchAll(/by \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(/,\s*/));
    const matched = [...expr.matchAll(/[{,]\s*(\w+)=/g)].map(([, label = '']) => label);
    const has = new Set(names.flatMap((name) => [...(known.get(name) ?? [])]));
    for (const label of [...labels, ...grouped, ...matched].filter((each) => !free.includes(each)))
      expect([...has]).toContain(label);
  });

  it('tells of every collector what it said last', () => {
    expect(known.get('rollcall_collector_outbox_oldest_seconds')).toEqual(new Set(['site', 'collector']));
    expect(known.get('rollcall_devices')).toEqual(new Set(['status']));
    expect(known.has('rollcall_outbox_oldest_seconds')).toBe(true);
  });

  it('says of every alert what to do', () => {
    for (const { alert, annotations } of rules) {
      expect([alert, (annotations.summary ?? '').length > 10]).toEqual([alert, true]);
      expect([alert, (annotations.description ?? '').length > 20]).toEqual([alert, true]);
    }
  });
});
