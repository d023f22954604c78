/** Tables of one device as its agent told them: VLANs, VRFs, ARP. */
import { z } from 'zod';
import { address, maybeTime, text, time } from './members.ts';
import type { Operation } from './operation.ts';
import { id, idParams, paging } from './operation.ts';

const port = z.strictObject({
  ifIndex: z.int(),
  interfaceId: id.nullable(),
  port: text('Gi1/0/12'),
});
const mac = z.string().meta({ example: '00:1b:21:3c:9d:f8' });
const read = {
  seenAt: maybeTime.meta({ description: 'When the table was read last, to six hours; null: never.' }),
  complete: z.boolean().meta({ description: 'False: it was not read to its end.' }),
};

const deviceVlans = z
  .strictObject({
    ...read,
    vlans: z.array(
      z.strictObject({
        vlan: z.int().meta({ example: 20 }),
        name: text('staff'),
        untagged: z.array(port),
        tagged: z.array(port),
      }),
    ),
  })
  .meta({ id: 'DeviceVlans' });
export type DeviceVlans = z.infer<typeof deviceVlans>;

const deviceVrfs = z
  .strictObject({
    ...read,
    vrfs: z.array(
      z.strictObject({
        name: z.string().meta({ example: 'guests' }),
        addresses: z.array(z.strictObject({ address, prefixLength: z.int().nullable() })),
        arp: z.array(z.strictObject({ ...port.shape, address, mac })),
        more: z.int().min(0).meta({ description: 'Addresses and ARP entries that were left out.' }),
      }),
    ),
  })
  .meta({ id: 'DeviceVrfs' });
export type DeviceVrfs = z.infer<typeof deviceVrfs>;

const arpEntry = z
  .strictObject({
    address,
    mac,
    maker: text('Intel Corporate'),
    ...port.shape,
    since: time.meta({ description: 'Since when the table has it.' }),
  })
  .meta({ id: 'ArpEntry' });
export type ArpEntry = z.infer<typeof arpEntry>;

const arpQuery = z.strictObject({ ...paging });
export type ArpQuery = z.output<typeof arpQuery>;

const ofDevice = { method: 'GET', tag: 'Devices', access: 'viewer', params: idParams } as const;

export const tableOperations = {
  'devices.vlans': {
    ...ofDevice,
    path: '/api/devices/{id}/vlans',
    summary: 'The VLANs of a device, with their ports',
    data: deviceVlans,
    envelope: 'item',
  },
  'devices.vrfs': {
    ...ofDevice,
    path: '/api/devices/{id}/vrfs',
    summary: 'The VRFs of a device, with the addresses and ARP entries in them',
    data: deviceVrfs,
    envelope: 'item',
  },
  'devices.arp': {
    ...ofDevice,
    path: '/api/devices/{id}/arp',
    summary: 'The ARP and ND tables of a device now, by address',
    query: arpQuery,
    data: arpEntry,
    envelope: 'list',
  },
} as const satisfies Record<string, Operation>;
