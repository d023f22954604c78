import { systemClock } from '@rollcall/shared/clock';
import {
  decodeScopedPdu,
  encodeScopedPdu,
  encodeSecureEnvelope,
  openMessage,
  readSecureEnvelope,
} from '@rollcall/snmp/message/message';
import type { PlainPdu } from '@rollcall/snmp/message/pdu';
import { afterEach, describe, expect, it } from 'vitest';
import { Agent } from './agent.ts';
import {
  delayed,
  dyingAfter,
  endless,
  fromElsewhere,
  looping,
  lossy,
  mangled,
  misordered,
  repeated,
  reworded,
  silent,
  unauthenticated,
} from './faults.ts';
import { type Entry, Mib, type View } from './mib.ts';
import { responderOf } from './replay.ts';
import { exchange, get, getNext, readReply, walk } from './testing/client.ts';
import { integer } from './value.ts';
import { type Responder, Wire } from './wire.ts';

const rows = (table: string, count: number): Entry[] =>
  Array.from({ length: count }, (_, i) => [`${table}.${i + 1}`, integer(i + 1)]);
const mib = new Mib([...rows('1.3.1', 3), ...rows('1.3.2', 5), ...rows('1.3.3', 2)]);
const agentOf = (view: View): Agent => {
  const contexts = new Map([['', view]]);
  return new Agent({
    contexts: () => contexts,
    access: [{ version: 'v2c', community: 'public' }],
    engineId: Buffer.from('80001f8804deadbeef', 'hex'),
    seconds: () => 1,
  });
};
const good = responderOf(agentOf(mib));

const wires: Wire[] = [];
afterEach(async () => {
  await Promise.all(wires.splice(0).map((wire) => wire.stop()));
});
async function serve(responder: Responder, address = '127.77.2.1'): Promise<{ wire: Wire; port: number }> {
  const wire = new Wire(0);
  wires.push(wire);
  await wire.attach(address, responder);
  return { wire, port: wire.portOf(address) };
}
const address = '127.77.2.1';

describe('Wire', () => {
  it('answers from the address and port that were asked', async () => {
    const { port } = await serve(good);
    const [answer] = await exchange(address, port, get('1.3.1.1'));
    expect(answer).toMatchObject({ address, port });
    expect(readReply(answer?.bytes ?? null).varbinds[0]?.value).toBe(1);
  });

  it('lets an address change hands and fall silent without an ICMP error', async () => {
    const { wire, port } = await serve(good);
    await wire.attach(address, responderOf(agentOf(new Mib([['1.3.1.1', integer(99)]]))));
    const [answer] = await exchange(address, port, get('1.3.1.1'));
    expect(readReply(answer?.bytes ?? null).varbinds[0]?.value).toBe(99);
    wire.detach(address);
    expect(await exchange(address, port, get('1.3.1.1'), { ms: 100 })).toEqual([]);
  });

  it('says which address is taken and what to do', async () => {
    const { port } = await serve(good);
    const second = new Wire(port);
    await expect(second.attach(address, good)).rejects.toThrow(
      `cannot listen on UDP ${address}:${port}: another program (or another lab) has it`,
    );
    await expect(new Wire(0).attach('192.0.2.1', good)).rejects.toThrow('this system has no such address');
  });
});

describe('faults on the wire', () => {
  const count = async (responder: Responder, asks: number, ms = 150) => {
    const { port } = await serve(responder);
    let answered = 0;
    for (let i = 0; i < asks; i++) answered += (await exchange(address, port, get('1.3.1.1'), { ms })).length;
    return answered;
  };

  it('silence, loss and death in the middle', async () => {
    expect(await count(silent, 1)).toBe(0);
    // Of three questions the first is lost, then the answer to the second.
    const draws = [0.1, 0.9, 0.1, 0.9, 0.9];
    let n = 0;
    expect(
      await count(
        lossy(good, 0.5, () => draws[n++ % draws.length] ?? 0),
        6,
      ),
    ).toBe(2);
    expect(await count(dyingAfter(good, 2), 4)).toBe(2);
  });

  it('delay', async () => {
    const { port } = await serve(delayed(good, systemClock, 120));
    const before = performance.now();
    expect(await exchange(address, port, get('1.3.1.1'))).toHaveLength(1);
    expect(performance.now() - before).toBeGreaterThan(110);
  });

  it('repeated, damaged and forged answers', async () => {
    const { port } = await serve(repeated(good, 3));
    expect(await exchange(address, port, get('1.3.1.1'), { answers: 3 })).toHaveLength(3);
    const forged = await serve(
      mangled(good, (answer) => [answer.subarray(0, 10), answer]),
      '127.77.2.2',
    );
    const got = await exchange('127.77.2.2', forged.port, get('1.3.1.1'), { answers: 2 });
    expect(got.map((g) => g.bytes.length === 10)).toEqual([true, false]);
  });

  it('answers with another request id', async () => {
    const { port } = await serve(
      reworded(good, (m) => ({ ...m, pdu: { ...m.pdu, requestId: 8 } as PlainPdu })),
    );
    const [answer] = await exchange(address, port, get('1.3.1.1'));
    expect(readReply(answer?.bytes ?? null)).toMatchObject({ requestId: 8, varbinds: [{ value: 1 }] });
  });

  it('an unauthenticated v3 message in front of the true one', async () => {
    const pdu: PlainPdu = {
      type: 'response',
      requestId: 1,
      errorStatus: 0,
      errorIndex: 0,
      varbinds: [{ oid: '1.3.1.1', ...integer(666) }],
    };
    const { port } = await serve(unauthenticated(good, pdu));
    const discovery = encodeSecureEnvelope({
      msgId: 5,
      maxSize: 1472,
      authenticated: false,
      encrypted: false,
      reportable: true,
      securityModel: 3,
      engineId: Buffer.alloc(0),
      engineBoots: 0,
      engineTime: 0,
      userName: Buffer.alloc(0),
      digest: Buffer.alloc(0),
      salt: Buffer.alloc(0),
      payload: encodeScopedPdu({
        contextEngineId: Buffer.alloc(0),
        contextName: Buffer.alloc(0),
        pdu: { ...pdu, type: 'get', varbinds: [] },
      }),
    });
    const got = await exchange(address, port, discovery, { answers: 2 });
    const pdus = got.map(({ bytes }) => {
      const envelope = readSecureEnvelope(openMessage(bytes).reader);
      return [envelope.msgId, decodeScopedPdu(envelope.payload).pdu.type];
    });
    expect(pdus).toEqual([
      [5, 'response'],
      [5, 'report'],
    ]);
  });

  it('answers from another port', async () => {
    const other = await serve(silent, '127.77.2.9');
    const { port } = await serve(
      fromElsewhere(good, (answer, toPort, to) => other.wire.send('127.77.2.9', answer, toPort, to)),
    );
    const [answer] = await exchange(address, port, get('1.3.1.1'));
    expect(answer).toMatchObject({ address: '127.77.2.9', port: other.port });
  });
});

describe('faulty views', () => {
  const follow = (view: View, steps: number): string[] => {
    const agent = agentOf(view);
    const seen: string[] = [];
    for (let i = 0, at = '1.3'; i < steps; i++) {
      at = readReply(agent.answer(getNext(at))).varbinds[0]?.oid ?? '';
      seen.push(at);
    }
    return seen;
  };

  it('the same OID for ever, or a cycle', () => {
    expect(follow(looping(mib, '1.3.1.2'), 5).slice(1)).toEqual(Array(4).fill('1.3.1.2'));
    expect(follow(looping(mib, '1.3.1.3', '1.3.1.1'), 7)).toEqual(
      ['1', '2', '3', '1', '2', '3', '1'].map((n) => `1.3.1.${n}`),
    );
  });

  it('an endless table between sound ones', () => {
    const view = endless(mib, '1.3.2');
    expect(follow(view, 2000).at(-1)).toBe('1.3.2.1997');
    expect(view.after('1.3.3.1')()?.oid).toBe('1.3.3.2');
  });

  it('a table in another order, complete, with the rest around it', () => {
    const view = misordered(mib, '1.3.2', (a, b) => Number(b.value.value) - Number(a.value.value));
    const order = follow(view, 10);
    expect(order).toEqual([
      ...['1', '2', '3'].map((n) => `1.3.1.${n}`),
      ...['5', '4', '3', '2', '1'].map((n) => `1.3.2.${n}`),
      ...['1', '2'].map((n) => `1.3.3.${n}`),
    ]);
    expect(walk((d) => agentOf(view).answer(d), 4).length).toBe(10);
  });
});
