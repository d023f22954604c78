import './memory.ts';
import { once } from 'node:events';
import { run } from './program.ts';

/** A stop that hangs is ended by force: what was acknowledged is stored, and the rest is sent again. */
const STOP_MS = 10_000;

const ended = Promise.race([once(process, 'SIGTERM'), once(process, 'SIGINT')]).then(() => {
  setTimeout(() => process.exit(1), STOP_MS).unref();
});

process.exitCode = await run(process.argv.slice(2), {
  env: process.env,
  stdin: process.stdin,
  stdout: (text) => process.stdout.write(text),
  output: process.stdout,
  stderr: (text) => process.stderr.write(text),
  ended,
  onReload: (reload) => {
    process.on('SIGHUP', reload);
    return () => process.off('SIGHUP', reload);
  },
});
// Idle connections of libraries would keep the process for a while; everything of ours is closed by now.
process.exit();
