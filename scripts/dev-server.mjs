// The server of `npm run dev`: settings from the environment as always, the lab's socket in LAB_CONTROL; tells its parent
// when it is ready, and the account that its first start made.
import { once } from 'node:events';

const { startServer } = await import('@rollcall/server/app');
const { readConfig } = await import('@rollcall/server/platform/ops/config');

const ended = Promise.race([once(process, 'SIGTERM'), once(process, 'SIGINT')]);
try {
  const server = await startServer(readConfig(process.env), { lab: process.env.LAB_CONTROL });
  process.send?.({ firstAdmin: server.firstAdmin });
  await ended;
  await server.stop();
  process.exit();
} catch (error) {
  process.stderr.write(`rollcall: ${error.name === 'StartError' ? error.message : error.stack}\n`);
  process.exit(1);
}
