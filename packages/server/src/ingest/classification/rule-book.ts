/**
 * The rules in force: loaded as a whole, replaced as a whole, and applied again to what is stored when they change.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Ruleset } from '@rollcall/shared/protocol';
import type { Logger } from 'pino';
import type { Database } from '../../platform/db/db.ts';
import type { Sql } from '../../platform/db/sql.ts';
import { Problem } from '../../platform/problem.ts';
import { describe, hostFacts, type Rules } from '../observe.ts';
import { DEVICE_GROUPS, type DeviceRow, sameDevice } from '../tables/rows.ts';
import { writeDevices } from '../tables/store.ts';
import { emptyWorld, loadDevices, type Tracked } from '../world.ts';
import { classifier, DESCRIBING } from './classify.ts';
import type { DeviceFacts } from './facts.ts';
import { type CompiledRules, loadRules } from './rules.ts';

export interface RuleBook {
  /** What classifies, at this moment. */
  current(): Rules;
  /** What collectors are to read. */
  ruleset(): Ruleset;
  /** Reads the files again. A set with an error is refused whole: the old one stays, and the error is thrown. */
  reload(): void;
  /** Applies the rules to the stored facts of one device, whatever rules described it last. */
  reclassify(siteId: string, deviceId: string): Promise<void>;
  /** Applies them to every device that other rules described. */
  reclassifyAll(signal?: AbortSignal): Promise<Reclassified>;
  /** Begins reclassifying in the background; the answer ends it. */
  start(): Promise<() => Promise<void>>;
}

export interface Reclassified {
  /** Devices that other rules had described. */
  described: number;
  /** Those of them that are called anything else now. */
  changed: number;
}

/** Devices read, described and written in one transaction. */
const PAGE = 200;
/** Between tries where the database is away, or a row is locked for long. */
const AGAIN_MS = 1_000;

/** Loads the rules of `folders`, the first folder's first. Fails with RuleError. */
export function openRuleBook({
  db,
  log,
  folders,
}: {
  db: Database;
  log: Logger;
  folders: readonly string[];
}): RuleBook {
  const compile = (set: CompiledRules) => ({
    set,
    rules: { id: `${set.id}.${DESCRIBING}`, classify: classifier(set) } satisfies Rules,
  });
  let now = compile(loadRules(folders));

  const reclassifyAll = async (signal?: AbortSignal): Promise<Reclassified> => {
    const counts = { described: 0, changed: 0 };
    let after = {
      siteId: '00000000-0000-0000-0000-000000000000',
      id: '00000000-0000-0000-0000-000000000000',
    };
    while (!signal?.aborted) {
      const { rules } = now;
      const page = await db.query<{ site_id: string; id: string }>(
        `SELECT site_id, id FROM devices
         WHERE (site_id, id) > ($1::uuid, $2::uuid) AND classified_by ->> 'rules' IS DISTINCT FROM $3
         ORDER BY site_id, id LIMIT ${PAGE}`,
        [after.siteId, after.id, rules.id],
      );
      const last = page.at(-1);
      if (!last) break;
      for (const [siteId, ids] of bySite(page)) {
        counts.changed += await whenAvailable(signal, () =>
          db.ingest.transaction((sql) => redescribe(sql, siteId, ids, rules)),
        );
        counts.described += ids.length;
      }
      after = { siteId: last.site_id, id: last.id };
    }
    return counts;
  };

  return {
    current: () => now.rules,
    ruleset: () => now.set.ruleset,
    reload: () => {
      now = compile(loadRules(folders));
    },
    reclassify: async (siteId, deviceId) => {
      await db.ingest.transaction((sql) => redescribe(sql, siteId, [deviceId], now.rules));
    },
    reclassifyAll,
    start: async () => {
      const ending = new AbortController();
      const work = reclassifyAll(ending.signal).then(
        ({ described, changed }) =>
          described > 0 &&
          log.info({ described, changed, rules: now.rules.id }, 'described anew by changed rules'),
        (error: unknown) =>
          log.warn({ err: String(error) }, 'reclassifying stopped; it goes on at the next start'),
      );
      return async () => {
        ending.abort();
        await work;
      };
    },
  };
}

/** Tries again while the database, or what is locked in it, is not to be had. */
async function whenAvailable<T>(signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof Problem && error.code === 'unavailable') || !signal) throw error;
      await sleep(AGAIN_MS, undefined, { signal });
    }
  }
}

function bySite(rows: readonly { site_id: string; id: string }[]): Map<string, string[]> {
  const map = new Map<string, string[]>();
  for (const row of rows) map.set(row.site_id, [...(map.get(row.site_id) ?? []), row.id]);
  return map;
}

/**
 * Describes devices again from their facts; nothing is reported, because the devices did not change.
 * @returns how many are called anything else now.
 */
async function redescribe(sql: Sql, siteId: string, ids: readonly string[], rules: Rules): Promise<number> {
  const world = emptyWorld(siteId);
  await loadDevices(sql, world, ids);
  const rows: DeviceRow[] = [];
  let changed = 0;
  for (const device of world.devices.values()) {
    const facts = storedFacts(device);
    const next = describe(device.row, facts, rules.classify(facts), rules.id);
    if (sameDevice(device.row, next)) continue;
    rows.push(next);
    if (!sameDevice({ ...device.row, classifiedBy: next.classifiedBy }, next)) changed += 1;
  }
  await writeDevices(sql, rows);
  return changed;
}

function storedFacts(device: Tracked): DeviceFacts {
  const [system, chassis, vendor] = DEVICE_GROUPS.map((group) => device.facts.get(group)?.data);
  if (!device.print?.snmp) return hostFacts(device.print);
  return {
    system: (system ?? {}) as DeviceFacts['system'],
    chassis: (chassis ?? []) as DeviceFacts['chassis'],
    vendor: (vendor ?? {}) as DeviceFacts['vendor'],
  };
}
