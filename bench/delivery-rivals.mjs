// The other side of `delivery.mjs`: rsyslog with a disk-assisted queue and NATS JetStream, each as near (at the site,
// where the source hands over) and far (the one place where everything has to arrive), with the fault proxy between.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect as dial } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { Child, eventually } from '../test/chaos/dist/child.js';
import { freePort } from '../test/chaos/dist/postgres.js';
import { FaultProxy } from '../test/chaos/dist/proxy.js';

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const hash = (text) => createHash('sha256').update(text).digest('base64url');
const textOf = (n) => `observation ${n} ${'x'.repeat(n % 200)}`;
/** What travels: number and hash of its text, so that what arrives can be judged without its source. */
const lineOf = (n) => `#${n}|${hash(textOf(n))}|${textOf(n)}`;

const version = (command, pattern) => {
  const found = spawnSync(command, ['-v'], { encoding: 'utf8' });
  return pattern.exec(`${found.stdout}${found.stderr}`)?.[1];
};
export const rsyslogVersion = () => version('/usr/sbin/rsyslogd', /rsyslogd\s+(\d\S+)/);
export const natsVersion = () => version('nats-server', /v(\d\S+)/);

/** A process that is killed, stopped, frozen and started again. */
class Part {
  #command;
  #ready;
  child;
  constructor(command, ready) {
    this.#command = command;
    this.#ready = ready;
  }
  async start() {
    this.child = new Child(this.#command);
    if (!(await eventually(() => this.#ready(), 30_000, 50)))
      throw new Error(`${this.#command.command} does not start`);
  }
  kill() {
    return this.child?.kill();
  }
  stop() {
    return this.child?.stop(15_000);
  }
  signal(signal) {
    this.child?.signal(signal);
  }
}

const listens = (port) =>
  new Promise((resolve) => {
    const socket = dial(port, '127.0.0.1', () => resolve(true));
    socket.on('error', () => resolve(false));
    socket.on('connect', () => socket.destroy());
  });

/** Hands over at a steady rate; keeps the ledger of what was handed over and what was taken. */
class Feeder {
  handed = new Set();
  taken = new Set();
  #hand;
  constructor(hand) {
    this.#hand = hand;
  }
  /** `hand(n, line)` answers true when it was taken, false when nobody knows. */
  async feed(amount, rate) {
    const begun = performance.now();
    const open = new Set();
    for (let n = 0; n < amount; n++) {
      const due = begun + (n / rate) * 1000 - performance.now();
      if (due > 5) await sleep(due);
      while (open.size >= 500) await Promise.race(open);
      this.handed.add(n);
      const one = this.#hand(n, lineOf(n)).then((taken) => {
        if (taken) this.taken.add(n);
        open.delete(one);
      });
      open.add(one);
    }
    await Promise.all(open);
  }
}

/** Compares the ledger with what arrived, line by line. */
function judge(feeder, file) {
  const found = new Map();
  let altered = 0;
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    const [, n, sum, text] = /#(\d+)\|([^|]+)\|(.*)$/.exec(line) ?? [];
    if (n === undefined) continue;
    if (hash(text) !== sum) altered += 1;
    found.set(Number(n), (found.get(Number(n)) ?? 0) + 1);
  }
  const lost = [...feeder.taken].filter((n) => !found.has(n)).length;
  const doubled = [...found.values()].reduce((sum, times) => sum + times - 1, 0);
  return { observed: feeder.handed.size, kept: feeder.taken.size, lost, doubled, altered };
}

export class Rsyslog {
  name = `rsyslog ${rsyslogVersion()}, disk-assisted queue`;
  #folder;
  #feeder;
  #socket;
  #file;
  proxy;
  near;
  far;

  static async create(folder) {
    const self = new Rsyslog();
    self.#folder = folder;
    self.#file = join(folder, 'arrived');
    writeFileSync(self.#file, '');
    const [nearPort, farPort] = [await freePort(), await freePort()];
    self.proxy = await FaultProxy.open({ host: '127.0.0.1', port: farPort });
    self.far = await self.#part('far', farPort, [
      `template(name="line" type="string" string="%msg%\\n")`,
      `action(type="omfile" file="${self.#file}" template="line" asyncWriting="off" flushOnTXEnd="on")`,
    ]);
    // As its documentation builds a reliable forwarder: a queue in memory that goes to disk, tried for ever.
    self.near = await self.#part('near', nearPort, [
      `action(type="omfwd" target="127.0.0.1" port="${self.proxy.port}" protocol="tcp" queue.type="LinkedList"`,
      `  queue.filename="forward" queue.size="10000" queue.maxDiskSpace="1g" queue.saveOnShutdown="on"`,
      `  action.resumeRetryCount="-1" action.resumeInterval="1" action.resumeIntervalMax="2")`,
    ]);
    self.#feeder = new Feeder((_n, line) => self.#hand(nearPort, line));
    return self;
  }

  async #part(name, port, rules) {
    const folder = join(this.#folder, name);
    mkdirSync(folder);
    const file = join(folder, 'rsyslog.conf');
    writeFileSync(
      file,
      [
        `global(workDirectory="${folder}" maxMessageSize="64k" parser.escapeControlCharactersOnReceive="off")`,
        `module(load="imptcp")`,
        `input(type="imptcp" address="127.0.0.1" port="${port}")`,
        ...rules,
        '',
      ].join('\n'),
    );
    const args = ['-n', '-f', file, '-i', join(folder, 'pid')];
    const part = new Part({ command: '/usr/sbin/rsyslogd', args, logFile: join(folder, 'log') }, () =>
      listens(port),
    );
    await part.start();
    return part;
  }

  /** Plain TCP has no word for "taken": what the system took from us is all that a source can know. */
  async #hand(port, line) {
    for (;;) {
      if (!this.#socket || this.#socket.destroyed) {
        const socket = dial(port, '127.0.0.1');
        socket.on('error', () => undefined);
        const open = await new Promise((resolve) => {
          socket.on('connect', () => resolve(true));
          socket.on('close', () => resolve(false));
        });
        if (!open) {
          await sleep(100);
          continue;
        }
        this.#socket = socket;
      }
      return new Promise((resolve) =>
        this.#socket.write(`<14>Nov 21 00:00:00 site source: ${line}\n`, (error) => resolve(!error)),
      );
    }
  }

  feed(amount, rate) {
    return this.#feeder.feed(amount, rate);
  }
  async settle(forMs) {
    let last = -1;
    let same = 0;
    await eventually(
      () => {
        const { length } = readFileSync(this.#file);
        same = length === last ? same + 1 : 0;
        last = length;
        return same >= 20;
      },
      forMs,
      1000,
    );
  }
  verdict() {
    return judge(this.#feeder, this.#file);
  }
  async destroy() {
    this.#socket?.destroy();
    await this.near.kill();
    await this.far.kill();
    await this.proxy.close();
  }
}

const SECOND = 1e9;

export class JetStream {
  name = `NATS JetStream ${natsVersion()}, message ids`;
  #file;
  #feeder;
  #connection;
  proxy;
  near;
  far;

  static async create(folder) {
    const self = new JetStream();
    self.#file = join(folder, 'arrived');
    writeFileSync(self.#file, '');
    const port = await freePort();
    self.proxy = await FaultProxy.open({ host: '127.0.0.1', port });
    const args = ['-js', '-sd', join(folder, 'store'), '-a', '127.0.0.1', '-p', String(port)];
    self.near = new Part({ command: 'nats-server', args, logFile: join(folder, 'near.log') }, () =>
      listens(port),
    );
    await self.near.start();
    self.#connection = await connect({
      servers: `127.0.0.1:${port}`,
      maxReconnectAttempts: -1,
      reconnectTimeWait: 200,
      pingInterval: 2000,
    });
    const manager = await jetstreamManager(self.#connection);
    await manager.streams.add({
      name: 'OBS',
      subjects: ['obs'],
      storage: 'file',
      duplicate_window: 120 * SECOND,
    });
    await manager.consumers.add('OBS', {
      durable_name: 'far',
      ack_policy: 'explicit',
      ack_wait: 5 * SECOND,
      max_ack_pending: 2000,
    });
    const sink = fileURLToPath(new URL('delivery-sink.mjs', import.meta.url));
    self.far = new Part(
      {
        command: process.execPath,
        args: [sink, String(self.proxy.port), self.#file],
        logFile: join(folder, 'far.log'),
      },
      () => true,
    );
    await self.far.start();
    const stream = jetstream(self.#connection);
    self.#feeder = new Feeder(async (n, line) => {
      for (;;) {
        try {
          await stream.publish('obs', line, { msgID: String(n), timeout: 2000 });
          return true;
        } catch {
          await sleep(100);
        }
      }
    });
    return self;
  }

  feed(amount, rate) {
    return this.#feeder.feed(amount, rate);
  }
  async settle(forMs) {
    const manager = await jetstreamManager(this.#connection);
    await eventually(
      async () => {
        const info = await manager.consumers.info('OBS', 'far').catch(() => undefined);
        return info !== undefined && info.num_pending === 0 && info.num_ack_pending === 0;
      },
      forMs,
      500,
    );
  }
  verdict() {
    return judge(this.#feeder, this.#file);
  }
  async destroy() {
    await this.#connection.close();
    await this.near.kill();
    await this.far.kill();
    await this.proxy.close();
  }
}
