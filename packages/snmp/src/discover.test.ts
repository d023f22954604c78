import { systemClock } from '@rollcall/shared/clock';
import { Secret } from '@rollcall/shared/secret';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Attempts, type Candidate, type DiscoverOptions, discover, type Found } from './discover.ts';
import type { SnmpCredential } from './engine/credential.ts';
import { SnmpEngine } from './engine/engine.ts';
import type { UsmUser } from './message/keys.ts';
import type { Value } from './message/pdu.ts';
import { AuthoritativeEngine } from './message/usm.ts';
import { community, FakeAgent, type Handler, honest, response, secure } from './testing/fake-agent.ts';

const system: Record<string, Value> = {
  '1.3.6.1.2.1.1.1.0': { type: 'octets', value: Buffer.from('Switch OS 1.2') },
  '1.3.6.1.2.1.1.2.0': { type: 'oid', value: '1.3.6.1.4.1.9.1.1208' },
  '1.3.6.1.2.1.1.3.0': { type: 'timeticks', value: 4711 },
  '1.3.6.1.2.1.1.4.0': { type: 'octets', value: Buffer.from('noc') },
  '1.3.6.1.2.1.1.5.0': { type: 'octets', value: Buffer.from('sw1') },
  '1.3.6.1.2.1.1.6.0': { type: 'octets', value: Buffer.from('rack') },
  '1.3.6.1.2.1.1.7.0': { type: 'integer', value: 6 },
};
const whole = {
  sysDescr: Buffer.from('Switch OS 1.2'),
  sysObjectId: '1.3.6.1.4.1.9.1.1208',
  sysUpTime: 4711,
  sysContact: Buffer.from('noc'),
  sysName: Buffer.from('sw1'),
  sysLocation: Buffer.from('rack'),
  sysServices: 6,
};
const communityCredential = (id: string, version: 'v1' | 'v2c' = 'v2c'): SnmpCredential => ({
  id,
  version,
  community: new Secret(id),
});
const user = (name: string, phrase = 'long enough phrase'): UsmUser => ({
  name,
  authProtocol: 'sha1',
  authKey: new Secret(phrase),
  privProtocol: 'aes128',
  privKey: new Secret(phrase),
});
const userCredential = (id: string, phrase?: string): SnmpCredential => ({
  id,
  version: 'v3',
  user: user(id, phrase),
});

/** Every agent listens on this port, each on its own loopback address. */
let port = 0;
let engine: SnmpEngine;
let agents: FakeAgent[] = [];
beforeAll(async () => {
  engine = await SnmpEngine.open({ clock: systemClock });
});
afterAll(() => engine.close());
afterEach(async () => {
  await Promise.all(agents.map((agent) => agent.close()));
  agents = [];
  port = 0;
});

let last = 10;
async function agentThat(handler: Handler): Promise<FakeAgent> {
  const agent = await FakeAgent.start(handler, `127.0.7.${++last}`, port);
  port = agent.port;
  agents.push(agent);
  return agent;
}
const knows = (name: string, reply = honest(system)): Handler =>
  community((pdu, message) => (message.community.toString() === name ? reply(pdu) : null));

async function run(
  candidates: Candidate[],
  credentials: SnmpCredential[],
  more: Partial<DiscoverOptions> = {},
): Promise<Map<string, Found>> {
  const results = new Map<string, Found>();
  const attempts = { left: () => 10, spend: () => undefined, accepted: () => undefined };
  const options = { port, credentials, attempts, timeoutMs: 250, tries: 1, ...more };
  await discover(engine, candidates, options, (found) => {
    expect(results.has(found.address)).toBe(false);
    results.set(found.address, found);
  });
  return results;
}

describe('who answers', () => {
  it('reports the system group and the credential that opened it', async () => {
    const agent = await agentThat(knows('second'));
    const credentials = [communityCredential('first'), communityCredential('second')];
    const found = (await run([agent], credentials)).get(agent.address);
    expect(found).toMatchObject({ outcome: 'snmp', credential: { id: 'second' }, system: whole });
  });

  it('tries the credential known to work first', async () => {
    const agent = await agentThat(knows('second'));
    const credentials = [communityCredential('first'), communityCredential('second')];
    await run([{ address: agent.address, known: 'second' }], credentials);
    expect(agent.received).toBe(1);
  });

  it('does not wait out the silence of one credential before it tries the next', async () => {
    const asked: string[] = [];
    const agent = await agentThat(
      community((pdu, message) => {
        const name = message.community.toString();
        asked.push(name);
        return name === 'third' ? honest(system)(pdu) : null;
      }),
    );
    const credentials = ['first', 'second', 'third', 'fourth'].map((id) => communityCredential(id));
    const found = await run([agent], credentials, { timeoutMs: 5_000, tries: 2 });
    expect(found.get(agent.address)).toMatchObject({ outcome: 'snmp', credential: { id: 'third' } });
    expect(asked, 'no retry yet, and nothing after the one that works').toEqual(['first', 'second', 'third']);
  });

  it('distinguishes silence of hosts that answer ICMP from that of others', async () => {
    const mute = await agentThat(() => undefined);
    const results = await run(
      [{ address: mute.address, alive: true }, { address: '127.0.8.1' }],
      [communityCredential('public')],
    );
    expect(results.get(mute.address)).toMatchObject({
      outcome: 'snmp-timeout',
      failure: { code: 'timeout' },
    });
    expect(results.get('127.0.8.1')).toMatchObject({ outcome: 'silent' });
  });

  it('v1: reads the objects that the agent has', async () => {
    const partial = { ...system };
    delete partial['1.3.6.1.2.1.1.6.0'];
    delete partial['1.3.6.1.2.1.1.7.0'];
    const reply = honest(partial);
    const agent = await agentThat(
      community((pdu, { version }) => {
        if (version !== 'v1') return null;
        const answer = reply(pdu);
        const missing = answer.varbinds.findIndex(({ type }) => type === 'noSuchObject');
        return missing < 0 ? answer : response(pdu, pdu.varbinds, 2, missing + 1);
      }),
    );
    const credentials = [communityCredential('public'), communityCredential('public', 'v1')];
    const found = (await run([agent], credentials)).get(agent.address);
    const { sysLocation: _location, sysServices: _services, ...rest } = whole;
    expect(found).toMatchObject({ outcome: 'snmp', credential: { version: 'v1' }, system: rest });
  });

  it.each([
    ['tooBig above three objects', 1],
    ['genErr above three objects', 5],
  ])('%s: asks for less', async (_what, status) => {
    const reply = honest(system);
    const agent = await agentThat(
      community((pdu) => (pdu.varbinds.length > 3 ? response(pdu, [], status, 0) : reply(pdu))),
    );
    const found = (await run([agent], [communityCredential('public')])).get(agent.address);
    expect(found).toMatchObject({ outcome: 'snmp', system: whole });
  });

  it('an agent that mixes its answers up is asked one by one', async () => {
    const reply = honest(system);
    const agent = await agentThat(
      community((pdu) => {
        const answer = reply(pdu);
        return { ...answer, varbinds: answer.varbinds.reverse() };
      }),
    );
    const found = (await run([agent], [communityCredential('public')])).get(agent.address);
    expect(found).toMatchObject({ outcome: 'snmp', system: whole });
  });
});

describe('who refuses', () => {
  const authority = (users: UsmUser[]) =>
    new AuthoritativeEngine({
      id: Buffer.from(`80001f88040000${(++last).toString(16)}`, 'hex'),
      boots: 1,
      seconds: () => 50,
      users,
    });

  const budget = (most: number) => {
    const spent = new Map<string, number>();
    const attempts: Attempts = {
      left: (address) => most - (spent.get(address) ?? 0),
      spend: (address) => void spent.set(address, (spent.get(address) ?? 0) + 1),
      accepted: (address) => void spent.delete(address),
    };
    return { spent, attempts };
  };

  it('v3: finds the user that fits after one that does not', async () => {
    const agent = await agentThat(secure(authority([user('right')]), honest(system)));
    const found = (await run([agent], [userCredential('wrong'), userCredential('right')])).get(agent.address);
    expect(found).toMatchObject({ outcome: 'snmp', credential: { id: 'right' }, system: whole });
  });

  it('says so, and why, instead of calling it a time-out', async () => {
    const agent = await agentThat(secure(authority([user('right')]), honest(system)));
    const credentials = [userCredential('right', 'but another phrase'), communityCredential('public')];
    const found = (await run([agent], [credentials[0]!])).get(agent.address);
    expect(found).toMatchObject({
      outcome: 'snmp-auth-failed',
      credential: { id: 'right' },
      failure: { code: 'wrong-digest' },
    });
  });

  it('does not try further v3 users where nobody answers discovery', async () => {
    const agent = await agentThat(() => undefined);
    await run([agent], [userCredential('a'), userCredential('b'), userCredential('c')]);
    expect(agent.received).toBe(1);
  });

  it('stops at the attempts allowed, and silence of the dead costs none', async () => {
    const { spent, attempts } = budget(2);
    const agent = await agentThat(secure(authority([user('right')]), honest(system)));
    const wrong = ['a', 'b', 'c'].map((id) => ({ ...userCredential('right', `not the phrase ${id}`), id }));
    const credentials = [...wrong, userCredential('right')];
    const first = await run([agent, { address: '127.0.8.2' }], credentials, { attempts });
    expect(first.get(agent.address)).toMatchObject({
      outcome: 'budget-spent',
      untried: 2,
      failure: { code: 'wrong-digest' },
    });
    expect(first.get('127.0.8.2')).toMatchObject({ outcome: 'silent' });
    expect([...spent]).toEqual([[agent.address, 2]]);
    const second = await run([agent], credentials, { attempts });
    expect(second.get(agent.address)).toEqual({
      address: agent.address,
      outcome: 'budget-spent',
      untried: 4,
    });
  });

  it('users that the agent does not have cost no attempt: the one that fits is found behind many', async () => {
    const { spent, attempts } = budget(2);
    const agent = await agentThat(secure(authority([user('right')]), honest(system)));
    const credentials = ['a', 'b', 'c', 'd', 'right'].map((id) => userCredential(id));
    const found = await run([agent], credentials, { attempts });
    expect(found.get(agent.address)).toMatchObject({ outcome: 'snmp', credential: { id: 'right' } });
    expect([...spent]).toEqual([]);
  });

  it('an accepted credential takes back what was refused before it', async () => {
    const { attempts } = budget(2);
    const agent = await agentThat(secure(authority([user('right')]), honest(system)));
    const credentials = [
      { ...userCredential('right', 'but another phrase'), id: 'wrong' },
      userCredential('right'),
    ];
    for (let sweep = 1; sweep <= 4; sweep++) {
      const found = await run([agent], credentials, { attempts });
      expect(found.get(agent.address)?.outcome, `sweep ${sweep}`).toBe('snmp');
    }
  });
});

describe('many at once', () => {
  it('what is silent waits together, and each address is reported once', async () => {
    const alive = await Promise.all(Array.from({ length: 1 }, () => agentThat(knows('public'))));
    const candidates = [
      ...Array.from({ length: 3000 }, (_, i) => ({ address: `127.9.${i >> 8}.${i & 255}` })),
      ...alive,
    ];
    const start = systemClock.monotonic();
    const results = await run(candidates, [communityCredential('public')], { timeoutMs: 300, tries: 2 });
    // One by one this would take half an hour.
    expect(systemClock.monotonic() - start).toBeLessThan(80_000);
    expect(results.size).toBe(candidates.length);
    expect([...results.values()].filter(({ outcome }) => outcome === 'snmp')).toHaveLength(1);
  });

  it('takes candidates only as there is room and as the pace allows', async () => {
    let taken = 0;
    let reported = 0;
    let ahead = 0;
    async function* source() {
      for (let i = 0; i < 40; i++) {
        ahead = Math.max(ahead, taken - reported);
        taken += 1;
        yield { address: `127.9.1.${i}` };
      }
    }
    await agentThat(() => undefined);
    let paced = 0;
    const pace = { take: () => void paced++ };
    const attempts = { left: () => 9, spend: () => undefined, accepted: () => undefined };
    const options = {
      port,
      credentials: [communityCredential('x')],
      attempts,
      timeoutMs: 20,
      tries: 2,
      window: 8,
    };
    await discover(engine, source(), { ...options, pace }, () => {
      reported += 1;
    });
    expect(reported).toBe(40);
    expect(ahead).toBeLessThanOrEqual(8);
    expect(paced).toBe(80);
  });

  it('ends soon after an abort and reports no address as silent that was not waited for', async () => {
    await agentThat(() => undefined);
    const controller = new AbortController();
    const candidates = Array.from({ length: 50 }, (_, i) => ({ address: `127.9.2.${i}` }));
    setTimeout(() => controller.abort(), 30);
    const options = { timeoutMs: 10_000, signal: controller.signal, window: 10 };
    const results = await run(candidates, [communityCredential('x')], options);
    expect(results.size).toBe(0);
  });
});
