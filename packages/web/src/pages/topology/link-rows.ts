import type { Topology } from '@rollcall/shared/api/interfaces';
import { protocolName } from '../../format.ts';
import type { LoadOf } from './link-load.ts';

type Node = Topology['nodes'][number];
export interface Row {
  key: string;
  a: Node | undefined;
  aPort: string | null;
  b: Node | undefined;
  bName: string;
  bPort: string | null;
  status: string;
  speedBps: number | null;
  /** Percent; undefined where it is not known. */
  load: number | undefined;
  protocols: string;
  lastSeen: number;
}

type Link = Topology['links'][number];
/** The end that more hangs on first: a switch, then what is plugged into it. */
function endsOf({ links }: Topology): (link: Link) => [Link['a'], Link['b']] {
  const count = new Map<string, number>();
  for (const { a, b } of links)
    for (const { deviceId } of [a, b]) count.set(deviceId, (count.get(deviceId) ?? 0) + 1);
  const weight = (end: Link['a']) => count.get(end.deviceId) ?? 0;
  return ({ a, b }) => (weight(b) > weight(a) ? [b, a] : [a, b]);
}

const inOrder = (x: string, y: string): number => x.localeCompare(y, 'en', { numeric: true });

/** Links as rows, far ends that are no device of ours among them. */
export function rowsOf(topology: Topology, loadOf: LoadOf): Row[] {
  const nodes = new Map(topology.nodes.map((node) => [node.id, node]));
  const ends = endsOf(topology);
  const links = topology.links.map((link, i): Row => {
    const [from, to] = ends(link);
    const b = nodes.get(to.deviceId);
    return {
      key: `l${i}`,
      a: nodes.get(from.deviceId),
      aPort: from.port,
      b,
      bName: b?.name ?? 'a device elsewhere',
      bPort: to.port,
      status: link.status,
      speedBps: link.speedBps,
      load: loadOf(link),
      protocols: link.protocols.map(protocolName).join(', '),
      lastSeen: link.lastSeen,
    };
  });
  const unknown = topology.strangers.map(
    (far, i): Row => ({
      key: `s${i}`,
      a: nodes.get(far.from.deviceId),
      aPort: far.from.port,
      b: undefined,
      bName: `${far.name ?? 'unnamed'} (not in the inventory)`,
      bPort: far.port,
      status: 'unknown',
      speedBps: null,
      load: undefined,
      protocols: protocolName(far.protocol),
      lastSeen: far.lastSeen,
    }),
  );
  return [...links, ...unknown].sort(
    (x, y) =>
      Number(y.status === 'down') - Number(x.status === 'down') ||
      inOrder(x.a?.name ?? '', y.a?.name ?? '') ||
      inOrder(x.aPort ?? '', y.aPort ?? ''),
  );
}
