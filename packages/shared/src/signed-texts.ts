/** What collectors and servers sign on the wire. `docs/protocol.md` says who checks which. */

/**
 * The exact text that `hello.signature` covers. `host` is the host of the server's address as the collector has it
 * (`new URL(server).host`: lower case, with a port that is not the default), so that a signature given to one server
 * opens no other.
 */
export const signedHello = (h: {
  nonce: string;
  collector: string;
  generation: number;
  epoch: string;
  host: string;
}): string => ['rollcall-hello-1', h.nonce, h.collector, h.generation, h.epoch, h.host].join('\n');

/** The exact text that `new-key.signature` covers, signed by the new key; `nonce` is the connection's challenge. */
export const signedKey = (k: { nonce: string; collector: string; publicKey: string }): string =>
  ['rollcall-key-1', k.nonce, k.collector, k.publicKey].join('\n');

/**
 * The exact text that `challenge.successor` covers, signed (ECDSA, SHA-256) by the authority that collectors joined by.
 * @param fingerprint SHA-256 of the certificate that TLS showed (DER), hex
 */
export const signedSuccessor = (fingerprint: string): string =>
  ['rollcall-successor-1', fingerprint].join('\n');
