/** A device at an earlier time. */
import { z } from 'zod';
import { interfaceStatus } from './interfaces.ts';
import { mac, text, time } from './members.ts';
import { id } from './operation.ts';

/** What a device had at an earlier time, out of the changes that are kept. */
export const deviceAsOf = z.strictObject({
  at: time,
  interfaces: z.array(
    z.strictObject({
      id,
      ifIndex: z.int(),
      name: z.string().meta({ example: 'Gi1/0/48' }),
      alias: text('uplink to dist-2'),
      type: text('ethernetCsmacd'),
      speedBps: z.number().nullable(),
      macAddress: mac,
      adminStatus: interfaceStatus,
      mtu: z.int().nullable(),
      description: text('GigabitEthernet1/0/48'),
      aggregate: text('Po1').meta({ description: 'That it was a member of.' }),
      vlan: z.int().nullable(),
      taggedVlans: z.array(z.int()),
      duplex: text('full'),
      endpoints: z.int().min(0).meta({ description: 'MAC addresses that it had learnt.' }),
    }),
  ),
  vlans: z.array(z.strictObject({ vlan: z.int(), name: text('staff') })),
  neighbours: z
    .array(
      z.strictObject({
        port: z.string(),
        chassisId: z.string().nullable(),
        sysName: z.string().nullable(),
        remotePort: z.string().nullable(),
      }),
    )
    .meta({ description: 'As it reported them.' }),
  notKnown: z
    .array(z.strictObject({ what: z.string(), why: z.string() }))
    .meta({ description: 'What cannot be said of that time.' }),
});
