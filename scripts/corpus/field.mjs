// The field: one process beside the server's that holds the agents and the collectors of all sites.
import { fork } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Starts it. `open({ site, placed, url, token })` serves the recordings at their addresses and runs a collector that
 * joined with the token; `close(site)` ends both.
 */
export async function openField(folder) {
  const port = await freePort();
  const child = fork(fileURLToPath(new URL('field-process.mjs', import.meta.url)), {
    stdio: ['ignore', 2, 2, 'ipc'],
    // Ctrl-C reaches the whole terminal group; this one is stopped by us, in order.
    detached: true,
  });
  const waiting = new Map();
  let asked = 0;
  let ended = null;
  child.on('message', ({ id, error }) => {
    const { resolve, reject } = waiting.get(id);
    waiting.delete(id);
    if (error) reject(new Error(error));
    else resolve();
  });
  const exit = once(child, 'exit').then(([code, signal]) => {
    ended = `the process of agents and collectors ended (${code ?? signal})`;
    for (const { reject } of waiting.values()) reject(new Error(ended));
  });
  const ask = (order) =>
    new Promise((resolve, reject) => {
      if (ended) return reject(new Error(ended));
      asked += 1;
      waiting.set(asked, { resolve, reject });
      child.send({ id: asked, ...order });
    });
  return {
    port,
    open: (site) => ask({ do: 'open', port, state: join(folder, site.site), ...site }),
    close: (site) => ask({ do: 'close', site }),
    stop: async () => {
      if (!ended) child.disconnect();
      await exit;
    },
  };
}

/** A UDP port that is free now, for agents on many addresses. */
async function freePort() {
  const socket = createSocket('udp4').bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const { port } = socket.address();
  socket.close();
  return port;
}
