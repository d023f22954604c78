import { createSocket, type Socket } from 'node:dgram';
import type { Family } from '@rollcall/shared/ip';

/** One UDP socket of a family for all targets. */
export interface UdpSocket {
  /** Octets of receive buffer that the system granted. */
  readonly receiveBuffer: number;
  /** `done` gets the errno name when the system refused to send. */
  send(bytes: Buffer, port: number, address: string, done: (errno: string | null) => void): void;
  close(): Promise<void>;
}

export interface UdpSettings {
  /** Octets; the system may grant less (`net.core.rmem_max`). */
  receiveBuffer: number;
  onDatagram: (bytes: Buffer, address: string, port: number) => void;
  /** Errors of the socket itself; it stays usable. */
  onError: (errno: string) => void;
}

/** Binds to any address and a port of the system's choice; rejects when the family is not available. */
export async function openUdp(family: Family, settings: UdpSettings): Promise<UdpSocket> {
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
  socket.on('error', (error) => settings.onError(errnoOf(error)));
  socket.on('message', (bytes, from) => settings.onDatagram(bytes, from.address, from.port));
  try {
    socket.setRecvBufferSize(settings.receiveBuffer);
  } catch (error) {
    settings.onError(errnoOf(error));
  }
  return {
    receiveBuffer: socket.getRecvBufferSize(),
    send: (bytes, port, address, done) =>
      socket.send(bytes, 0, bytes.length, port, address, (error) => done(error ? errnoOf(error) : null)),
    close: () => new Promise((resolve) => socket.close(resolve)),
  };
}

const errnoOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'error';
