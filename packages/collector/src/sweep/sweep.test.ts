import { AddressSpace } from '@rollcall/shared/address-space';
import { type Clock, systemClock } from '@rollcall/shared/clock';
import type { OutcomeCode } from '@rollcall/shared/model';
import type { Observation } from '@rollcall/shared/observation';
import { BUILT_IN_PROFILES, type ProfileSettings } from '@rollcall/shared/profile';
import { Secret } from '@rollcall/shared/secret';
import { parseTargets } from '@rollcall/shared/targets';
import type { SnmpCredential } from '@rollcall/snmp/engine/credential';
import { SnmpEngine } from '@rollcall/snmp/engine/engine';
import type { UsmUser } from '@rollcall/snmp/message/keys';
import type { Value } from '@rollcall/snmp/message/pdu';
import { AuthoritativeEngine } from '@rollcall/snmp/message/usm';
import { community, FakeAgent, honest, secure } from '@rollcall/snmp/testing/fake-agent';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { OpenEcho } from '../icmp/echo.ts';
import { echoOf, factsOf, noEcho } from '../testing/fake-network.ts';
import { fastClock } from '../testing/fast-clock.ts';
import type { DeviceFact, Subject } from '../walk/inventory.ts';
import { AttemptBook } from './attempts.ts';
import { sweep } from './sweep.ts';
import type { SweepReport, SweepTask, SweepTools } from './task.ts';

let engine: SnmpEngine;
const agents: FakeAgent[] = [];
let port = 0;
beforeAll(async () => {
  engine = await SnmpEngine.open({ clock: systemClock });
});
afterAll(() => engine.close());
afterEach(async () => {
  for (const agent of agents.splice(0)) await agent.close();
  port = 0;
});

const systemGroup = (name: string, upTime = 1000): Record<string, Value> => ({
  '1.3.6.1.2.1.1.1.0': { type: 'octets', value: Buffer.from('a box') },
  '1.3.6.1.2.1.1.2.0': { type: 'oid', value: '1.3.6.1.4.1.9.1.1' },
  '1.3.6.1.2.1.1.3.0': { type: 'timeticks', value: upTime },
  '1.3.6.1.2.1.1.5.0': { type: 'octets', value: Buffer.from(name) },
});

/** An agent at an address that knows `public`; all of a test share a port. */
const agentAt = async (address: string, name = address, upTime?: number) => {
  const answer = honest(systemGroup(name, upTime));
  const reply = community((pdu, { community: said }) => (said.toString() === 'public' ? answer(pdu) : null));
  const agent = await FakeAgent.start(reply, address, port);
  port = agent.port;
  agents.push(agent);
  return agent;
};

const publicCredential: SnmpCredential = { id: 'public', version: 'v2c', community: new Secret('public') };
const spaceOf = (text: string) => {
  const parsed = parseTargets(text, { allowLoopback: true });
  if (!parsed.ok) throw new Error('targets');
  return new AddressSpace(parsed.targets.ranges);
};
const profile = (
  name: keyof typeof BUILT_IN_PROFILES,
  more: Partial<ProfileSettings> = {},
): ProfileSettings => {
  const { icmp, snmp, ...rest } = BUILT_IN_PROFILES[name] as ProfileSettings;
  return {
    ...rest,
    icmp: icmp && { tries: 2, timeoutMs: 60 },
    snmp: snmp && { ...snmp, port: port || 9, tries: 1, timeoutMs: 120 },
    rate: 'max',
    ratePerNet: 'max',
    ...more,
  };
};

interface Setup {
  targets: string;
  profile: ProfileSettings;
  echo?: OpenEcho;
  credentials?: SnmpCredential[];
  inventory?: (subject: Subject) => Promise<DeviceFact[]>;
  signal?: AbortSignal;
  skip?: (index: number) => boolean;
  clock?: Clock;
  snmp?: SweepTools['snmp'];
  report?: Partial<SweepReport>;
  attempts?: SweepTools['attempts'];
  routerSilentTowards?: SweepTools['routerSilentTowards'];
}

const run = async (setup: Setup) => {
  const space = spaceOf(setup.targets);
  const facts: Observation[] = [];
  const outcomes = new Map<string, { code: OutcomeCode; note: string | undefined }>();
  const order: string[] = [];
  const faults: string[] = [];
  const task: SweepTask = {
    space,
    skip: setup.skip ?? (() => false),
    profile: setup.profile,
    credentials: setup.credentials ?? [publicCredential],
    known: () => undefined,
    extra: [],
    job: '0192f0c0-0000-7000-8000-000000000001',
  };
  const tools: SweepTools = {
    clock: setup.clock ?? systemClock,
    echo: setup.echo ?? echoOf(() => 1),
    snmp: setup.snmp ?? (() => Promise.resolve(engine)),
    inventory: setup.inventory ?? (async (subject) => factsOf(subject)),
    pace: { take: () => undefined, free: true },
    attempts: setup.attempts ?? new AttemptBook(systemClock).within(10),
    macOf: () => undefined,
    routerSilentTowards: setup.routerSilentTowards ?? (() => undefined),
    nameOf: async (address) => (address.endsWith('.1') ? 'first.example.net' : null),
    names: async () => ({ look: (rows) => () => [...rows] }),
  };
  const report: SweepReport = {
    observe: (fact) => {
      facts.push(fact);
      if ('address' in fact) order.push(`${fact.kind} ${fact.address}`);
    },
    outcome: (index, code, note) => {
      const address = space.at(index);
      expect(outcomes.has(address), `${address} ended twice`).toBe(false);
      outcomes.set(address, { code, note });
      order.push(`outcome ${address}`);
    },
    fault: (address) => faults.push(address),
    ready: () => undefined,
    ...setup.report,
  };
  const end = await sweep(task, tools, report, setup.signal ?? new AbortController().signal);
  const codes = Object.fromEntries([...outcomes].map(([address, { code }]) => [address, code]));
  return { end, facts, outcomes, codes, order, faults, space };
};

/** Facts of an address are told before its outcome. */
const factsFirst = (order: readonly string[]) => {
  for (const [i, said] of order.entries()) {
    const [kind, address] = said.split(' ');
    if (kind !== 'outcome') expect(order.indexOf(`outcome ${address}`), said).toBeGreaterThan(i);
  }
};

const gate = () => {
  let open: () => void = () => undefined;
  const promise = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { promise, resolve: () => open() };
};

describe('every address ends once, explained', () => {
  test('by ICMP alone', async () => {
    const alive = new Map([
      ['127.0.71.3', 1.5],
      ['127.0.71.200', 2],
    ]);
    const { codes, facts, order } = await run({
      targets: '127.0.71.0/24',
      profile: profile('ping'),
      echo: echoOf(alive),
    });
    expect(Object.keys(codes)).toHaveLength(254);
    const live = Object.entries(codes).filter(([, code]) => code !== '_');
    expect(Object.fromEntries(live)).toEqual({ '127.0.71.3': 'i', '127.0.71.200': 'i' });
    const hosts = facts
      .filter((fact) => fact.kind === 'host')
      .sort((a, b) => a.address.length - b.address.length);
    expect(hosts).toMatchObject([
      { kind: 'host', address: '127.0.71.3', rttMs: 1.5, snmp: 'not-asked' },
      { kind: 'host', address: '127.0.71.200', rttMs: 2, snmp: 'not-asked' },
    ]);
    factsFirst(order);
  });

  test('silent, alive without an agent, with one, with one that refuses, with one behind silence', async () => {
    await agentAt('127.0.71.2');
    await agentAt('127.0.71.5');
    const { codes, facts, order } = await run({
      targets: '127.0.71.1-127.0.71.5',
      profile: profile('standard'),
      echo: echoOf(
        new Map([
          ['127.0.71.1', 1],
          ['127.0.71.2', 1],
        ]),
      ),
    });
    expect(codes).toEqual({
      '127.0.71.1': 't',
      '127.0.71.2': 's',
      '127.0.71.3': '_',
      '127.0.71.4': '_',
      '127.0.71.5': 's',
    });
    const hosts = facts.filter((fact) => fact.kind === 'host' && fact.address === '127.0.71.1');
    expect(hosts.at(-1)).toMatchObject({ snmp: 'silent', rttMs: 1 });
    const devices = facts.filter((fact) => fact.kind === 'device');
    expect(devices.map(({ address, rttMs }) => [address, rttMs]).sort()).toEqual([
      ['127.0.71.2', 1],
      ['127.0.71.5', null],
    ]);
    factsFirst(order);
  });

  test('an agent that is there and refuses us is distinguished from silence', async () => {
    const engineOf = new AuthoritativeEngine({
      id: Buffer.from('80001f8880aabbccdd', 'hex'),
      boots: 1,
      seconds: () => 1,
      users: [{ name: 'other', authProtocol: 'none', privProtocol: 'none' }],
    });
    const agent = await FakeAgent.start(secure(engineOf, honest(systemGroup('v3'))), '127.0.71.9', port);
    port = agent.port;
    agents.push(agent);
    const { codes, outcomes, facts } = await run({
      targets: '127.0.71.9',
      profile: profile('standard'),
      credentials: [
        { id: 'u', version: 'v3', user: { name: 'nobody', authProtocol: 'none', privProtocol: 'none' } },
      ],
    });
    expect(codes).toEqual({ '127.0.71.9': 'a' });
    expect(outcomes.get('127.0.71.9')?.note).toMatch(/does not know this user/);
    expect(facts.at(-1)).toMatchObject({ kind: 'host', snmp: 'auth-failed' });
  });

  test('`ask: alive` leaves the silent alone; SNMP alone asks everybody', async () => {
    const agent = await agentAt('127.0.71.2');
    const standard = profile('standard');
    const alive = await run({
      targets: '127.0.71.2',
      profile: { ...standard, snmp: standard.snmp && { ...standard.snmp, ask: 'alive' } },
      echo: echoOf(new Map()),
    });
    expect(alive.codes).toEqual({ '127.0.71.2': '_' });
    expect(agent.received).toBe(0);
    const asked: string[] = [];
    const snmp = await run({ targets: '127.0.71.2', profile: profile('snmp'), echo: echoOf(() => 1, asked) });
    expect(snmp.codes).toEqual({ '127.0.71.2': 's' });
    expect(asked).toEqual([]);
    expect(snmp.facts.find(({ kind }) => kind === 'device')).not.toHaveProperty('rttMs');
  });

  test('what is skipped is neither asked nor reported', async () => {
    const asked: string[] = [];
    const { codes } = await run({
      targets: '127.0.71.1-127.0.71.4',
      profile: profile('ping'),
      echo: echoOf(() => 1, asked),
      skip: (index) => index % 2 === 0,
    });
    expect(Object.keys(codes).sort()).toEqual(['127.0.71.2', '127.0.71.4']);
    expect(new Set(asked)).toEqual(new Set(['127.0.71.2', '127.0.71.4']));
  });

  test('a budget that was used up is reported with the table that met it', async () => {
    await agentAt('127.0.71.2');
    const { outcomes } = await run({
      targets: '127.0.71.2',
      profile: profile('standard'),
      inventory: async (subject) => factsOf(subject, [], { reason: 'row-budget' }),
    });
    expect(outcomes.get('127.0.71.2')).toEqual({ code: 'b', note: 'interfaces: row-budget' });
  });

  test('an agent that answers once and is silent then', async () => {
    await agentAt('127.0.71.2');
    const failed = Object.fromEntries(
      ['interfaces', 'addresses', 'entities', 'neighbours'].map((table) => [table, 'timeout']),
    );
    const { codes } = await run({
      targets: '127.0.71.2',
      profile: profile('standard'),
      inventory: async (subject) => factsOf(subject, [], { failed }),
    });
    expect(codes).toEqual({ '127.0.71.2': 't' });
  });

  test('no device is asked again and again with credentials that it refuses', async () => {
    const { outcomes } = await run({
      targets: '127.0.71.2',
      profile: profile('standard'),
      attempts: { left: () => 0, spend: () => undefined, accepted: () => undefined },
    });
    expect(outcomes.get('127.0.71.2')).toMatchObject({
      code: 'b',
      note: '1 credential was not tried: too many were refused today (snmp.attempts of the profile)',
    });
  });

  test('an agent that refused as many credentials as may be tried: the note and the host say so', async () => {
    const user = (phrase: string): UsmUser => ({
      name: 'monitor',
      authProtocol: 'sha1',
      authKey: new Secret(phrase),
      privProtocol: 'none',
    });
    const authority = new AuthoritativeEngine({
      id: Buffer.from('80001f8804000017', 'hex'),
      boots: 1,
      seconds: () => 50,
      users: [user('the right phrase')],
    });
    const agent = await FakeAgent.start(secure(authority, honest(systemGroup('sw'))), '127.0.71.9', port);
    port = agent.port;
    agents.push(agent);
    const { outcomes, facts } = await run({
      targets: '127.0.71.9',
      profile: profile('standard'),
      echo: echoOf(new Map()),
      credentials: ['a wrong phrase', 'another wrong phrase', 'the right phrase'].map((phrase) => ({
        id: phrase,
        version: 'v3',
        user: user(phrase),
      })),
      attempts: new AttemptBook(systemClock).within(2),
    });
    expect(outcomes.get('127.0.71.9')).toEqual({
      code: 'b',
      note: expect.stringMatching(/^1 credential was not tried: .*; last: .*phrase or protocol is wrong/),
    });
    expect(facts).toMatchObject([{ kind: 'host', snmp: 'auth-failed' }]);
  });

  test('a fault of ours at one device costs that device only', async () => {
    await agentAt('127.0.71.2');
    await agentAt('127.0.71.3');
    const { codes, faults } = await run({
      targets: '127.0.71.2-127.0.71.3',
      profile: profile('standard'),
      inventory: async (subject) => {
        if (subject.session.target.address === '127.0.71.2') throw new Error('a bug');
        return factsOf(subject);
      },
    });
    expect(codes).toEqual({ '127.0.71.2': 'e', '127.0.71.3': 's' });
    expect(faults).toEqual(['127.0.71.2']);
  });

  test('without any ICMP engine a ping sweep is put off, and a standard one asks by SNMP', async () => {
    await agentAt('127.0.71.2');
    const ping = await run({ targets: '127.0.71.2', profile: profile('ping'), echo: noEcho });
    expect(ping.end).toMatchObject({ result: 'deferred', reason: expect.stringMatching(/no engine/) });
    expect(ping.codes).toEqual({});
    const standard = await run({ targets: '127.0.71.2', profile: profile('standard'), echo: noEcho });
    expect(standard.end.result).toBe('done');
    expect(standard.codes).toEqual({ '127.0.71.2': 's' });
  });

  test('B39: without a socket for SNMP the sweep is put off', async () => {
    const { end, codes } = await run({
      targets: '127.0.71.2',
      profile: profile('standard'),
      snmp: () => Promise.reject(Object.assign(new Error('too many'), { code: 'EMFILE' })),
    });
    expect(end).toEqual({ result: 'deferred', reason: 'SNMP cannot be asked: EMFILE' });
    expect(codes).toEqual({});
  });

  test('names are looked up where the profile wants them', async () => {
    const { facts } = await run({
      targets: '127.0.71.1-127.0.71.2',
      profile: profile('ping', { dns: true }),
    });
    const names = facts.map((fact) => (fact.kind === 'host' ? [fact.address, fact.hostname] : []));
    expect(names.sort()).toEqual([
      ['127.0.71.1', 'first.example.net'],
      ['127.0.71.2', undefined],
    ]);
  });

  test.each([true, false])('those of ARP tables too: %s', async (dns) => {
    await agentAt('127.0.71.3');
    const row = { ifIndex: 1, address: '10.0.0.7', mac: '00:1b:21:3c:9d:f8' };
    const named: unknown[] = [];
    await run({
      targets: '127.0.71.3',
      profile: profile('standard', { dns }),
      inventory: async (subject) => {
        named.push(subject.names?.([row])());
        return factsOf(subject);
      },
    });
    expect(named).toEqual([dns ? [row] : undefined]);
  });
});

describe('a host is reported at once', () => {
  test('also while its agent is still being read', async () => {
    await agentAt('127.0.71.2');
    await agentAt('127.0.71.3');
    const { promise: held, resolve: release } = gate();
    const seen: { kind: string; at: number }[] = [];
    const clock = fastClock(25);
    const running = run({
      targets: '127.0.71.2-127.0.71.3',
      profile: profile('standard', { icmp: { tries: 2, timeoutMs: 60_000 } }),
      inventory: async (subject) => {
        await held;
        return factsOf(subject);
      },
      clock,
      report: { observe: ({ kind }) => void seen.push({ kind, at: clock.monotonic() }) },
    });
    await expect.poll(() => seen.map(({ kind }) => kind)).toEqual(['host', 'host']);
    // The first at once, the other when it was held for ten seconds.
    const [first, second] = seen.map(({ at }) => at);
    expect(Number(second) - Number(first)).toBeGreaterThan(5_000);
    release();
    await running;
    expect(seen.filter(({ kind }) => kind === 'device')).toHaveLength(2);
  });

  test('only once where the agent is read quickly', async () => {
    for (let i = 2; i < 8; i++) await agentAt(`127.0.71.${i}`);
    const { facts } = await run({ targets: '127.0.71.2-127.0.71.7', profile: profile('standard') });
    expect(facts.filter(({ kind }) => kind === 'device')).toHaveLength(6);
    // The first one, which leaves before anybody knows more.
    expect(facts.filter(({ kind }) => kind === 'host').length).toBeLessThanOrEqual(1);
  });
});

describe('a box with several addresses is read once', () => {
  const reading = (listed: Record<string, string[]>) => {
    const read: string[] = [];
    return {
      read,
      inventory: async (subject: Subject) => {
        const { address } = subject.session.target;
        read.push(address);
        await systemClock.sleep(50);
        return factsOf(
          subject,
          listed[address] ?? Object.values(listed).find((list) => list.includes(address)) ?? [],
        );
      },
    };
  };

  test('its own address table proves it', async () => {
    const addresses = ['127.0.71.2', '127.0.71.3', '127.0.71.4'];
    for (const address of addresses) await agentAt(address, 'router');
    const { read, inventory } = reading({ '127.0.71.2': addresses });
    const { codes, outcomes, facts } = await run({
      targets: '127.0.71.2-127.0.71.4',
      profile: profile('standard'),
      inventory,
    });
    expect(read).toHaveLength(1);
    expect(Object.values(codes).sort()).toEqual(['=', '=', 's']);
    for (const [address, { code, note }] of outcomes)
      if (code === '=') {
        expect(note).toBe(`alias of ${read[0]}`);
        expect(
          facts.some(
            (fact) =>
              fact.kind === 'host' &&
              fact.address === address &&
              fact.snmp === 'answered' &&
              fact.aliasOf === read[0],
          ),
        ).toBe(true);
      }
  });

  test('an address that another box lists too, but where another agent answers, is read', async () => {
    await agentAt('127.0.71.2', 'router');
    await agentAt('127.0.71.3', 'another');
    const { read, inventory } = reading({
      '127.0.71.2': ['127.0.71.2', '127.0.71.3'],
      '127.0.71.3': ['127.0.71.3'],
    });
    const { codes } = await run({
      targets: '127.0.71.2-127.0.71.3',
      profile: profile('standard'),
      inventory,
    });
    expect(read.sort()).toEqual(['127.0.71.2', '127.0.71.3']);
    expect(codes).toEqual({ '127.0.71.2': 's', '127.0.71.3': 's' });
  });

  test('boxes of one make that started at different times are read, listed or not', async () => {
    await agentAt('127.0.71.2', 'printer', 100_000);
    await agentAt('127.0.71.3', 'printer', 900_000);
    const { read, inventory } = reading({ '127.0.71.2': ['127.0.71.3'] });
    await run({ targets: '127.0.71.2-127.0.71.3', profile: profile('standard'), inventory });
    expect(read).toHaveLength(2);
  });

  test('boxes that look alike and list nothing are read side by side', async () => {
    const count = 24;
    for (let i = 0; i < count; i++) await agentAt(`127.0.72.${i + 1}`, 'printer');
    let now = 0;
    let most = 0;
    const { end } = await run({
      targets: `127.0.72.1-127.0.72.${count}`,
      profile: profile('standard'),
      inventory: async (subject) => {
        now += 1;
        most = Math.max(most, now);
        await systemClock.sleep(40);
        now -= 1;
        return factsOf(subject);
      },
    });
    expect(end.result).toBe('done');
    expect(most).toBeGreaterThan(count / 2);
  });
});

describe('ending early', () => {
  test('aborted in the middle it ends at once and reports nothing more', async () => {
    await agentAt('127.0.71.2');
    const stop = new AbortController();
    let after = 0;
    let aborted = false;
    const running = run({
      targets: '127.0.71.0/24',
      profile: profile('standard', { icmp: { tries: 3, timeoutMs: 5000 } }),
      echo: echoOf(new Map([['127.0.71.2', 1]])),
      inventory: async (subject) => {
        await systemClock.sleep(300);
        return factsOf(subject);
      },
      signal: stop.signal,
      report: {
        observe: () => {
          if (aborted) after += 1;
        },
        outcome: () => {
          if (aborted) after += 1;
        },
      },
    });
    await systemClock.sleep(150);
    const since = performance.now();
    aborted = true;
    stop.abort();
    const { end } = await running;
    expect(end).toEqual({ result: 'aborted' });
    // Its tries would take 15 s.
    expect(performance.now() - since).toBeLessThan(14_000);
    expect(after).toBe(0);
  });

  test('a receiver that has enough to do is given nothing more', async () => {
    let open = false;
    const asked: string[] = [];
    const { promise: full, resolve: resume } = gate();
    const running = run({
      targets: '127.0.71.0/24',
      profile: profile('ping'),
      echo: echoOf(() => 1, asked),
      report: { ready: () => (open ? undefined : full) },
    });
    await systemClock.sleep(200);
    expect(asked.length).toBeLessThan(70);
    open = true;
    resume();
    expect(Object.keys((await running).codes)).toHaveLength(254);
  });
});
