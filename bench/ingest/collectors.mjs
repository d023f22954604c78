// The simulated collectors of the ingest benchmark, as a child process: the real protocol over the real socket, no
// outbox, no sweep. It makes the batches of a pass, which is their own cost, then sends them, and answers when all is
// acknowledged.
// In: {url, collectors: [{disk, site, from, to}], interfaces, changedPercent}, then {make: pass} and {pass};
// {watch: [ids of each collector's devices]} makes the batches of one status report of each device.
import { createPrivateKey } from 'node:crypto';
import { shakeHands, talkOver } from '@rollcall/server/testing/scripted-collector';
import { BATCH_ITEMS } from '@rollcall/shared/protocol';
import { observationsOf } from './world.mjs';

let setup;
const links = [];
/** Batches of each collector. */
const made = [];

process.on('message', async (message) => {
  if (message.url) {
    setup = message;
    for (const one of setup.collectors) links.push(await connect(one));
    process.send({ connected: links.length });
  } else {
    const before = process.cpuUsage();
    const start = performance.now();
    const counts = await Promise.all(
      setup.collectors.map((one, i) =>
        message.make === undefined && message.watch === undefined ? send(i) : make(one, i, message),
      ),
    );
    const { user, system } = process.cpuUsage(before);
    process.send({
      seconds: (performance.now() - start) / 1000,
      cpuSeconds: (user + system) / 1e6,
      batches: counts.reduce((sum, each) => sum + each.batches, 0),
      bytes: counts.reduce((sum, each) => sum + each.bytes, 0),
    });
  }
});

async function connect({ disk }) {
  const whole = {
    ...disk,
    key: { secret: createPrivateKey(disk.secret), raw: Buffer.from(disk.raw, 'hex') },
  };
  const { talk, socket, host } = talkOver(setup.url);
  const { limits } = await shakeHands(talk, whole, host);
  const stream = () => ({ next: 0, through: -1 });
  const link = { socket, limits, epoch: disk.epoch, state: stream(), event: stream(), wake: undefined };
  socket.removeAllListeners('message');
  socket.on('message', (data) => {
    const said = JSON.parse(data.toString());
    if (said.type !== 'ack') return;
    link[said.stream].through = said.through;
    link.wake?.();
  });
  socket.on('close', (code, reason) => {
    console.error(`the server closed a link: ${code} ${reason}`);
    process.exit(1);
  });
  return link;
}

/** The batches of one collector in a pass, as full as the server allows: how many observations, and their JSON. */
function* batchesOf({ site, from, to }, pass, { batchBytes }) {
  let items = [];
  let size = 0;
  const { interfaces, changedPercent } = setup;
  for (let n = from; n < to; n++)
    for (const observation of observationsOf({ site, n, pass, at: Date.now(), interfaces, changedPercent })) {
      const text = JSON.stringify(observation);
      if (size + text.length + 1 > batchBytes - 512 || items.length >= BATCH_ITEMS) {
        yield { count: items.length, body: Buffer.from(items.join(',')) };
        items = [];
        size = 0;
      }
      items.push(text);
      size += text.length + 1;
    }
  if (items.length > 0) yield { count: items.length, body: Buffer.from(items.join(',')) };
}

/** The status report of each device that comes every five minutes. */
function* summariesOf(ids) {
  for (let from = 0; from < ids.length; from += BATCH_ITEMS / 2) {
    const items = ids.slice(from, from + BATCH_ITEMS / 2).map((deviceId) =>
      JSON.stringify({
        kind: 'watch',
        at: Date.now(),
        deviceId,
        icmp: 'up',
        snmp: 'ok',
        rttMs: 1.5,
        lossPercent: 0,
      }),
    );
    yield { stream: 'event', count: items.length, body: Buffer.from(items.join(',')) };
  }
}

async function make(one, i, { make: pass, watch }) {
  made[i] = [];
  for (const batch of watch ? summariesOf(watch[i]) : batchesOf(one, pass, links[i].limits)) {
    made[i].push(batch);
    await new Promise(setImmediate);
  }
  return { batches: made[i].length, bytes: made[i].reduce((sum, { body }) => sum + body.length, 0) };
}

/** Sends the batches of one collector, as many of them on their way as the server allows. */
async function send(i) {
  const link = links[i];
  const ends = [];
  const counts = { batches: 0, bytes: 0 };
  let stream = 'state';
  for (const { count, body, ...batch } of made[i]) {
    stream = batch.stream ?? 'state';
    const place = link[stream];
    const head = `{"type":"observations","epoch":"${link.epoch}","stream":"${stream}","from":${place.next},"items":[`;
    link.socket.send(Buffer.concat([Buffer.from(head), body, Buffer.from(']}')]), { binary: false });
    place.next += count;
    counts.batches += 1;
    counts.bytes += body.length;
    ends.push(place.next - 1);
    while (ends.length >= link.limits.window) {
      if (place.through >= ends[0]) ends.shift();
      else await new Promise((wake) => (link.wake = wake));
    }
  }
  while (link[stream].through < link[stream].next - 1) await new Promise((wake) => (link.wake = wake));
  return counts;
}
