/** Devices as monitoring knows them, between what a collector reports of them and the changes that become events. */
import type { WatchObservation } from '@rollcall/shared/observation';
import type { Change } from '../../changes.ts';
import type { DeviceRow } from '../../ingest/tables/rows.ts';
import { watchedDevice } from '../../ingest/watched.ts';
import type { Scene } from '../incident-scene.ts';

export class Monitored {
  readonly #scene: Scene;
  readonly #rows = new Map<string, DeviceRow>();

  constructor(scene: Scene) {
    this.#scene = scene;
  }

  /** A device that is up; what of it answers. */
  add(name: string, { ping, snmp }: { ping: boolean; snmp: boolean }): void {
    const row = {
      status: 'up',
      monitor: true,
      icmpReachable: ping,
      snmpReachable: snmp,
      watchedSnmp: snmp ? 'ok' : null,
      watchedAt: 0,
      lastSeen: 0,
      rttMs: null,
      bootedAt: null,
    };
    this.#rows.set(name, row as unknown as DeviceRow);
  }

  /** What a report about a device changes; stored as ingest would. */
  async report(name: string, report: Partial<WatchObservation>): Promise<Change[]> {
    const { db, site, devices, now } = this.#scene;
    const row = this.#rows.get(name) as DeviceRow;
    const watched = watchedDevice(row, { kind: 'watch', at: now, ...report } as never, now);
    if (!watched) return [];
    this.#rows.set(name, watched.row);
    if (watched.row === row) return [];
    const { status, icmpReachable, snmpReachable, watchedSnmp, lastSeen } = watched.row;
    await db.query(
      `UPDATE devices SET status = $2, icmp_reachable = $3, snmp_reachable = $4, watched_snmp = $5 WHERE id = $1`,
      [devices.get(name), status, icmpReachable, snmpReachable, watchedSnmp],
    );
    if (lastSeen > 0)
      await db.query('UPDATE sightings SET last_seen = $3 WHERE site_id = $1 AND device_id = $2', [
        site,
        devices.get(name),
        new Date(lastSeen),
      ]);
    const about = this.#scene.about(name);
    return watched.transitions.map((transition) => ({ ...about, ...transition }) as Change);
  }
}
