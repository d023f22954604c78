// npm run test:attacks -- [--minutes M] [--seed N] [--only NAME,…] [--json]: attacks a running installation.
//
// A server on PostgreSQL and collectors as processes, two sites. One site has in turn a malicious page in the browser of an
// administrator, a malicious collector, a malicious server (of a collector of its own), malicious people, malicious SNMP agents
// and anonymous clients (browser, collector, server, neighbour, agent, anonymous), each from the seed, 30 minutes in all. Meanwhile a collector and a user of the other site
// work on. Exit code 1 when anything of one site reached the other, a process ended, an answer was a 5xx, or the 95th
// percentile of the honest ones' waits was above three times that of the time without an attack. Loopback only.
import './usage.mjs';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { root } from './bootstrap.mjs';
import { build } from './build.mjs';

build({ projects: ['packages/server', 'packages/collector', 'packages/lab', 'test/chaos'], web: false });
const words = ['--import', join(root, 'scripts/from-sources.mjs'), join(root, 'test/attacks/main.ts')];
const child = spawn(process.execPath, [...words, ...process.argv.slice(2)], { stdio: 'inherit' });
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
child.on('exit', (code, signal) => process.exit(code ?? (signal ? 1 : 0)));
