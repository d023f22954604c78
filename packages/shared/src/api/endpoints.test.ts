import { expect, it } from 'vitest';
import { macTexts } from './endpoints.ts';

it.each<[text: string, texts: string[]]>([
  ['9df8', ['9d:f8']],
  ['3C-9D', ['3c:9d']],
  ['c9df8', ['c9:df:8', 'c:9d:f8']],
  ['543c.9df8', ['54:3c:9d:f8', '5:43:c9:df:8']],
  ['001b543c9df8', ['00:1b:54:3c:9d:f8', '0:01:b5:43:c9:df:8']],
  // Too few digits, an IP address, a name.
  ['9df', []],
  ['10.0.0.1', []],
  ['core-1', []],
])('a part of a MAC address as texts have it: %s', (text, texts) => {
  expect(macTexts(text)).toEqual(texts);
});
