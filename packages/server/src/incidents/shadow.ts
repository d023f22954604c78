/** Which of the devices that are down explain which others, by the links that discovery found. Pure. */

export interface Down {
  deviceId: string;
  /** Unix milliseconds. */
  since: number;
}

/** Device → the devices it is linked to; both directions. */
export type Links = ReadonlyMap<string, ReadonlySet<string>>;

/**
 * Device → the device that explains it, for every device that is down only because another is. Of devices that are
 * down and linked, those with a link to one that is known to be up can be reached from there and are roots; the others
 * lie behind the nearest root. Where nothing around them is up, the one with the most links is the root.
 */
export function shadows(downs: readonly Down[], links: Links, up: ReadonlySet<string>): Map<string, string> {
  const down = new Map(downs.map((each) => [each.deviceId, each]));
  const linked = (id: string) => [...(links.get(id) ?? [])].sort();
  const explained = new Map<string, string>();
  const visited = new Set<string>();
  for (const { deviceId } of [...downs].sort((a, b) => (a.deviceId < b.deviceId ? -1 : 1))) {
    if (visited.has(deviceId)) continue;
    const island = reach([deviceId], (id) => linked(id).filter((next) => down.has(next)));
    for (const id of island.keys()) visited.add(id);
    const shore = [...island.keys()].filter((id) => linked(id).some((next) => up.has(next)));
    const roots = shore.length > 0 ? shore : [centre([...island.keys()], links, down)];
    const owners = reach(roots, (id) => linked(id).filter((next) => island.has(next)));
    for (const [id, root] of owners) if (id !== root) explained.set(id, root);
  }
  return explained;
}

/** Everything reachable from `starts`, breadth first, each with the start it was reached from. */
function reach(starts: readonly string[], next: (id: string) => string[]): Map<string, string> {
  const owner = new Map(starts.map((id) => [id, id]));
  const queue = [...starts];
  for (let i = 0; i < queue.length; i++) {
    const id = queue[i] as string;
    for (const other of next(id)) {
      if (owner.has(other)) continue;
      owner.set(other, owner.get(id) as string);
      queue.push(other);
    }
  }
  return owner;
}

/** The one with the most links; of those the one that went first. */
function centre(island: readonly string[], links: Links, down: ReadonlyMap<string, Down>): string {
  const rank = (id: string) => [-(links.get(id)?.size ?? 0), down.get(id)?.since ?? 0] as const;
  return [...island].sort((a, b) => {
    const [x, y] = [rank(a), rank(b)];
    return x[0] - y[0] || x[1] - y[1] || (a < b ? -1 : 1);
  })[0] as string;
}
