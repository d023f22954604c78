/** Echo over an ICMP socket of our own: datagram (no privilege, net.ipv4.ping_group_range) or raw (CAP_NET_RAW). */
import { randomBytes, randomInt } from 'node:crypto';
import { type Libc, SYS } from '@rollcall/host/libc';
import type { AddressSpace } from '@rollcall/shared/address-space';
import type { Family } from '@rollcall/shared/ip';
import {
  type Echo,
  type EchoCounts,
  type EchoEvents,
  type EchoOptions,
  EchoRefused,
  noCounts,
} from '../echo.ts';
import { refusalOf } from '../refusal.ts';
import { EchoCodec, REQUEST_BYTES } from './codec.ts';
import { attachFilter } from './filter.ts';
import { Messages } from './messages.ts';

export type SocketKind = 'datagram' | 'raw';

/** Requests of one system call: measured best between 32 and 64, where more only makes the queue longer. */
const BATCH = 64;
/** Room for one received datagram: IPv4 header with options, ICMP header, what we sent. */
const RECEIVE_STRIDE = 192;
/** Asked for; the kernel doubles it and counts its own overhead against it. */
const BUFFER_BYTES = 4 << 20;
/** What one small datagram costs in the receive buffer at worst (skb and a page fragment, seen with real drivers). */
const DATAGRAM_COST = 2304;
/** System calls of one `receive`: 1,024 datagrams, about 2 ms, however fast they come in. */
const CALLS_PER_RECEIVE = 16;
/** Errors that pass by themselves: the send queue or the neighbour table is full. */
const LATER = new Set(['EAGAIN', 'ENOBUFS', 'EINTR', 'ENOMEM']);

export interface SocketWanted {
  libc: Libc;
  kind: SocketKind;
  family: Family;
}

interface Opened {
  fd: number;
  id: number;
  receiveBuffer: number;
}

/** Opens and configures a socket, or throws the refusal. */
const openSocket = ({ libc, kind, family }: SocketWanted): Opened => {
  const domain = family === 4 ? SYS.AF_INET : SYS.AF_INET6;
  const type = (kind === 'raw' ? SYS.SOCK_RAW : SYS.SOCK_DGRAM) | SYS.SOCK_CLOEXEC;
  const fd = libc.socket(domain, type, family === 4 ? SYS.IPPROTO_ICMP : SYS.IPPROTO_ICMPV6);
  if (fd < 0) throw new EchoRefused(refusalOf(kind, family, libc.errno()));
  const id = kind === 'raw' ? randomInt(1, 0x10000) : bindId(libc, fd, family);
  if (id < 0 || (kind === 'raw' && !attachFilter(libc, fd, family, id))) {
    const refusal = refusalOf(kind, family, libc.errno());
    libc.close(fd);
    throw new EchoRefused(refusal);
  }
  const option = (name: number, value: number) =>
    libc.setsockopt(fd, SYS.SOL_SOCKET, name, int(value), 4) === 0;
  if (!option(SYS.SO_RCVBUFFORCE, BUFFER_BYTES)) option(SYS.SO_RCVBUF, BUFFER_BYTES);
  // Requests that wait for a neighbour's hardware address count as unsent: a dark link would stop a small buffer.
  if (!option(SYS.SO_SNDBUFFORCE, BUFFER_BYTES)) option(SYS.SO_SNDBUF, BUFFER_BYTES);
  option(SYS.SO_TIMESTAMPNS, 1);
  option(SYS.SO_RXQ_OVFL, 1);
  const size = int(0);
  libc.getsockopt(fd, SYS.SOL_SOCKET, SYS.SO_RCVBUF, size, int(4));
  return { fd, id, receiveBuffer: new DataView(size.buffer).getInt32(0, true) };
};

const int = (value: number): Uint8Array<ArrayBuffer> => new Uint8Array(Int32Array.of(value).buffer);

/** Datagram sockets get their identifier from the kernel, as a port number; -1 on error. */
const bindId = (libc: Libc, fd: number, family: Family): number => {
  const name = new Uint8Array(28);
  new DataView(name.buffer).setUint16(0, family === 4 ? SYS.AF_INET : SYS.AF_INET6, true);
  const length = family === 4 ? 16 : 28;
  if (libc.bind(fd, name, length) < 0 || libc.getsockname(fd, name, int(length)) < 0) return -1;
  return new DataView(name.buffer).getUint16(2);
};

export class SocketEcho implements Echo {
  readonly counts: EchoCounts = noCounts();
  readonly batch: number;
  readonly #libc: Libc;
  readonly #fd: number;
  readonly #codec: EchoCodec;
  readonly #out: Messages;
  readonly #in: Messages;
  readonly #events: EchoEvents;
  #open = true;

  constructor(socket: SocketWanted, space: AddressSpace, events: EchoEvents, options: EchoOptions = {}) {
    const { libc, kind, family } = socket;
    const { fd, id, receiveBuffer } = openSocket(socket);
    this.#libc = libc;
    this.#fd = fd;
    this.#events = events;
    this.batch = Math.max(1, Math.min(BATCH, Math.floor(receiveBuffer / DATAGRAM_COST)));
    this.#codec = new EchoCodec({
      family,
      space,
      id,
      key: options.key ?? randomBytes(16),
      batch: BATCH,
      ipHeader: kind === 'raw' && family === 4,
      checksum: kind === 'raw' && family === 4,
    });
    const nameLength = family === 4 ? 16 : 28;
    this.#out = new Messages(libc, fd, { size: BATCH, stride: 32, nameLength, control: false });
    this.#out.fixLength(REQUEST_BYTES);
    const { names } = this.#out.slots;
    const afterName = names.byteLength / BATCH;
    for (let slot = 0; slot < BATCH; slot += 1) {
      names.setUint16(slot * afterName, family === 4 ? SYS.AF_INET : SYS.AF_INET6, true);
    }
    this.#in = new Messages(libc, fd, { size: BATCH, stride: RECEIVE_STRIDE, nameLength, control: true });
  }

  send(indexes: Uint32Array, attempts: Uint8Array): number {
    const most = Math.min(indexes.length, this.batch);
    this.#codec.encode(this.#out.slots, indexes.subarray(0, most), attempts, performance.now());
    let done = 0;
    while (done < most) {
      const sent = this.#out.send(done, most);
      if (sent > 0) {
        this.counts.sent += sent;
        done += sent;
        continue;
      }
      const code = this.#libc.errno();
      if (LATER.has(code)) break;
      this.counts.failed[code] = (this.counts.failed[code] ?? 0) + 1;
      this.#events.failed(indexes[done] ?? 0, code);
      done += 1;
    }
    return done;
  }

  receive(): boolean {
    for (let call = 0; this.#open && call < CALLS_PER_RECEIVE; call += 1) {
      const count = this.#in.receive();
      if (count > 0) this.#codec.decode(this.#in.slots, count, this.#events, this.counts);
      this.counts.overflow = this.#in.overflow;
      if (count < this.#in.slots.size) return false;
    }
    return this.#open;
  }

  close(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#libc.close(this.#fd);
  }
}
