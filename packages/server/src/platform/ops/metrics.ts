import { collectDefaultMetrics, Histogram, Registry } from 'prom-client';

export interface Metrics {
  /** Features add their own figures here; names begin with `rollcall_`. */
  registry: Registry;
  /** Notes a finished request; fits `RestOptions.observe`. */
  request(operationId: string, status: number, seconds: number): void;
}

/** The figures of one server process, for Prometheus. */
export function openMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  // Gauges of the library that are called totals; the figures by type beside them say the same.
  for (const what of ['handles', 'requests', 'resources'])
    registry.removeSingleMetric(`nodejs_active_${what}_total`);
  const requests = new Histogram({
    name: 'rollcall_http_request_seconds',
    help: 'Time from the request to the end of its answer, by operation of the API.',
    labelNames: ['operation', 'status'] as const,
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
    registers: [registry],
  });
  return {
    registry,
    request: (operation, status, seconds) => requests.observe({ operation, status }, seconds),
  };
}
