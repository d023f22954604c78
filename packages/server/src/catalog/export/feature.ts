/** The device list for other programs, by the filters of the list and within the sites of the caller. */
import { EXPORT_MOST, type ExportQuery } from '@rollcall/shared/api/exports';
import { SNMP_PORT } from '@rollcall/shared/model';
import type { Database } from '../../platform/db/db.ts';
import { Parameters, type Scope, scopeOf } from '../../platform/db/list.ts';
import type { Actor, Handlers } from '../../platform/http/handler.ts';
import { invalid } from '../../platform/problem.ts';
import { conditionOf } from '../device-filter.ts';
import {
  ansibleInventory,
  type ExportedDevice,
  netboxCsv,
  oxidizedLines,
  prometheusTargets,
} from './formats.ts';

export type ExportIds = 'export.prometheus' | 'export.ansible' | 'export.oxidized' | 'export.netbox';

export function exportHandlers({ db }: { db: Database }): Handlers<ExportIds> {
  const answers =
    <Data>(make: (devices: ExportedDevice[]) => Promise<Data>) =>
    async ({ query, actor }: { query: ExportQuery; actor: Actor }) => ({
      data: await make(await readDevices(db, query, scopeOf(actor, query.site))),
    });
  return {
    'export.prometheus': answers(prometheusTargets),
    'export.ansible': answers(ansibleInventory),
    'export.oxidized': answers(oxidizedLines),
    'export.netbox': answers(netboxCsv),
  };
}

async function readDevices(db: Database, query: ExportQuery, scope: Scope): Promise<ExportedDevice[]> {
  const { snmp, ...filter } = query;
  const p = new Parameters();
  const where = [
    conditionOf(p, filter, scope),
    'd.address IS NOT NULL',
    ...(snmp === undefined ? [] : [`d.credential_id IS ${snmp === 1 ? 'NOT ' : ''}NULL`]),
  ];
  const devices = await db.query<ExportedDevice & Record<string, unknown>>(
    `SELECT d.id, s.name AS site, d.name, host(d.address) AS address, d.class, d.status, d.vendor, d.model, d.os,
       d.os_version AS "osVersion", d.serial_number AS "serialNumber", d.location, c.name AS credential,
       coalesce((s.settings->>'snmpPort')::int, ${SNMP_PORT}) AS "snmpPort"
     FROM devices d JOIN sites s ON s.id = d.site_id LEFT JOIN credentials c ON c.id = d.credential_id
     WHERE ${where.join(' AND ')} ORDER BY d.sort_name, d.id LIMIT ${EXPORT_MOST + 1}`,
    p.values,
  );
  if (devices.length > EXPORT_MOST)
    throw invalid('site', `these are more than ${EXPORT_MOST} devices; ask by site or with another filter`);
  return devices;
}
