/** A site with collectors whose observations go straight into ingest: what the tests of this folder speak. */
import type { Observation, RowsObservation } from '@rollcall/shared/observation';
import { uuidv7 } from '@rollcall/shared/uuid';
import { pino } from 'pino';
import type { Change } from '../../changes.ts';
import type { Database } from '../../platform/db/db.ts';
import { NO_CATALOGUE } from '../classification/catalogue.ts';
import { type Classify, classifier } from '../classification/classify.ts';
import { createIngest, type Ingest, type IngestDeps } from '../ingest.ts';

export const NOW = Date.UTC(2026, 10, 21, 12);

/** No rules: what ENTITY-MIB and general patterns say. */
export const entityOnly: Classify = classifier({
  id: 'test',
  rules: [],
  vendors: {},
  catalogue: NO_CATALOGUE,
  ruleset: { id: 'test', extra: [] },
});

export interface TestSite {
  siteId: string;
  db: Database;
  /** Time that ingest takes for now. */
  clock: { now(): number; set(at: number): void };
  ingest: Ingest;
  changes: Change[];
  /** Sends observations as the next ones of a collector's stream. */
  send(observations: unknown[], collector?: string): Promise<number>;
  collectors: string[];
  /** Devices of the site, by address. */
  devices(): Promise<Record<string, unknown>[]>;
}

export async function openSite(
  db: Database,
  more: { collectors?: number; classify?: Classify; deps?: Partial<IngestDeps> } = {},
): Promise<TestSite> {
  const siteId = uuidv7();
  await db.query(`INSERT INTO sites (id, name, networks, exclude) VALUES ($1::uuid, $2, '{}', '{}')`, [
    siteId,
    siteId,
  ]);
  const collectors: string[] = [];
  for (let i = 0; i < (more.collectors ?? 1); i++) {
    const id = uuidv7();
    collectors.push(id);
    await db.query(
      `INSERT INTO collectors (id, site_id, name, public_key) VALUES ($1::uuid, $2::uuid, $3, ''::bytea)`,
      [id, siteId, `c${i}`],
    );
  }
  let now = NOW;
  const changes: Change[] = [];
  const ingest = createIngest({
    db,
    clock: {
      now: () => now,
      monotonic: () => now,
      sleep: async () => undefined,
      every: () => () => undefined,
    },
    log: pino({ level: process.env.TEST_LOG ?? 'silent' }),
    rules: () => ({ id: 'test', classify: more.classify ?? entityOnly }),
    applyOutcomes: async () => undefined,
    applySamples: async () => ({ changes: [], refused: [] }),
    applyJobEnd: async () => undefined,
    recordChanges: async (_sql, some) => {
      changes.push(...some);
    },
    ...more.deps,
  });
  const epoch = uuidv7();
  const next = new Map<string, number>();
  return {
    siteId,
    db,
    clock: {
      now: () => now,
      set: (at) => {
        now = at;
      },
    },
    ingest,
    changes,
    collectors,
    async send(items, collectorId = collectors[0] as string) {
      const from = next.get(collectorId) ?? 0;
      next.set(collectorId, from + items.length);
      const { through } = await ingest.accept({
        collectorId,
        siteId,
        epoch,
        stream: 'state',
        from,
        items,
        clockOffsetMs: 0,
      });
      return through;
    },
    devices: () =>
      db.query(
        `SELECT d.*, v.last_seen, v.last_scan_id, v.rtt_ms, v.walk, host(d.address) AS ip FROM devices d
         JOIN sightings v ON v.site_id = d.site_id AND v.device_id = d.id
         WHERE d.site_id = $1::uuid ORDER BY d.address, d.id`,
        [siteId],
      ),
  };
}

/** A box as a test describes it: what its agent says wherever it is asked. */
export interface Box {
  sysName?: string;
  sysObjectId?: string;
  sysDescr?: string;
  engineId?: string;
  /** The agent's own table. */
  table?: string[];
  macs?: string[];
  bridgeMac?: string;
  lldpChassisId?: string;
  serials?: string[];
  chassis?: Record<string, unknown>[];
  sysUpTime?: number;
}

/** A `device` observation of a box reached on `address`. */
export const asked = (
  box: Box,
  address: string,
  more: Record<string, unknown> = {},
): Observation & { kind: 'device' } => ({
  kind: 'device',
  at: NOW,
  walk: uuidv7(),
  address,
  snmpVersion: 'v2c',
  system: {
    ...(box.sysName === undefined ? {} : { sysName: box.sysName }),
    ...(box.sysUpTime === undefined ? {} : { sysUpTime: box.sysUpTime }),
    sysDescr: box.sysDescr ?? 'a box',
    sysObjectId: box.sysObjectId ?? '1.3.6.1.4.1.9.1.1',
  },
  ...(box.engineId ? { engineId: box.engineId } : {}),
  addresses: box.table ?? [],
  macs: box.macs ?? [],
  ...(box.bridgeMac ? { bridgeMac: box.bridgeMac } : {}),
  ...(box.lldpChassisId ? { lldpChassisId: box.lldpChassisId } : {}),
  chassis: (box.chassis ??
    (box.serials ?? []).map((serial, i) => ({ index: i + 1, class: 'chassis', serial }))) as never,
  vendor: {},
  ...more,
});

/** A `host` observation: something answered there. */
export const answered = (
  address: string,
  more: Record<string, unknown> = {},
): Observation & { kind: 'host' } => ({
  kind: 'host',
  at: NOW,
  address,
  rttMs: 1,
  snmp: 'not-asked',
  ...more,
});

/** One whole table of a walk. */
export const table = (
  device: { walk: string; address: string },
  name: RowsObservation['table'],
  rows: unknown[],
  more: Record<string, unknown> = {},
): Record<string, unknown> => ({
  kind: 'rows',
  at: NOW,
  walk: device.walk,
  address: device.address,
  table: name,
  part: 0,
  last: true,
  complete: true,
  rows,
  ...more,
});

export const port = (
  ifIndex: number,
  name: string,
  more: Record<string, unknown> = {},
): Record<string, unknown> => ({
  ifIndex,
  ifName: name,
  ifDescr: `port ${name}`,
  ifType: 6,
  speedBps: 1_000_000_000,
  adminStatus: 1,
  operStatus: 1,
  ...more,
});
