import { expect, it } from 'vitest';
import { newDeviceText } from './changes.tsx';

it.each([
  ['core-1', '10.20.0.7 is new: Cisco C9300', 'core-1 is new: Cisco C9300'],
  ['sw1', 'sw10 is new', 'sw1 is new'],
  [null, '10.20.0.7 is new', '10.20.0.7 is new'],
  ['sw1', 'something else', 'something else'],
])('%s, found as “%s”, is told as “%s”', (device, message, text) =>
  expect(newDeviceText(device, message)).toBe(text),
);
