import type { Entity } from '@rollcall/shared/api/inventory';

export interface Part extends Entity {
  depth: number;
}

/** Parts in the order of the tree, each with how deep it sits. What names a parent that is not there is a root. */
export function treeOf(entities: readonly Entity[]): Part[] {
  const known = new Set(entities.map((one) => one.index));
  const within = new Map<number | null, Entity[]>();
  for (const one of entities) {
    const parent =
      one.parent !== null && known.has(one.parent) && one.parent !== one.index ? one.parent : null;
    within.set(parent, [...(within.get(parent) ?? []), one]);
  }
  const order = (a: Entity, b: Entity) => (a.position ?? 0) - (b.position ?? 0) || a.index - b.index;
  const tree: Part[] = [];
  const seen = new Set<number>();
  const add = (one: Entity, depth: number) => {
    // Agents report rings, too.
    if (seen.has(one.index)) return;
    seen.add(one.index);
    tree.push({ ...one, depth });
    for (const child of (within.get(one.index) ?? []).toSorted(order)) add(child, depth + 1);
  };
  for (const root of (within.get(null) ?? []).toSorted(order)) add(root, 0);
  for (const one of entities) add(one, 0);
  return tree;
}
