// The web application over the pretended network of ./fixture, for looking at it: node test/web/serve.mjs [port].
// DEVICES=100000 makes it large. Build the application first (npx vite build in packages/web).
import { createRequire } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));
const require = createRequire(new URL('../../packages/web/package.json', import.meta.url));
const { createServer } = await import(pathToFileURL(require.resolve('vite')).href);
const vite = await createServer({
  configFile: false,
  root,
  appType: 'custom',
  logLevel: 'error',
  server: { middlewareMode: true, hmr: false, watch: null, ws: false },
  ssr: { resolve: { conditions: ['source'] } },
  resolve: { conditions: ['source'] },
});
const { startFixture } = await vite.ssrLoadModule('/test/web/fixture/server.ts');
const fixture = await startFixture({
  port: Number(process.argv[2] ?? 8090),
  devices: Number(process.env.DEVICES ?? 640),
  hostile: process.env.HOSTILE,
  scansRun: true,
});
process.stdout.write(`${fixture.url} (sign in as ada with "correct horse battery staple")\n`);
