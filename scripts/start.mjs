// npm start: installs what is missing, builds, and runs the demonstration: a server on an embedded database, a simulated
// site of real SNMP agents on 127.x addresses, a collector, a first scan. Ctrl-C ends all of it.
//
//   PORT=8080             where the server listens, on 127.0.0.1
//   ROLLCALL_DATA=./data  where everything is kept; the next start goes on with it
import './usage.mjs';
import { build } from './build.mjs';

build({ all: false });
const { demonstrate } = await import('./demo.mjs');
await demonstrate();
