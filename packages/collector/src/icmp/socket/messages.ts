import { type Libc, SYS } from '@rollcall/host/libc';
import { NAME_STRIDE, Slots } from './slots.ts';

// struct mmsghdr on 64-bit Linux: msghdr {name, namelen, iov, iovlen, control, controllen, flags}, then len.
const MESSAGE = {
  size: 64,
  nameLength: 8,
  iov: 16,
  iovLength: 24,
  control: 32,
  controlLength: 40,
  length: 56,
} as const;
const IOV_BYTES = 16;
/** Time stamp (16 + 16) and overflow counter (16 + 8), each behind a 16-byte header. */
const CONTROL_BYTES = 64;
const CONTROL_HEADER = 16;

/** Slots with the message headers that `sendmmsg` and `recvmmsg` want: one system call moves a whole batch. */
export class Messages {
  readonly slots: Slots;
  readonly #libc: Libc;
  readonly #fd: number;
  readonly #headers: DataView;
  readonly #headerBytes: Uint8Array;
  /** Only their addresses stand in the headers: these fields keep them from being collected. */
  readonly #iov: DataView;
  readonly #control: DataView;
  readonly #nameLength: number;
  readonly #clock = new DataView(new ArrayBuffer(16));
  readonly #clockBytes = new Uint8Array(this.#clock.buffer);
  /** The receive queue's running count of datagrams it had no room for. */
  overflow = 0;

  /** `nameLength` is the size of the family's socket address. */
  constructor(
    libc: Libc,
    fd: number,
    options: { size: number; stride: number; nameLength: number; control: boolean },
  ) {
    const { size, stride, nameLength, control } = options;
    this.#libc = libc;
    this.#fd = fd;
    this.#nameLength = nameLength;
    this.slots = new Slots(size, stride);
    this.#headers = new DataView(new ArrayBuffer(size * MESSAGE.size));
    this.#headerBytes = new Uint8Array(this.#headers.buffer);
    this.#iov = new DataView(new ArrayBuffer(size * IOV_BYTES));
    this.#control = new DataView(new ArrayBuffer(size * CONTROL_BYTES));
    const data = libc.addressOf(this.slots.data.buffer);
    const names = libc.addressOf(this.slots.names.buffer);
    const iov = libc.addressOf(this.#iov.buffer);
    const controls = libc.addressOf(this.#control.buffer);
    for (let slot = 0; slot < size; slot += 1) {
      const header = slot * MESSAGE.size;
      this.#iov.setBigUint64(slot * IOV_BYTES, data + BigInt(slot * stride), true);
      this.#iov.setBigUint64(slot * IOV_BYTES + 8, BigInt(stride), true);
      this.#headers.setBigUint64(header, names + BigInt(slot * NAME_STRIDE), true);
      this.#headers.setUint32(header + MESSAGE.nameLength, nameLength, true);
      this.#headers.setBigUint64(header + MESSAGE.iov, iov + BigInt(slot * IOV_BYTES), true);
      this.#headers.setBigUint64(header + MESSAGE.iovLength, 1n, true);
      if (control)
        this.#headers.setBigUint64(header + MESSAGE.control, controls + BigInt(slot * CONTROL_BYTES), true);
    }
  }

  /** Sets the length of every message to be sent. */
  fixLength(bytes: number): void {
    for (let slot = 0; slot < this.slots.size; slot += 1) {
      this.#iov.setBigUint64(slot * IOV_BYTES + 8, BigInt(bytes), true);
    }
  }

  /** Sends slots `from` … `to`-1; how many went out, or -1 (see errno: it concerns slot `from`). */
  send(from: number, to: number): number {
    return this.#libc.sendmmsg(
      this.#fd,
      this.#headerBytes.subarray(from * MESSAGE.size),
      to - from,
      SYS.MSG_DONTWAIT,
    );
  }

  /** Fills slots with what has arrived, with lengths and times of arrival; how many, 0 when nothing waits. */
  receive(): number {
    const headers = this.#headers;
    for (let header = 0; header < headers.byteLength; header += MESSAGE.size) {
      headers.setUint32(header + MESSAGE.nameLength, this.#nameLength, true);
      headers.setUint32(header + MESSAGE.controlLength, CONTROL_BYTES, true);
    }
    const count = this.#libc.recvmmsg(this.#fd, this.#headerBytes, this.slots.size, SYS.MSG_DONTWAIT, null);
    if (count <= 0) return 0;
    this.#libc.clockGettime(SYS.CLOCK_REALTIME, this.#clockBytes);
    const now = performance.now();
    const seconds = this.#clock.getUint32(0, true);
    const nanoseconds = this.#clock.getUint32(8, true);
    for (let slot = 0; slot < count; slot += 1) {
      this.slots.lengths[slot] = headers.getUint32(slot * MESSAGE.size + MESSAGE.length, true);
      this.slots.arrived[slot] = now - this.#age(slot, seconds, nanoseconds);
    }
    return count;
  }

  /** Milliseconds a datagram waited in the receive queue, by the kernel's time stamp; also notes the overflow count. */
  #age(slot: number, seconds: number, nanoseconds: number): number {
    const control = this.#control;
    const end = Math.min(
      CONTROL_BYTES,
      this.#headers.getUint32(slot * MESSAGE.size + MESSAGE.controlLength, true),
    );
    let age = 0;
    for (let at = 0; at + CONTROL_HEADER <= end; ) {
      const start = slot * CONTROL_BYTES + at;
      const length = control.getUint32(start, true);
      if (length < CONTROL_HEADER || at + length > end) break;
      if (control.getUint32(start + 8, true) === SYS.SOL_SOCKET) {
        const type = control.getUint32(start + 12, true);
        const value = start + CONTROL_HEADER;
        // Low words suffice: both stamps are seconds apart at most.
        if (type === SYS.SO_TIMESTAMPNS) {
          age = ((seconds - control.getUint32(value, true)) | 0) * 1000;
          age += (nanoseconds - control.getUint32(value + 8, true)) / 1e6;
        } else if (type === SYS.SO_RXQ_OVFL) this.overflow = control.getUint32(value, true);
      }
      at += (length + 7) & ~7;
    }
    // A wall clock that was set meanwhile would show as a wild age.
    return age >= 0 && age < 10_000 ? age : 0;
  }
}
