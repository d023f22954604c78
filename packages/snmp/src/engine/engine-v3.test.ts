import { Secret } from '@rollcall/shared/secret';
import { expect, it } from 'vitest';
import type { UsmUser } from '../message/keys.ts';
import { decodeScopedPdu, encodeScopedPdu, openMessage, readSecureEnvelope } from '../message/message.ts';
import type { PlainPdu, Varbind } from '../message/pdu.ts';
import { AuthoritativeEngine, encodeSecure } from '../message/usm.ts';
import { type FakeAgent, type Handler, honest, secure, useEngine } from '../testing/fake-agent.ts';
import type { SnmpCredential, UserCredential } from './credential.ts';
import type { AskOptions } from './exchange.ts';
import { explain, type Failure } from './failure.ts';
import { Query } from './query.ts';

const NAME = '1.3.6.1.2.1.1.5.0';
const name: Varbind = { oid: NAME, type: 'octets', value: Buffer.from('sw1') };
const patient: AskOptions = { timeoutMs: 2000, tries: 1 };
const brief: AskOptions = { timeoutMs: 80, tries: 1 };

const { used, agentThat } = useEngine();

const ask = (agent: FakeAgent, options: AskOptions, who: SnmpCredential) =>
  used.engine.ask(agent, new Query(who, { type: 'get', oids: [NAME] }), options);

/** An answer to request id 1. */
const answerOne: PlainPdu = {
  type: 'response',
  requestId: 1,
  errorStatus: 0,
  errorIndex: 0,
  varbinds: [name],
};

const user: UsmUser = {
  name: 'monitor',
  authProtocol: 'sha256',
  authKey: new Secret('canary-authentication'),
  privProtocol: 'aes128',
  privKey: new Secret('canary-privacy'),
};
const credential: UserCredential = { id: 'u', version: 'v3', user };
let seconds = 5000;
const agentEngine = (users: UsmUser[] = [user], boots = 3) =>
  new AuthoritativeEngine({
    id: Buffer.from('80001f8804726f6c6c', 'hex'),
    boots,
    seconds: () => seconds,
    users,
  });
const objects = honest({ [NAME]: { type: 'octets', value: Buffer.from('sw1') } });

it('finds the engine, asks, and needs one message from then on', async () => {
  const agent = await agentThat(secure(agentEngine(), objects));
  expect(await ask(agent, patient, credential)).toMatchObject({ ok: true, varbinds: [name] });
  expect(agent.received).toBe(2);
  expect(await ask(agent, patient, credential)).toMatchObject({ ok: true });
  expect(agent.received).toBe(3);
  expect(used.engine.engineIdOf(agent)?.toString('hex')).toBe('80001f8804726f6c6c');
});

it('follows an agent that restarted', async () => {
  const agent = await agentThat(secure(agentEngine(), objects));
  await ask(agent, patient, credential);
  agent.handler = secure(agentEngine([user], 4), objects);
  seconds = 7;
  expect(await ask(agent, patient, credential)).toMatchObject({ ok: true });
  seconds = 5000;
});

it('follows an agent that was replaced by one with another engine', async () => {
  const agent = await agentThat(secure(agentEngine(), objects));
  await ask(agent, patient, credential);
  const id = Buffer.from('80001f8804616e6f74686572', 'hex');
  agent.handler = secure(new AuthoritativeEngine({ id, boots: 1, seconds: () => 9, users: [user] }), objects);
  expect(await ask(agent, patient, credential)).toMatchObject({ ok: true });
  expect(used.engine.engineIdOf(agent)).toEqual(id);
});

it.each([
  ['unknown-user', { ...user, name: 'nobody' }],
  ['wrong-digest', { ...user, authKey: new Secret('canary-wrong-one') }],
  ['wrong-digest', { ...user, authProtocol: 'sha1' }],
  ['decrypt', { ...user, privKey: new Secret('canary-wrong-one') }],
  ['unsupported-level', { ...user, privProtocol: 'none' }],
] as [string, UsmUser][])('E75: says %s, at once and without secrets', async (code, wrong) => {
  const agent = await agentThat(secure(agentEngine(), objects));
  const answer = await ask(agent, patient, { id: 'w', version: 'v3', user: wrong });
  expect(answer).toMatchObject({ ok: false, code });
  expect(`${JSON.stringify(answer)}${explain(answer as Failure)}`).not.toContain('canary');
});

/** An agent that is honest but for the answer: made with the keys of `from`, for whatever request. */
const forged = (from: UsmUser | null, clock?: { engineBoots: number; engineTime: number }): Handler =>
  secure(agentEngine(), objects, (honestAnswer, send) => {
    const { engineId, engineBoots, engineTime, msgId } = readSecureEnvelope(openMessage(honestAnswer).reader);
    send(
      encodeSecure(from, {
        msgId,
        maxSize: 65_507,
        reportable: false,
        engine: { engineId, engineBoots, engineTime, ...clock },
        scoped: encodeScoped(answerOne),
      }),
    );
  });

it('E73: an answer without authentication to an authPriv request is refused', async () => {
  const agent = await agentThat(forged(null));
  expect(await ask(agent, brief, credential)).toMatchObject({
    code: 'timeout',
    detail: 'replies dropped: lower-security',
  });
});

it('E73: an authentic answer in the clear to an authPriv request is refused', async () => {
  const agent = await agentThat(forged({ ...user, privProtocol: 'none' }));
  expect(await ask(agent, brief, credential)).toMatchObject({ detail: 'replies dropped: lower-security' });
});

it('E74: another request id inside is refused', async () => {
  const agent = await agentThat(forged(user));
  expect(await ask(agent, brief, credential)).toMatchObject({ detail: 'replies dropped: wrong-request' });
});

it('E74: a replayed answer is refused', async () => {
  let old: Buffer | null = null;
  const agent = await agentThat(
    secure(agentEngine(), objects, (answer, send) => {
      send(old ?? answer);
      old ??= answer;
    }),
  );
  expect(await ask(agent, patient, credential)).toMatchObject({ ok: true });
  const before = used.engine.stats().drops.unexpected;
  expect(await ask(agent, brief, credential)).toEqual({ ok: false, code: 'timeout' });
  expect(used.engine.stats().drops.unexpected).toBe(before + 1);
});

it('E74: boots going back and a time outside the window are refused', async () => {
  const agent = await agentThat(secure(agentEngine(), objects));
  await ask(agent, patient, credential);
  for (const state of [
    { engineBoots: 2, engineTime: 5000 },
    { engineBoots: 3, engineTime: 5000 - 200 },
  ]) {
    agent.handler = forged(user, state);
    expect(await ask(agent, brief, credential)).toMatchObject({ detail: 'replies dropped: not-in-time' });
  }
});

it('E74: another engine id is refused', async () => {
  const impostor = new AuthoritativeEngine({
    id: Buffer.from('80001f880400000001', 'hex'),
    boots: 3,
    seconds: () => 5000,
    users: [user],
  });
  const agent = await agentThat(secure(agentEngine(), objects));
  await ask(agent, patient, credential);
  agent.handler = secure(agentEngine(), objects, (answer, send) => {
    const envelope = readSecureEnvelope(openMessage(answer).reader);
    const request = { user, level: 'authPriv' as const, msgId: envelope.msgId, maxSize: 65_507 };
    const scoped = { contextEngineId: impostor.id, contextName: Buffer.alloc(0), pdu: answerOne };
    send(impostor.respond({ ...request, scoped }, scoped.pdu));
  });
  expect(await ask(agent, brief, credential)).toMatchObject({ detail: 'replies dropped: wrong-engine' });
});

it('E74: an agent that answers every message with another engine id is left after a few', async () => {
  let turn = 0;
  const agent = await agentThat((bytes, send) => {
    const id = Buffer.from(`80001f88040000${(turn++).toString(16).padStart(4, '0')}`, 'hex');
    const other = new AuthoritativeEngine({ id, boots: 1, seconds: () => 1, users: [user] });
    secure(other, objects)(bytes, send, { port: 0 });
  });
  expect(await ask(agent, patient, credential)).toEqual({ ok: false, code: 'unknown-engine' });
  expect(agent.received).toBeLessThanOrEqual(5);
});

it('E74: a flood of Reports for one request is acted on once', async () => {
  const reports = agentEngine();
  const agent = await agentThat((bytes, send) => {
    const received = reports.receive(bytes, readSecureEnvelope(openMessage(bytes).reader));
    if (received.kind === 'report') for (let i = 0; i < 200; i++) send(received.bytes);
    if (received.kind === 'request') secure(reports, objects)(bytes, send, { port: 0 });
  });
  expect(await ask(agent, patient, credential)).toMatchObject({ ok: true });
  expect(agent.received).toBe(2);
});

it('a Report decides nothing about data: its varbinds are never an answer', async () => {
  const agent = await agentThat((bytes, send) => {
    const envelope = readSecureEnvelope(openMessage(bytes).reader);
    const scoped = envelope.encrypted ? null : decodeScopedPdu(envelope.payload);
    send(
      encodeSecure(null, {
        msgId: envelope.msgId,
        maxSize: 65_507,
        reportable: false,
        engine: { engineId: Buffer.from('80001f880401', 'hex'), engineBoots: 1, engineTime: 1 },
        scoped: encodeScoped({
          type: 'report',
          requestId: scoped && 'requestId' in scoped.pdu ? scoped.pdu.requestId : 0,
          errorStatus: 0,
          errorIndex: 0,
          varbinds: [name],
        }),
      }),
    );
  });
  expect(await ask(agent, patient, credential)).toEqual({ ok: false, code: 'invalid-message' });
});

it('E68, E74: of thousands of damaged Reports and answers none is believed and none does harm', async () => {
  let seed = 11;
  const random = (below: number) => {
    seed = (seed * 1103515245 + 12345) & 0x7fffffff;
    return seed % below;
  };
  const damaged = (bytes: Buffer): Buffer => {
    const copy = Buffer.from(bytes);
    for (let i = 0; i <= random(3); i++) copy[random(copy.length)] = random(256);
    return random(8) === 0 ? copy.subarray(0, random(copy.length)) : copy;
  };
  const authority = agentEngine();
  const agent = await agentThat((bytes, send, from) => {
    const many = (answer: Buffer) => {
      for (let i = 0; i < 40; i++) send(damaged(answer));
      setTimeout(() => send(answer), 2);
    };
    const received = authority.receive(bytes, readSecureEnvelope(openMessage(bytes).reader));
    if (received.kind === 'report') many(received.bytes);
    if (received.kind === 'request') secure(authority, objects)(bytes, many, from);
  });
  const codes = new Map<string, number>();
  for (let i = 0; i < 100; i++) {
    const answer = await ask(agent, { timeoutMs: 500, tries: 2 }, credential);
    if (answer.ok) expect(answer.varbinds).toEqual([name]);
    const code = answer.ok ? 'ok' : answer.code;
    codes.set(code, (codes.get(code) ?? 0) + 1);
  }
  // A damaged Report may end a request early, for it cannot be verified; it never makes data.
  expect(codes.get('ok')).toBeGreaterThan(50);
});

it('says when the context does not exist', async () => {
  const authority = agentEngine();
  const agent = await agentThat((bytes, send) => {
    const received = authority.receive(bytes, readSecureEnvelope(openMessage(bytes).reader));
    if (received.kind === 'report') send(received.bytes);
    if (received.kind !== 'request') return;
    expect(received.request.scoped.contextName.toString()).toBe('vlan-7');
    send(authority.refuseContext(received.request));
  });
  const inContext: UserCredential = { ...credential, contextName: 'vlan-7' };
  expect(await ask(agent, patient, inContext)).toEqual({ ok: false, code: 'no-such-context' });
});

function encodeScoped(pdu: Parameters<typeof encodeScopedPdu>[0]['pdu']): Buffer {
  return encodeScopedPdu({
    contextEngineId: Buffer.from('80001f8804726f6c6c', 'hex'),
    contextName: Buffer.alloc(0),
    pdu,
  });
}
