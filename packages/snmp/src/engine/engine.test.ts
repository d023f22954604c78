import { systemClock } from '@rollcall/shared/clock';
import { Secret } from '@rollcall/shared/secret';
import { describe, expect, it } from 'vitest';
import { encodeCommunityMessage } from '../message/message.ts';
import type { Varbind } from '../message/pdu.ts';
import { community, FakeAgent, type Handler, response, useEngine } from '../testing/fake-agent.ts';
import type { SnmpCredential } from './credential.ts';
import { SnmpEngine } from './engine.ts';
import type { AskOptions } from './exchange.ts';
import { explain, type Failure } from './failure.ts';
import { Query, type Question } from './query.ts';

const NAME = '1.3.6.1.2.1.1.5.0';
const OTHER = '1.3.6.1.2.1.1.6.0';
const name: Varbind = { oid: NAME, type: 'octets', value: Buffer.from('sw1') };
const v2c: SnmpCredential = { id: 'c', version: 'v2c', community: new Secret('canary-community') };
const getName: Question = { type: 'get', oids: [NAME] };
const patient: AskOptions = { timeoutMs: 2000, tries: 1 };
/** Long enough for an answer on a busy machine: what is waited for is that it is not believed. */
const brief: AskOptions = { timeoutMs: 500, tries: 1 };

const { used, agents, agentThat } = useEngine();

const ask = (agent: FakeAgent, options = patient, question: Question = getName) =>
  used.engine.ask(agent, new Query(v2c, question), options);

describe('v1 and v2c', () => {
  it('answers with the values, the size and the round trip', async () => {
    const agent = await agentThat(community((pdu) => response(pdu, [name])));
    const answer = await ask(agent);
    expect(answer).toMatchObject({ ok: true, varbinds: [name] });
    if (answer.ok) {
      expect(answer.bytes).toBeGreaterThan(40);
      expect(answer.rttMs).toBeGreaterThan(0);
    }
  });

  it('speaks IPv6 from the same engine', async () => {
    const agent = await agentThat(
      community((pdu) => response(pdu, [name])),
      '::1',
    );
    expect(await ask(agent)).toMatchObject({ ok: true });
  });

  it('tries again, and takes a late answer to the first try', async () => {
    let first: (() => void) | null = null;
    const agent = await agentThat((bytes, send) => {
      const answer = () => community((pdu) => response(pdu, [name]))(bytes, send, { port: 0 });
      if (first) first();
      else first = answer;
    });
    expect(await ask(agent, { timeoutMs: 80, tries: 2 })).toMatchObject({ ok: true });
    expect(agent.received).toBe(2);
  });

  it('an agent that says nothing is a time-out after all tries', async () => {
    const agent = await agentThat(() => undefined);
    expect(await ask(agent, { timeoutMs: 30, tries: 3 })).toEqual({ ok: false, code: 'timeout' });
    expect(agent.received).toBe(3);
  });

  it.each([
    [1, 1, { code: 'too-big', index: 1 }],
    [2, 1, { code: 'no-such-name', index: 1 }],
    [5, 0, { code: 'gen-err' }],
    [16, 0, { code: 'auth-failed' }],
    [6, 1, { code: 'error-status', index: 1 }],
  ])('error-status %i is told by its name', async (status, index, expected) => {
    const agent = await agentThat(community((pdu) => response(pdu, pdu.varbinds, status, index)));
    expect(await ask(agent)).toMatchObject({ ok: false, ...expected });
  });

  it('E77: an error index out of range is not passed on', async () => {
    const agent = await agentThat(community((pdu) => response(pdu, [], 2, 7)));
    const answer = await ask(agent);
    expect(answer).toMatchObject({ ok: false, code: 'no-such-name' });
    expect(answer).not.toHaveProperty('index');
  });

  it.each([
    ['another OID than asked', [{ ...name, oid: OTHER }]],
    ['fewer varbinds', []],
  ] as [string, Varbind[]][])('E77: %s is refused', async (_what, varbinds) => {
    const agent = await agentThat(community((pdu) => response(pdu, varbinds)));
    expect(await ask(agent)).toEqual({ ok: false, code: 'mismatched' });
  });

  it('E77: more varbinds than asked are not read', async () => {
    const agent = await agentThat(community((pdu) => response(pdu, [name, { ...name, oid: OTHER }])));
    expect(await ask(agent)).toMatchObject({ ok: true, varbinds: [name] });
  });

  it('E79: of 2,000 varbinds for five repetitions five are read', async () => {
    const flood = Array.from({ length: 2000 }, (_, i): Varbind => ({ ...name, oid: `1.3.${i}` }));
    const agent = await agentThat(community((pdu) => response(pdu, flood)));
    const answer = await ask(agent, patient, {
      type: 'getBulk',
      oids: ['1.2'],
      nonRepeaters: 0,
      maxRepetitions: 5,
    });
    expect(answer).toMatchObject({ ok: true });
    if (answer.ok) expect(answer.varbinds).toHaveLength(5);
  });
});

describe('what is not believed', () => {
  const refusedBy = async (handler: Handler): Promise<Failure> => {
    const agent = await agentThat(handler);
    const answer = await ask(agent, brief);
    if (answer.ok) throw new Error('believed');
    return answer;
  };

  it('E71: the right id from another port; the true answer still counts', async () => {
    const stranger = await agentThat(() => undefined);
    const before = used.engine.stats().drops['wrong-source'];
    const agent = await agentThat((bytes, send, from) => {
      const forged = { ...name, value: Buffer.from('forged') } as Varbind;
      community((pdu) => response(pdu, [forged]))(bytes, (answer) => stranger.send(answer, from.port), from);
      setTimeout(() => community((pdu) => response(pdu, [name]))(bytes, send, from), 20);
    });
    expect(await ask(agent)).toMatchObject({ ok: true, varbinds: [name] });
    expect(used.engine.stats().drops['wrong-source']).toBe(before + 1);
  });

  it('E71: the right id and port from another address', async () => {
    const agent = await agentThat(() => undefined);
    const stranger = await FakeAgent.start(() => undefined, '127.0.0.9', agent.port);
    agents.push(stranger);
    agent.handler = (bytes, _send, from) =>
      community((pdu) => response(pdu, [name]))(bytes, (answer) => stranger.send(answer, from.port), from);
    expect(await ask(agent, brief)).toMatchObject({
      code: 'timeout',
      detail: 'replies dropped: wrong-source',
    });
  });

  it('E72: a flood of guessed ids', async () => {
    const before = used.engine.stats();
    const agent = await agentThat((bytes, send) => {
      community((pdu, message) => {
        for (let id = 0; id < 2000; id++) {
          const guess = { ...response(pdu, [name]), requestId: id };
          send(encodeCommunityMessage({ ...message, pdu: guess }));
        }
        return null;
      })(bytes, send, { port: 0 });
    });
    expect(await ask(agent, { timeoutMs: 300, tries: 1 })).toMatchObject({ code: 'timeout' });
    const { drops, received } = used.engine.stats();
    expect(drops.unexpected - before.drops.unexpected).toBe(received - before.received);
    expect(received - before.received).toBeGreaterThan(100);
  });

  it('E76: another community, and no error text shows either', async () => {
    const failure = await refusedBy(
      community((pdu, message) => {
        message.community = Buffer.from('canary-theirs');
        return response(pdu, [name]);
      }),
    );
    expect(failure).toMatchObject({ code: 'timeout', detail: 'replies dropped: wrong-community' });
    expect(`${explain(failure)}${JSON.stringify(failure)}`).not.toContain('canary');
  });

  it('another version', async () => {
    const failure = await refusedBy(
      community((pdu, message) => {
        message.version = 'v1';
        return response(pdu, [name]);
      }),
    );
    expect(failure.detail).toBe('replies dropped: wrong-version');
  });

  it('a PDU that is no response', async () => {
    const failure = await refusedBy(community((pdu) => ({ ...response(pdu, [name]), type: 'inform' })));
    expect(failure.detail).toBe('replies dropped: wrong-type');
  });

  it('E68, E69: an answer whose varbinds are broken is malformed, at once', async () => {
    const agent = await agentThat((bytes, send) => {
      community((pdu) => response(pdu, [{ ...name, oid: '1.3.6.1.2.1.1.5.0' }]))(
        bytes,
        (answer) => {
          answer[answer.length - 4] = 0x7f;
          send(answer);
        },
        { port: 0 },
      );
    });
    expect(await ask(agent)).toMatchObject({ ok: false, code: 'malformed' });
  });

  it('E78: a repeated answer and one after the time-out are dropped, nobody hears twice', async () => {
    const before = used.engine.stats();
    const agent = await agentThat((bytes, send) => {
      const answer = () => community((pdu) => response(pdu, [name]))(bytes, send, { port: 0 });
      setTimeout(answer, 60);
      setTimeout(answer, 65);
    });
    expect(await ask(agent, { timeoutMs: 20, tries: 1 })).toEqual({ ok: false, code: 'timeout' });
    const dropped = () => used.engine.stats().drops.unexpected - before.drops.unexpected;
    await expect.poll(dropped).toBe(2);
    const after = used.engine.stats();
    expect(after.answered).toBe(before.answered);
    expect(after.inFlight).toBe(0);
  });

  it('E70: noise with no request outstanding only moves a counter', async () => {
    const noise = await agentThat(() => undefined);
    const before = used.engine.stats().drops.malformed;
    let port = 0;
    const agent = await agentThat((_bytes, _send, from) => {
      port = from.port;
    });
    await ask(agent, brief);
    for (let length = 1; length <= 60; length++) noise.send(Buffer.alloc(length, length), port);
    noise.send(Buffer.from('30 84 ff ff ff ff 02 01 01'.replaceAll(' ', ''), 'hex'), port);
    await expect.poll(() => used.engine.stats().drops.malformed - before).toBe(61);
  });

  it('E89: 10,000 datagrams for one request leave the engine at work', async () => {
    const agent = await agentThat((bytes, send) => {
      community((pdu, message) => {
        const answer = encodeCommunityMessage({ ...message, pdu: response(pdu, [name]) });
        for (let i = 0; i < 10_000; i++) send(answer);
        return null;
      })(bytes, send, { port: 0 });
    });
    const good = await agentThat(community((pdu) => response(pdu, [name])));
    const [flooded, other] = await Promise.all([ask(agent), ask(good)]);
    expect(flooded).toMatchObject({ ok: true });
    expect(other).toMatchObject({ ok: true });
  });
});

describe('the engine itself', () => {
  it('E90: closed ports and unreachable networks are answers, not crashes', async () => {
    const gone = await FakeAgent.start(() => undefined);
    const { address, port } = gone;
    await gone.close();
    const query = new Query(v2c, getName);
    const storm = Array.from({ length: 500 }, () => used.engine.ask({ address, port }, query, brief));
    for (const answer of await Promise.all(storm))
      expect(answer).toMatchObject({ ok: false, code: 'timeout' });
    const nowhere = await used.engine.ask({ address: '255.255.255.255', port: 161 }, query, brief);
    expect(nowhere).toMatchObject({ ok: false, code: 'unreachable', detail: 'EACCES' });
    expect(explain(nowhere as Failure)).toContain('route');
  });

  it('ends requests when their signal aborts, and leaves others alone', async () => {
    const silent = await agentThat(() => undefined);
    const controller = new AbortController();
    const aborted = Array.from({ length: 20 }, () => ask(silent, { ...patient, signal: controller.signal }));
    const other = ask(silent, { timeoutMs: 150, tries: 1 });
    setTimeout(() => controller.abort(), 20);
    for (const answer of await Promise.all(aborted)) expect(answer).toEqual({ ok: false, code: 'cancelled' });
    expect(await other).toEqual({ ok: false, code: 'timeout' });
    expect(await ask(silent, { ...patient, signal: controller.signal })).toEqual({
      ok: false,
      code: 'cancelled',
    });
  });

  it('keeps to its window, serves the rest in turn and refuses what its queue cannot hold', async () => {
    const small = await SnmpEngine.open({ clock: systemClock, window: 4, queue: 10 });
    let open = 0;
    let most = 0;
    const agent = await agentThat((bytes, send) => {
      open += 1;
      most = Math.max(most, open);
      setTimeout(() => {
        open -= 1;
        community((pdu) => response(pdu, [name]))(bytes, send, { port: 0 });
      }, 15);
    });
    const query = new Query(v2c, getName);
    const answers = await Promise.all(Array.from({ length: 20 }, () => small.ask(agent, query, patient)));
    expect(answers.filter((answer) => answer.ok)).toHaveLength(14);
    expect(answers.filter((answer) => !answer.ok && answer.code === 'busy')).toHaveLength(6);
    expect(most).toBe(4);
    await small.close();
  });

  it('a question that cannot be written is an answer, not a crash', async () => {
    const agent = await agentThat(() => undefined);
    expect(await ask(agent, patient, { type: 'get', oids: ['1.3.x'] })).toEqual({
      ok: false,
      code: 'bad-request',
      detail: 'bad-oid',
    });
  });

  it('ends everything when it closes', async () => {
    const mortal = await SnmpEngine.open({ clock: systemClock });
    const agent = await agentThat(() => undefined);
    const pending = mortal.ask(agent, new Query(v2c, getName), patient);
    await mortal.close();
    expect(await pending).toEqual({ ok: false, code: 'closed' });
    expect(await mortal.ask(agent, new Query(v2c, getName), patient)).toEqual({ ok: false, code: 'closed' });
  });

  it('asks the pace for every packet, retries included, and reports what was lost', async () => {
    const taken: string[] = [];
    const reports: number[][] = [];
    let silences = 2;
    const agent = await agentThat((bytes, send) => {
      if (silences-- > 0) return;
      community((pdu) => response(pdu, [name]))(bytes, send, { port: 0 });
    });
    const pace = {
      take: (count: number, address: string) => {
        taken.push(`${count} ${address}`);
        return Promise.resolve();
      },
      report: (...counts: number[]) => void reports.push(counts),
    };
    expect(await ask(agent, { timeoutMs: 200, tries: 4, pace })).toMatchObject({ ok: true });
    expect(taken).toEqual(['1 127.0.0.1', '1 127.0.0.1', '1 127.0.0.1']);
    expect(reports).toEqual([[1, 2]]);
  });

  it('ids come without order and never twice', async () => {
    const seen = new Set<number>();
    const agent = await agentThat(
      community((pdu) => {
        seen.add(pdu.requestId);
        return response(pdu, [name]);
      }),
    );
    for (let i = 0; i < 200; i++) await ask(agent);
    const ids = [...seen];
    expect(ids).toHaveLength(200);
    expect(ids.toSorted((a, b) => a - b)).not.toEqual(ids);
    expect(Math.max(...ids) - Math.min(...ids)).toBeGreaterThan(0x4000_0000);
  });
});
