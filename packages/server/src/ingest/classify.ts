/** What is it? Pure: facts in; vendor, class, OS, model, version and serial out, each with what decided it. */
import type { DeviceClass } from '@rollcall/shared/model';
import type { EntityRow, SystemGroup } from '@rollcall/shared/observation';

/** Everything that classification reads; kept as facts, so that new rules need no new walk. */
export interface DeviceFacts {
  system: SystemGroup;
  /** ENTITY-MIB rows of class chassis or stack, or those without parent. */
  chassis: readonly EntityRow[];
  /** OID → value, as rules asked for it. */
  vendor: Readonly<Record<string, string>>;
}

export interface Classification {
  vendor: string | null;
  class: DeviceClass;
  os: string | null;
  osVersion: string | null;
  model: string | null;
  serial: string | null;
  /** Field → name of the rule or the general pattern that decided it. */
  by: Record<string, string>;
}

export type Classify = (facts: DeviceFacts) => Classification;

/** What ENTITY-MIB says of the box itself: the first chassis row, else the first that names anything. */
export function classifyByEntity(facts: DeviceFacts): Classification {
  const box = facts.chassis.find((row) => row.class === 'chassis') ?? facts.chassis[0];
  const by: Record<string, string> = {};
  const take = (field: string, text: string | undefined): string | null => {
    const value = text?.trim();
    if (!value) return null;
    by[field] = 'entity-mib';
    return value;
  };
  return {
    vendor: take('vendor', box?.manufacturer),
    class: 'unknown',
    os: null,
    osVersion: take('osVersion', box?.softwareRevision),
    model: take('model', box?.model),
    serial: take('serial', box?.serial),
    by,
  };
}
