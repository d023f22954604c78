/**
 * The watch: which devices the collectors of a site observe all the time, and with what. The list of each is computed
 * anew whenever something about it changed (triggers say so by NOTIFY) and told as the difference.
 */
import { createHash, randomBytes } from 'node:crypto';
import { parseAddress, type Range } from '@rollcall/shared/ip';
import type { DeviceClass } from '@rollcall/shared/model';
import {
  PROTOCOL_WATCHES,
  WATCH_ELSEWHERE,
  WATCH_MOST,
  WATCH_NAME,
  type WatchTarget,
  type WireCredential,
} from '@rollcall/shared/protocol';
import { parseTargets } from '@rollcall/shared/targets';
import type { Logger } from 'pino';
import type { Database } from '../platform/db/db.ts';
import { settingsOf } from '../platform/db/site-settings.ts';
import { differenceOf, type Told, type Wanted, type WatchMessage } from './difference.ts';
import { watcherOf } from './share.ts';

/** Bridges and routers: their forwarding and ARP tables say where stations are. */
const LEARNING: readonly DeviceClass[] = ['router', 'switch', 'firewall', 'wireless'];

export interface WatchDeps {
  db: Database;
  log: Logger;
  /** Credentials that may be used at a site, opened. */
  credentialsOf(siteId: string): Promise<readonly WireCredential[]>;
}

interface Collector {
  id: string;
  siteId: string;
}

/** What one connection is told about the watch: the whole list first, then what changed since; perhaps nothing. */
export type WatchList = () => Promise<readonly WatchMessage[]>;

export function createWatch({ db, log, credentialsOf }: WatchDeps) {
  /** Digests of secrets are kept for the life of a connection: keyed, so that they are of no use elsewhere. */
  const salt = randomBytes(32);
  const digest = (credential: WireCredential): string =>
    createHash('sha256').update(salt).update(JSON.stringify(credential)).digest('base64url');

  const wantedOf = async (collector: Collector): Promise<Wanted> => {
    const { siteId } = collector;
    const [site] = await db.query<{ settings: unknown; exclude: string[] }>(
      'SELECT settings, exclude FROM sites WHERE id = $1::uuid',
      [siteId],
    );
    const settings = settingsOf(site?.settings);
    const own = await shareOf(collector, site?.exclude ?? []);
    if (own.length > WATCH_MOST)
      log.warn(
        { collector: collector.id, devices: own.length, most: WATCH_MOST },
        'more devices are to be watched than one collector may; add a collector to the site',
      );
    const targets = own.slice(0, WATCH_MOST);
    const used = new Set(targets.map(({ credentialId }) => credentialId));
    const credentials = (await credentialsOf(siteId)).filter(
      // A trap of any device of the site may arrive at any of its collectors, and only v3 proves itself by a user.
      ({ id, version }) => used.has(id) || version === 'v3',
    );
    return {
      targets,
      credentials,
      intervals: {
        icmpMs: settings.watchIcmpSeconds * 1000,
        snmpMs: settings.watchSnmpSeconds * 1000,
        ...(settings.watchTablesSeconds > 0 ? { tablesMs: settings.watchTablesSeconds * 1000 } : {}),
        ...(settings.watchNamesSeconds > 0 ? { namesMs: settings.watchNamesSeconds * 1000 } : {}),
      },
      port: settings.snmpPort,
    };
  };

  const shareOf = async ({ id, siteId }: Collector, exclude: readonly string[]): Promise<WatchTarget[]> => {
    const rows = await db.query<{ id: string }>(
      `SELECT id FROM collectors
       WHERE site_id = $1::uuid AND status = 'active' AND instance IS NOT NULL AND protocol >= ${PROTOCOL_WATCHES}`,
      [siteId],
    );
    const collectors = rows.map((row) => row.id);
    if (!collectors.includes(id)) return [];
    const devices = await db.query<{
      id: string;
      address: string;
      credential: string | null;
      learns: boolean;
    }>(
      `SELECT id, host(address) AS address, credential_id AS credential, class = ANY($2::text[]) AS learns FROM devices
       WHERE site_id = $1::uuid AND monitor AND address IS NOT NULL ORDER BY id`,
      [siteId, LEARNING],
    );
    const never = rangesOf(exclude);
    const elsewhere = await elsewhereOf(siteId, never);
    return devices
      .filter((device) => watcherOf(device.id, collectors) === id && !within(device.address, never))
      .map(({ id: deviceId, address, credential, learns }) => ({
        deviceId,
        address,
        ...(credential === null ? {} : { credentialId: credential, ...elsewhere.get(deviceId) }),
        ...(credential !== null && learns ? { tables: true } : {}),
      }));
  };

  /** Where else the agents of watched devices answered, without addresses that another device has too. */
  const elsewhereOf = async (siteId: string, never: readonly Range[]) => {
    const rows = await db.query<{
      id: string;
      addresses: string[];
      sysName: string;
      engineId: string | null;
    }>(
      `SELECT d.id, d.sys_name AS "sysName", array_agg(e.value ORDER BY e.value::inet) AS addresses,
         (SELECT g.value FROM evidence g WHERE g.site_id = d.site_id AND g.device_id = d.id AND g.kind = 'engine-id'
          ORDER BY g.last_seen DESC, g.value LIMIT 1) AS "engineId"
       FROM devices d JOIN evidence e ON e.site_id = d.site_id AND e.device_id = d.id AND e.kind = 'address'
       WHERE d.site_id = $1::uuid AND d.monitor AND d.credential_id IS NOT NULL AND d.address IS NOT NULL
         AND length(d.sys_name) BETWEEN 1 AND ${WATCH_NAME} AND e.value <> host(d.address) AND NOT EXISTS (
           SELECT 1 FROM device_addresses o
           WHERE o.site_id = d.site_id AND o.address = e.value::inet AND o.device_id <> d.id)
       GROUP BY d.site_id, d.id`,
      [siteId],
    );
    return new Map(
      rows.map(({ id, addresses, sysName, engineId }) => {
        const allowed = addresses.filter((address) => !within(address, never)).slice(0, WATCH_ELSEWHERE);
        const proof = { sysName, ...(engineId === null ? {} : { engineId }) };
        return [id, allowed.length > 0 ? { elsewhere: { addresses: allowed, ...proof } } : {}] as const;
      }),
    );
  };

  return {
    /** Begins anew for one connection. Fails with `Problem('unavailable')` while the database is away. */
    follow: (collector: Collector): WatchList => {
      let told: Told | null = null;
      return async () => {
        const difference = differenceOf(told, await wantedOf(collector), digest);
        told = difference.told;
        return difference.messages;
      };
    },
  };
}

/** The site's exclusions, which were checked when they were written. */
function rangesOf(exclude: readonly string[]): readonly Range[] {
  if (exclude.length === 0) return [];
  const parsed = parseTargets(exclude.join(' '), {
    max: Number.MAX_SAFE_INTEGER,
    allowLoopback: true,
    allowSpecial: true,
  });
  return parsed.ok ? parsed.targets.ranges : [];
}

function within(text: string, ranges: readonly Range[]): boolean {
  if (ranges.length === 0) return false;
  const parsed = parseAddress(text);
  return parsed.ok && ranges.some((range) => range.contains(parsed.value));
}
