/** What merging the tables of walks takes, and what it comes to. */
import type { RowsObservation } from '@rollcall/shared/observation';
import type { AddressRecord, EntityRecord, InterfaceRecord, NeighbourRecord, WalkPartRow } from './rows.ts';

/** What the tables of a batch come to; written by `writeTables`. */
export interface Writes {
  interfaces: InterfaceRecord[];
  lift: InterfaceRecord[];
  addresses: AddressRecord[];
  lostAddresses: AddressRecord[];
  entities: EntityRecord[];
  lostEntities: EntityRecord[];
  neighbours: NeighbourRecord[];
  lostNeighbours: NeighbourRecord[];
  lostFacts: { deviceId: string; group: string }[];
  /** Read again by monitoring, as they were. */
  seenFacts: { deviceId: string; group: string; at: number }[];
  parts: WalkPartRow[];
}

export const noWrites = (): Writes => ({
  interfaces: [],
  lift: [],
  addresses: [],
  lostAddresses: [],
  entities: [],
  lostEntities: [],
  neighbours: [],
  lostNeighbours: [],
  lostFacts: [],
  seenFacts: [],
  parts: [],
});

/** Rows of a walk, with the device that was walked. */
export interface Timed {
  device: string;
  observation: RowsObservation;
  at: number;
  /** Of what was received. */
  digest?: string | undefined;
}
