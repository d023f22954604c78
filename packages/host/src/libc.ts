/** The handful of system calls that Node lacks, through koffi (prebuilt: no compiler, no child process). Linux only. */

/** Linux constants, the same on x86-64, arm64 and riscv64. */
export const SYS = {
  AF_UNIX: 1,
  AF_INET: 2,
  AF_INET6: 10,
  SOCK_DGRAM: 2,
  SOCK_RAW: 3,
  SOCK_CLOEXEC: 0o2000000,
  IPPROTO_ICMP: 1,
  IPPROTO_ICMPV6: 58,
  SOL_SOCKET: 1,
  SO_SNDBUF: 7,
  SO_RCVBUF: 8,
  SO_ATTACH_FILTER: 26,
  SO_SNDBUFFORCE: 32,
  SO_RCVBUFFORCE: 33,
  SO_TIMESTAMPNS: 35,
  SO_RXQ_OVFL: 40,
  IPPROTO_IPV6: 41,
  IPV6_V6ONLY: 26,
  MSG_DONTWAIT: 0x40,
  MSG_NOSIGNAL: 0x4000,
  CLOCK_REALTIME: 0,
} as const;

/** Each returns what the C function returns; after -1, `errno()` names the error (`EACCES`, …). */
export interface Libc {
  socket(domain: number, type: number, protocol: number): number;
  bind(fd: number, address: Uint8Array, length: number): number;
  getsockname(fd: number, address: Uint8Array, length: Uint8Array): number;
  setsockopt(fd: number, level: number, name: number, value: Uint8Array, length: number): number;
  getsockopt(fd: number, level: number, name: number, value: Uint8Array, length: Uint8Array): number;
  sendto(
    fd: number,
    payload: Uint8Array,
    length: number,
    flags: number,
    address: Uint8Array,
    addressLength: number,
  ): number | bigint;
  sendmmsg(fd: number, messages: Uint8Array, count: number, flags: number): number;
  recvmmsg(fd: number, messages: Uint8Array, count: number, flags: number, timeout: null): number;
  clockGettime(clock: number, time: Uint8Array): number;
  close(fd: number): number;
  errno(): string;
  /** Address of a buffer's first byte; the buffer has to outlive its use. */
  addressOf(buffer: ArrayBufferLike): bigint;
}

let loaded: Promise<Libc> | undefined;

/** The C library of this process; rejects with the reason where it cannot be used. */
export const loadLibc = (): Promise<Libc> => {
  loaded ??= bindLibc();
  return loaded;
};

const bindLibc = async (): Promise<Libc> => {
  if (process.platform !== 'linux') throw new Error(`these are Linux calls, this is ${process.platform}`);
  const { default: koffi } = await import('koffi');
  // The process itself: whatever C library (glibc, musl) Node runs on is already in it.
  const self = koffi.load(null);
  const names = new Map(Object.entries(koffi.os.errno).map(([name, number]) => [number, name]));
  return {
    socket: self.func('int socket(int, int, int)'),
    bind: self.func('int bind(int, void *, uint32_t)'),
    getsockname: self.func('int getsockname(int, void *, void *)'),
    setsockopt: self.func('int setsockopt(int, int, int, void *, uint32_t)'),
    getsockopt: self.func('int getsockopt(int, int, int, void *, void *)'),
    sendto: self.func('intptr_t sendto(int, void *, size_t, int, void *, uint32_t)'),
    sendmmsg: self.func('int sendmmsg(int, void *, uint32_t, int)'),
    recvmmsg: self.func('int recvmmsg(int, void *, uint32_t, int, void *)'),
    clockGettime: self.func('int clock_gettime(int, void *)'),
    close: self.func('int close(int)'),
    errno: () => names.get(koffi.errno()) ?? `errno ${koffi.errno()}`,
    addressOf: (buffer) => koffi.address(buffer),
  };
};
