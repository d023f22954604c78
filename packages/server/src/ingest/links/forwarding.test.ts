import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type BridgeTable, forwardingLinks } from './forwarding.ts';

/** A random network that is a tree: switches, unmanaged switches between them, stations. */
interface Network {
  kinds: ('switch' | 'hub' | 'station')[];
  /** Node i+1 hangs on this earlier node. */
  parents: number[];
}

const networks = fc.integer({ min: 1, max: 14 }).chain((size) =>
  fc.record({
    kinds: fc
      .array(fc.constantFrom('switch' as const, 'switch' as const, 'hub' as const, 'station' as const), {
        minLength: size,
        maxLength: size,
      })
      .map((kinds): Network['kinds'] => ['switch', ...kinds]),
    parents: fc
      .array(fc.nat(), { minLength: size, maxLength: size })
      .map((picks) => picks.map((pick, i) => pick % (i + 1))),
  }),
);

/** Stations have nothing behind them: what would hang on one hangs on what it hangs on. */
function edgesOf({ kinds, parents }: Network): [number, number][] {
  const edges: [number, number][] = [];
  const above: number[] = [0];
  parents.forEach((picked, i) => {
    let parent = picked;
    while (kinds[parent] === 'station') parent = above[parent] ?? 0;
    above.push(parent);
    edges.push([parent, i + 1]);
  });
  return edges;
}

type Frame = [from: number, to: number];

/** What switches learn from frames: each on the way learns the sender on the port it came from. */
function tablesOf(network: Network, frames: readonly Frame[]): BridgeTable[] {
  const edges = edgesOf(network);
  const neighbours = (node: number) => edges.flatMap(([a, b]) => (a === node ? [b] : b === node ? [a] : []));
  const path = (from: number, to: number, before = -1): number[] | null => {
    if (from === to) return [to];
    for (const next of neighbours(from)) {
      const rest = next === before ? null : path(next, to, from);
      if (rest) return [from, ...rest];
    }
    return null;
  };
  const tables = new Map<number, Map<number, Set<number>>>();
  for (const [from, to] of frames) {
    const way = path(from, to) ?? [];
    way.forEach((node, i) => {
      const came = way[i - 1];
      if (network.kinds[node] !== 'switch' || came === undefined) return;
      const ports = tables.get(node) ?? new Map<number, Set<number>>();
      tables.set(node, ports.set(came, (ports.get(came) ?? new Set()).add(from)));
    });
  }
  return [...tables].map(([node, ports]) => ({
    deviceId: `${node}`,
    ports: new Map([...ports].map(([port, macs]) => [port, [...macs]])),
  }));
}

/** Everything that has a hardware address, to everything. */
const everybody = ({ kinds }: Network): Frame[] =>
  kinds.flatMap((a, from) =>
    kinds.flatMap((b, to): Frame[] => (from === to || a === 'hub' || b === 'hub' ? [] : [[from, to]])),
  );

/** An unmanaged switch with two cables is a cable. */
const hubsAreSeen = (network: Network): boolean =>
  network.kinds.every(
    (kind, node) => kind !== 'hub' || edgesOf(network).filter((edge) => edge.includes(node)).length > 2,
  );

const linksOf = (bridges: BridgeTable[], owner = (mac: number): string | null => `${mac}`) =>
  forwardingLinks({ bridges, owner, spokenFor: () => false, linked: () => false }).map(
    ({ deviceId, ifIndex, remoteId, remoteIfIndex }) => ({
      text: [deviceId, remoteId].sort().join('—'),
      // Ports bear the neighbour's number: a right link's ports are its ends.
      right: `${ifIndex}` === remoteId && (remoteIfIndex === null || `${remoteIfIndex}` === deviceId),
    }),
  );

const cables = (network: Network): Set<string> =>
  new Set(
    edgesOf(network)
      .filter(([a, b]) => [a, b].every((node) => network.kinds[node] !== 'hub'))
      .map(([a, b]) => [`${a}`, `${b}`].sort().join('—')),
  );

describe('links out of forwarding tables', () => {
  it('are exactly the cables where everybody spoke to everybody', () => {
    fc.assert(
      fc.property(networks.filter(hubsAreSeen), (network) => {
        const found = linksOf(tablesOf(network, everybody(network)));
        expect(new Set(found.map(({ text }) => text))).toEqual(cables(network));
        for (const { text, right } of found) expect([text, right]).toEqual([text, true]);
      }),
      { numRuns: 1000 },
    );
  });

  // Behind an unmanaged switch a silent station cannot be told from none.
  it('are never others in managed networks, whoever spoke to whom beside the collector', () => {
    const managed = networks.filter(({ kinds }) => !kinds.includes('hub'));
    const quiet = managed.chain((network) =>
      fc.record({ network: fc.constant(network), more: fc.subarray(everybody(network)) }),
    );
    fc.assert(
      fc.property(quiet, ({ network, more }) => {
        const polled = everybody(network).filter(([from, to]) => from === 0 || to === 0);
        const found = linksOf(tablesOf(network, [...polled, ...more]));
        const wrong = found.filter(({ text, right }) => !right || !cables(network).has(text));
        expect(wrong).toEqual([]);
      }),
      { numRuns: 1000 },
    );
  });
});
