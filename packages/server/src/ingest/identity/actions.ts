/**
 * A person's decision on identity. It is remembered as evidence of kind `manual`, which wins over everything that is
 * observed later, and as a decision that says who said it and can be taken back by its opposite.
 */

import type { Clock } from '@rollcall/shared/clock';
import { canonicalAddress } from '@rollcall/shared/ip';
import { uuidv7 } from '@rollcall/shared/uuid';
import type { Database } from '../../platform/db/db.ts';
import { announce } from '../../platform/db/notify.ts';
import type { Sql, Transaction } from '../../platform/db/sql.ts';
import { notFound, Problem } from '../../platform/problem.ts';
import type { RecordChanges } from '../../ports.ts';
import { newDevice } from '../tables/merge.ts';
import { type Moved, returnMeasurements } from '../tables/move-measurements.ts';
import { absorbInto, writeDeviceRows } from '../tables/save.ts';
import { writeEvidence } from '../tables/store.ts';
import { aboutDevice, emptyWorld, loadDevices, lockSite, type Tracked, track } from '../world.ts';
import { findOrAdd, holdersOf } from './by-hand.ts';
import { type EvidenceKey, keyText } from './fingerprint.ts';

export interface Person {
  userId: string;
  name: string;
  /** Writes down what was done to a device, in the transaction of the deed. */
  note(sql: Transaction, device: { id: string; siteId: string; name: string }): Promise<void>;
}

export interface IdentityDeps {
  db: Database;
  clock: Clock;
  recordChanges: RecordChanges;
}

const OWN = new Set(['engine-id', 'serial', 'chassis-mac', 'mac-set', 'mac']);
/** What a device can be recognised by wherever it is; addresses only where there is nothing better. */
function telling(keys: readonly EvidenceKey[]): EvidenceKey[] {
  const own = keys.filter(({ kind }) => OWN.has(kind));
  return own.length > 0 ? own : keys.filter(({ kind }) => kind === 'address');
}

export function identityActions({ db, clock, recordChanges }: IdentityDeps) {
  return {
    /** `otherId` is `deviceId`. Fails with Problem `conflict` across sites. @returns the id that is left. */
    merge: (by: Person, deviceId: string, otherId: string): Promise<string> =>
      db.transaction(async (sql) => {
        if (deviceId === otherId) throw new Problem('conflict', 'a device cannot be merged with itself');
        const siteId = await siteOf(sql, [deviceId, otherId]);
        const loaded = await load(sql, siteId, [deviceId, otherId]);
        const at = clock.now();
        const keys = await evidenceOf(sql, siteId, otherId);
        // Both sides: what is known of the device becomes the other's at each walk of the other.
        for (const side of [keys, await evidenceOf(sql, siteId, deviceId)]) {
          await bind(sql, siteId, deviceId, telling(side), at);
        }
        await sql.query(
          `UPDATE identity_decisions SET undone_at = $4 WHERE site_id = $1::uuid AND verb = 'split' AND undone_at IS NULL
             AND ((device_id = $2::uuid AND other_id = $3::uuid) OR (device_id = $3::uuid AND other_id = $2::uuid))`,
          [siteId, deviceId, otherId, new Date(at)],
        );
        const [moved] = await absorbInto(sql, siteId, [{ from: otherId, into: deviceId }]);
        await decide(sql, { siteId, verb: 'merge', deviceId, otherId, keys, moved, by, at });
        await recordChanges(sql, [
          {
            ...aboutDevice(loaded(deviceId), at, null),
            kind: 'device.merged',
            before: { deviceId: otherId, name: loaded(otherId).row.name },
            after: { reason: `${by.name} said so` },
          },
        ]);
        await announce(sql, siteId, 'device', [deviceId, otherId]);
        await by.note(sql, loaded(deviceId).row);
        return deviceId;
      }),

    /**
     * These addresses of a device are another device. Addresses that came by a merge come back as the record they
     * were. Fails with Problem `conflict` when they are not its own, or all of it. @returns the ids split off.
     */
    split: (by: Person, deviceId: string, addresses: readonly string[]): Promise<string[]> =>
      db.transaction(async (sql) => {
        const wanted = [...new Set(addresses.map((address) => canonicalAddress(address) ?? address))];
        const siteId = await siteOf(sql, [deviceId]);
        const loaded = await load(sql, siteId, [deviceId]);
        await mustBeSome(sql, siteId, deviceId, wanted);
        const at = clock.now();
        const merge = await takenBack(sql, siteId, deviceId, wanted, at);
        const otherId = merge?.otherId ?? uuidv7(at);
        const row = {
          ...newDevice(siteId, otherId, at),
          address: wanted[0] ?? null,
          name: wanted[0] ?? otherId,
        };
        await writeDeviceRows(sql, [row]);
        await sql.query('DELETE FROM merged_devices WHERE site_id = $1::uuid AND id = $2::uuid', [
          siteId,
          otherId,
        ]);
        await moveAddresses(sql, siteId, deviceId, otherId, wanted);
        await moveEvidence(sql, siteId, deviceId, otherId, merge?.keys ?? []);
        if (merge?.moved)
          await returnMeasurements(sql, siteId, { from: deviceId, into: otherId }, merge.moved);
        const keys = wanted.map((value) => ({ kind: 'address' as const, value }));
        await writeEvidence(
          sql,
          keys.map((key) => ({ siteId, ...key, deviceId: otherId, firstSeen: at, lastSeen: at })),
        );
        await bind(sql, siteId, otherId, keys, at);
        await decide(sql, { siteId, verb: 'split', deviceId, otherId, keys, by, at });
        await recordChanges(sql, [
          {
            ...aboutDevice(loaded(deviceId), at, null),
            kind: 'device.split',
            before: {},
            after: { deviceId: otherId, name: row.name },
          },
          {
            ...aboutDevice(track(null, row), at, null),
            kind: 'device.new',
            before: {},
            after: { name: row.name, address: row.address, class: row.class, vendor: null, model: null },
          },
        ]);
        await announce(sql, siteId, 'device', [deviceId, otherId]);
        await by.note(sql, loaded(deviceId).row);
        return [otherId];
      }),

    find: holdersOf,
    findOrAdd: (sql: Sql, siteId: string, addresses: readonly string[]) =>
      findOrAdd(sql, recordChanges, siteId, { addresses, at: clock.now() }),
  };
}

/** The one site of devices, locked against ingest. */
async function siteOf(sql: Sql, ids: readonly string[]): Promise<string> {
  const rows = await sql.query<{ site_id: string }>(
    'SELECT site_id FROM devices WHERE id = ANY($1::uuid[])',
    [ids],
  );
  if (rows.length !== ids.length) throw notFound('device');
  const [site, ...others] = new Set(rows.map((row) => row.site_id));
  if (site === undefined || others.length > 0) {
    throw new Problem('conflict', 'the devices are in different sites; a device is in one site only');
  }
  await lockSite(sql, site);
  return site;
}

/** Reads and locks devices; fails when one went away while this waited for the site. */
async function load(sql: Sql, siteId: string, ids: readonly string[]): Promise<(id: string) => Tracked> {
  const world = emptyWorld(siteId);
  await loadDevices(sql, world, ids);
  if (ids.some((id) => !world.devices.has(id))) throw notFound('device');
  return (id) => world.devices.get(id) as Tracked;
}

const evidenceOf = (sql: Sql, siteId: string, deviceId: string): Promise<EvidenceKey[]> =>
  sql.query<EvidenceKey>(
    `SELECT e.kind, e.value FROM evidence e
     WHERE e.site_id = $1::uuid AND e.device_id = $2::uuid AND e.kind NOT IN ('manual', 'shared')
       AND NOT EXISTS (SELECT 1 FROM evidence s
         WHERE s.site_id = e.site_id AND s.kind = 'shared' AND s.value = e.kind || ':' || e.value)
     ORDER BY e.kind, e.value`,
    [siteId, deviceId],
  );

const bind = (
  sql: Sql,
  siteId: string,
  deviceId: string,
  keys: readonly EvidenceKey[],
  at: number,
): Promise<void> =>
  writeEvidence(
    sql,
    keys.map((key) => ({
      siteId,
      kind: 'manual',
      value: keyText(key),
      deviceId,
      firstSeen: at,
      lastSeen: at,
    })),
  );

/** A decision changes what the same observations mean: the next ones are read whole. */
const readAnew = (sql: Sql, siteId: string, deviceId: string) =>
  sql.query(`UPDATE sightings SET received = '{}' WHERE site_id = $1::uuid AND device_id = $2::uuid`, [
    siteId,
    deviceId,
  ]);

async function decide(
  sql: Sql,
  d: {
    siteId: string;
    verb: 'merge' | 'split';
    deviceId: string;
    otherId: string;
    keys: readonly EvidenceKey[];
    moved?: Moved | undefined;
    by: Person;
    at: number;
  },
): Promise<void> {
  await sql.query(
    `INSERT INTO identity_decisions (id, site_id, verb, device_id, other_id, evidence, user_id, at, moved)
     VALUES ($1::uuid, $2::uuid, $3, $4::uuid, $5::uuid, $6::jsonb, $7::uuid, $8, $9::jsonb)`,
    [
      uuidv7(d.at),
      d.siteId,
      d.verb,
      d.deviceId,
      d.otherId,
      JSON.stringify(d.keys),
      d.by.userId,
      new Date(d.at),
      d.moved ? JSON.stringify(d.moved) : null,
    ],
  );
  await readAnew(sql, d.siteId, d.deviceId);
}

async function mustBeSome(
  sql: Sql,
  siteId: string,
  deviceId: string,
  wanted: readonly string[],
): Promise<void> {
  const rows = await sql.query<{ address: string }>(
    'SELECT host(address) AS address FROM device_addresses WHERE site_id = $1::uuid AND device_id = $2::uuid',
    [siteId, deviceId],
  );
  const own = new Set(rows.map((row) => row.address));
  const strange = wanted.find((address) => !own.has(address));
  if (strange !== undefined) throw new Problem('conflict', `${strange} is not an address of this device`);
  if (wanted.length === own.size) {
    throw new Problem('conflict', 'these are all addresses of the device; leave it at least one');
  }
}

/** The merge that brought one of the addresses, undone: what it bound is free again. */
async function takenBack(
  sql: Sql,
  siteId: string,
  deviceId: string,
  addresses: readonly string[],
  at: number,
): Promise<{ otherId: string; keys: EvidenceKey[]; moved: Moved | null } | undefined> {
  const [merge] = await sql.query<{
    id: string;
    other_id: string;
    evidence: EvidenceKey[];
    moved: Moved | null;
  }>(
    `SELECT d.id, d.other_id, d.evidence, d.moved FROM identity_decisions d
     WHERE d.site_id = $1::uuid AND d.device_id = $2::uuid AND d.verb = 'merge' AND d.undone_at IS NULL
       AND EXISTS (SELECT 1 FROM jsonb_to_recordset(d.evidence) AS e(kind text, value text)
         WHERE e.kind = 'address' AND e.value = ANY($3::text[]))
       AND NOT EXISTS (SELECT 1 FROM devices o WHERE o.id = d.other_id)
     ORDER BY d.at DESC, d.id DESC LIMIT 1`,
    [siteId, deviceId, addresses],
  );
  if (!merge) return undefined;
  await sql.query('UPDATE identity_decisions SET undone_at = $2, moved = NULL WHERE id = $1::uuid', [
    merge.id,
    new Date(at),
  ]);
  await sql.query(
    `DELETE FROM evidence WHERE site_id = $1::uuid AND device_id = $2::uuid AND kind = 'manual' AND value = ANY($3::text[])`,
    [siteId, deviceId, merge.evidence.map(keyText)],
  );
  return { otherId: merge.other_id, keys: merge.evidence, moved: merge.moved };
}

async function moveAddresses(
  sql: Sql,
  siteId: string,
  from: string,
  to: string,
  addresses: readonly string[],
): Promise<void> {
  await sql.query(
    `UPDATE device_addresses SET device_id = $3::uuid, origin = 'reached', if_index = NULL
     WHERE site_id = $1::uuid AND device_id = $2::uuid AND address = ANY($4::inet[])`,
    [siteId, from, to, addresses],
  );
  await sql.query(
    `UPDATE devices d SET address = (SELECT a.address FROM device_addresses a
       WHERE a.site_id = d.site_id AND a.device_id = d.id ORDER BY a.origin = 'reached' DESC, a.address LIMIT 1)
     WHERE d.site_id = $1::uuid AND d.id = $2::uuid AND d.address = ANY($3::inet[])`,
    [siteId, from, addresses],
  );
}

async function moveEvidence(
  sql: Sql,
  siteId: string,
  from: string,
  to: string,
  keys: readonly EvidenceKey[],
): Promise<void> {
  await sql.query(
    `UPDATE evidence e SET device_id = $3::uuid FROM jsonb_to_recordset($4::jsonb) AS k(kind text, value text)
     WHERE e.site_id = $1::uuid AND e.device_id = $2::uuid AND e.kind = k.kind AND e.value = k.value`,
    [siteId, from, to, JSON.stringify(keys)],
  );
}
