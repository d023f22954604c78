// scaling.mjs [--sites 100000] [--interfaces 1e9] [--shards N] [--cores 16] [--costs FILE] [--json]
//
// A day of a very large installation, in minutes, with what the benchmarks measured: sites of uneven size, each scanned
// once a day in a window of its time zone and watched all day, spread over shards (a PostgreSQL of --cores processors and
// a data disk of --disk TB each). What comes faster than a shard stores waits on the collectors. Says how busy shards are, how long
// observations wait, how much disk a year takes, and what is used up first. Without --shards: the fewest that do.
//
// Costs come from --costs, by default bench/results/costs.json, which bench:ingest writes; where there is none, from
// MEASURED below (docs/scaling.md tells on which machine).
import '../scripts/usage.mjs';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const { values: options } = parseArgs({
  options: {
    sites: { type: 'string', default: '100000' },
    interfaces: { type: 'string', default: '1e9' },
    shards: { type: 'string' },
    cores: { type: 'string', default: '16' },
    disk: { type: 'string', default: '4' },
    costs: { type: 'string', default: fileURLToPath(new URL('./results/costs.json', import.meta.url)) },
    json: { type: 'boolean', default: false },
  },
});
const [sites, interfaces, cores, diskTb] = ['sites', 'interfaces', 'cores', 'disk'].map((name) =>
  Number(options[name]),
);

const MEASURED = {
  interfacesPerDevice: 24,
  first: { serverSeconds: 0.0012, databaseSeconds: 0.00144, wireBytes: 7080, walBytes: 33_100 },
  rescan: { serverSeconds: 0.00029, databaseSeconds: 0.00016, wireBytes: 7080, walBytes: 1_940 },
  summary: { serverSeconds: 0.000068, databaseSeconds: 0.000027, wireBytes: 138, walBytes: 1_050 },
  deviceBytes: 9_120,
  interfaceBytes: 376,
  eventBytes: 1_100,
};
/** What an idle collector costs its server: memory from bench:fleet; processor assumed, two messages a minute. */
const COLLECTOR = { bytes: 22 * 1024, cores: 0.0001 };
/** What the world is like; none of it is measured. */
const WORLD = {
  collectorsPerSite: 2,
  /** Share of devices that differ between two scans. */
  changed: 0.01,
  eventsPerDeviceAndDay: 0.2,
  /** Share of devices that are watched; each is told of every five minutes. */
  watched: 0.5,
  eventsKeptDays: 365,
  /** Sizes of sites are log-normal: most are small, the largest a few hundred times the middle. */
  sigma: 1.5,
  /** Devices that a site's collectors read in a second. */
  sweepPerSecond: 100,
  /** Hours of the night in which a site is scanned. */
  window: 6,
};
/** Share of a processor that steady work may take. */
const BUSY_MOST = 0.7;
/** Longest that an observation may wait for a shard, minutes. */
const WAIT_MOST = 30;
/** Share of a disk that may be full. */
const DISK_MOST = 0.75;
const MINUTES = 1440;

const cost = existsSync(options.costs) ? JSON.parse(readFileSync(options.costs, 'utf8')) : MEASURED;
const devices = interfaces / cost.interfacesPerDevice;

/** Numbers in [0, 1), the same every time (mulberry32). */
function random(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Sites with their devices, the minute their scan begins, and a place by which a shard is chosen. */
function world() {
  const next = random(1);
  const normal = () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());
  const drawn = Array.from({ length: sites }, () => Math.exp(WORLD.sigma * normal()));
  const sum = drawn.reduce((a, b) => a + b, 0);
  return drawn.map((size) => {
    const zone = Math.floor(next() * 24) * 60;
    return {
      devices: (size / sum) * devices,
      begins: Math.floor(zone + next() * WORLD.window * 60) % MINUTES,
      place: next(),
    };
  });
}

/** Database seconds and server seconds of a minute: devices scanned, and events and summaries of those that are known. */
const work = (scanned, known) => {
  const events = (known * WORLD.eventsPerDeviceAndDay) / MINUTES;
  const summaries = (known * WORLD.watched) / 5;
  const share = (kind) => (1 - WORLD.changed) * cost.rescan[kind] + WORLD.changed * cost.first[kind];
  return {
    database:
      scanned * share('databaseSeconds') +
      events * cost.first.databaseSeconds +
      summaries * cost.summary.databaseSeconds,
    server:
      scanned * share('serverSeconds') +
      events * cost.first.serverSeconds +
      summaries * cost.summary.serverSeconds,
  };
};

function day(all, shards) {
  const load = Array.from({ length: shards }, () => ({
    devices: 0,
    sites: 0,
    arrives: new Float64Array(MINUTES),
  }));
  for (const site of all) {
    const shard = load[Math.floor(site.place * shards)];
    shard.devices += site.devices;
    shard.sites += 1;
    const perMinute = WORLD.sweepPerSecond * 60;
    for (let left = site.devices, minute = site.begins; left > 0; left -= perMinute, minute++)
      shard.arrives[minute % MINUTES] += Math.min(left, perMinute);
  }
  return load.map((shard) => {
    let [waiting, longest, busiest, total, serverPeak] = [0, 0, 0, 0, 0];
    const base = work(0, shard.devices).database;
    const perDevice = work(1, 0).database;
    const room = (cores * BUSY_MOST * 60 - base) / perDevice;
    // Two days: what the first left over at midnight is there when the second begins.
    for (let minute = 0; minute < 2 * MINUTES; minute++) {
      const arrived = shard.arrives[minute % MINUTES];
      const stored = Math.max(0, Math.min(waiting + arrived, room));
      waiting += arrived - stored;
      if (minute < MINUTES) continue;
      longest = Math.max(longest, room > 0 ? waiting / room : Number.POSITIVE_INFINITY);
      const { database, server } = work(stored, shard.devices);
      busiest = Math.max(busiest, database / 60 / cores);
      serverPeak = Math.max(serverPeak, server / 60);
      total += database;
    }
    const collectors = shard.sites * WORLD.collectorsPerSite;
    const events = shard.devices * WORLD.eventsPerDeviceAndDay * WORLD.eventsKeptDays;
    return {
      devices: shard.devices,
      waits: longest,
      busiest,
      mean: total / 60 / MINUTES / cores,
      serverCores: serverPeak + collectors * COLLECTOR.cores,
      serverBytes: collectors * COLLECTOR.bytes,
      inventoryBytes: shard.devices * (cost.deviceBytes + cost.interfacesPerDevice * cost.interfaceBytes),
      eventBytes: events * cost.eventBytes,
      walPerDay:
        shard.devices *
        ((1 - WORLD.changed) * cost.rescan.walBytes +
          WORLD.changed * cost.first.walBytes +
          288 * WORLD.watched * cost.summary.walBytes),
    };
  });
}

const worst = (shards, of) => shards.reduce((most, each) => Math.max(most, of(each)), 0);
const full = (each) => (each.inventoryBytes + each.eventBytes) / (diskTb * 1e12);
/** How much of each bound the worst shard uses; above 1 it is over it. */
const used = (shards) => ({
  'database processors': worst(shards, (each) => each.mean) / BUSY_MOST,
  'waiting on collectors': worst(shards, (each) => each.waits) / WAIT_MOST,
  disk: worst(shards, full) / DISK_MOST,
});
const holds = (shards) => Object.values(used(shards)).every((share) => share <= 1);

const all = world();
let count = Number(options.shards ?? 1);
if (options.shards === undefined) {
  while (!holds(day(all, count))) count *= 2;
  let low = count / 2;
  while (count - low > 1) {
    const middle = Math.ceil((low + count) / 2);
    if (middle === count) break;
    if (holds(day(all, middle))) count = middle;
    else low = middle;
  }
}
const shards = day(all, Math.round(count));
const sum = (of) => shards.reduce((total, each) => total + of(each), 0);
const firstDays = (devices * cost.first.databaseSeconds) / (count * cores * BUSY_MOST) / 86_400;
const result = {
  sites,
  devices,
  interfaces,
  shards: shards.length,
  cores,
  used: used(shards),
  largestShareOfMean: (worst(shards, (each) => each.devices) * shards.length) / devices,
  largestSite: Math.max(...all.map((site) => site.devices)),
  meanBusy: sum((each) => each.mean) / shards.length,
  longestWaitMinutes: worst(shards, (each) => each.waits),
  serverCores: sum((each) => each.serverCores),
  collectorMemoryBytes: sum((each) => each.serverBytes),
  inventoryBytes: sum((each) => each.inventoryBytes),
  eventBytesPerYear: sum((each) => each.eventBytes),
  walBytesPerDay: sum((each) => each.walPerDay),
  wireBitsPerSecond:
    (devices * (cost.rescan.wireBytes + 288 * WORLD.watched * cost.summary.wireBytes) * 8) / 86_400,
  firstDiscoveryDays: firstDays,
};
if (options.json) console.log(JSON.stringify(result));
else {
  const tb = (bytes) => `${(bytes / 1e12).toFixed(1)} TB`;
  console.log(`${sites} sites, ${Math.round(devices / 1e6)} million devices, ${(interfaces / 1e6).toFixed(0)} million interfaces
${result.shards} shards of ${cores} processors and ${diskTb} TB; the largest has ${result.largestShareOfMean.toFixed(2)} × the mean (largest site: ${Math.round(result.largestSite)} devices)
database processors   ${(result.meanBusy * 100).toFixed(1)} % busy on average over the day
observations wait     ${result.longestWaitMinutes.toFixed(1)} min at most
servers               ${result.serverCores.toFixed(0)} processors in all, ${tb(result.collectorMemoryBytes)} for ${sites * WORLD.collectorsPerSite} collectors
disk                  ${tb(result.inventoryBytes)} inventory, ${tb(result.eventBytesPerYear)} events of a year, ${tb(result.walBytesPerDay)} WAL a day
wire                  ${(result.wireBitsPerSecond / 1e9).toFixed(2)} Gbit/s on average
first discovery       ${firstDays.toFixed(2)} days at full rate`);
  const shares = Object.entries(result.used).sort(([, a], [, b]) => b - a);
  console.log(
    `used up first         ${shares.map(([name, share]) => `${name} ${(share * 100).toFixed(0)} %`).join(', ')} of the bound`,
  );
}
