/** Has no types of its own. */
declare module 'snappyjs' {
  /** In the block format, without a frame. */
  export function compress(bytes: Uint8Array): Uint8Array;
  export function uncompress(bytes: Uint8Array): Uint8Array;
}
