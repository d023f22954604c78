import type { EntityRow, SystemGroup } from '@rollcall/shared/observation';

/** Everything that classification reads; kept as facts, so that new rules need no new walk. */
export interface DeviceFacts {
  system: SystemGroup;
  /** ENTITY-MIB rows of class chassis or stack, or those without parent. */
  chassis: readonly EntityRow[];
  /** OID → value, as rules asked for it, and the sample of the enterprise's own objects. */
  vendor: Readonly<Record<string, string>>;
  /** Of a host without an agent. */
  host?: { mac: string | null; name: string | null };
}
