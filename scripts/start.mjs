// npm start: installs what is missing, builds, and runs the demonstration: a server on an embedded database, a simulated
// site of real SNMP agents on 127.x addresses, a collector, a first scan. Ctrl-C ends all of it, and so does the end of
// whatever started it.
//
//   PORT=8080             where the server listens, on 127.0.0.1
//   ROLLCALL_DATA=./data  where everything is kept; the next start goes on with it
import './usage.mjs';
import './ends-with-parent.mjs';
import { end, runUntilSignal, startChild } from './children.mjs';

await runUntilSignal(async () => {
  const code = await startChild(['scripts/build.mjs', '--product']).exited;
  if (code !== 0) return end(1);
  const { demonstrate } = await import('./demo.mjs');
  await demonstrate();
});
