/** Figures of this collector for Prometheus, and whether it works, over HTTP on an address of the administrator's choice. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import type { OutboxStatus } from './outbox/outbox.ts';
import { Refusal, systemReason } from './platform/refusal.ts';
import { VERSION } from './platform/version.ts';

/** What is asked at every scrape. */
export interface Figures {
  linked: boolean;
  outbox: OutboxStatus;
  /** Everything that was dropped on purpose, by reason. */
  drops: Record<string, number>;
  jobs: number;
  watch: { targets: number; up: number; down: number; refused: number; lagMs: number };
  traps: number;
  now: number;
  /** Why a restart would do it good; null: it works. */
  unhealthyReason: string | null;
}

export interface MetricsSettings {
  host: string;
  /** 0: none are served. */
  port: number;
}

const CONNECTIONS = 16;
/** A request for the figures must be complete within this time. */
const REQUEST_MS = 5_000;

/** Serves `/metrics` and `/health` (200, or 503 with the reason); null where the settings want none. Throws a Refusal when the address cannot be had. */
export async function serveMetrics(
  { host, port }: MetricsSettings,
  figures: () => Figures,
): Promise<{ url: string; close(): Promise<void> } | null> {
  if (port === 0) return null;
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  // Gauges of the library that are called totals; the figures by type beside them say the same.
  for (const what of ['handles', 'requests', 'resources'])
    registry.removeSingleMetric(`nodejs_active_${what}_total`);
  const update = gauges(registry);
  const server = createServer(
    { headersTimeout: REQUEST_MS, requestTimeout: REQUEST_MS },
    (request, response) => {
      const asked = request.method === 'GET' ? request.url : undefined;
      if (asked === '/health') {
        const { unhealthyReason } = figures();
        response.writeHead(unhealthyReason === null ? 200 : 503).end(`${unhealthyReason ?? 'it works'}\n`);
        return;
      }
      if (asked !== '/metrics') {
        response.writeHead(404, { Connection: 'close' }).end('there are /metrics and /health\n');
        return;
      }
      update(figures());
      registry.metrics().then(
        (text) => response.writeHead(200, { 'Content-Type': registry.contentType }).end(text),
        () => response.writeHead(500).end(),
      );
    },
  );
  server.maxConnections = CONNECTIONS;
  await listening(server, host, port);
  const at = server.address() as AddressInfo;
  return {
    url: `http://${at.family === 'IPv6' ? `[${at.address}]` : at.address}:${at.port}/metrics`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function gauges(registry: Registry): (figures: Figures) => void {
  const gauge = <Label extends string = never>(name: string, help: string, labelNames: Label[] = []) =>
    new Gauge({ name: `rollcall_${name}`, help, labelNames, registers: [registry] });
  gauge('info', 'Always 1; the version is a label.', ['version', 'part']).set(
    { version: VERSION, part: 'collector' },
    1,
  );
  const linked = gauge('link_ready', '1 while the server takes what is sent, else 0.');
  const depth = gauge('outbox_observations', 'Observations that wait for the server.');
  const bytes = gauge('outbox_bytes', 'Bytes of the outbox on disk.');
  const oldest = gauge('outbox_oldest_seconds', 'Age of the oldest observation that waits.');
  const paused = gauge('outbox_paused', '1 while nothing can be written to the outbox, else 0.');
  const dropped = gauge('dropped', 'Observations and traps dropped on purpose since the start, by reason.', [
    'reason',
  ]);
  const jobs = gauge('jobs_running', 'Jobs under way.');
  const targets = gauge('watch_targets', 'Devices of the watch, by state.', ['state']);
  const lag = gauge('watch_lag_seconds', 'How long the most overdue ping or reading has waited.');
  const traps = gauge('traps_received', 'Traps and informs received since the start.');
  return (figures) => {
    const { outbox, watch } = figures;
    linked.set(figures.linked ? 1 : 0);
    depth.set(outbox.depth);
    bytes.set(outbox.bytes);
    oldest.set(outbox.oldest === null ? 0 : Math.max(0, figures.now - outbox.oldest) / 1000);
    paused.set(outbox.paused === null ? 0 : 1);
    for (const [reason, count] of Object.entries(figures.drops)) dropped.set({ reason }, count);
    jobs.set(figures.jobs);
    for (const state of ['up', 'down', 'refused'] as const) targets.set({ state }, watch[state]);
    lag.set(watch.lagMs / 1000);
    traps.set(figures.traps);
  };
}

function listening(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) =>
      reject(
        new Refusal(
          `cannot serve metrics on ${host} port ${port}: ${systemReason(error)}; set metrics.port to another, or to 0`,
        ),
      ),
    );
    server.listen(port, host, resolve);
  });
}
