/** The ways to send ICMP echo requests, in the order in which they are tried. */
export const ENGINES = ['datagram', 'raw', 'ping'] as const;
export type EngineName = (typeof ENGINES)[number];
