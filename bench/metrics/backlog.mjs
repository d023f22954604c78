// backlog.mjs SCALE [--database URL]
//
// A collector was cut off for an hour and is back: what it measured meanwhile of 1,000 devices with 24 ports a site, 10,000
// in all (times SCALE), is in its outbox, on disk, and goes to the server's program at once. Meanwhile its monitoring goes on: every half
// second it tells something new. How long until that is acknowledged, and whether every minute of every device is there
// in the end, as the API would answer it.
import '../../scripts/usage.mjs';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Sender } from '@rollcall/collector/link/sender';
import { Outbox } from '@rollcall/collector/outbox/outbox';
import { readMeasurements } from '@rollcall/server/measurements/read';
import { METRIC_DAYS } from '@rollcall/server/platform/ops/config';
import { enrolled, shakeHands, talkOver } from '@rollcall/server/testing/scripted-collector';
import { systemClock } from '@rollcall/shared/clock';
import { freshDatabase, percentile, pino, startProgram } from '../installation.mjs';
import { postgresOf } from '../postgres.mjs';
import { MINUTE, makeWorld, observe } from './world.mjs';

const { values: options, positionals } = parseArgs({
  options: { database: { type: 'string' } },
  allowPositionals: true,
});
const MINUTES = 60;
/** Something new to tell comes so often, until all is sent. */
const NEWS_MS = 500;
const log = pino({ level: 'error' });
const postgres = await postgresOf(options.database);
const database = await freshDatabase(postgres.url, 'rollcall_bench_backlog');
const { db } = database;
const folder = mkdtempSync(join(tmpdir(), 'rollcall-bench-outbox-'));
const devices = await makeWorld(db, Math.max(10, Math.round(10_000 * Number(positionals[0] ?? 1))));
/** When it came back. */
const end = Math.floor(Date.now() / MINUTE) * MINUTE;
const waits = [];
let server;

/** The collector of a site, its outbox full. */
async function cutOff(siteId) {
  const disk = await enrolled(db, siteId);
  const settings = { bytes: 8 * 2 ** 30, ageMs: 1e12, minFreeBytes: 0 };
  const outbox = await Outbox.open({ folder: join(folder, siteId), settings, clock: systemClock, log });
  const own = devices.filter((device) => device.siteId === siteId);
  for (let at = end - (MINUTES - 1) * MINUTE; at <= end; at += MINUTE)
    await outbox.append(own.map((device) => observe(device, at)));
  return { disk: { ...disk, epoch: outbox.epoch, last: outbox.last }, outbox, own };
}

/** Sends all that is in the outbox, and what happens meanwhile; ends when everything is acknowledged. */
async function comeBack({ disk, outbox, own }) {
  const { talk, socket, host } = talkOver(server.url.replace('http', 'ws'));
  const { limits, through } = await shakeHands(talk, disk, host, {
    version: 4,
    oldest: 4,
    last: outbox.last,
  });
  const wire = {
    send: (frame) => socket.send(frame, { binary: false }),
    get bufferedAmount() {
      return socket.bufferedAmount;
    },
  };
  const sender = new Sender({ outbox, wire, clock: systemClock }, through, { ...limits, samples: true });
  const told = new Map();
  socket.on('message', (data) => {
    const { type, epoch, stream, through } = JSON.parse(data.toString());
    if (type !== 'ack') return;
    const wrong = sender.acknowledged(epoch, stream, through);
    if (wrong) throw new Error(wrong);
    if (stream !== 'event') return;
    for (const [sequence, since] of told)
      if (sequence <= through) {
        waits.push(performance.now() - since);
        told.delete(sequence);
      }
  });
  socket.on('close', (code, reason) => {
    if (outbox.status().depth > 0) throw new Error(`the server closed the link: ${code} ${reason}`);
  });
  sender.pump();
  for (let i = 0; outbox.status().depth > 0; i++) {
    const since = performance.now();
    const deviceId = own[i % own.length].id;
    const news = {
      kind: 'watch',
      at: Date.now(),
      deviceId,
      icmp: 'up',
      snmp: 'ok',
      rttMs: 1.5,
      lossPercent: 0,
    };
    await outbox.append([news]);
    told.set(outbox.last.event, since);
    sender.pump();
    await sleep(NEWS_MS);
  }
  socket.close();
  await outbox.close();
}

/** Minutes that are there, of all devices. */
async function minutesOf() {
  let found = 0;
  const from = Math.floor(end / 1000) - MINUTES * 60;
  for (const { id } of devices) {
    const query = {
      deviceId: [id],
      metrics: ['rtt'],
      from,
      to: from + MINUTES * 60,
      step: 60,
      aggregate: 'avg',
    };
    const { series } = await readMeasurements(db, query, { scope: null, now: Date.now(), days: METRIC_DAYS });
    found += series[0]?.values.filter((value) => value !== null).length ?? 0;
  }
  return found;
}

try {
  const collectors = [];
  for (const siteId of new Set(devices.map((device) => device.siteId))) collectors.push(await cutOff(siteId));
  server = await startProgram(database.url);
  const begun = performance.now();
  await Promise.all(collectors.map(comeBack));
  const seconds = (performance.now() - begun) / 1000;
  const observed = devices.length * MINUTES;
  console.log(
    JSON.stringify({
      ...{ observed, seconds, lost: observed - (await minutesOf()), told: waits.length },
      newsMs: { p95: percentile(waits, 95), most: Math.max(...waits) },
      serverMb: server.memory().peak / 2 ** 20,
    }),
  );
} finally {
  await server?.stop();
  await database.drop();
  postgres.stop({ keep: false });
  rmSync(folder, { recursive: true });
}
