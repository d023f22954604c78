/**
 * Which of the devices that are down explain which others, by the links that discovery found and the networks that
 * devices stand in. Pure.
 */
import type { CutOff, Reach } from './reachability.ts';

export interface Down {
  deviceId: string;
  /** Unix milliseconds. */
  since: number;
}

/** Device → the devices it is linked to; both directions. */
export type Links = ReadonlyMap<string, ReadonlySet<string>>;

/** What explains that a device is down. */
export interface RootCause {
  root: string;
  /** Where dead routers are why; null: links alone. */
  cutOff: CutOff | null;
}

/**
 * @param answered when devices that are known to be up answered, at least: what was before one beside it went down proves
 *   nothing of that.
 *
 * Device → what explains it, for every device that is down only because another is. Of devices that are down and linked,
 * those with a link to one that answered since can be reached from there and are roots; the others lie behind the
 * nearest root. Where nothing around them is up, those that dead routers cut off are roots, for what is linked to them and
 * known to be nowhere nearer; of the others the one with the most links, those to what has not answered since
 * included. A root that routers cut off lies behind the
 * nearest of them, or behind what explains that one.
 */
export function rootCauses(
  downs: readonly Down[],
  links: Links,
  answered: ReadonlyMap<string, number>,
  reach: Reach = { cutOff: new Map(), reached: new Set() },
): Map<string, RootCause> {
  const owners = linkOwners(downs, links, answered, reach);
  const { cutOff } = reach;
  const explained = new Map<string, RootCause>();
  for (const { deviceId } of downs) {
    let root = owners.get(deviceId) ?? deviceId;
    let why: CutOff | null = null;
    // A router may lie, by its links, behind what it cuts off: then links decide.
    const seen = new Set<string>();
    for (let next = cutOff.get(root); next; next = seen.has(root) ? undefined : cutOff.get(root)) {
      seen.add(root);
      root = owners.get(next.routers[0]) ?? next.routers[0];
      why = seen.has(root) ? null : next;
    }
    if (root !== deviceId) explained.set(deviceId, { root, cutOff: why });
  }
  return explained;
}

/**
 * Devices that may prove to lie behind one beside them that is not known to be down yet: all of them that are up answered
 * last before it went down. Agents that alone are asked, once a minute, are so.
 */
export function doubtful(
  downs: readonly Down[],
  links: Links,
  answered: ReadonlyMap<string, number>,
): Set<string> {
  const unsure = downs.filter(({ deviceId, since }) => {
    const up = [...(links.get(deviceId) ?? [])].flatMap((next) => answered.get(next) ?? []);
    return up.length > 0 && up.every((at) => at < since);
  });
  return new Set(unsure.map(({ deviceId }) => deviceId));
}

/** Device → the root that it lies behind by links; a root itself. */
function linkOwners(
  downs: readonly Down[],
  links: Links,
  answered: ReadonlyMap<string, number>,
  { cutOff, reached }: Reach,
): Map<string, string> {
  const down = new Map(downs.map((each) => [each.deviceId, each]));
  const linked = (id: string) => [...(links.get(id) ?? [])].sort();
  const owned = new Map<string, string>();
  for (const { deviceId } of [...downs].sort((a, b) => (a.deviceId < b.deviceId ? -1 : 1))) {
    if (owned.has(deviceId)) continue;
    const island = spread([deviceId], (id) => linked(id).filter((next) => down.has(next)));
    const isShore = (id: string) =>
      linked(id).some(
        (next) => (answered.get(next) ?? Number.NEGATIVE_INFINITY) >= (down.get(id)?.since ?? 0),
      );
    const shore = [...island.keys()].filter(isShore);
    const within = (next: string) => island.has(next);
    const far = shore.length > 0 ? [] : [...island.keys()].filter((id) => cutOff.has(id));
    const beyond = spread(far, (id) => linked(id).filter((next) => within(next) && !reached.has(next)));
    const near = shore.length > 0 ? [] : [...island.keys()].filter((id) => !beyond.has(id));
    const roots = near.length > 0 ? [centre(near, links, down, answered)] : shore;
    const owners = spread(roots, (id) => linked(id).filter(within));
    for (const id of island.keys()) owned.set(id, beyond.get(id) ?? owners.get(id) ?? id);
  }
  return owned;
}

/** Everything reachable from `starts`, breadth first, each with the start it was reached from. */
function spread(starts: readonly string[], next: (id: string) => string[]): Map<string, string> {
  const owner = new Map(starts.map((id) => [id, id]));
  const queue = [...starts];
  for (const id of queue) {
    for (const other of next(id)) {
      if (owner.has(other)) continue;
      owner.set(other, owner.get(id) as string);
      queue.push(other);
    }
  }
  return owner;
}

/**
 * The one with the most links to others of them, and to what did not answer since: it is asked seldom, and will prove to be
 * down. Of those the one that went first.
 */
function centre(
  ids: readonly string[],
  links: Links,
  down: ReadonlyMap<string, Down>,
  answered: ReadonlyMap<string, number>,
): string {
  const among = new Set(ids);
  const isSilent = (id: string) => among.has(id) || answered.has(id);
  const near = (id: string) => [...(links.get(id) ?? [])].filter(isSilent).length;
  const rank = (id: string) => [-near(id), down.get(id)?.since ?? 0] as const;
  return [...ids].sort((a, b) => {
    const [x, y] = [rank(a), rank(b)];
    return x[0] - y[0] || x[1] - y[1] || (a < b ? -1 : 1);
  })[0] as string;
}
