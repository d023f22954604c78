/** One box, one answer: whatever a person types, the things that it may mean. */
import { z } from 'zod';
import type { Operation } from './operation.ts';
import { id, siteFilter } from './operation.ts';

const searchKind = z.enum(['device', 'interface', 'endpoint', 'case']).meta({ id: 'SearchKind' });

const searchHit = z
  .strictObject({
    kind: searchKind,
    id: z.string().meta({
      description: 'Of a device, interface or case its id; of an endpoint its MAC address.',
      example: '019aa3c4-5b00-7000-8000-000000000001',
    }),
    siteId: id,
    site: z.string(),
    title: z.string().meta({ example: 'core-1' }),
    detail: z
      .string()
      .meta({ description: 'What tells it from others.', example: '10.20.0.1 · Cisco C9300' }),
    deviceId: id.nullable().meta({
      description: 'The device itself, that of the interface, or the one where the endpoint enters.',
    }),
    interfaceId: id.nullable().meta({ description: 'The interface, or the port where the endpoint enters.' }),
  })
  .meta({ id: 'SearchHit' });
export type SearchHit = z.infer<typeof searchHit>;

const searchQuery = z.strictObject({
  q: z.string().trim().min(2).max(100).meta({
    description:
      'A MAC address or a part of it in any notation, an IP address or its beginning, a name, a part of a serial number, `#` and the number of a case, or any word that devices, descriptions of interfaces, tags, notes, custom fields or cases have. Two characters are the whole name of a device or `#` and a number; a part of a MAC address has 3 digits or more, and 4 where it is to find devices and not endpoints alone.',
    example: '3c9d.f8',
  }),
  site: siteFilter,
});

export const searchOperations = {
  'search.get': {
    method: 'GET',
    path: '/api/search',
    tag: 'Search',
    summary: 'Devices, interfaces, endpoints and cases that a text may mean',
    description: 'A few of each kind, the closest first. The lists of each kind have all.',
    access: 'viewer',
    query: searchQuery,
    data: z.strictObject({
      hits: z.array(searchHit),
      more: z.array(searchKind).meta({ description: 'Kinds of which there are more.' }),
    }),
    envelope: 'item',
  },
} as const satisfies Record<string, Operation>;
