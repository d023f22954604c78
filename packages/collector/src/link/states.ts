/** The states of the link and the ways between them. */

/**
 * - waiting: no connection; the next try comes after a back-off
 * - connecting: TCP, TLS and the WebSocket handshake
 * - challenged: the socket is open, the server's nonce is signed and sent back when it comes
 * - greeting: the hello is sent, the welcome is awaited
 * - ready: the generation is written down and confirmed; work and results flow
 * - draining: the server is going away: nothing new is begun, what is on its way is waited for
 * - stopped: for good, by us or by revocation
 */
export type LinkState =
  | 'waiting'
  | 'connecting'
  | 'challenged'
  | 'greeting'
  | 'ready'
  | 'draining'
  | 'stopped';

/** State → the states it may be entered from. */
export const LINK_MOVES: Readonly<Record<LinkState, readonly LinkState[]>> = {
  waiting: ['connecting', 'challenged', 'greeting', 'ready', 'draining'],
  connecting: ['waiting'],
  challenged: ['connecting'],
  greeting: ['challenged'],
  ready: ['greeting'],
  draining: ['ready'],
  stopped: ['waiting', 'connecting', 'challenged', 'greeting', 'ready', 'draining'],
};
