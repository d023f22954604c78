// The week before the demonstration: what its collector would have observed of the lab, as the backlog of an outage. The
// lab's own functions of time say what its counters showed then, the collector's own code makes observations of them and
// puts them into its outbox; it sends them when it is started again, and the server takes them in as any other backlog.
//
//   --state FOLDER   as of `rollcall-collector run`; that collector is stopped meanwhile
//   WEEK_DEVICES     JSON: ids of the devices by the names that the lab gave them
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Outbox } from '@rollcall/collector/outbox/outbox';
import { outboxSettings, readConfig } from '@rollcall/collector/platform/config';
import { openLog } from '@rollcall/collector/platform/log';
import { CounterRow } from '@rollcall/collector/watch/measure/counters';
import { RAW } from '@rollcall/collector/watch/measure/growth';
import { Measuring } from '@rollcall/collector/watch/measure/measuring';
import { Target } from '@rollcall/collector/watch/target';
import { lockFolder } from '@rollcall/host/lock';
import { demoSite } from '@rollcall/lab/demo';
import { lineTo } from '@rollcall/lab/demo/lines';
import { shown } from '@rollcall/lab/sensors';
import { carried } from '@rollcall/lab/traffic';
import { systemClock } from '@rollcall/shared/clock';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** How often a device was read, in the last day and before. */
const EVERY_MS = { lastDay: HOUR_MS / 2, before: HOUR_MS };
/** The collector measures by itself from about here on. */
const NOW_MS = 2 * MINUTE_MS;
/** Pings that one reading stands for, and their round trip on this host, ms. */
const PINGS = 60;
const ROUND_TRIP = { mean: 0.09, day: 0.03, short: 0.01 };
/** What went wrong: how long ago, and for how long. */
const OUTAGES = [
  { name: 'access-6', agoMs: 2.4 * DAY_MS, forMs: 26 * MINUTE_MS },
  { name: 'branch-2', agoMs: 4.2 * DAY_MS, forMs: 7 * MINUTE_MS },
  { name: 'branch-2', agoMs: 4.1 * DAY_MS, forMs: 4 * MINUTE_MS },
];

const settings = await readConfig(process.env);
const log = await openLog(settings.log);
const { state } = parseArgs({ options: { state: { type: 'string' } } }).values;
const ids = new Map(Object.entries(JSON.parse(process.env.WEEK_DEVICES)));
const now = Date.now();
const begin = now - 7 * DAY_MS;
const localSeconds = (at) => at / 1000 - new Date(at).getTimezoneOffset() * 60;
const startedAt = localSeconds(begin);

function* moments() {
  for (let at = begin; at < now - NOW_MS; at += at < now - DAY_MS ? EVERY_MS.before : EVERY_MS.lastDay)
    yield at;
  // Up to here, so that charts have no hole before what the collector measures by itself.
  yield now - NOW_MS;
}

/** The interfaces of a device as an agent would have shown them. */
function reading(device, at) {
  const wide = device.features.includes('high-speed');
  const counters = new Map();
  for (const port of device.ports) {
    const row = new CounterRow();
    row.name = wide ? port.name : port.descr;
    for (const direction of ['in', 'out']) {
      const all = carried(device, port, direction, startedAt, localSeconds(at) - startedAt);
      const put = (name, value) =>
        row.put(RAW.indexOf(name), { value: wide ? value : value & 0xffff_ffffn, wide });
      put(`${direction}Octets`, all.octets);
      put(`${direction}Unicast`, all.unicast);
      put(`${direction}Multicast`, all.multicast);
      put(`${direction}Broadcast`, all.broadcast);
      const narrow = (name, value) =>
        row.put(RAW.indexOf(name), { value: value & 0xffff_ffffn, wide: false });
      narrow(`${direction}Errors`, all.errors);
      narrow(`${direction}Discards`, all.discards);
    }
    counters.set(port.ifIndex, row);
  }
  const ports = new Map(device.ports.map(({ ifIndex, speed }) => [ifIndex, { speedBps: speed }]));
  return { ok: true, at, counters, ports, complete: true };
}

/** Everything measured of one device, in order. */
function measured(device, deviceId) {
  const observations = [];
  let at = begin;
  const clock = { ...systemClock, now: () => at, monotonic: () => at };
  const queue = { isFull: false, add: (one) => observations.push(one) };
  const measuring = new Measuring({ clock, log }, queue);
  const target = new Target({ deviceId, address: device.address }, null);
  target.sampledAt = begin - HOUR_MS;
  const outages = OUTAGES.filter(({ name }) => name === device.name);
  for (at of moments()) {
    const since = target.sampledAt;
    for (let ping = 1; ping <= PINGS; ping++) {
      const then = since + ((at - since) * ping) / PINGS;
      const isDown = outages.some(({ agoMs, forMs }) => then >= now - agoMs && then < now - agoMs + forMs);
      const line = lineTo(device.name, localSeconds(then));
      if (isDown || Math.random() < (line?.loss ?? 0)) target.tally.missed();
      else {
        const rtt = shown(device, 'round trip', ROUND_TRIP, localSeconds(then));
        target.tally.answered(rtt + (line?.delayMs ?? 0));
      }
    }
    if (device.access) measuring.read(target, reading(device, at), false, EVERY_MS.lastDay, () => undefined);
    else measuring.ping(target, at, EVERY_MS.lastDay);
  }
  return observations;
}

/** What monitoring reported of those that fell, in order. */
function reported() {
  const report = (name, at, up) => ({
    kind: 'watch',
    at: Math.round(at),
    deviceId: ids.get(name),
    icmp: up ? 'up' : 'down',
    ...(up ? { snmp: 'ok' } : {}),
    settledUntil: Math.round(at),
  });
  const falls = OUTAGES.filter(({ name }) => ids.has(name));
  return [...new Set(falls.map(({ name }) => name))]
    .map((name) => report(name, begin, true))
    .concat(
      falls.flatMap(({ name, agoMs, forMs }) => [
        report(name, now - agoMs, false),
        report(name, now - agoMs + forMs, true),
      ]),
    )
    .sort((a, b) => a.at - b.at);
}

const week = demoSite()
  .devices.filter(({ name }) => ids.has(name))
  .flatMap((device) => measured(device, ids.get(device.name)))
  .sort((a, b) => a.at - b.at);
process.stdout.write('ready\n');

// The collector is stopped when it has let go of its folder.
let lock = await lockFolder(state, 'collector');
while (!lock.ok) {
  await sleep(100);
  lock = await lockFolder(state, 'collector');
}
const outbox = await Outbox.open({
  folder: join(state, 'outbox'),
  settings: outboxSettings(settings),
  clock: systemClock,
  log,
});
await outbox.append(reported());
for (let i = 0; i < week.length; i += 500) await outbox.append(week.slice(i, i + 500));
await outbox.close();
await lock.release();
