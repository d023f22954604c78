import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { brokenConventions } from '@rollcall/shared/testing/metric-names';
import { expect, it } from 'vitest';
import { serveMetrics } from './metrics.ts';

it('the figures of a collector keep the conventions of Prometheus, and beside them stands whether it works', async () => {
  const well = { unhealthyReason: null as string | null };
  const served = await serveMetrics({ host: '127.0.0.1', port: await freePort() }, () => ({
    ...well,
    linked: true,
    outbox: { depth: 1, bytes: 2, oldest: null, paused: null } as never,
    drops: { 'too-many': 1 },
    jobs: 0,
    watch: { targets: 1, up: 1, down: 0, refused: 0, lagMs: 5 },
    traps: 3,
    now: 0,
  }));
  try {
    const page = await (await fetch(served?.url ?? '')).text();
    expect(page).toContain('rollcall_traps_received 3');
    expect(brokenConventions(page)).toEqual([]);
    const health = async () => {
      const answer = await fetch(new URL('/health', served?.url));
      return [answer.status, (await answer.text()).trim()];
    };
    expect(await health()).toEqual([200, 'it works']);
    well.unhealthyReason = 'the link is stuck';
    expect(await health()).toEqual([503, 'the link is stuck']);
  } finally {
    await served?.close();
  }
});

/** One that nobody listens on: 0 means that no figures are served. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
