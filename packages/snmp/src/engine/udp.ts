import { createSocket, type Socket } from 'node:dgram';
import type { Family } from '@rollcall/shared/ip';

/** One UDP socket of a family for all targets. */
export interface UdpSocket {
  /** `done` gets the errno name when the system refused to send. */
  send(bytes: Buffer, port: number, address: string, done: (errno: string | null) => void): void;
  close(): Promise<void>;
}

/** Octets asked for; the system may grant less (`net.core.rmem_max`). */
const RECEIVE_BUFFER = 8 << 20;

type OnDatagram = (bytes: Buffer, address: string, port: number) => void;

/** Binds to any address and a port of the system's choice; rejects when the family is not available. */
export async function openUdp(family: Family, onDatagram: OnDatagram): Promise<UdpSocket> {
  const socket: Socket = createSocket({
    type: family === 4 ? 'udp4' : 'udp6',
    ipv6Only: family === 6,
    // Targets are literal addresses: nothing is ever looked up.
    lookup: (address, _options, found) => found(null, address, family),
  });
  await new Promise<void>((resolve, reject) => {
    socket.once('error', reject);
    socket.bind(0, () => {
      socket.off('error', reject);
      resolve();
    });
  });
  // It stays usable; the request that it failed on waits for its time-out.
  socket.on('error', () => undefined);
  socket.on('message', (bytes, from) => onDatagram(bytes, from.address, from.port));
  try {
    socket.setRecvBufferSize(RECEIVE_BUFFER);
  } catch {
    // What the system grants is enough for slower sweeps.
  }
  return {
    send: (bytes, port, address, done) =>
      socket.send(bytes, 0, bytes.length, port, address, (error) => done(error ? errnoOf(error) : null)),
    close: () => new Promise((resolve) => socket.close(resolve)),
  };
}

const errnoOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'error';
