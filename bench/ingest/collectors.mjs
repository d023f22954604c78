// The simulated collectors of the ingest benchmark, as a child process: the real protocol over the real socket, no
// outbox, no sweep. It is told a pass, sends every observation of it, and answers when all is acknowledged.
// In: {url, collectors: [{disk, site, from, to}], interfaces, changedPercent}, then {pass} or {dry: true}.
import { createPrivateKey } from 'node:crypto';
import { shakeHands, talkOver } from '@rollcall/server/testing/scripted-collector';
import { BATCH_BYTES, BATCH_ITEMS, WINDOW } from '@rollcall/shared/protocol';
import { observationsOf } from './world.mjs';

let setup;
const links = [];

process.on('message', async (message) => {
  if (message.url) {
    setup = message;
    for (const one of setup.collectors) links.push(await connect(one));
    process.send({ connected: links.length });
  } else {
    const before = process.cpuUsage();
    const start = performance.now();
    const counts = await Promise.all(
      setup.collectors.map((one, i) => report(one, message, message.dry ? undefined : links[i])),
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
  await shakeHands(talk, whole, host);
  const link = { socket, epoch: disk.epoch, next: 0, through: -1, wake: undefined };
  socket.removeAllListeners('message');
  socket.on('message', (data) => {
    const said = JSON.parse(data.toString());
    if (said.type !== 'ack' || said.stream !== 'state') return;
    link.through = said.through;
    link.wake?.();
  });
  socket.on('close', (code, reason) => {
    console.error(`the server closed a link: ${code} ${reason}`);
    process.exit(1);
  });
  return link;
}

/** Sends the observations of one collector in batches as full as allowed, WINDOW of them on their way. */
async function report({ site, from, to }, { pass = 0 }, link) {
  const ends = [];
  let batches = 0;
  let bytes = 0;
  let items = [];
  let size = 0;
  const flush = async () => {
    if (items.length === 0) return;
    const first = link?.next ?? 0;
    const frame = `{"type":"observations","epoch":"${link?.epoch}","stream":"state","from":${first},"items":[${items.join(',')}]}`;
    batches += 1;
    bytes += frame.length;
    if (link) {
      link.next += items.length;
      ends.push(link.next - 1);
      link.socket.send(frame);
      while (ends.length >= WINDOW) {
        if (link.through >= ends[0]) ends.shift();
        else await new Promise((wake) => (link.wake = wake));
      }
    } else await new Promise(setImmediate);
    items = [];
    size = 0;
  };
  const { interfaces, changedPercent } = setup;
  for (let n = from; n < to; n++)
    for (const observation of observationsOf({ site, n, pass, at: Date.now(), interfaces, changedPercent })) {
      const text = JSON.stringify(observation);
      if (size + text.length + 1 > BATCH_BYTES - 512 || items.length >= BATCH_ITEMS) await flush();
      items.push(text);
      size += text.length + 1;
    }
  await flush();
  while (link && link.through < link.next - 1) await new Promise((wake) => (link.wake = wake));
  return { batches, bytes };
}
