/** A device that shows a table in an order of its own, as some do. */
import { isUnder } from '@rollcall/shared/oid';
import type { Mib, MibObject, View } from '../mib.ts';

/** Serves the objects under `prefix` in the order given by `sort`, with the rest of the MIB around them. */
export function misordered(mib: Mib, prefix: string, sort: (a: MibObject, b: MibObject) => number): View {
  const objects = [...mib.under(prefix)].sort(sort);
  const place = new Map(objects.map(({ oid }, i) => [oid, i]));
  const behind = [...mib.under(prefix)].at(-1)?.oid ?? prefix;
  const following = (oid: string): MibObject | undefined => {
    const at = place.get(oid);
    if (at !== undefined) return objects[at + 1] ?? mib.after(behind)();
    const object = mib.after(oid)();
    return object && isUnder(object.oid, prefix) ? objects[0] : object;
  };
  return {
    get: (oid) => mib.get(oid),
    hasUnder: (under) => mib.hasUnder(under),
    after: (oid) => {
      let at: string | undefined = oid;
      return () => {
        const object: MibObject | undefined = at === undefined ? undefined : following(at);
        at = object?.oid;
        return object;
      };
    },
  };
}
