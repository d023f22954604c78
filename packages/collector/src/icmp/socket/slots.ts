import type { Family } from '@rollcall/shared/ip';

/** Bytes of a socket address: sockaddr_in, sockaddr_in6 (28) rounded up so that every slot starts aligned. */
export const NAME_STRIDE = 32;
/** Where the address stands in a socket address. */
export const addressOffset = (family: Family): number => (family === 4 ? 4 : 8);

/**
 * Room for `size` datagrams: payload bytes, socket address, length and time of arrival of each, side by side in memory
 * that the system call reads and writes directly.
 */
export class Slots {
  readonly size: number;
  /** Bytes reserved for one payload. */
  readonly stride: number;
  readonly data: DataView;
  readonly names: DataView;
  readonly lengths: Uint32Array;
  /** When each datagram arrived, monotonic milliseconds. */
  readonly arrived: Float64Array;

  constructor(size: number, stride: number) {
    this.size = size;
    this.stride = stride;
    this.data = new DataView(new ArrayBuffer(size * stride));
    this.names = new DataView(new ArrayBuffer(size * NAME_STRIDE));
    this.lengths = new Uint32Array(size);
    this.arrived = new Float64Array(size);
  }
}
