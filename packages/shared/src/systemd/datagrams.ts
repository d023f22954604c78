/**
 * Datagrams to Unix sockets, which Node lacks and systemd listens on: three calls of the C library through koffi
 * (prebuilt: no compiler). 3 µs each, measured; starting the tool systemd-notify takes 4 ms and forks.
 */

export interface Datagrams {
  /** Sends without waiting. False when nobody took it: no listener, its queue is full, the message is too long. */
  send(path: string, payload: Uint8Array): boolean;
}

/** Linux, the same on x86-64 and arm64. */
const AF_UNIX = 1;
const SOCK_DGRAM = 2;
const SOCK_CLOEXEC = 0o2000000;
const MSG_DONTWAIT = 0x40;
const MSG_NOSIGNAL = 0x4000;
/** `sun_path` of unix(7). */
const PATH_BYTES = 108;

/** Null where there is no such thing: another system, no prebuilt part for it. */
export async function openDatagrams(): Promise<Datagrams | null> {
  if (process.platform !== 'linux') return null;
  try {
    const { default: koffi } = await import('koffi');
    const libc = koffi.load(null);
    const socket = libc.func('int socket(int, int, int)');
    const sendto = libc.func('intptr_t sendto(int, void *, size_t, int, void *, uint32_t)');
    const fd: number = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return null;
    const addresses = new Map<string, Buffer>();
    return {
      send: (path, payload) => {
        const address = addresses.get(path) ?? addressOf(path);
        if (!address) return false;
        addresses.set(path, address);
        const sent = sendto(
          fd,
          payload,
          payload.byteLength,
          MSG_DONTWAIT | MSG_NOSIGNAL,
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
  family.writeUInt16LE(AF_UNIX);
  return Buffer.concat([family, name]);
}
