import { systemClock } from '@rollcall/shared/clock';
import { compareOid } from '@rollcall/shared/oid';
import { Secret } from '@rollcall/shared/secret';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SnmpCredential } from './engine/credential.ts';
import { Session } from './engine/session.ts';
import type { PlainPdu, Value, Varbind } from './message/pdu.ts';
import { type Asked, community, FakeAgent, honest, response, useEngine } from './testing/fake-agent.ts';
import { type WalkOptions, walk, walkTable } from './walk.ts';

const ENTRY = '1.3.6.1.2.1.2.2.1';
const [DESCR, TYPE, MTU] = [`${ENTRY}.2`, `${ENTRY}.3`, `${ENTRY}.4`];
const v2c: SnmpCredential = { id: 'c', version: 'v2c', community: new Secret('public') };
const v1: SnmpCredential = { id: 'c', version: 'v1', community: new Secret('public') };

const { used, agents, agentThat } = useEngine();

type Reply = (asked: Asked) => PlainPdu | null;
async function sessionWith(reply: Reply, credential = v2c, timeoutMs = 60): Promise<Session> {
  const agent = await agentThat(community(reply));
  return new Session(used.engine, agent, credential, { timeoutMs, tries: 2 });
}
const budget = (limits: Partial<WalkOptions['budget']> = {}): WalkOptions => ({
  budget: { rows: 10_000, bytes: 10_000_000, until: systemClock.monotonic() + 10_000, ...limits },
});

/** Interfaces 1…n with a description and a type, and scalars around the table. */
function interfaces(n: number, columns = [DESCR, TYPE, MTU]): Record<string, Value> {
  const objects: Record<string, Value> = {
    '1.3.6.1.2.1.2.1.0': { type: 'integer', value: n },
    '1.3.6.1.2.1.4.1.0': { type: 'integer', value: 1 },
  };
  for (let i = 1; i <= n; i++) {
    for (const column of columns) {
      objects[`${column}.${i}`] =
        column === DESCR
          ? { type: 'octets', value: Buffer.from(`port ${i}`) }
          : { type: 'integer', value: i };
    }
  }
  return objects;
}
const cellsOf = (rows: Map<string, Map<string, Varbind>>): number =>
  [...rows.values()].reduce((sum, row) => sum + row.size, 0);

describe('an honest agent', () => {
  it.each([
    ['v2c', v2c],
    ['v1', v1],
  ] as const)('%s: every row of every column', async (_version, credential) => {
    const session = await sessionWith(v1Like(honest(interfaces(53)), credential === v1), credential);
    const { rows, ...end } = await walkTable(session, [DESCR, TYPE, MTU], budget());
    expect(end).toEqual({ complete: true, stopped: new Map() });
    expect(rows.size).toBe(53);
    expect(cellsOf(rows)).toBe(159);
    expect(rows.get('53')?.get(DESCR)?.value?.toString()).toBe('port 53');
  });

  it('columns of several tables, of different length, absent or with holes', async () => {
    const objects = interfaces(30);
    delete objects[`${TYPE}.7`];
    const other = '1.3.6.1.2.1.31.1.1.1.18';
    objects[`${other}.3`] = { type: 'octets', value: Buffer.from('uplink') };
    const session = await sessionWith(honest(objects));
    const absent = `${ENTRY}.1`;
    const result = await walkTable(session, [absent, DESCR, TYPE, other], budget());
    expect(result).toMatchObject({ complete: true });
    expect(result.rows.size).toBe(30);
    expect(result.rows.get('7')?.has(TYPE)).toBe(false);
    expect([...result.rows.values()].some((row) => row.has(absent))).toBe(false);
    expect(result.rows.get('3')?.get(other)?.value?.toString()).toBe('uplink');
  });

  it('takes as few requests as the rows expected allow', async () => {
    let requests = 0;
    const reply = honest(interfaces(24));
    const session = await sessionWith((asked) => {
      requests += 1;
      return reply(asked);
    });
    await walkTable(session, [DESCR, TYPE, MTU], { ...budget(), expect: 24 });
    expect(requests).toBe(1);
  });

  it('never has more requests at once than allowed', async () => {
    let open = 0;
    let most = 0;
    const reply = honest(interfaces(40));
    const agent = await FakeAgent.start((bytes, send, from) => {
      open += 1;
      most = Math.max(most, open);
      setTimeout(() => {
        open -= 1;
        community(reply)(bytes, send, from);
      }, 3);
    });
    agents.push(agent);
    const session = new Session(used.engine, agent, v2c, { timeoutMs: 1000, tries: 1 });
    const columns = [DESCR, TYPE, MTU];
    const result = await walkTable(session, columns, { ...budget(), columns: 1, parallel: 2 });
    expect(cellsOf(result.rows)).toBe(120);
    expect(most).toBe(2);
  });

  it('whatever the table and the agent’s limit, exactly what is there is read', async () => {
    const table = fc.dictionary(
      fc
        .tuple(fc.constantFrom(2, 3, 4, 9), fc.nat(40), fc.nat(3))
        .map((index) => `${ENTRY}.${index.join('.')}`),
      fc
        .uint8Array({ maxLength: 40 })
        .map((octets): Value => ({ type: 'octets', value: Buffer.from(octets) })),
      { maxKeys: 60 },
    );
    await fc.assert(
      fc.asyncProperty(table, fc.integer({ min: 1, max: 60 }), async (objects, limit) => {
        const reply = honest(objects);
        const session = await sessionWith((asked) => {
          const answer = reply(asked);
          return { ...answer, varbinds: answer.varbinds.slice(0, limit) };
        });
        const seen: string[] = [];
        const end = await walk(session, [DESCR, TYPE, MTU], budget(), (column, index) => {
          seen.push(`${column}.${index}`);
        });
        expect(end.complete).toBe(true);
        const there = Object.keys(objects).filter((oid) => !oid.startsWith(`${ENTRY}.9.`));
        expect(seen.toSorted(compareOid)).toEqual(there.toSorted(compareOid));
        await Promise.all(agents.splice(0).map((agent) => agent.close()));
      }),
      { numRuns: 60 },
    );
  });
});

describe('agents that do not increase (E66)', () => {
  const port = (oid: string): Varbind => ({ oid, type: 'integer', value: 1 });
  it.each([
    ['the same OID for ever', () => `${DESCR}.1`],
    ['OIDs that decrease', (i: number) => `${DESCR}.${1000 - i}`],
    ['A-B-A', (i: number) => `${DESCR}.${1 + (i % 2)}`],
    [
      'a jump back in front of the column',
      (i: number) => (i < 3 ? `${DESCR}.${i + 1}` : '1.3.6.1.2.1.1.1.0'),
    ],
  ])('%s: stopped, what came is kept and flagged', async (_what, oidOf) => {
    let given = 0;
    let requests = 0;
    const session = await sessionWith((asked) => {
      requests += 1;
      return response(asked, [port(oidOf(given++))]);
    });
    const result = await walkTable(session, [DESCR], budget());
    expect(result).toMatchObject({ complete: false, reason: 'not-increasing' });
    expect(result.rows.size).toBeGreaterThan(0);
    expect(requests).toBeLessThan(6);
  });

  it('the other columns of the same request are still read', async () => {
    const reply = honest(interfaces(5));
    const session = await sessionWith((asked) => {
      const answer = reply(asked);
      const stuck = (v: Varbind): Varbind => (v.oid.startsWith(`${TYPE}.`) ? { ...v, oid: `${TYPE}.1` } : v);
      return { ...answer, varbinds: answer.varbinds.map(stuck) };
    });
    const result = await walkTable(session, [DESCR, TYPE, MTU], budget());
    expect(result.stopped).toEqual(new Map([[TYPE, 'not-increasing']]));
    expect([...result.rows.values()].filter((row) => row.has(DESCR) && row.has(MTU))).toHaveLength(5);
  });
});

describe('budgets (E67, E79, E88)', () => {
  let next = 0;
  const endless = (size = 4) => {
    next = 0;
    return (asked: Asked): PlainPdu =>
      response(
        asked,
        Array.from({ length: asked.type === 'getBulk' ? asked.maxRepetitions : 1 }, (): Varbind => {
          next += 1;
          return { oid: `${DESCR}.${next}`, type: 'octets', value: Buffer.alloc(size, 'x') };
        }),
      );
  };
  it('an endless table ends at the rows allowed', async () => {
    const session = await sessionWith(endless());
    const result = await walkTable(session, [DESCR], budget({ rows: 500 }));
    expect(result).toMatchObject({ complete: false, reason: 'row-budget' });
    expect(result.rows.size).toBe(500);
  });
  it('at the octets allowed, counted over all walks of the device', async () => {
    const session = await sessionWith(endless(900));
    const options = budget({ bytes: 60_000 });
    const first = await walkTable(session, [DESCR], options);
    expect(first).toMatchObject({ complete: false, reason: 'byte-budget' });
    expect(first.rows.size).toBeLessThan(120);
    expect((await walkTable(session, [DESCR], options)).rows.size).toBe(0);
  });
  it('at the time allowed, and a slow device holds up no other', async () => {
    const reply = endless();
    const slow = await FakeAgent.start((bytes, send, from) => {
      setTimeout(() => community(reply)(bytes, send, from), 100);
    });
    agents.push(slow);
    const slowSession = new Session(used.engine, slow, v2c, { timeoutMs: 1000, tries: 1 });
    const start = systemClock.monotonic();
    const slowWalk = walkTable(slowSession, [DESCR], budget({ until: start + 2_000 }));
    const fast = walkTable(await sessionWith(honest(interfaces(200))), [DESCR, TYPE], budget());
    const first = await Promise.race([fast.then(() => 'fast'), slowWalk.then(() => 'slow')]);
    expect(first).toBe('fast');
    expect((await fast).complete).toBe(true);
    expect(await slowWalk).toMatchObject({ complete: false, reason: 'time-budget' });
  });
});

describe('agents that cannot do what others can', () => {
  it('answers cut to 1,400 octets are put together', async () => {
    const reply = honest(interfaces(300));
    const session = await sessionWith((asked) => {
      const answer = reply(asked);
      return { ...answer, varbinds: answer.varbinds.slice(0, 45) };
    });
    const result = await walkTable(session, [DESCR, TYPE, MTU], budget());
    expect(result.complete).toBe(true);
    expect(cellsOf(result.rows)).toBe(900);
  });

  it('tooBig is met with less', async () => {
    const reply = honest(interfaces(40));
    const session = await sessionWith((asked) => {
      const answer = reply(asked);
      return answer.varbinds.length > 7 ? response(asked, [], 1, 0) : answer;
    });
    const result = await walkTable(session, [DESCR, TYPE, MTU], budget());
    expect(result.complete).toBe(true);
    expect(cellsOf(result.rows)).toBe(120);
  });

  it('large answers that the path loses are asked for in smaller pieces', async () => {
    const reply = honest(interfaces(60));
    const session = await sessionWith((asked) => {
      const answer = reply(asked);
      return answer.varbinds.length > 20 ? null : answer;
    });
    const result = await walkTable(session, [DESCR, TYPE, MTU], budget());
    expect(result.complete).toBe(true);
    expect(cellsOf(result.rows)).toBe(180);
  });

  it('values of 5 KB', async () => {
    const objects: Record<string, Value> = {};
    for (let i = 1; i <= 40; i++) objects[`${DESCR}.${i}`] = { type: 'octets', value: Buffer.alloc(5000, i) };
    const reply = honest(objects);
    const session = await sessionWith((asked) => {
      const answer = reply(asked);
      return { ...answer, varbinds: answer.varbinds.slice(0, 12) };
    });
    const result = await walkTable(session, [DESCR], budget());
    expect(result.complete).toBe(true);
    expect(result.rows.get('40')?.get(DESCR)?.value).toEqual(Buffer.alloc(5000, 40));
  });

  it.each([
    ['genErr that names the column', 5, true],
    ['genErr that names nothing', 5, false],
    ['a status of its own', 13, true],
  ])('%s: that column is flagged, the others are complete', async (_what, status, names) => {
    const reply = honest(interfaces(30));
    const session = await sessionWith((asked) => {
      const bad = asked.varbinds.findIndex(({ oid }) => oid.startsWith(TYPE));
      return bad < 0 ? reply(asked) : response(asked, asked.varbinds, status, names ? bad + 1 : 0);
    });
    const result = await walkTable(session, [DESCR, TYPE, MTU], budget());
    expect([...result.stopped.keys()]).toEqual([TYPE]);
    expect([...result.rows.values()].filter((row) => row.has(DESCR) && row.has(MTU))).toHaveLength(30);
  });

  it('GetBulk that always fails is replaced by GetNext', async () => {
    const reply = honest(interfaces(12));
    const session = await sessionWith((asked) =>
      asked.type === 'getBulk' ? response(asked, asked.varbinds, 5, 0) : reply(asked),
    );
    const result = await walkTable(session, [DESCR, TYPE], budget());
    expect(result.complete).toBe(true);
    expect(cellsOf(result.rows)).toBe(24);
  });

  it('empty answers end the walk', async () => {
    const session = await sessionWith((asked) => response(asked, []));
    const result = await walkTable(session, [DESCR, TYPE], budget());
    expect(result).toMatchObject({ complete: false, reason: 'mismatched' });
  });

  it('an agent that falls silent half-way leaves what came, flagged', async () => {
    const reply = honest(interfaces(300));
    let answers = 2;
    const session = await sessionWith((asked) => (answers-- > 0 ? reply(asked) : null));
    const result = await walkTable(session, [DESCR], budget());
    expect(result).toMatchObject({ complete: false, reason: 'timeout' });
    expect(result.rows.size).toBeGreaterThan(20);
  });

  it('a fifth of all packets lost: still complete', async () => {
    let seed = 7;
    const random = () => {
      seed = (seed * 1103515245 + 12345) & 0x7fffffff;
      return seed / 0x7fffffff;
    };
    const reply = honest(interfaces(100));
    const session = await sessionWith((asked) => (random() < 0.36 ? null : reply(asked)), v2c, 20);
    const result = await walkTable(session, [DESCR, TYPE, MTU], { ...budget(), giveUpAfter: 8 });
    expect(result.complete).toBe(true);
    expect(cellsOf(result.rows)).toBe(300);
  });

  it('stops when cancelled', async () => {
    const controller = new AbortController();
    const agent = await FakeAgent.start(() => controller.abort());
    agents.push(agent);
    const session = new Session(used.engine, agent, v2c, {
      timeoutMs: 5000,
      tries: 1,
      signal: controller.signal,
    });
    expect(await walkTable(session, [DESCR], budget())).toMatchObject({
      complete: false,
      reason: 'cancelled',
    });
  });
});

/** v1 has no endOfMibView and no GetBulk: it fails the request and names the first varbind that has no next. */
function v1Like(reply: (asked: Asked) => PlainPdu, v1: boolean): Reply {
  if (!v1) return reply;
  return (asked) => {
    expect(asked.type).toBe('getNext');
    const answer = reply(asked);
    const end = answer.varbinds.findIndex(({ type }) => type === 'endOfMibView');
    return end < 0 ? answer : response(asked, asked.varbinds, 2, end + 1);
  };
}
