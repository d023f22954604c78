import type { Topology } from '@rollcall/shared/api/interfaces';
import { expect, it } from 'vitest';
import { rowsOf } from './link-rows.ts';

const node = (id: string) => ({ id, name: id }) as Topology['nodes'][number];
const link = (a: string, aPort: string, b: string, status = 'up') =>
  ({
    a: { deviceId: a, port: aPort },
    b: { deviceId: b, port: 'Gi0' },
    status,
    speedBps: null,
    protocols: ['lldp'],
    lastSeen: 0,
  }) as unknown as Topology['links'][number];

const topology = {
  nodes: [node('core'), node('access-1'), node('access-2')],
  links: [
    link('core', 'Te1/10', 'access-1'),
    link('access-2', 'Te1/1', 'core'),
    link('core', 'Te1/2', 'elsewhere', 'down'),
  ],
  strangers: [
    { from: { deviceId: 'core', port: 'Te1/3' }, name: null, port: '7', protocol: 'cdp', lastSeen: 0 },
  ],
} as unknown as Topology;

it('links that are down come first, then by device and port; the end that more hangs on is the first', () => {
  expect(
    rowsOf(topology, () => undefined).map((row) => `${row.a?.name} ${row.aPort} – ${row.bName}`),
  ).toEqual([
    'core Te1/2 – a device elsewhere',
    'core Gi0 – access-2',
    'core Te1/3 – unnamed (not in the inventory)',
    'core Te1/10 – access-1',
  ]);
});

it('keys of rows differ', () => {
  const keys = rowsOf(topology, () => undefined).map(({ key }) => key);
  expect(new Set(keys).size).toBe(keys.length);
});
