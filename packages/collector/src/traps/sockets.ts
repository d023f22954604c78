/** The UDP port that traps come in on, for both families. */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';

/** Storms come faster than one turn of the event loop. */
const RECEIVE_BUFFER = 4 << 20;
/** Below it only the privileged may listen (net.ipv4.ip_unprivileged_port_start). */
const PRIVILEGED = 1024;

export interface TrapSockets {
  readonly port: number;
  close(): Promise<void>;
}

export type OnDatagram = (bytes: Buffer, address: string, reply: (answer: Buffer) => void) => void;
export type Opened = { ok: true; sockets: TrapSockets } | { ok: false; reason: string };

/** Listens on a port of every address; one family is enough. `reason`: why not, and what to do about it. */
export async function openTrapSockets(port: number, onDatagram: OnDatagram): Promise<Opened> {
  const sockets: Socket[] = [];
  let trouble: NodeJS.ErrnoException | null = null;
  for (const type of ['udp4', 'udp6'] as const) {
    const socket = createSocket({ type, ipv6Only: type === 'udp6' });
    try {
      socket.bind(sockets[0]?.address().port ?? port);
      await once(socket, 'listening');
      sockets.push(socket);
    } catch (error) {
      trouble ??= error as NodeJS.ErrnoException;
      socket.close();
    }
  }
  const [first] = sockets;
  if (!first) return { ok: false, reason: reasonOf(trouble, port) };
  for (const socket of sockets) listen(socket, onDatagram);
  return {
    ok: true,
    sockets: {
      port: first.address().port,
      close: async () => {
        await Promise.all(sockets.map((socket) => new Promise<void>((done) => socket.close(() => done()))));
      },
    },
  };
}

function listen(socket: Socket, onDatagram: OnDatagram): void {
  // An answer that nobody takes (ICMP port unreachable) is no trouble of ours.
  socket.on('error', () => undefined);
  socket.on('message', (bytes, from) => {
    onDatagram(bytes, from.address, (answer) =>
      socket.send(answer, from.port, from.address, () => undefined),
    );
  });
  try {
    socket.setRecvBufferSize(RECEIVE_BUFFER);
  } catch {
    // What the system grants must do.
  }
}

function reasonOf(error: NodeJS.ErrnoException | null, port: number): string {
  if (error?.code === 'EACCES' && port < PRIVILEGED)
    return `port ${port} needs a right that this process has not: give it CAP_NET_BIND_SERVICE, or set traps.port above 1023 and send traps there`;
  if (error?.code === 'EADDRINUSE')
    return `port ${port} is in use, by snmptrapd perhaps: stop that, or set another traps.port`;
  return `port ${port} cannot be opened (${error?.code ?? 'no family'})`;
}
