/** Items in parts of bounded size as JSON; one empty part where there are none, which is a fact too. */
export function inParts<Item>(
  items: readonly Item[],
  { bytesMost, itemsMost }: { bytesMost: number; itemsMost: number },
): Item[][] {
  const parts: Item[][] = [[]];
  let bytes = 0;
  for (const item of items) {
    const size = Buffer.byteLength(JSON.stringify(item)) + 1;
    let part = parts.at(-1) as Item[];
    if (part.length > 0 && (bytes + size > bytesMost || part.length === itemsMost)) {
      part = [];
      parts.push(part);
      bytes = 0;
    }
    part.push(item);
    bytes += size;
  }
  return parts;
}
