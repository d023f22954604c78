/** The lab's network: who answers on which address, over real UDP sockets, one for each address. */
import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';

/** Sends one datagram back to who asked. */
export type Send = (datagram: Buffer) => void;
/** Answers datagrams of one address, at once, later, several times or never. */
export type Responder = (datagram: Buffer, send: Send, from: RemoteInfo) => void;

/** Room for the requests of a whole sweep that arrive in one burst, octets. */
const RECEIVE_BUFFER = 1 << 20;

/**
 * Addresses with their responders on one UDP port. A socket per address, because an answer must come from the very
 * address that was asked, and Node cannot choose the source of a wildcard socket. An address can change hands while
 * its socket stays open, as a shared address does between routers.
 */
export class Wire {
  readonly port: number;
  readonly #responders = new Map<string, Responder>();
  readonly #sockets = new Map<string, Socket>();

  /** `port` 0 lets every address have a port of its own; ask `portOf`. */
  constructor(port: number) {
    this.port = port;
  }

  get addresses(): string[] {
    return [...this.#responders.keys()];
  }

  /** Lets `responder` answer on `address` from now on. Rejects with what to do when the address cannot be bound. */
  async attach(address: string, responder: Responder): Promise<void> {
    if (!this.#sockets.has(address)) this.#sockets.set(address, await this.#open(address));
    this.#responders.set(address, responder);
  }

  /** Nobody answers on `address` any more. The socket stays, so that there is no ICMP error. */
  detach(address: string): void {
    this.#responders.delete(address);
  }

  /** The UDP port of an attached address. */
  portOf(address: string): number {
    return this.#sockets.get(address)?.address().port ?? 0;
  }

  async stop(): Promise<void> {
    this.#responders.clear();
    const closing = [...this.#sockets.values()].map(
      (socket) => new Promise<void>((resolve) => socket.close(() => resolve())),
    );
    this.#sockets.clear();
    await Promise.all(closing);
  }

  #open(address: string): Promise<Socket> {
    const family = address.includes(':') ? 6 : 4;
    // Every peer is a literal address: a lookup that answers at once saves a turn of the event loop per datagram.
    const socket = createSocket({
      type: family === 6 ? 'udp6' : 'udp4',
      lookup: (hostname, _options, done) => done(null, hostname, family),
    });
    return new Promise((resolve, reject) => {
      socket.once('error', (cause) => {
        socket.close();
        reject(bindError(address, this.port, cause));
      });
      socket.bind({ address, port: this.port, exclusive: true }, () => {
        socket.removeAllListeners('error');
        // A peer that closed its socket makes sends fail; the datagram is lost, as datagrams are.
        socket.on('error', () => undefined);
        socket.on('message', (datagram, from) => {
          const send = (answer: Buffer) =>
            void (
              this.#sockets.has(address) && socket.send(answer, from.port, from.address, () => undefined)
            );
          this.#responders.get(address)?.(datagram, send, from);
        });
        growBuffer(socket);
        resolve(socket);
      });
    });
  }
}

/** The kernel may allow less; what it gives is enough for tests then. */
function growBuffer(socket: Socket): void {
  try {
    socket.setRecvBufferSize(RECEIVE_BUFFER);
  } catch {
    // Not allowed on this system.
  }
}

function bindError(address: string, port: number, cause: Error & { code?: string }): Error {
  const why: Record<string, string> = {
    EADDRINUSE: 'another program (or another lab) has it; stop that or choose another port',
    EACCES: 'ports below 1024 need root; choose another port',
    EADDRNOTAVAIL:
      'this system has no such address; outside Linux every 127.x.y.z must first be added to lo0',
    EMFILE: 'too many open files; raise the limit (ulimit -n)',
  };
  const reason = why[cause.code ?? ''] ?? cause.message;
  return new Error(`cannot listen on UDP ${address}:${port}: ${reason}`, { cause });
}
