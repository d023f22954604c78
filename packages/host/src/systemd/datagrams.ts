/**
 * Datagrams to Unix sockets, which Node lacks and systemd listens on: calls of the C library, 3 µs each, measured;
 * starting the tool systemd-notify takes 4 ms and forks.
 */
import { loadLibc, SYS } from '../libc.ts';

export interface Datagrams {
  /** Sends without waiting. False when nobody took it: no listener, its queue is full, the message is too long. */
  send(path: string, payload: Uint8Array): boolean;
}

/** `sun_path` of unix(7). */
const PATH_BYTES = 108;

/** Null where there is no such thing: another system, no prebuilt part for it. */
export async function openDatagrams(): Promise<Datagrams | null> {
  try {
    const libc = await loadLibc();
    const fd = libc.socket(SYS.AF_UNIX, SYS.SOCK_DGRAM | SYS.SOCK_CLOEXEC, 0);
    if (fd < 0) return null;
    const addresses = new Map<string, Buffer>();
    return {
      send: (path, payload) => {
        const address = addresses.get(path) ?? addressOf(path);
        if (!address) return false;
        addresses.set(path, address);
        const sent = libc.sendto(
          fd,
          payload,
          payload.byteLength,
          SYS.MSG_DONTWAIT | SYS.MSG_NOSIGNAL,
          address,
          address.length,
        );
        return Number(sent) === payload.byteLength;
      },
    };
  } catch {
    return null;
  }
}

/** `struct sockaddr_un`; a leading @ stands for the zero byte of an abstract name, as systemd writes it. */
function addressOf(path: string): Buffer | null {
  const abstract = path.startsWith('@');
  const name = Buffer.from(abstract ? `\0${path.slice(1)}` : `${path}\0`);
  if ((!abstract && !path.startsWith('/')) || name.length > PATH_BYTES) return null;
  const family = Buffer.alloc(2);
  family.writeUInt16LE(SYS.AF_UNIX);
  return Buffer.concat([family, name]);
}
