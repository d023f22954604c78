// fleet.mjs [--collectors 2000] [--processes 4] [--sites 200] [--beat 10] [--seconds 20] [--database URL] [--check] [--json]
//
// Thousands of idle collectors on one server: simulated ones that speak the protocol, some hundred to a process. How long
// until all are connected when they come at once, how long a heartbeat takes to be answered, and what each costs the
// server in memory. --beat: seconds between the heartbeats of one. --check ends with status 1 when a bound is missed.
import '../scripts/usage.mjs';
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { enrolled } from '@rollcall/server/testing/scripted-collector';
import { uuidv7 } from '@rollcall/shared/uuid';
import { freshDatabase, percentile, postgresOf, startProgram } from './installation.mjs';

const { values: options } = parseArgs({
  options: {
    collectors: { type: 'string', default: '2000' },
    processes: { type: 'string', default: '4' },
    sites: { type: 'string', default: '200' },
    beat: { type: 'string', default: '10' },
    seconds: { type: 'string', default: '20' },
    database: { type: 'string' },
    check: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
});
const [collectors, processes, sites, beat, seconds] = [
  'collectors',
  'processes',
  'sites',
  'beat',
  'seconds',
].map((name) => Number(options[name]));

const database = await freshDatabase(postgresOf(options.database), 'rollcall_bench_fleet');
const disks = await enrol(database.db);
const server = await startProgram(database.url, { ROLLCALL_CONNECTIONS: String(collectors + 100) });
try {
  // What the server needs by itself, once it has settled.
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  const alone = server.memory().now;
  const children = Array.from({ length: processes }, () =>
    fork(fileURLToPath(new URL('./fleet-collectors.mjs', import.meta.url))),
  );
  const tell = (child, message) =>
    new Promise((resolve, reject) => {
      child.once('message', resolve);
      child.once('exit', (code) => reject(new Error(`collectors: exit ${code}`)));
      child.send(message);
    });
  const url = server.url.replace('http', 'ws');
  const cpuBefore = server.cpuSeconds();
  const joined = await Promise.all(
    children.map((child, i) =>
      tell(child, {
        url,
        beatMs: beat * 1000,
        localAddress: `127.0.1.${i + 1}`,
        disks: disks.filter((_, n) => n % processes === i),
      }),
    ),
  );
  const connectCpu = server.cpuSeconds() - cpuBefore;
  const connectSeconds = Math.max(...joined.map((each) => each.seconds));
  const idleCpu = server.cpuSeconds();
  const measured = await Promise.all(children.map((child) => tell(child, { measure: seconds })));
  const cpu = (server.cpuSeconds() - idleCpu) / seconds;
  const answers = measured.flatMap((each) => each.answers);
  const kilobytes = (server.memory().now - alone) / 1024 / collectors;
  for (const child of children) {
    child.removeAllListeners('exit');
    child.kill();
  }
  report({ collectors, connectSeconds, connectCpu, answers, cpu, kilobytes });
} finally {
  await server.stop();
  await database.drop();
}

async function enrol(db) {
  const all = [];
  for (let site = 0; site < sites; site++) {
    const siteId = uuidv7();
    await db.query(`INSERT INTO sites (id, name, networks, exclude) VALUES ($1, $2, '{}', '{}')`, [
      siteId,
      `site ${site}`,
    ]);
    for (let n = site; n < collectors; n += sites) {
      const disk = await enrolled(db, siteId, `collector ${n}`);
      all.push({
        ...disk,
        key: undefined,
        secret: disk.key.secret.export({ format: 'pem', type: 'pkcs8' }),
        raw: disk.key.raw.toString('hex'),
      });
    }
  }
  return all;
}

function report({ collectors, connectSeconds, connectCpu, answers, cpu, kilobytes }) {
  const p99 = percentile(answers, 99);
  const bounds = [
    [`all ${collectors} connected, seconds`, connectSeconds, 60],
    ['heartbeats answered, p99, ms', p99, 250],
    ['memory of the server for each, KB', kilobytes, 40],
  ];
  if (options.json)
    console.log(JSON.stringify({ collectors, connectSeconds, connectCpu, p99, cpu, kilobytes }));
  else {
    console.log(
      `${collectors} collectors of ${sites} sites; ${answers.length} heartbeats, p50 ${percentile(answers, 50).toFixed(1)} ms; processor of the server: ${((connectCpu / collectors) * 1000).toFixed(1)} ms to connect one, ${(cpu * 100).toFixed(0)} % of a core when all are idle`,
    );
    for (const [name, value, bound] of bounds)
      console.log(`${value <= bound ? 'met   ' : 'MISSED'}  ${name}: ${value.toFixed(1)} (≤ ${bound})`);
  }
  process.exitCode = options.check && bounds.some(([, value, bound]) => !(value <= bound)) ? 1 : 0;
}
