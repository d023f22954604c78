/** The other side of the wire for tests: an agent on loopback that answers as it is told, badly if need be. */

import { createSocket, type Socket } from 'node:dgram';
import { systemClock } from '@rollcall/shared/clock';
import { compareOid } from '@rollcall/shared/oid';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { SnmpEngine } from '../engine/engine.ts';
import {
  type CommunityMessage,
  decodeCommunityMessage,
  encodeCommunityMessage,
  openMessage,
  readSecureEnvelope,
} from '../message/message.ts';
import type { Pdu, PlainPdu, Value, Varbind } from '../message/pdu.ts';
import type { AuthoritativeEngine } from '../message/usm.ts';

export type Asked = Exclude<Pdu, { type: 'trapV1' }>;

/** What to do with one datagram. `send` answers from the agent's own address. */
export type Handler = (request: Buffer, send: (answer: Buffer) => void, from: { port: number }) => void;

export class FakeAgent {
  readonly address: string;
  received = 0;
  readonly #socket: Socket;
  handler: Handler;

  private constructor(socket: Socket, handler: Handler) {
    this.#socket = socket;
    this.address = socket.address().address;
    this.handler = handler;
    socket.on('message', (bytes, from) => {
      this.received += 1;
      this.handler(bytes, (answer) => this.send(answer, from.port), from);
    });
  }

  static async start(handler: Handler, address = '127.0.0.1', port = 0): Promise<FakeAgent> {
    const socket = createSocket(address.includes(':') ? 'udp6' : 'udp4');
    await new Promise<void>((resolve) => socket.bind(port, address, resolve));
    return new FakeAgent(socket, handler);
  }

  get port(): number {
    return this.#socket.address().port;
  }

  send(bytes: Buffer, port: number): void {
    this.#socket.send(bytes, port, this.address.includes(':') ? '::1' : '127.0.0.1');
  }

  close(): Promise<void> {
    return new Promise((resolve) => this.#socket.close(() => resolve()));
  }
}

/** Answers a v1 or v2c request with what `reply` makes of its PDU; null is silence. */
export const community =
  (reply: (pdu: Asked, message: CommunityMessage) => Pdu | null): Handler =>
  (bytes, send) => {
    const message = decodeCommunityMessage(bytes);
    if (message.pdu.type === 'trapV1') return;
    const pdu = reply(message.pdu, message);
    if (pdu) send(encodeCommunityMessage({ ...message, pdu }));
  };

/** The same for v3, behind the agent's engine. `answer` may forge or withhold the honest datagram. */
export const secure =
  (
    engine: AuthoritativeEngine,
    reply: (pdu: Asked) => Pdu,
    answer: (honest: Buffer, send: (bytes: Buffer) => void) => void = (honest, send) => send(honest),
  ): Handler =>
  (bytes, send) => {
    const { reader } = openMessage(bytes);
    const received = engine.receive(bytes, readSecureEnvelope(reader));
    if (received.kind === 'report') send(received.bytes);
    if (received.kind !== 'request' || received.request.scoped.pdu.type === 'trapV1') return;
    answer(engine.respond(received.request, reply(received.request.scoped.pdu)), send);
  };

export const response = (asked: Asked, varbinds: Varbind[], errorStatus = 0, errorIndex = 0): PlainPdu => ({
  type: 'response',
  requestId: asked.requestId,
  errorStatus,
  errorIndex,
  varbinds,
});

/** An honest agent over these objects: get, getNext and getBulk as RFC 3416 wants them. */
export function honest(objects: Record<string, Value>): (asked: Asked) => PlainPdu {
  const oids = Object.keys(objects).sort(compareOid);
  const nextOf = new Map<string, string | undefined>();
  const after = (oid: string): Varbind => {
    if (!nextOf.has(oid))
      nextOf.set(
        oid,
        oids.find((each) => compareOid(each, oid) > 0),
      );
    const next = nextOf.get(oid);
    return next === undefined
      ? { oid, type: 'endOfMibView', value: null }
      : ({ oid: next, ...objects[next] } as Varbind);
  };
  return (asked) => {
    if (asked.type === 'getNext')
      return response(
        asked,
        asked.varbinds.map(({ oid }) => after(oid)),
      );
    if (asked.type !== 'getBulk') {
      return response(
        asked,
        asked.varbinds.map(({ oid }): Varbind => {
          const value = objects[oid];
          return value ? ({ oid, ...value } as Varbind) : { oid, type: 'noSuchObject', value: null };
        }),
      );
    }
    const rows: Varbind[] = [];
    let row = asked.varbinds.map(({ oid }) => oid);
    for (let i = 0; i < asked.maxRepetitions; i++) {
      const next = row.map(after);
      rows.push(...next);
      row = next.map(({ oid }) => oid);
    }
    return response(asked, rows);
  };
}

/** An engine for the tests of a file, and agents that end with the test that started them. */
export function useEngine() {
  const used = { engine: undefined as unknown as SnmpEngine };
  const agents: FakeAgent[] = [];
  beforeAll(async () => {
    used.engine = await SnmpEngine.open({ clock: systemClock });
  });
  afterAll(() => used.engine.close());
  afterEach(async () => {
    await Promise.all(agents.splice(0).map((agent) => agent.close()));
  });
  const agentThat = async (handler: Handler, address?: string): Promise<FakeAgent> => {
    const agent = await FakeAgent.start(handler, address);
    agents.push(agent);
    return agent;
  };
  return { used, agents, agentThat };
}
