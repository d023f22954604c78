/** A plain SNMP manager for tests: no retries, no guard, one datagram at a time. */
import { createSocket } from 'node:dgram';
import { decodeCommunityMessage, encodeCommunityMessage } from '@rollcall/snmp/message/message';
import type { Pdu, PlainPdu, Varbind } from '@rollcall/snmp/message/pdu';

export const asNull = (oid: string): Varbind => ({ oid, type: 'null', value: null });

/** The bytes of a v1 or v2c request. */
export const request = (
  pdu:
    | { type: 'get' | 'getNext' | 'set'; varbinds: Varbind[] }
    | { type: 'getBulk'; single?: number; most: number; varbinds: Varbind[] },
  version: 'v1' | 'v2c' = 'v2c',
  community = 'public',
): Buffer => {
  const full: Pdu =
    pdu.type === 'getBulk'
      ? {
          type: 'getBulk',
          requestId: 7,
          nonRepeaters: pdu.single ?? 0,
          maxRepetitions: pdu.most,
          varbinds: pdu.varbinds,
        }
      : { type: pdu.type, requestId: 7, errorStatus: 0, errorIndex: 0, varbinds: pdu.varbinds };
  return encodeCommunityMessage({ version, community: Buffer.from(community), pdu: full });
};

export const get = (...oids: string[]) => request({ type: 'get', varbinds: oids.map(asNull) });
export const getNext = (...oids: string[]) => request({ type: 'getNext', varbinds: oids.map(asNull) });
export const getBulk = (most: number, ...oids: string[]) =>
  request({ type: 'getBulk', most, varbinds: oids.map(asNull) });

export const readReply = (bytes: Buffer | null): PlainPdu => {
  if (!bytes) throw new Error('no answer');
  const { pdu } = decodeCommunityMessage(bytes);
  if (pdu.type !== 'response') throw new Error(`a ${pdu.type}, no response`);
  return pdu;
};

/** Sends `datagram` and gives back what arrives within `ms`, with the port it came from. */
export async function exchange(
  address: string,
  port: number,
  datagram: Buffer,
  { answers = 1, ms = 3000 } = {},
): Promise<{ bytes: Buffer; port: number; address: string }[]> {
  const socket = createSocket('udp4');
  const got: { bytes: Buffer; port: number; address: string }[] = [];
  try {
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(resolve, ms);
      socket.on('error', reject);
      socket.on('message', (bytes, from) => {
        got.push({ bytes, port: from.port, address: from.address });
        if (got.length < answers) return;
        clearTimeout(timer);
        resolve();
      });
      socket.send(datagram, port, address);
    });
  } finally {
    socket.close();
  }
  return got;
}

/** Every object an agent shows, by getBulk, until the end of the MIB. */
export function walk(answer: (datagram: Buffer) => Buffer | null, most = 20): Varbind[] {
  const found: Varbind[] = [];
  for (let at = '0.0'; ; ) {
    const { varbinds } = readReply(answer(getBulk(most, at)));
    for (const varbind of varbinds) {
      if (varbind.type === 'endOfMibView') return found;
      found.push(varbind);
      at = varbind.oid;
    }
    if (varbinds.length === 0) throw new Error(`an empty answer after ${at}`);
  }
}
