/**
 * Recordings in groups of at most `most`, dealt like cards: names next to each other are likely one box. Recordings that
 * were taken for one box (`box` is the same) come to different groups.
 */
export function deal(recordings, most) {
  const sorted = recordings.toSorted((a, b) => order(a.box, b.box) || order(a.name, b.name));
  const sizes = new Map();
  for (const { box } of sorted) if (box) sizes.set(box, (sizes.get(box) ?? 0) + 1);
  const count = Math.max(1, Math.ceil(sorted.length / most), ...sizes.values());
  const groups = Array.from({ length: count }, () => []);
  for (const [i, recording] of sorted.entries()) groups[i % count].push(recording);
  return groups.filter((group) => group.length > 0);
}

const order = (a = '', b = '') => (a < b ? -1 : a > b ? 1 : 0);
