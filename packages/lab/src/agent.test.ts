import { ErrorStatus } from '@rollcall/snmp/message/pdu';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Agent, type AgentSettings } from './agent.ts';
import { type Entry, Mib } from './mib.ts';
import { asNull, get, getBulk, getNext, readReply, request, walk } from './testing/client.ts';
import { counter64, integer, text } from './value.ts';

const agentOf = (entries: Entry[], more: Partial<AgentSettings> = {}): Agent => {
  const contexts = new Map([
    ['', new Mib(entries)],
    ['10', new Mib([['1.3.9.0', text('vlan 10')]])],
  ]);
  return new Agent({
    contexts: () => contexts,
    access: [
      { version: 'v2c', community: 'public' },
      { version: 'v1', community: 'old' },
    ],
    engineId: Buffer.from('80001f8804deadbeef', 'hex'),
    seconds: () => 100,
    ...more,
  });
};
const few = agentOf([
  ['1.3.1.0', text('a')],
  ['1.3.2.1', counter64(5)],
  ['1.3.2.2', integer(2)],
]);
const many = Array.from({ length: 500 }, (_, i): Entry => [`1.3.5.${i + 1}`, text(`row ${i}`.repeat(5))]);

describe('who is answered', () => {
  it.each([
    ['public', 'v1', true],
    ['public', 'v2c', true],
    ['old', 'v1', true],
    ['old', 'v2c', false],
    ['wrong', 'v2c', false],
    ['public@10', 'v2c', true],
    ['public@11', 'v2c', false],
    ['wrong@10', 'v2c', false],
    ['old@10', 'v2c', false],
  ] as const)('%s by %s: %s', (community, version, answered) => {
    const datagram = request({ type: 'getNext', varbinds: [asNull('1.3')] }, version, community);
    expect(few.answer(datagram) !== null).toBe(answered);
  });

  it('a context shows its own objects', () => {
    const datagram = request({ type: 'get', varbinds: [asNull('1.3.9.0')] }, 'v2c', 'public@10');
    expect(readReply(few.answer(datagram)).varbinds).toMatchObject([{ value: Buffer.from('vlan 10') }]);
  });

  it('nothing that is no SNMP, whatever it is', () => {
    const whole = getBulk(5, '1.3');
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 100 }),
        fc.nat(whole.length),
        fc.nat(255),
        (bytes, at, value) => {
          few.answer(Buffer.from(bytes));
          const damaged = Buffer.from(whole);
          damaged[at] = value;
          few.answer(damaged);
          few.answer(whole.subarray(0, at));
        },
      ),
      { numRuns: 2000 },
    );
    expect(few.answer(Buffer.from('GET / HTTP/1.0\r\n'))).toBeNull();
  });
});

describe('v2c', () => {
  it('distinguishes a missing instance from a missing object', () => {
    const { varbinds } = readReply(few.answer(get('1.3.1.0', '1.3.2.9', '1.4.1.0')));
    expect(varbinds.map((v) => v.type)).toEqual(['octets', 'noSuchInstance', 'noSuchObject']);
  });

  it('goes to the end and says so', () => {
    const { varbinds } = readReply(few.answer(getNext('1.3', '1.3.2.1', '1.3.2.2')));
    expect(varbinds.map((v) => [v.oid, v.type])).toEqual([
      ['1.3.1.0', 'octets'],
      ['1.3.2.2', 'integer'],
      ['1.3.2.2', 'endOfMibView'],
    ]);
  });

  it('getBulk: non-repeaters once, the others row by row, ending when all have ended', () => {
    const bulk = request({
      type: 'getBulk',
      single: 1,
      most: 10,
      varbinds: ['1.3', '1.3.1', '1.3.2.1'].map(asNull),
    });
    const { varbinds } = readReply(few.answer(bulk));
    expect(varbinds.map((v) => [v.oid, v.type])).toEqual([
      ['1.3.1.0', 'octets'],
      ['1.3.1.0', 'octets'],
      ['1.3.2.2', 'integer'],
      ['1.3.2.1', 'counter64'],
      ['1.3.2.2', 'endOfMibView'],
      ['1.3.2.2', 'integer'],
      ['1.3.2.2', 'endOfMibView'],
      ['1.3.2.2', 'endOfMibView'],
      ['1.3.2.2', 'endOfMibView'],
    ]);
  });

  it('refuses to be written', () => {
    const set = request({ type: 'set', varbinds: [{ oid: '1.3.1.0', ...text('x') }] });
    expect(readReply(few.answer(set))).toMatchObject({ errorStatus: ErrorStatus.notWritable, errorIndex: 1 });
  });

  it('keeps within its message size: a getBulk is cut, a get is too big', () => {
    for (const maxMessageSize of [484, 1472, 8000]) {
      const agent = agentOf(many, { maxMessageSize });
      const bulk = agent.answer(getBulk(500, '1.3.5'));
      expect(bulk?.length).toBeLessThanOrEqual(maxMessageSize);
      const { varbinds } = readReply(bulk);
      expect(varbinds.map((v) => v.oid)).toEqual(varbinds.map((_, i) => `1.3.5.${i + 1}`));
      // Cut, but not wasted: another object or two would not have fitted.
      expect(bulk?.length).toBeGreaterThan(maxMessageSize * 0.8);
      const tooMuch = readReply(agent.answer(get(...many.slice(0, 400).map(([oid]) => oid))));
      expect(tooMuch).toMatchObject({ errorStatus: ErrorStatus.tooBig, varbinds: [] });
    }
  });

  it('answers tooBig to a getBulk of which not one object fits', () => {
    const agent = agentOf([['1.3.5.1', text('x'.repeat(2000))]]);
    expect(readReply(agent.answer(getBulk(5, '1.3')))).toMatchObject({ errorStatus: ErrorStatus.tooBig });
    const large = agentOf([['1.3.5.1', text('x'.repeat(70_000))]], { maxMessageSize: 65_507 });
    expect(readReply(large.answer(get('1.3.5.1')))).toMatchObject({ errorStatus: ErrorStatus.tooBig });
  });

  it('shows all of itself to a walk with any repetitions', () => {
    for (const most of [1, 7, 100]) {
      const agent = agentOf(many);
      expect(walk((d) => agent.answer(d), most).map((v) => v.oid)).toEqual(many.map(([oid]) => oid));
    }
  });
});

describe('v1', () => {
  const v1 = (type: 'get' | 'getNext', ...oids: string[]) =>
    readReply(few.answer(request({ type, varbinds: oids.map(asNull) }, 'v1')));
  it('names the first missing varbind and gives them all back', () => {
    expect(v1('get', '1.3.1.0', '1.3.2.9')).toMatchObject({
      errorStatus: ErrorStatus.noSuchName,
      errorIndex: 2,
      varbinds: [asNull('1.3.1.0'), asNull('1.3.2.9')],
    });
    expect(v1('getNext', '1.3.2.2')).toMatchObject({ errorStatus: ErrorStatus.noSuchName, errorIndex: 1 });
  });
  it('has no Counter64: it is passed over', () => {
    expect(v1('get', '1.3.2.1').errorStatus).toBe(ErrorStatus.noSuchName);
    expect(v1('getNext', '1.3.1.0').varbinds[0]?.oid).toBe('1.3.2.2');
  });
  it('does not answer getBulk', () => {
    expect(few.answer(request({ type: 'getBulk', most: 5, varbinds: [asNull('1.3')] }, 'v1'))).toBeNull();
  });
  it('gives the varbinds back with tooBig', () => {
    const agent = agentOf(many, { maxMessageSize: 484 });
    const asked = many.slice(0, 20).map(([oid]) => asNull(oid));
    const reply = readReply(agent.answer(request({ type: 'get', varbinds: asked }, 'v1')));
    expect(reply).toMatchObject({ errorStatus: ErrorStatus.tooBig, varbinds: asked });
  });
});
