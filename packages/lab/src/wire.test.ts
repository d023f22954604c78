import { afterEach, describe, expect, it } from 'vitest';
import { Agent } from './agent.ts';
import { type Entry, Mib, type View } from './mib.ts';
import { exchange, get, getNext, readReply, walk } from './testing/client.ts';
import { misordered } from './testing/misordered.ts';
import { responderOf } from './testing/replay.ts';
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

describe('a faulty view', () => {
  const follow = (view: View, steps: number): string[] => {
    const agent = agentOf(view);
    const seen: string[] = [];
    for (let i = 0, at = '1.3'; i < steps; i++) {
      at = readReply(agent.answer(getNext(at))).varbinds[0]?.oid ?? '';
      seen.push(at);
    }
    return seen;
  };

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
