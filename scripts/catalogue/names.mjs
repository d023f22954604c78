// Whose an object is, what its rows are called, and what is left of its own name.

import { tokens } from './words.mjs';

const ENTERPRISES = '1.3.6.1.4.1.';
const STANDARD = '1.3.6.1.';

export const ownerOf = (oid) => {
  if (!oid.startsWith(ENTERPRISES)) return { maker: 'std', prefix: STANDARD };
  const maker = oid.split('.')[6];
  return { maker, prefix: `${ENTERPRISES}${maker}.` };
};

// LM-SENSORS-MIB calls the label of a sensor its device.
const NAME = /(descr|description|name|label|location|ident|alias|position|sensors?device)$/i;
const NO_NAME =
  /host|user|group|file|vendor|model|mfr|manufact|version|serial|domain|owner|mac|oid|unit$|part|product/i;
/** How well a column names its row. */
const worth = (name) =>
  /descr(iption)?$/i.test(name) ? 3 : /name$/i.test(name) ? 4 : /label$/i.test(name) ? 5 : 1;

export function nameColumns(objects) {
  const byEntry = new Map();
  const byIndex = new Map();
  const columns = new Map();
  for (const { oid, name, table, index, syntax, tc = '' } of objects) {
    if (!table) continue;
    const entry = oid.slice(0, oid.lastIndexOf('.'));
    const arcs = columns.get(entry) ?? new Map();
    arcs.set(name, Number(oid.slice(entry.length + 1)));
    columns.set(entry, arcs);
    if (syntax !== 'OCTET STRING' || !NAME.test(name) || NO_NAME.test(name.replace(/^.*?(?=[A-Z])/, '')))
      continue;
    if (/mac|address|date|time|bits/i.test(tc)) continue;
    const found = { oid, worth: worth(name) };
    byEntry.set(entry, better(byEntry.get(entry), found));
    const key = `${ownerOf(oid).maker} ${(index ?? []).join(' ')}`;
    byIndex.set(key, better(byIndex.get(key), found));
  }
  return { byEntry, byIndex, columns };
}
const better = (known, found) => (!known || found.worth > known.worth ? found : known);

export function nameOf(entry, { oid, index = [] }, { byEntry, byIndex }, prefix, scalar) {
  if (scalar || indexOf({ index }).i)
    return byEntry.has(entry) && !scalar ? { n: byEntry.get(entry).oid.slice(prefix.length) } : {};
  const found = byEntry.get(entry) ?? byIndex.get(`${ownerOf(oid).maker} ${index.join(' ')}`);
  return found ? { n: found.oid.slice(prefix.length) } : {};
}

/** What the first part of the index is, where that is known beyond the table. */
export function indexOf({ index = [] }) {
  if (index[0] === 'ifIndex' || /ifindex$/i.test(index[0] ?? '')) return { i: 'if' };
  if (index[0] === 'entPhysicalIndex' || /entphysicalindex$/i.test(index[0] ?? '')) return { i: 'ent' };
  return {};
}

/** The words that nearly all names of a module begin with. */
const SHARED = 0.8;
export function prefixesOf(facts) {
  const modules = new Map();
  for (const { module, name } of facts) modules.set(module, [...(modules.get(module) ?? []), tokens(name)]);
  const prefixes = new Map();
  for (const [module, lists] of modules) {
    const common = [];
    for (;;) {
      const n = common.length;
      const counts = new Map();
      for (const list of lists) if (list.length > n + 1) counts.set(list[n], (counts.get(list[n]) ?? 0) + 1);
      const [word, count] = [...counts].sort(([, a], [, b]) => b - a)[0] ?? ['', 0];
      if (lists.length < 3 || count < SHARED * lists.length) break;
      common.push(word);
    }
    prefixes.set(module, common);
  }
  return prefixes;
}

/** What is left of the name behind what the names of its module begin with; a scalar has no other name than this. */
export const labelOf = ({ name, kind, table }, common) => {
  const words = tokens(name);
  const own = words.findIndex((word, n) => word !== common[n]);
  return (
    words
      .slice(own < 0 ? (table ? words.length : 0) : own)
      // Times travel in minutes, whatever the MIB counts in.
      .map((word) => (kind === 'runtime' && /^(seconds?|minutes?|secs?|mins?)$/.test(word) ? 'time' : word))
      .join(' ')
  );
};
