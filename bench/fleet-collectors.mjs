// Some hundred simulated collectors in one process: they connect, say what a collector says when it has nothing to do,
// and measure how long each heartbeat takes to be answered.
// In: {url, disks, beatMs, localAddress}; then {measure: SECONDS}. Out: {connected, seconds}, then {answers: milliseconds[]}.
import { createPrivateKey } from 'node:crypto';
import { shakeHands, talkOver } from '@rollcall/server/testing/scripted-collector';

/** Shaking hands at the same moment, of one process: below the bound of unknown connections from one address. */
const AT_ONCE = 50;

const sockets = [];
let answers = [];

process.on('message', async (message) => {
  if (message.url) {
    const start = performance.now();
    const waiting = [...message.disks];
    const one = async () => {
      for (let disk = waiting.pop(); disk; disk = waiting.pop()) await connect(disk, message);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, one));
    process.send({ connected: sockets.length, seconds: (performance.now() - start) / 1000 });
  } else {
    answers = [];
    await new Promise((resolve) => setTimeout(resolve, message.measure * 1000));
    process.send({ answers });
  }
});

async function connect(disk, { url, beatMs, localAddress }) {
  const whole = {
    ...disk,
    key: { secret: createPrivateKey(disk.secret), raw: Buffer.from(disk.raw, 'hex') },
  };
  for (;;) {
    const { talk, socket, host } = talkOver(url, { localAddress });
    try {
      await shakeHands(talk, whole, host);
    } catch {
      // Turned away in the crowd, as a real one it comes again.
      socket.terminate();
      await new Promise((resolve) => setTimeout(resolve, 200 + Math.random() * 800));
      continue;
    }
    const said = new Map();
    socket.removeAllListeners('message');
    socket.on('message', (data) => {
      const { type, echo } = JSON.parse(data.toString());
      const begun = type === 'heartbeat' ? said.get(echo) : undefined;
      if (begun === undefined) return;
      answers.push(performance.now() - begun);
      said.delete(echo);
    });
    socket.on('close', (code, reason) => {
      console.error(`the server closed a link: ${code} ${reason}`);
      process.exit(1);
    });
    const beat = () => {
      const time = Date.now();
      said.set(time, performance.now());
      socket.send(
        JSON.stringify({ type: 'heartbeat', time, outbox: { depth: 0, bytes: 0, oldest: null }, drops: {} }),
      );
    };
    // Spread, as those of real collectors are.
    setTimeout(() => {
      beat();
      setInterval(beat, beatMs);
    }, Math.random() * beatMs);
    sockets.push(socket);
    return;
  }
}
