/** The own thresholds of devices and interfaces: read with where each comes from, set and cleared. */
import type { Annotations } from '@rollcall/shared/api/annotations';
import type { Threshold } from '@rollcall/shared/api/sites';
import type { ThresholdState } from '@rollcall/shared/api/thresholds';
import type { Clock } from '@rollcall/shared/clock';
import type { Database } from '../../platform/db/db.ts';
import { inScope, Parameters, type Scope, scopeOf } from '../../platform/db/list.ts';
import { announce } from '../../platform/db/notify.ts';
import { settingsOf } from '../../platform/db/site-settings.ts';
import type { Sql } from '../../platform/db/sql.ts';
import type { Actor, Handlers } from '../../platform/http/handler.ts';
import { notFound } from '../../platform/problem.ts';
import type { Audit } from '../../ports.ts';
import { readBaselines } from '../baselines.ts';
import { ownOf, resolve, saidOf } from './resolve.ts';

export type LimitIds =
  | `devices.${'thresholds' | 'setThresholds' | 'clearThresholds'}`
  | `interfaces.${'thresholds' | 'setThresholds' | 'clearThresholds'}`;
type Kind = 'device' | 'interface';
type Values = Partial<Record<Threshold, number | undefined>>;

interface Found {
  siteId: string;
  settings: unknown;
  deviceId: string;
  deviceName: string;
  class: string;
  deviceTags: string[];
  deviceFields: Annotations['fields'];
  ofDevice: unknown;
  interfaceId: string | null;
  ifName: string | null;
  interfaceTags: string[] | null;
  interfaceFields: Annotations['fields'] | null;
  ofInterface: unknown;
}

export function limitHandlers({
  db,
  clock,
  audit,
}: {
  db: Database;
  clock: Pick<Clock, 'now'>;
  audit: Audit;
}): Handlers<LimitIds> {
  const read = (kind: Kind) => async (request: { params: { id: string }; actor: Actor }) => ({
    data: await stateOf(db, await find(db, kind, request.params.id, scopeOf(request.actor)), clock.now()),
  });
  const write = async (
    kind: Kind,
    { params: { id }, actor, address }: { params: { id: string }; actor: Actor; address: string },
    values: Values | null,
  ) => ({
    data: await db.transaction(async (sql) => {
      const found = await find(sql, kind, id, scopeOf(actor), 'FOR UPDATE');
      const table = kind === 'device' ? 'devices' : 'interfaces';
      // Nothing said is nothing stored.
      const stored = values && Object.keys(values).length > 0 ? JSON.stringify(values) : null;
      await sql.query(
        `UPDATE ${table} SET thresholds = $3::jsonb WHERE site_id = $1::uuid AND id = $2::uuid`,
        [found.siteId, id, stored],
      );
      await audit(sql, {
        actor,
        address,
        action: `${kind}.thresholds`,
        subject: [found.ifName && `interface ${found.ifName} of`, `device ${found.deviceName}`]
          .filter(Boolean)
          .join(' '),
        siteId: found.siteId,
        detail: { id, thresholds: values ?? {} },
      });
      await announce(sql, found.siteId, 'device', [found.deviceId]);
      return stateOf(sql, await find(sql, kind, id, scopeOf(actor)), clock.now());
    }),
  });
  return {
    'devices.thresholds': read('device'),
    'devices.setThresholds': (request) => write('device', request, request.body),
    'devices.clearThresholds': (request) => write('device', request, null),
    'interfaces.thresholds': read('interface'),
    'interfaces.setThresholds': (request) => write('interface', request, request.body),
    'interfaces.clearThresholds': (request) => write('interface', request, null),
  };
}

async function stateOf(sql: Sql, found: Found, now: number): Promise<ThresholdState> {
  const { deviceId, interfaceId, ofDevice, ofInterface } = found;
  const isInterface = interfaceId !== null;
  const unusualAt = await readBaselines(sql, found.siteId, { devices: [deviceId], ends: [now] });
  return {
    deviceId,
    interfaceId,
    own: ownOf(isInterface ? ofInterface : ofDevice),
    applied: resolve(
      saidOf(
        settingsOf(found.settings),
        { class: found.class, tags: found.deviceTags, fields: found.deviceFields, thresholds: ofDevice },
        isInterface
          ? { tags: found.interfaceTags ?? [], fields: found.interfaceFields ?? {}, thresholds: ofInterface }
          : undefined,
        unusualAt(deviceId, now),
      ),
    ),
  };
}

/** @throws Problem `not_found` where it does not exist in scope */
async function find(
  sql: Sql,
  kind: Kind,
  id: string,
  scope: Scope,
  lock: 'FOR UPDATE' | '' = '',
): Promise<Found> {
  const p = new Parameters();
  const isDevice = kind === 'device';
  const [found] = await sql.query<Found & Record<string, unknown>>(
    `SELECT d.site_id AS "siteId", s.settings, d.id AS "deviceId", d.name AS "deviceName", d.class, d.tags AS "deviceTags", d.fields AS "deviceFields",
       d.thresholds AS "ofDevice", ${isDevice ? 'NULL' : 'i.id'} AS "interfaceId",
       ${isDevice ? 'NULL' : 'i.tags'} AS "interfaceTags", ${isDevice ? 'NULL' : 'i.fields'} AS "interfaceFields",
       ${isDevice ? 'NULL' : 'i.name'} AS "ifName", ${isDevice ? 'NULL' : 'i.thresholds'} AS "ofInterface"
     FROM devices d JOIN sites s ON s.id = d.site_id
       ${isDevice ? '' : 'JOIN interfaces i ON i.site_id = d.site_id AND i.device_id = d.id'}
     WHERE ${isDevice ? 'd' : 'i'}.id = ${p.add(id)}::uuid AND ${inScope(p, 'd.site_id', scope)}
     ${lock && `${lock} OF ${isDevice ? 'd' : 'i'}`}`,
    p.values,
  );
  if (!found) throw notFound(kind);
  return found;
}
