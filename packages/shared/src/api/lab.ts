/** The lab of the demonstration: what of its simulated network can be broken and put back. Other servers have none. */
import { z } from 'zod';
import type { Operation } from './operation.ts';
import { id, idParams, unixSeconds } from './operation.ts';

export const FAULT_KINDS = ['cable', 'box', 'uplink', 'port', 'reboot', 'hardware'] as const;
export type FaultKind = (typeof FAULT_KINDS)[number];

const kind = z.enum(FAULT_KINDS).meta({ id: 'FaultKind', example: 'box' });
const target = z
  .string()
  .max(100)
  .meta({ description: 'A device, or a port as `device:port`.', example: 'access-5' });

const offered = z.array(target).max(50);

export const labFault = z
  .strictObject({
    id,
    kind,
    target,
    at: unixSeconds,
    restores: z.boolean().meta({ description: 'It ends by itself, as a reboot does.' }),
  })
  .meta({ id: 'LabFault' });
export type LabFault = z.infer<typeof labFault>;

export const lab = z
  .strictObject({
    targets: z
      .strictObject({
        ...{ cable: offered, box: offered, uplink: offered },
        ...{ port: offered, reboot: offered, hardware: offered },
      })
      .meta({ description: 'What can be broken, by kind.' }),
    faults: z.array(labFault).max(50).meta({ description: 'What is broken now, the first one first.' }),
    silent: z
      .array(z.string().meta({ example: '127.20.10.39' }))
      .max(1000)
      .meta({ description: 'Addresses that answer nobody now.' }),
  })
  .meta({ id: 'Lab' });
export type Lab = z.infer<typeof lab>;

export const faultRequest = z.strictObject({ kind, target });
export type FaultRequest = z.infer<typeof faultRequest>;

export const labOperations = {
  'lab.get': {
    method: 'GET',
    path: '/api/lab',
    tag: 'Lab',
    summary: 'What can be broken in the lab, and what is',
    description: 'null where the server does not run as the demonstration.',
    access: 'admin',
    data: lab.nullable(),
    envelope: 'item',
  },
  'lab.break': {
    method: 'POST',
    path: '/api/lab/faults',
    tag: 'Lab',
    summary: 'Break something in the lab',
    description: '404 where the server does not run as the demonstration.',
    access: 'admin',
    body: faultRequest,
    data: labFault,
    envelope: 'item',
    status: 201,
    errors: ['not_found', 'conflict'],
    example: { kind: 'box', target: 'access-5' },
  },
  'lab.repair': {
    method: 'DELETE',
    path: '/api/lab/faults/{id}',
    tag: 'Lab',
    summary: 'Put back what was broken in the lab',
    access: 'admin',
    params: idParams,
    data: z.null(),
    envelope: 'item',
  },
} as const satisfies Record<string, Operation>;
