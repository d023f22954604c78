/**
 * Names of ports, in their order, shorter: of three or more that only count up the first and the last (Gi1/0/9–48). Pure.
 */
export function runs(names: readonly string[]): string[] {
  const shown: string[] = [];
  for (let i = 0; i < names.length; ) {
    const first = names[i] ?? '';
    const [, before = '', number = ''] = /^(.*?)(\d+)$/.exec(first) ?? [];
    let length = 1;
    while (number !== '' && names[i + length] === before + String(Number(number) + length)) length++;
    if (length < 3) shown.push(...names.slice(i, i + length));
    else shown.push(`${first}–${Number(number) + length - 1}`);
    i += length;
  }
  return shown;
}
