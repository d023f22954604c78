/**
 * A TCP proxy that behaves as networks do when they fail. Weather lasts until it is calm again and holds for every
 * connection; blows hit the connections of the moment.
 */
import { once } from 'node:events';
import { type AddressInfo, createServer, connect as dial, type Server, type Socket } from 'node:net';
import { systemClock } from '@rollcall/shared/clock';

/** `up`: from who connected to the proxy (the collector) to the server. */
export type Direction = 'up' | 'down';

export interface Weather {
  /** Nothing is read in these directions: buffers and windows fill, nothing is lost. */
  stalled: readonly Direction[];
  /** Pieces of so many bytes, each written alone, so long after the one before it. */
  slices?: { bytes: number; gapMs: number };
  /** Every piece arrives so much later, milliseconds. */
  delayMs?: number;
  /** Bytes per second in each direction. */
  rate?: number;
  /** Every connection ends after so many bytes in this direction. */
  closeAfter?: { direction: Direction; bytes: number; by: 'fin' | 'reset' };
  /** refuse: no listener. mute: connections are accepted and nothing ever comes of them. */
  newcomers?: 'refuse' | 'mute';
}

const CALM: Weather = { stalled: [] };
/** Bytes that may wait for their time in one direction. */
const WAITING_BYTES = 1024 * 1024;

export class FaultProxy {
  readonly #target: { host: string; port: number };
  readonly #connections = new Set<Connection>();
  #server: Server | undefined;
  #weather: Weather = CALM;
  #changed: (() => void)[] = [];
  #port = 0;
  /** Connections that were accepted, ever. */
  accepted = 0;
  /** Bytes that were passed on, ever. */
  readonly passed: Record<Direction, number> = { up: 0, down: 0 };

  private constructor(target: { host: string; port: number }) {
    this.#target = target;
  }

  /** Listens on a free port of 127.0.0.1. */
  static async open(target: { host: string; port: number }): Promise<FaultProxy> {
    const proxy = new FaultProxy(target);
    await proxy.#listen();
    return proxy;
  }

  get port(): number {
    return this.#port;
  }
  get open(): number {
    return this.#connections.size;
  }
  get weather(): Weather {
    return this.#weather;
  }

  /** Changes the weather: members that are not named stay as they are. */
  async change(weather: Partial<Weather>): Promise<void> {
    this.#weather = { ...this.#weather, ...weather };
    for (const wake of this.#changed.splice(0)) wake();
    if (this.#weather.newcomers === 'refuse') await this.#unlisten();
    else await this.#listen();
  }

  async calm(): Promise<void> {
    this.#weather = CALM;
    await this.change({});
    // Who was accepted and never answered would wait for its own patience to end.
    for (const connection of this.#connections) if (connection.mute) connection.end('reset');
  }

  /** Ends every connection: as a process that closes does, or as one that is gone. */
  strike(by: 'fin' | 'reset'): void {
    for (const connection of this.#connections) connection.end(by);
  }

  /** What these connections carry vanishes from now on, for ever, and nobody is told: a lost NAT entry, a pulled cable. */
  lose(directions: readonly Direction[]): void {
    for (const connection of this.#connections) for (const each of directions) connection.lost.add(each);
  }

  async close(): Promise<void> {
    this.strike('reset');
    await this.#unlisten();
    for (const wake of this.#changed.splice(0)) wake();
  }

  async #listen(): Promise<void> {
    if (this.#server) return;
    const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => this.#accept(socket));
    this.#server = server;
    server.listen(this.#port, '127.0.0.1');
    await once(server, 'listening');
    this.#port = (server.address() as AddressInfo).port;
  }

  async #unlisten(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (!server) return;
    const closed = once(server, 'close');
    server.close();
    this.strike('reset');
    await closed;
  }

  #accept(near: Socket): void {
    this.accepted += 1;
    const mute = this.#weather.newcomers === 'mute';
    const far = mute ? undefined : dial({ ...this.#target, allowHalfOpen: true, noDelay: true });
    const connection = new Connection(near, far, {
      weather: () => this.#weather,
      changed: () => new Promise((resolve) => this.#changed.push(resolve)),
      passed: (direction, bytes) => {
        this.passed[direction] += bytes;
      },
      over: () => this.#connections.delete(connection),
    });
    this.#connections.add(connection);
  }
}

interface Surroundings {
  weather(): Weather;
  /** Resolves when the weather is another. */
  changed(): Promise<void>;
  passed(direction: Direction, bytes: number): void;
  over(): void;
}

class Connection {
  readonly lost = new Set<Direction>();
  readonly mute: boolean;
  readonly #sockets: Socket[];
  readonly #around: Surroundings;
  #over = false;

  constructor(near: Socket, far: Socket | undefined, around: Surroundings) {
    this.mute = far === undefined;
    this.#sockets = far ? [near, far] : [near];
    this.#around = around;
    for (const socket of this.#sockets) {
      socket.on('error', () => this.end('reset'));
      socket.on('close', () => {
        if (this.#sockets.every(({ destroyed }) => destroyed)) this.#gone();
      });
    }
    if (far) {
      void this.#carry('up', near, far);
      void this.#carry('down', far, near);
    }
  }

  end(by: 'fin' | 'reset'): void {
    for (const socket of this.#sockets) {
      if (by === 'reset') reset(socket);
      else socket.destroySoon();
    }
    this.#gone();
  }

  #gone(): void {
    if (this.#over) return;
    this.#over = true;
    this.#around.over();
  }

  /** Reads on one side, writes on the other, in the weather of the moment. */
  async #carry(direction: Direction, from: Socket, to: Socket): Promise<void> {
    const lane = new Lane(to, (bytes) => this.#around.passed(direction, bytes));
    let seen = 0;
    try {
      for await (const chunk of from.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
        for (const piece of slices(chunk, this.#around.weather().slices?.bytes)) {
          while (this.#around.weather().stalled.includes(direction) && !this.#over)
            await this.#around.changed();
          if (this.lost.has(direction)) continue;
          const { closeAfter, delayMs = 0, rate = Number.POSITIVE_INFINITY, slices } = this.#around.weather();
          const left = closeAfter?.direction === direction ? closeAfter.bytes - seen : undefined;
          const last = left !== undefined && left <= piece.length;
          seen += piece.length;
          const passing = last ? piece.subarray(0, Math.max(0, left)) : piece;
          await lane.put(passing, delayMs, (passing.length / rate) * 1000 + (slices?.gapMs ?? 0));
          if (!last) continue;
          await lane.empty();
          this.end(closeAfter?.by ?? 'reset');
          return;
        }
      }
      await lane.empty();
      if (!this.lost.has(direction)) to.end();
    } catch {
      this.end('reset');
    }
  }
}

/** A reset and nothing else: `resetAndDestroy` says FIN first, which the other side may see as an orderly end. */
function reset(socket: Socket): void {
  const handle: { reset?(done: () => void): number } | null = Reflect.get(socket, '_handle');
  handle?.reset?.(() => undefined);
  socket.destroy();
}

function* slices(chunk: Buffer, bytes: number | undefined): Generator<Buffer> {
  if (bytes === undefined) yield chunk;
  else for (let at = 0; at < chunk.length; at += bytes) yield chunk.subarray(at, at + bytes);
}

/** Pieces on their way to a socket, in order, each at its time. */
class Lane {
  readonly #to: Socket;
  readonly #passed: (bytes: number) => void;
  #tail: Promise<void> = Promise.resolve();
  #waiting = 0;
  /** When the link is free for the next piece. */
  #free = 0;

  constructor(to: Socket, passed: (bytes: number) => void) {
    this.#to = to;
    this.#passed = passed;
  }

  /** Takes a piece that occupies the link for `takesMs` and arrives `delayMs` later; waits while too much is on its way. */
  async put(piece: Buffer, delayMs: number, takesMs: number): Promise<void> {
    this.#free = Math.max(this.#free, systemClock.monotonic()) + takesMs;
    const due = this.#free + delayMs;
    this.#waiting += piece.length;
    this.#tail = this.#tail.then(async () => {
      const wait = due - systemClock.monotonic();
      if (wait > 0) await systemClock.sleep(wait);
      this.#waiting -= piece.length;
      if (this.#to.destroyed) return;
      this.#passed(piece.length);
      if (!this.#to.write(piece)) await roomIn(this.#to);
    });
    if (this.#waiting > WAITING_BYTES || takesMs > 0) await this.#tail;
  }

  empty(): Promise<void> {
    return this.#tail;
  }
}

/** Resolves when a socket takes more, or will never again. */
const roomIn = (socket: Socket): Promise<void> =>
  new Promise((resolve) => {
    const done = () => {
      socket.off('drain', done).off('close', done);
      resolve();
    };
    socket.on('drain', done).on('close', done);
  });
