/** The device list in the forms that other programs read: Prometheus, Ansible, Oxidized, NetBox. */
import { z } from 'zod';
import { deviceFilters } from './inventory.ts';
import { type Operation, wholeNumber } from './operation.ts';

/** Devices of one answer; more are asked for by site or by another filter. */
export const EXPORT_MOST = 20_000;

const exportQuery = z.strictObject({
  ...deviceFilters,
  snmp: wholeNumber(0, 1)
    .optional()
    .meta({ description: '1: only devices whose SNMP agent was read; 0: the others.', example: 1 }),
});
export type ExportQuery = z.output<typeof exportQuery>;

const text = z.string().max(1000);
/** One group of Prometheus' HTTP service discovery. */
const scrapeTarget = z
  .strictObject({ targets: z.array(text), labels: z.record(text, text) })
  .meta({ id: 'ScrapeTarget' });
export type ScrapeTarget = z.infer<typeof scrapeTarget>;

const operation = (path: string, summary: string, description: string) => ({
  method: 'GET' as const,
  path: `/api/export/${path}`,
  tag: 'Devices',
  summary,
  description: `${description} At most ${EXPORT_MOST.toLocaleString('en')} devices with an address; of more ask by site.`,
  access: 'viewer' as const,
  query: exportQuery,
  envelope: 'none' as const,
});

export const exportOperations = {
  'export.prometheus': {
    ...operation(
      'prometheus',
      'Devices as targets of Prometheus',
      'HTTP service discovery (`http_sd_configs`): a target for each device, with its name, site, class and the like as `__meta_rollcall_…`, and with `__param_target`, `__param_module` and `__param_auth` (the name of the credential that its agent answered) for snmp_exporter.',
    ),
    data: z.array(scrapeTarget),
  },
  'export.ansible': {
    ...operation(
      'ansible',
      'Devices as an Ansible inventory',
      'What an inventory script prints for `--list`: hosts with their variables, and groups by site, class and system.',
    ),
    data: z.record(text, z.unknown()),
  },
  'export.oxidized': {
    ...operation(
      'oxidized',
      'Devices for Oxidized',
      'Lines of its `router.db`, name:address:model:group; the group is the site. Devices whose system Oxidized does not know are left out and counted in the first line.',
    ),
    data: z.string(),
    produces: 'text/plain',
  },
  'export.netbox': {
    ...operation(
      'netbox',
      'Devices for NetBox',
      'CSV for its import of devices. Roles, manufacturers, device types, platforms and sites must be there by these names.',
    ),
    data: z.string(),
    produces: 'text/csv',
  },
} as const satisfies Record<string, Operation>;
