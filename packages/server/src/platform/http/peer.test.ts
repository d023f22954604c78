import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { peerAddress } from './peer.ts';

const request = (remoteAddress: string | undefined, forwarded?: string) =>
  ({
    socket: { remoteAddress },
    headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded },
  }) as unknown as IncomingMessage;

describe('the address of a peer', () => {
  const of = peerAddress(['10.0.0.0/8']);

  it.each([
    ['is that of its socket', request('192.0.2.1'), '192.0.2.1'],
    ['is plain where the socket is for both families', request('::ffff:192.0.2.1'), '192.0.2.1'],
    ['is what a trusted proxy says', request('10.1.2.3', '203.0.113.5, 192.0.2.1'), '192.0.2.1'],
    ['is not what anybody else says', request('192.0.2.1', '203.0.113.5'), '192.0.2.1'],
    ['is empty where the socket is closed already', request(undefined), ''],
    ['is empty there also when it named others', request(undefined, '203.0.113.5'), ''],
  ])('%s', (_what, from, address) => {
    expect(of(from)).toBe(address);
  });
});
