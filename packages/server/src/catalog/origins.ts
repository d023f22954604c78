/** Where what is known of a device comes from. Pure. */
import type { Origins } from '@rollcall/shared/api/annotations';
import type { Device } from '@rollcall/shared/api/inventory';

/** What stands beside a device's row: what people set, who did, and which rules spoke. */
export interface Overrides {
  nameOverride: string | null;
  classOverride: string | null;
  /** By reverse DNS. */
  hostname: string | null;
  setBy: Record<string, { by: string; at: number }>;
  classifiedBy: Record<string, string>;
}

type Origin = Origins[string];
const SNMP: Origin = { from: 'snmp', by: null, at: null };
/** Members that are shown as the agent tells them. */
const TOLD = ['sysName', 'sysDescr', 'sysObjectId', 'location', 'contact'] as const;
/** Members that rules fill → their name in `classified_by`. */
const RULED = {
  vendor: 'vendor',
  model: 'model',
  os: 'os',
  osVersion: 'osVersion',
  serialNumber: 'serial',
} as const;

/** By the names of the device's members; `fields.NAME` of a custom field. What has no value has no origin. */
export function originsOf(device: Device, of: Overrides): Origins {
  const person = (key: string): Origin => ({ from: 'person', ...(of.setBy[key] ?? { by: null, at: null }) });
  const rule = (by: string | undefined): Origin => ({ from: 'rule', by: by ?? null, at: null });
  const annotated = [
    ...(device.tags.length > 0 ? ['tags'] : []),
    ...(device.note === '' ? [] : ['note']),
    ...Object.keys(device.fields).map((name) => `fields.${name}`),
  ];
  return Object.fromEntries<Origin>([
    ['name', of.nameOverride === null ? foundName(device, of) : person('name')],
    ['class', of.classOverride === null ? rule(of.classifiedBy.class) : person('class')],
    ...TOLD.filter((key) => device[key] !== null).map((key) => [key, SNMP] as const),
    ...Object.entries(RULED)
      .filter(([key]) => device[key as keyof typeof RULED] !== null)
      .map(([key, name]) => [key, rule(of.classifiedBy[name])] as const),
    ...annotated.map((key) => [key, person(key)] as const),
  ]);
}

/** As discovery chooses it (ingest/tables/merge.ts). */
const foundName = ({ sysName }: Device, { hostname }: Overrides): Origin =>
  sysName?.trim() ? SNMP : { from: hostname ? 'dns' : 'address', by: null, at: null };
