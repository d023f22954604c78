// Breaks a running system on purpose and proves that nothing of what was observed was lost, doubled or altered.
//
//   npm run chaos -- [--seed N] [--minutes M] [--most M] [--database pglite|postgresql|both] [--sources N] [--rate N]
//                    [--burst N] [--least N] [--observations N] [--faults N] [--only KIND,…] [--servers N]
//   npm run chaos:long         1,000 faults and a million observations on each database, half an hour or so each
//
// Real processes; PostgreSQL in a cluster of its own; loopback only. The schedule follows from the seed. Runs for M
// minutes on each database, and on, to --most minutes (2 M), until every kind of fault met every phase --least times and
// so much was observed and done. What befalls the server meets a source in every phase at once. Exit code 1 when anything
// was lost, doubled, altered or misattributed, a process did not come back, or a kind of fault never met a phase.
// With --servers 3 there are so many on one PostgreSQL behind nginx, one of them is killed every 20 s, and its collectors
// must be with another within 10 s.
//
//   npm run chaos:kills -- [--points N] [--stages N] [--database pglite|postgresql|both]
//
// Kills a collector at N system calls that write, sync or rename, one after the other, and the server N times at every
// stage of ingest. Needs strace. Exit code 1 when anything was lost or doubled, or a start failed.
//
//   npm run chaos:failover -- [--rounds N] [--seed N] [--patroni]
//
// Kills the primary of a PostgreSQL with a synchronous standby under load and promotes the standby, N times. Exit code 1 when
// anything acknowledged was lost or doubled, or the server did not store again within 15 s. With --patroni (root; Debian's patroni
// and etcd-server) Patroni promotes it, and the server has 40 s, half of which Patroni waits before it takes a host for dead.
//
//   npm run chaos:rolling -- --before FOLDER [--back] [--sources N]
//
// Replaces two servers of an earlier version (a checkout that was compiled) by this one, one after the other, under the load of
// N collectors (3) and behind nginx; with --back also the other way, where the migrations since only add. Exit code 1 when a request failed, or anything was lost or doubled.
import './usage.mjs';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { root } from './bootstrap.mjs';
import { build } from './build.mjs';

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  build();
  const named = ['kills', 'failover', 'rolling'].find((name) => name === process.argv[2]);
  const program = join(root, `test/chaos/dist/${named ?? 'main'}.js`);
  const child = spawn(process.execPath, [program, ...process.argv.slice(named ? 3 : 2)], {
    stdio: 'inherit',
  });
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
  child.on('exit', (code, signal) => process.exit(code ?? (signal ? 1 : 0)));
}
