/** The cables of the demonstration site: by hand where the shape matters, the rest on free ports of the access layer. */
import type { Link } from '../network.ts';
import type { Box } from '../product.ts';
import { boards, servers, things, wireless, workstations } from './boxes.ts';

export function cables(): Link[] {
  const links: [string, string][] = [
    ['core-1:Hu1/0/49', 'core-2:Hu1/0/49'],
    ['core-1:Hu1/0/50', 'core-2:Hu1/0/50'],
    ['core-1:Twe1/0/1', 'edge-1:Te0/0/0'],
    ['core-2:Twe1/0/1', 'edge-2:xe-2/0/0'],
    ['core-1:Twe1/0/2', 'fw-1:x1'],
    ['core-2:Twe1/0/2', 'fw-2:ethernet1/1'],
    ['edge-1:Gi0/0/1', 'branch-1:Gi0/0/0'],
    ['edge-1:Gi0/0/2', 'branch-2:ether1'],
    ['edge-2:ge-2/1/0', 'branch-3:ge-0/0/0'],
    ['core-1:Twe1/0/3', 'dist-1:1/1/49'],
    ['core-2:Twe1/0/3', 'dist-1:1/1/50'],
    ['core-1:Twe1/0/4', 'dist-2:1/1/49'],
    ['core-2:Twe1/0/4', 'dist-2:1/1/50'],
    ['dist-1:1/1/1', 'access-1:Te1/1/1'],
    ['dist-2:1/1/1', 'access-1:Te3/1/1'],
    ['dist-1:1/1/2', 'access-2:Te1/1/1'],
    ['dist-2:1/1/2', 'access-2:Te2/1/1'],
    ['dist-1:1/1/3', 'access-3:Te1/1/1'],
    ['dist-1:1/1/4', 'access-4:49'],
    ['dist-1:1/1/5', 'access-5:49'],
    ['dist-2:1/1/6', 'access-6:49'],
    ['core-1:Twe1/0/7', 'access-7:xe-0/2/0'],
    ['core-2:Twe1/0/8', 'access-8:xe-0/2/0'],
    ['core-2:Twe1/0/9', 'access-9:xe-0/2/0'],
    ['access-4:50', 'access-10:1/25'],
    ['access-5:50', 'access-11:1/25'],
    ['access-6:50', 'access-12:Gi0/1'],
    ['core-1:Twe1/0/10', 'wlc-1:Te0/0/0'],
    ['core-2:Twe1/0/10', 'wlc-2:GE0/0/0'],
    ['core-1:Twe1/0/11', 'lb-1:1.1'],
    ['core-1:Twe1/0/12', 'filer-1:node-01:e1a'],
    ['core-2:Twe1/0/12', 'filer-1:node-02:e1a'],
    ...[1, 2, 3].flatMap((n): [string, string][] => [
      [`core-1:Twe1/0/${12 + n}`, `esxi-${n}:vmnic0`],
      [`core-2:Twe1/0/${12 + n}`, `esxi-${n}:vmnic1`],
    ]),
  ];
  const plugged = (boxes: Box[], port: (box: Box) => string, outlets: string[]) => {
    for (const [i, box] of boxes.entries()) links.push([outlets[i] ?? '', `${box.name}:${port(box)}`]);
  };
  const ports = (name: string, from: number, count: number) =>
    Array.from({ length: count }, (_, i) => name.replace('*', String(from + i)));
  const only = (box: Box) => Object.keys(box.addresses).at(-1) ?? '';
  const singles = servers.filter((s) => !/^(esxi|filer|lb)/.test(s.name));
  plugged(singles, only, ports('core-1:Twe1/0/*', 20, singles.length));
  plugged(boards, only, ports('access-7:ge-0/0/*', 0, boards.length));
  plugged(wireless.slice(2), () => 'eth0', ports('access-1:Gi1/0/*', 1, wireless.length));
  plugged(things, only, [
    ...ports('access-2:Gi1/0/*', 1, 8),
    ...ports('access-4:*', 1, 4),
    ...ports('access-12:Fa0/*', 1, 2),
    ...ports('access-8:ge-0/0/*', 0, 6),
  ]);
  plugged(workstations, () => 'eth0', [...ports('access-3:Gi1/0/*', 1, 8), ...ports('access-10:1/*', 1, 6)]);
  return links.map(([a, b]) => ({ a, b }));
}
