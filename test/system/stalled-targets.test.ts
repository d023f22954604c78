/** A webhook and a mail server that take connections and never say a word hold up no observation and no case. */
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { addDevices } from '@rollcall/server/testing/rows';
import { enrolled, shakeHands, talkOver } from '@rollcall/server/testing/scripted-collector';
import { afterEach, describe, expect, it } from 'vitest';
import { Installation, oneDatabase, until } from './harness.ts';

const WEBHOOKS = 10;
const DEVICES = 41;
/** That many go down in one message. */
const TOGETHER = 10;
/** A target is given ten seconds and more: whoever waited for one would take at least that. */
const AT_ONCE_MS = 9_500;

describe.each(oneDatabase)('targets that never answer, on %s', (_name, url) => {
  let world: Installation;
  const open = new Map<Server, Set<Socket>>();
  afterEach(async () => {
    for (const sockets of open.values()) for (const socket of sockets) socket.destroy();
    for (const server of open.keys()) server.close();
    await world?.stop();
  });

  /** Takes connections, reads, says nothing. */
  async function silent(): Promise<{ port: number; held: () => number }> {
    const sockets = new Set<Socket>();
    const server = createServer((socket) => {
      sockets.add(socket.resume());
      socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    });
    open.set(server, sockets);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return { port: (server.address() as AddressInfo).port, held: () => sockets.size };
  }

  it('delay no acknowledgement, no event and no case', async () => {
    world = await Installation.start({ databaseUrl: await url() });
    const { db } = world.server;
    const { data: site } = await world.api<{ id: string }>('POST', '/api/sites', {
      name: 'plant',
      settings: { holdSeconds: { 'device.down': 0 } },
    });
    // One stays up: without it this would be the power of the site, one case.
    const devices = await addDevices(
      db,
      Array.from({ length: DEVICES + 1 }, (_, i) => ({
        site_id: site.id,
        name: `d${i}`,
        monitor: true,
        status: 'up',
      })),
    );
    const [hook, mail] = [await silent(), await silent()];
    for (let i = 0; i < WEBHOOKS; i++)
      await world.api('POST', '/api/subscriptions', {
        kind: 'webhook',
        name: `hook ${i}`,
        url: `http://127.0.0.1:${hook.port}/`,
        allowPrivate: true,
      });
    await world.api('PUT', '/api/mail', {
      host: '127.0.0.1',
      port: mail.port,
      security: 'none',
      from: 'rollcall@example.net',
    });
    await world.api('POST', '/api/subscriptions', {
      kind: 'email',
      name: 'noc',
      addresses: ['noc@example.net'],
    });

    const disk = await enrolled(db, site.id);
    const { talk, host } = talkOver(world.server.url.replace('http', 'ws'));
    await shakeHands(talk, disk, host);
    const send = async (from: number, count: number) => {
      const down = (deviceId?: string) => ({ kind: 'watch', at: Date.now(), deviceId, icmp: 'down' });
      const items = devices.slice(from, from + count).map(down);
      const began = performance.now();
      talk.say({ type: 'observations', epoch: disk.epoch, stream: 'event', from, items });
      while ((await talk.next('ack')).through < from + count - 1);
      return performance.now() - began;
    };
    // The first case stalls all of them; the others come while they are waited for.
    await send(0, 1);
    await until(60_000, 'all are waited for', async () => hook.held() === WEBHOOKS && mail.held() === 1);
    const took: number[] = [];
    for (let from = 1; from < DEVICES; from += TOGETHER) took.push(await send(from, TOGETHER));
    expect(Math.max(...took)).toBeLessThan(AT_ONCE_MS);
    await until(60_000, 'every device has its case', async () => {
      const { totalCount } = await world.api('GET', '/api/cases?pageSize=1');
      return totalCount === DEVICES;
    });
    // Given twenty seconds, and still waited for.
    expect(mail.held()).toBe(1);
    talk.hangUp();
  });
});
