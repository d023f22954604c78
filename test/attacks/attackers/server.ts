/** A server that wants its collector to fail, or to sweep what its host's settings deny. */
import { createSocket, type Socket } from 'node:dgram';
import { join } from 'node:path';
import { makeKey, prepareFolder, saveIdentity } from '@rollcall/collector/link/identity';
import { type Peer, ScriptedServer, SITE } from '@rollcall/collector/testing/scripted-server';
import { profileSettings } from '@rollcall/shared/profile';
import { FRAME_BYTES, serverMessage } from '@rollcall/shared/protocol';
import { uuidv7 } from '@rollcall/shared/uuid';
import { bend, fromSchema, type Ground, pick, type Random, type Schema } from '../../api/hostile.ts';
import { Child, tail } from '../../chaos/child.ts';
import { COLLECTOR } from '../../chaos/collector.ts';
import { type Attacker, marked, pause, type Scene } from '../scene.ts';

/** The host's own settings: the block that is allowed, and what in it is denied. */
const ALLOWED = '127.68.0.0/16';
const DENIED = '127.68.9.0/24';
/** Nothing may ever come here: denied, denied as IPv6 writes it, and not allowed. */
const LISTENING = ['127.68.9.1', '127.68.9.2', '127.69.0.1'];
const TARGETS = [...LISTENING, '::ffff:127.68.9.1', '64:ff9b::7f44:901', '127.68.1.1', '127.68.8.250'];
/** Who was spoken to badly comes again later each time: several are attacked beside each other, but for a short while. */
const VICTIMS = 4;
const SHORT = 10;
const FRAMES = 60;
const PACE_MS = 5;
/** Until an honest server has its sweep. */
const SERVED_MS = 60_000;

const MESSAGE: Schema = (serverMessage as unknown as { toJSONSchema(options: object): Schema }).toJSONSchema({
  io: 'input',
  unrepresentable: 'any',
});

export const attackAsServer: Attacker = async (scene, { random, tally, until }) => {
  const server = await ScriptedServer.start();
  const denied: Socket[] = [];
  const collectors = Array.from({ length: scene.seconds < SHORT ? 1 : VICTIMS }, (_, i) =>
    collectorOf(scene, server.url, i),
  );
  try {
    for (const address of LISTENING)
      denied.push(await listen(address, scene.snmpPort, tally.fault.bind(tally)));
    const attacked = async () => {
      for (;;) {
        const peer = await Promise.race([server.peer(), pause(1e9, until)]);
        if (!peer) return;
        await mistreat(peer, scene, { random, tally, until }).catch(() => undefined);
        peer.socket.terminate();
      }
    };
    await Promise.all(collectors.map(attacked));
    for (const [i, collector] of collectors.entries())
      if (collector.over)
        tally.fault(`a collector ended: ${JSON.stringify(collector.over)}\n${tail(logOf(scene, i))}`);
    for (let i = 0; i < collectors.length; i++)
      if (!(await stillServes(server, scene)))
        tally.fault(`a collector serves no honest server afterwards\n${tail(logOf(scene, i))}`);
  } finally {
    for (const collector of collectors) await collector.kill();
    for (const socket of denied) socket.close();
    await server.stop();
  }
};

const logOf = ({ folder }: Scene, i: number): string => join(folder, `victim-${i}.log`);

function collectorOf(scene: Scene, server: string, i: number): Child {
  const state = join(scene.folder, `victim-${i}`);
  prepareFolder(state);
  makeKey(state);
  saveIdentity(state, {
    format: 1,
    server,
    path: '/api/collectors/link',
    collector: uuidv7(),
    name: `victim ${i}`,
    site: SITE,
    generation: 0,
  });
  return new Child({
    command: process.execPath,
    args: [COLLECTOR, 'run', '--state', state],
    env: {
      ROLLCALL_COLLECTOR_ALLOW: ALLOWED,
      ROLLCALL_COLLECTOR_DENY: DENIED,
      ROLLCALL_COLLECTOR_TRAPS_PORT: '0',
    },
    logFile: logOf(scene, i),
  });
}

async function listen(address: string, port: number, fault: (text: string) => void): Promise<Socket> {
  const socket = createSocket('udp4');
  socket.on('message', () => fault(`the collector asked ${address}, which its host does not allow`));
  await new Promise<void>((resolve, reject) => {
    socket.once('error', reject);
    socket.bind(port, address, resolve);
  });
  return socket;
}

async function mistreat(
  peer: Peer,
  scene: Scene,
  { random, tally, until }: Parameters<Attacker>[1],
): Promise<void> {
  if (random() < 0.8) await Promise.race([peer.greet(), pause(10_000, until)]);
  const ground: Ground = {
    path: '',
    method: '',
    operation: { operationId: '', security: [], responses: {} },
    schemas: {},
    ids: [uuidv7(), SITE.id],
    fit: undefined,
  };
  // Who says what nobody understands is left, and waited for longer each time.
  const understood = random() < 0.7;
  for (let i = 0; i < FRAMES && !until.aborted && !peer.closed; i++) {
    peer.socket.send(understood ? sound(random, scene) : frameOf(random, ground, scene));
    tally.sent += 1;
    await pause(PACE_MS, until);
  }
  await pause(200, until);
  tally.answered(peer.closed?.code ?? 'open');
}

function frameOf(random: Random, ground: Ground, { snmpPort }: Scene): string {
  const dice = random();
  if (dice < 0.02) return 'x'.repeat(FRAME_BYTES + 1);
  if (dice < 0.06) return pick(random, ['', 'null', '[]', '{"type":"ack"}', `${'['.repeat(100_000)}`]);
  if (dice < 0.3) return JSON.stringify(assignmentOf(random, snmpPort, pick(random, TARGETS)));
  if (dice < 0.4) return JSON.stringify(watchOf(random, snmpPort));
  let message = fromSchema(random, MESSAGE, ground, 0);
  for (let bends = Math.floor(random() * 3); bends > 0; bends--)
    message = bend(random, message, MESSAGE, ground);
  return JSON.stringify(marked(random, message)) ?? '';
}

/** What a collector understands, and must bound. */
function sound(random: Random, { snmpPort }: Scene): string {
  const made = pick<() => object>(random, [
    () => assignmentOf(random, snmpPort, pick(random, TARGETS)),
    () => watchOf(random, snmpPort),
    () => ({ type: 'cancel', job: uuidv7(), fence: 1 }),
    () => ({ type: 'ack', epoch: uuidv7(), stream: 'state', through: 2 ** 40 }),
    () => ({
      type: 'ruleset',
      ruleset: { id: `${random()}`, extra: [{ prefix: '1.3', oids: ['1.3.6'], sample: 256 }] },
    }),
    () => ({ type: 'heartbeat', time: 0, echo: 2 ** 52 }),
  ])();
  return JSON.stringify(made);
}

const CREDENTIAL = { id: uuidv7(), version: 'v2c', community: 'public' };

/** From an address on, so that a span that begins with what is allowed leads into what is not. */
const assignmentOf = (random: Random, port: number, first: string) => ({
  type: 'assign',
  assignment: {
    job: uuidv7(),
    fence: Math.floor(random() * 5),
    spans: [{ first, count: pick(random, [1, 4, 256]) }],
    profile: profileSettings.parse({
      icmp: null,
      snmp: { port, tries: 1, timeoutMs: 50 },
      rate: 'max',
      ratePerNet: 'max',
    }),
    credentials: [CREDENTIAL],
  },
});

const watchOf = (random: Random, port: number) => ({
  type: 'watch',
  revision: Math.floor(random() * 100),
  full: random() < 0.5,
  set: TARGETS.map((address) => ({ deviceId: uuidv7(), address, credentialId: CREDENTIAL.id })),
  remove: [],
  credentials: [CREDENTIAL],
  intervals: { icmpMs: 1000, snmpMs: 1000 },
  port,
});

/** An honest server comes after the bad one: the collector links, sweeps and tells. */
async function stillServes(server: ScriptedServer, { snmpPort }: Scene): Promise<boolean> {
  const over = AbortSignal.timeout(SERVED_MS);
  while (!over.aborted) {
    const peer = await Promise.race([server.peer(), pause(SERVED_MS, over)]);
    if (!peer) return false;
    const told = (async () => {
      const { epoch } = await peer.greet();
      const job = assignmentOf(() => 0, snmpPort, '127.68.1.7');
      peer.send(job);
      peer.onMessage = (message) => {
        if (message.type !== 'observations') return;
        peer.ack(message.epoch, message.stream, message.from + message.items.length - 1);
      };
      await peer.hear(
        'observations',
        ({ epoch: of, items }) => of === epoch && namesJob(items, job.assignment.job),
      );
      return true;
    })().catch(() => false);
    if (await Promise.race([told, pause(SERVED_MS, over).then(() => false)])) return true;
  }
  return false;
}

const namesJob = (items: readonly unknown[], job: string): boolean =>
  items.some(
    (item) =>
      (item as { kind?: string; job?: string }).kind === 'job-end' && JSON.stringify(item).includes(job),
  );
