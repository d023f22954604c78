/** How an agent turns a request into a response (RFC 3416 section 4.2; for v1 RFC 1157 section 4.1 and RFC 3584). */
import { ErrorStatus, type Pdu, type PlainPdu, type Value, type Varbind } from '@rollcall/snmp/message/pdu';
import type { View } from './mib.ts';

export interface Reply {
  pdu: PlainPdu;
  /** Of a getBulk: may be cut at its end to fit, where others answer tooBig. */
  cuttable: boolean;
}

/** Most varbinds in one answer, whatever a getBulk asks. */
const MOST_VARBINDS = 10_000;
/** Least octets that a varbind takes besides its content: three headers and a short name. */
const VARBIND_OCTETS = 12;

/**
 * The answer to `pdu` out of `view`; null for what an agent does not answer (responses, traps, getBulk in v1).
 * `room` octets bound what is gathered for a getBulk; the exact cut is made when it is encoded.
 */
export function respond(view: View, pdu: Pdu, version: 'v1' | 'v2', room: number): Reply | null {
  switch (pdu.type) {
    case 'get':
    case 'getNext': {
      const ask = pdu.type === 'get' ? exact : following;
      return plain(
        pdu,
        pdu.varbinds.map((v) => ask(view, v.oid, version)),
        version,
      );
    }
    case 'getBulk':
      if (version === 'v1') return null;
      return { pdu: response(pdu.requestId, bulk(view, pdu, room)), cuttable: true };
    case 'set':
      return failed(pdu, version === 'v1' ? ErrorStatus.noSuchName : ErrorStatus.notWritable, 1);
    case 'inform':
      return version === 'v1' ? null : { pdu: response(pdu.requestId, pdu.varbinds), cuttable: false };
    default:
      return null;
  }
}

/** The answer when the response does not fit: v1 gives the varbinds back, v2 none (RFC 3416 section 4.2.1). */
export const tooBig = (pdu: Pdu, version: 'v1' | 'v2'): PlainPdu => ({
  ...response('requestId' in pdu ? pdu.requestId : 0, version === 'v1' ? pdu.varbinds : []),
  errorStatus: ErrorStatus.tooBig,
});

/** Cuts a getBulk answer that takes `size` octets down to about `room`; false when nothing is left to cut. */
export function cut(pdu: PlainPdu, size: number, room: number): boolean {
  const count = pdu.varbinds.length;
  pdu.varbinds.length = Math.min(count - 1, Math.floor((count * room) / size));
  return pdu.varbinds.length > 0;
}

function plain(pdu: PlainPdu, varbinds: Varbind[], version: 'v1' | 'v2'): Reply {
  const missing = version === 'v1' ? varbinds.findIndex((v) => v.value === null && v.type !== 'null') : -1;
  if (missing >= 0) return failed(pdu, ErrorStatus.noSuchName, missing + 1);
  return { pdu: response(pdu.requestId, varbinds), cuttable: false };
}

const response = (requestId: number, varbinds: Varbind[]): PlainPdu => ({
  type: 'response',
  requestId,
  errorStatus: ErrorStatus.noError,
  errorIndex: 0,
  varbinds,
});

const failed = (pdu: PlainPdu, errorStatus: number, errorIndex: number): Reply => ({
  pdu: { ...response(pdu.requestId, pdu.varbinds), errorStatus, errorIndex },
  cuttable: false,
});

function exact(view: View, oid: string, version: 'v1' | 'v2'): Varbind {
  const value = view.get(oid);
  if (value && shownIn(version, value)) return { oid, ...value };
  const column = oid.slice(0, oid.lastIndexOf('.'));
  return { oid, type: view.hasUnder(column) ? 'noSuchInstance' : 'noSuchObject', value: null };
}

function following(view: View, oid: string, version: 'v1' | 'v2'): Varbind {
  const next = view.after(oid);
  for (let object = next(); object; object = next()) {
    if (shownIn(version, object.value)) return { oid: object.oid, ...object.value };
  }
  return { oid, type: 'endOfMibView', value: null };
}

/** v1 has no Counter64: such objects do not exist for it (RFC 3584 section 4.2.2.1). */
const shownIn = (version: 'v1' | 'v2', value: Value): boolean =>
  version === 'v2' || value.type !== 'counter64';

type BulkPdu = Extract<Pdu, { type: 'getBulk' }>;

/** RFC 3416 section 4.2.3; ends early when all repeaters have reached the end or the room is surely used up. */
function bulk(view: View, pdu: BulkPdu, room: number): Varbind[] {
  const single = Math.max(0, pdu.nonRepeaters);
  const varbinds = pdu.varbinds.slice(0, single).map((v) => following(view, v.oid, 'v2'));
  const repeaters = pdu.varbinds.slice(single).map(({ oid }) => ({ oid, next: view.after(oid) }));
  let used = varbinds.length * VARBIND_OCTETS;
  for (let i = 0; i < pdu.maxRepetitions && repeaters.length > 0; i++) {
    let ended = 0;
    for (const repeater of repeaters) {
      const object = repeater.next();
      if (object) {
        repeater.oid = object.oid;
        varbinds.push({ oid: object.oid, ...object.value });
        used += VARBIND_OCTETS + (Buffer.isBuffer(object.value.value) ? object.value.value.length : 0);
      } else {
        ended += 1;
        varbinds.push({ oid: repeater.oid, type: 'endOfMibView', value: null });
        used += VARBIND_OCTETS;
      }
      if (used > room || varbinds.length >= MOST_VARBINDS) return varbinds;
    }
    if (ended === repeaters.length) break;
  }
  return varbinds;
}
