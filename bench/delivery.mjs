// npm run bench:delivery -- [--seed 1] [--amount 20000] [--rate 400] [--faults 24] [--only rollcall|rsyslog|jetstream]
//
// The same observations and the same faults through Rollcall, rsyslog's disk-assisted queue and NATS JetStream: what was
// lost, doubled, altered on the way from a site to the one place where all has to arrive. Each has a process at the site,
// one at the far end, and the fault proxy between. "kept" is what the source was told is safe; only that can be lost.
// Needs the Debian packages rsyslog and nats-server, and root for PostgreSQL. Ends with 1 when Rollcall lost or doubled.
import '../scripts/usage.mjs';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Random } from '../test/chaos/dist/random.js';
import { World } from '../test/chaos/dist/world.js';
import { JetStream, natsVersion, Rsyslog, rsyslogVersion } from './delivery-rivals.mjs';

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    amount: { type: 'string', default: '20000' },
    rate: { type: 'string', default: '400' },
    faults: { type: 'string', default: '24' },
    only: { type: 'string' },
    help: { type: 'boolean' },
  },
});
if (values.help) {
  console.log(
    'bench:delivery [--seed 1] [--amount 20000] [--rate 400] [--faults 24] [--only rollcall|rsyslog|jetstream]',
  );
  process.exit(0);
}
const [amount, rate] = [Number(values.amount), Number(values.rate)];
const SETTLE_MS = 180_000;
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

const KINDS = {
  reset: ({ proxy }) => proxy.strike('reset'),
  outage: ({ proxy }, ms) => without(proxy, { newcomers: 'refuse' }, () => sleep(ms)),
  'two outages': async ({ proxy }, ms) => {
    for (let i = 0; i < 2; i++) {
      await without(proxy, { newcomers: 'refuse' }, () => sleep(ms));
      await sleep(300);
    }
  },
  silence: ({ proxy }, ms) =>
    without(proxy, { stalled: ['up', 'down'] }, async () => {
      await sleep(ms);
      proxy.strike('reset');
    }),
  'near killed': ({ near }, ms) => killed(near, ms),
  'far killed': ({ far }, ms) => killed(far, ms),
  'near killed in an outage': ({ proxy, near }, ms) =>
    without(proxy, { newcomers: 'refuse' }, async () => {
      await sleep(ms);
      await killed(near, 200);
    }),
  'near stopped': async ({ near }, ms) => {
    await near.stop();
    await sleep(ms / 4);
    await near.start();
  },
  'near frozen': ({ near }, ms) => frozen(near, ms),
  'far frozen': ({ far }, ms) => frozen(far, ms),
};

async function without(proxy, weather, work) {
  await proxy.change(weather);
  try {
    await work();
  } finally {
    await proxy.calm();
  }
}
async function killed(part, ms) {
  await part.kill();
  await sleep(ms);
  await part.start();
}
async function frozen(part, ms) {
  part.signal('SIGSTOP');
  await sleep(ms);
  part.signal('SIGCONT');
}

/** The same for everybody: it follows from the seed alone. */
function schedule() {
  const random = new Random(`delivery ${values.seed}`);
  const names = random.shuffled(Object.keys(KINDS));
  return Array.from({ length: Number(values.faults) }, (_, i) => ({
    kind: i < names.length ? names[i] : random.pick(names),
    ms: random.whole(300, 3000),
    pause: random.whole(200, 1500),
  }));
}

/** Rollcall in the form that the rivals have: near is the collector with its outbox, far the server on PostgreSQL. */
class Rollcall {
  name = 'Rollcall';
  static async create() {
    const self = new Rollcall();
    self.world = await World.create({ database: 'postgresql', sources: 1, rate: 0 });
    const [source] = self.world.sources;
    self.source = source;
    self.proxy = source.proxy;
    self.near = {
      kill: () => source.kill(),
      stop: () => source.stop(),
      start: async () => {
        await source.startSpeaking();
        source.setUntil(amount);
      },
      signal: (signal) => source.signal(signal),
    };
    self.far = {
      kill: () => self.world.server.kill(),
      start: () => self.world.server.startReady(),
      signal: (signal) => self.world.server.signal(signal),
    };
    return self;
  }
  async feed() {
    this.source.setUntil(amount);
    this.source.setRate(rate);
    while (!(this.source.told?.n >= amount)) await sleep(200);
  }
  settle(forMs) {
    return this.source.drained(forMs);
  }
  verdict() {
    return this.world.verdict();
  }
  destroy() {
    return this.world.destroy();
  }
}

const RIVALS = { rollcall: Rollcall, rsyslog: Rsyslog, jetstream: JetStream };
const missing = { rsyslog: !rsyslogVersion(), jetstream: !natsVersion() };
const rows = [];
for (const [key, Rival] of Object.entries(RIVALS)) {
  if (values.only && values.only !== key) continue;
  if (missing[key]) {
    console.log(`${key}: not installed (apt install ${key === 'jetstream' ? 'nats-server' : key})`);
    continue;
  }
  const folder = mkdtempSync(join(tmpdir(), 'rollcall-delivery-'));
  mkdirSync(folder, { recursive: true });
  const rival = await Rival.create(folder);
  const begun = performance.now();
  const fed = rival.feed(amount, rate);
  const counts = new Map();
  for (const { kind, ms, pause } of schedule()) {
    await sleep(pause);
    process.stderr.write(`${rival.name}: ${kind}\n`);
    await KINDS[kind](rival, ms);
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  await fed;
  await rival.settle(SETTLE_MS);
  const verdict = await rival.verdict();
  rows.push({ name: rival.name, ...verdict, seconds: (performance.now() - begun) / 1000 });
  await rival.destroy();
  rmSync(folder, { recursive: true, force: true });
  if (rows.length === 1)
    console.log(
      `seed ${values.seed}: ${amount} observations at ${rate}/s, ${[...counts].map(([kind, n]) => `${kind} ${n}`).join(', ')}\n`,
    );
}

const COLUMNS = ['observed', 'kept', 'lost', 'doubled', 'altered', 'seconds'];
const width = Math.max(...rows.map(({ name }) => name.length));
console.log([''.padEnd(width), ...COLUMNS.map((column) => column.padStart(10))].join(''));
for (const row of rows)
  console.log(
    [
      row.name.padEnd(width),
      ...COLUMNS.map((column) => Math.round(row[column]).toString().padStart(10)),
    ].join(''),
  );
const ours = rows.find(({ name }) => name === 'Rollcall');
process.exit(ours && ours.lost + ours.doubled + ours.altered > 0 ? 1 : 0);
