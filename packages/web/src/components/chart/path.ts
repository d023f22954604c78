/** Line through values from 0 to `most`, with gaps where there are none, as the path of an SVG of this size. */
export function pathOf(
  values: readonly (number | null)[],
  most: number,
  width: number,
  height: number,
): string {
  const across = width / Math.max(1, values.length - 1);
  const up = most > 0 ? (height - 2) / most : 0;
  return values
    .map((value, i) => {
      if (value === null) return '';
      const isFirst = i === 0 || values[i - 1] === null;
      // A point alone is a dot, drawn by the round end of its line.
      const isAlone = isFirst && (values[i + 1] ?? null) === null;
      return `${isFirst ? 'M' : 'L'}${round(i * across)} ${round(height - 1 - value * up)}${isAlone ? 'h0' : ''}`;
    })
    .join('');
}

const round = (value: number): number => Math.round(value * 10) / 10;
