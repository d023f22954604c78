// npm run dev [-- --inspect]: the demonstration from sources, behind one address. An edit restarts the programs that it
// concerns, the ingest thread with its server; the web application takes edits without a reload of the page.
//
//   PORT=8080             where it answers, on 127.0.0.1
//   ROLLCALL_DATA=./data  where everything is kept, as with npm start
//   DATABASE_URL=…        a PostgreSQL instead of the embedded database; only with it ingest has a thread of its own
//   --inspect             debuggers can attach: to the server at port 9229, to the collector at 9230
import './usage.mjs';
import './ends-with-parent.mjs';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { parseArgs } from 'node:util';
import { end, Refusal, runUntilSignal, startChild } from './children.mjs';
import { allUp, startReloading, watchSources } from './reloading.mjs';

const FROM_SOURCES = ['--import', new URL('./from-sources.mjs', import.meta.url).href];
/** Its configuration is loaded by Node itself, so that it reads the sources of the shared package. */
const VITE = ['packages/web/node_modules/vite/bin/vite.js', 'packages/web', '--configLoader', 'native'];
const WEB_MS = 60_000;

const { inspect } = parseArgs({ options: { inspect: { type: 'boolean', default: false } } }).values;
const inspector = (port) => (inspect ? [`--inspect=127.0.0.1:${port}`] : []);

await runUntilSignal(async () => {
  if ((await startChild(['scripts/bootstrap.mjs']).exited) !== 0) return end(1);
  await import('./from-sources.mjs');
  const { demonstrate } = await import('./demo.mjs');
  watchSources();
  await demonstrate({
    start: startReloading,
    lab: [...FROM_SOURCES, 'packages/lab/src/main.ts'],
    collector: [...FROM_SOURCES, 'packages/collector/src/main.ts'],
    site: [...inspector(9230), ...FROM_SOURCES, 'scripts/demo-collector.mjs'],
    serve,
  });
  allUp();
});

/** The web application's development server in front, which hands on to the server what is asked of the API. */
async function serve({ PORT, ...env }, lab) {
  const port = Number(PORT) || (await freePort());
  const inner = String(await freePort());
  const server = startReloading('server', [...inspector(9229), ...FROM_SOURCES, 'scripts/dev-server.mjs'], {
    channel: true,
    env: { ...env, PORT: inner, LAB_CONTROL: lab },
  });
  const ready = once(server, 'message');
  const address = ['--host', '127.0.0.1', '--port', String(port), '--strictPort'];
  startReloading('web', [...FROM_SOURCES, ...VITE, ...address], {
    env: { ROLLCALL_SERVER: `http://127.0.0.1:${inner}` },
  });
  const url = `http://127.0.0.1:${port}`;
  const [{ firstAdmin }] = await ready;
  await answers(url);
  return { url, firstAdmin };
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

async function answers(url) {
  const deadline = Date.now() + WEB_MS;
  while (Date.now() < deadline) {
    if (
      await fetch(url).then(
        (response) => response.ok,
        () => false,
      )
    )
      return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Refusal(`${url} does not answer within ${WEB_MS / 1000} s`);
}
