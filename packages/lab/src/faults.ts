/** Ways in which agents and networks misbehave, for tests. Views wrap what is shown, responders what is sent. */
import type { Clock } from '@rollcall/shared/clock';
import { compareOid, isUnder } from '@rollcall/shared/oid';
import {
  type CommunityMessage,
  decodeCommunityMessage,
  encodeCommunityMessage,
  encodeScopedPdu,
  encodeSecureEnvelope,
  openMessage,
  readSecureEnvelope,
} from '@rollcall/snmp/message/message';
import type { PlainPdu } from '@rollcall/snmp/message/pdu';
import type { Mib, MibObject, View } from './mib.ts';
import { integer } from './value.ts';
import type { Responder } from './wire.ts';

const viewWith = (view: View, next: (oid: string) => MibObject | undefined): View => ({
  get: (oid) => view.get(oid),
  hasUnder: (prefix) => view.hasUnder(prefix),
  after: (oid) => {
    let at: string | undefined = oid;
    return () => {
      const object: MibObject | undefined = at === undefined ? undefined : next(at);
      at = object?.oid;
      return object;
    };
  },
});

/** After `from` comes `to` again and again: the same OID for ever when they are equal, a cycle when `to` is before. */
export function looping(view: View, from: string, to = from): View {
  const target = (): MibObject | undefined => {
    const value = view.get(to);
    return value && { oid: to, value };
  };
  return viewWith(view, (oid) => (oid === from ? target() : view.after(oid)()));
}

/** Under `prefix` there is always one more row: `prefix`.1, .2, .3 … */
export function endless(view: View, prefix: string): View {
  return viewWith(view, (oid) => {
    if (!isUnder(oid, prefix)) {
      const object = view.after(oid)();
      const first = `${prefix}.1`;
      const passesBy = compareOid(oid, first) < 0 && (!object || compareOid(object.oid, first) > 0);
      return passesBy ? { oid: first, value: integer(1) } : object;
    }
    const row = Number(oid.slice(prefix.length + 1).split('.')[0] || 0) + 1;
    return { oid: `${prefix}.${row}`, value: integer(row) };
  });
}

/** Serves the objects under `prefix` in the order given by `sort`, with the rest of the MIB around them. */
export function misordered(mib: Mib, prefix: string, sort: (a: MibObject, b: MibObject) => number): View {
  const objects = [...mib.under(prefix)].sort(sort);
  const place = new Map(objects.map(({ oid }, i) => [oid, i]));
  const behind = [...mib.under(prefix)].at(-1)?.oid ?? prefix;
  return viewWith(mib, (oid) => {
    const at = place.get(oid);
    if (at !== undefined) return objects[at + 1] ?? mib.after(behind)();
    const object = mib.after(oid)();
    return object && isUnder(object.oid, prefix) ? objects[0] : object;
  });
}

/** Answers nothing. */
export const silent: Responder = () => undefined;

/** Answers after `ms`, or after a time between two bounds. */
export const delayed =
  (
    inner: Responder,
    clock: Clock,
    ms: number | [least: number, most: number],
    random = Math.random,
  ): Responder =>
  (datagram, send, from) =>
    inner(
      datagram,
      (answer) => {
        const wait = typeof ms === 'number' ? ms : ms[0] + random() * (ms[1] - ms[0]);
        void clock.sleep(wait).then(() => send(answer));
      },
      from,
    );

/** Loses a share of requests and the same share of answers. */
export const lossy =
  (inner: Responder, share: number, random = Math.random): Responder =>
  (datagram, send, from) => {
    if (random() < share) return;
    inner(datagram, (answer) => void (random() >= share && send(answer)), from);
  };

/** Goes silent after `count` requests: a device that dies in the middle of a walk. */
export const dyingAfter = (inner: Responder, count: number): Responder => {
  let left = count;
  return (datagram, send, from) => void (left-- > 0 && inner(datagram, send, from));
};

/** Sends every answer `times` times. */
export const repeated =
  (inner: Responder, times: number): Responder =>
  (datagram, send, from) =>
    inner(
      datagram,
      (answer) => {
        for (let i = 0; i < times; i++) send(answer);
      },
      from,
    );

/** Sends what `change` makes of each answer: damaged, forged or replayed datagrams, none for silence. */
export const mangled =
  (inner: Responder, change: (answer: Buffer, request: Buffer) => Buffer[]): Responder =>
  (datagram, send, from) =>
    inner(
      datagram,
      (answer) => {
        for (const forged of change(answer, datagram)) send(forged);
      },
      from,
    );

/** Sends what `change` makes of each v1 or v2c answer: another request id, other OIDs, another community. */
export const reworded = (
  inner: Responder,
  change: (message: CommunityMessage) => CommunityMessage,
): Responder => mangled(inner, (answer) => [encodeCommunityMessage(change(decodeCommunityMessage(answer)))]);

/**
 * Puts in front of each v3 answer one with the same message id and user that carries `pdu` without authentication or
 * encryption: what somebody on the path could send who knows no key.
 */
export const unauthenticated = (inner: Responder, pdu: PlainPdu): Responder =>
  mangled(inner, (answer) => {
    const envelope = readSecureEnvelope(openMessage(answer).reader);
    const scoped = { contextEngineId: envelope.engineId, contextName: Buffer.alloc(0), pdu };
    const forged = encodeSecureEnvelope({
      ...envelope,
      authenticated: false,
      encrypted: false,
      digest: Buffer.alloc(0),
      salt: Buffer.alloc(0),
      payload: encodeScopedPdu(scoped),
    });
    return [forged, answer];
  });

/** Lets `other`, a socket somewhere else, send every answer instead: right content, wrong source. */
export const fromElsewhere =
  (inner: Responder, other: (answer: Buffer, port: number, address: string) => void): Responder =>
  (datagram, _send, from) =>
    inner(datagram, (answer) => other(answer, from.port, from.address), from);
