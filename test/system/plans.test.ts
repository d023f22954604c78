/**
 * Lists, searches and orders are served by indexes: the plans of the very statements that the handlers run, on a large
 * installation. A plan that reads a whole table here takes seconds where there are millions of rows.
 */

import { catalogHandlers } from '@rollcall/server/catalog/feature';
import { MAKERS } from '@rollcall/server/data';
import { endpointHandlers } from '@rollcall/server/endpoints/feature';
import { findEndpoints } from '@rollcall/server/endpoints/list';
import { openMakers } from '@rollcall/server/endpoints/makers';
import { availabilityHandlers } from '@rollcall/server/incidents/availability/handlers';
import { changeHandlers } from '@rollcall/server/incidents/changes/handlers';
import { incidentHandlers } from '@rollcall/server/incidents/handlers';
import { createMeasurementFeature } from '@rollcall/server/measurements/feature';
import type { Database } from '@rollcall/server/platform/db/db';
import { compactTallies } from '@rollcall/server/platform/db/tally';
import { METRIC_DAYS } from '@rollcall/server/platform/ops/config';
import { searchHandlers } from '@rollcall/server/search/feature';
import { closeDatabases, databases } from '@rollcall/server/testing/database';
import { fillFleet, fleetId } from '@rollcall/server/testing/fleet';
import { asCaller, caller } from '@rollcall/server/testing/rows';
import type { OperationId } from '@rollcall/shared/api/index';
import { systemClock } from '@rollcall/shared/clock';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

afterAll(closeDatabases);

const makers = openMakers(MAKERS);
const SIZE = { devices: 100_000, interfaces: 1, events: 100_000, cases: 20_000 };
const LARGE = new Set([
  'devices',
  'device_addresses',
  'interfaces',
  'sightings',
  'sensors',
  'events',
  'cases',
  'case_activity',
  'conditions',
  'endpoints',
  'endpoint_macs',
  'endpoint_changes',
]);

/** Each address is learnt by four devices of its site; every third has an IP address with a name. */
const ENDPOINTS = `
  INSERT INTO endpoints (site_id, mac, device_id, if_index, vlan, address, name, since, until)
  SELECT d.site_id, '02:00:00:' || regexp_replace(lpad(to_hex(n), 6, '0'), '(..)(?!$)', '\\1:', 'g'), d.id, 1 + n % 48, n % 40,
    CASE WHEN hop = 0 AND n % 3 = 0 THEN host('10.32.0.0'::inet + n) ELSE '' END,
    CASE WHEN hop = 0 AND n % 3 = 0 THEN 'host-' || n || '.example.net' END,
    timestamptz '2026-11-01' + n * interval '1 second', CASE WHEN n % 5 = 0 THEN timestamptz '2026-11-20' END
  FROM (SELECT row_number() OVER (ORDER BY site_id, id) - 1 AS at, site_id, id FROM devices) d
  JOIN (SELECT n, hop FROM generate_series(0, 49999) AS n, generate_series(0, 3) AS hop) x ON d.at = n + hop`;

/** One of each endpoint, within the times of the events. */
const ENDPOINT_CHANGES = `
  INSERT INTO endpoint_changes (site_id, id, at, mac, kind, device_id, from_device_id, before, after)
  SELECT m.site_id, gen_random_uuid(), t.last - (row_number() OVER ()) * interval '1 minute', m.mac, 'endpoint.moved', e.device_id, e.device_id, '{}', '{}'
  FROM endpoint_macs m CROSS JOIN (SELECT max(timestamp) AS last FROM events) t
  CROSS JOIN LATERAL (SELECT device_id FROM endpoints e WHERE e.site_id = m.site_id AND e.mac = m.mac LIMIT 1) e`;

interface Plan {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  Plans?: Plan[];
}
const nodes = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodes)];

// The embedded database is for small sites: plans of 100,000 devices are asked of PostgreSQL where there is one.
describe.each(databases().slice(-1))('query plans on %s', (_name, open) => {
  let db: Database;
  let statements: { text: string; params: readonly unknown[] }[] = [];

  beforeAll(async () => {
    db = await open();
    await fillFleet(db.ingest, SIZE);
    await db.ingest.query(ENDPOINTS);
    await db.ingest.query(ENDPOINT_CHANGES);
    await compactTallies(db);
    // Vacuumed: an index alone can answer only where the visibility map says so.
    await db.ingest.query('VACUUM (ANALYZE)');
  }, 600_000);

  /** Calls an operation and gives every step of the plans of its statements. */
  async function stepsOf(id: OperationId, request: object, sites: 'all' | string[] = 'all'): Promise<Plan[]> {
    const spied: Database = {
      ...db,
      query: (text, params = []) => {
        statements.push({ text, params });
        return db.query(text, params);
      },
    };
    const unused = () => Promise.reject(new Error('not here'));
    const deps = {
      db: spied,
      clock: systemClock,
      identity: {
        merge: unused,
        split: unused,
        reclassify: unused,
        strengthOf: () => 'strong' as const,
        find: unused,
        findOrAdd: unused,
      },
      events: { onMonitoringStopped: unused, onDevicesDeleted: unused },
      audit: unused,
      makerOf: () => null,
      recordChanges: unused,
    };
    const measurements = createMeasurementFeature({ ...deps, log: undefined as never, days: METRIC_DAYS });
    const ask = asCaller(
      {
        ...catalogHandlers(deps),
        ...incidentHandlers(deps),
        ...measurements.handlers,
        ...endpointHandlers({ db: spied, makers, clock: systemClock }),
        ...searchHandlers({
          db: spied,
          findEndpoints: (text, within) =>
            findEndpoints(spied, text, { ...within, makers, now: Math.floor(Date.now() / 1000) }),
        }),
        ...availabilityHandlers(deps),
        ...changeHandlers(deps),
      },
      caller('viewer', sites),
    );
    statements = [];
    await ask(id, request);
    expect(statements.length).toBeGreaterThan(0);
    const steps: Plan[] = [];
    for (const { text, params } of statements) {
      const [row] = await db.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
        `EXPLAIN (FORMAT JSON) ${text}`,
        params,
      );
      steps.push(...nodes((row as { 'QUERY PLAN': [{ Plan: Plan }] })['QUERY PLAN'][0].Plan));
    }
    return steps;
  }
  /** The tables that its statements read from end to end. */
  async function wholeTables(...call: Parameters<typeof stepsOf>): Promise<string[]> {
    const read = (await stepsOf(...call))
      .filter((step) => step['Node Type'] === 'Seq Scan')
      .map((step) => step['Relation Name'] ?? '');
    return [...new Set(read.filter((table) => LARGE.has(table)))];
  }

  const site = fleetId('site', 3);
  const device = fleetId('device', 77_777);
  it.each<[OperationId, Record<string, string>, ('all' | string[])?]>([
    ['devices.list', {}],
    ['devices.list', {}, [site]],
    ['devices.list', { page: '3000' }],
    ['devices.list', { sort: '-name' }],
    ['devices.list', { sort: 'address' }],
    ['devices.list', { sort: 'class' }],
    ['devices.list', { sort: '-vendor' }],
    ['devices.list', { sort: 'model' }],
    ['devices.list', { sort: '-lastSeen' }],
    ['devices.list', { sort: 'status' }],
    ['devices.list', { sort: '-firstSeen' }],
    ['devices.list', { sort: 'health' }],
    ['devices.list', { health: 'critical,warning' }],
    ['devices.list', { search: '12345' }],
    ['devices.list', { search: 'SN00ABC' }],
    ['devices.list', { Address: '10.0.7.7' }],
    ['devices.list', { Address: '10.0.7.0/24' }],
    ['devices.list', { Address: '2001:db8::/120' }],
    ['devices.list', { monitor: '1' }],
    ['devices.list', { monitor: '0', page: '500' }],
    ['devices.list', { class: 'camera' }],
    ['devices.list', { class: 'switch,router' }],
    ['devices.list', { collector: 'collector-7' }],
    ['devices.list', { site, class: 'switch', monitor: '1' }],
    ['events.list', {}],
    ['events.list', {}, [site]],
    ['events.list', { page: '2000' }],
    ['events.list', { page: '4000' }],
    ['events.list', { Severity: '1' }],
    ['events.list', { Severity: '3', page: '1000' }],
    ['events.list', { Status: '0' }],
    ['events.list', { Status: '0,1' }],
    ['events.list', { Source: 'icmp' }],
    ['events.list', { Source: 'api' }],
    ['events.list', { from: '1795000000', to: '1795100000' }],
    ['events.list', { Device: device }],
    ['events.list', { Device: '10.0.7.7' }],
    ['events.list', { Device: 'no-such-name' }],
    ['events.list', { sort: 'severity' }],
    ['events.list', { sort: '-severity', page: '1000' }],
    ['interfaces.list', { deviceId: device }],
    ['interfaces.free', { site }],
    ['interfaces.free', { class: 'switch', search: 'gi' }, [site]],
    ['sensors.list', {}, [site]],
    ['sensors.list', { deviceId: device }],
    ['sensors.list', { health: 'critical,warning' }],
    ['sensors.list', { kind: 'temperature' }],
    ['endpoints.list', {}],
    ['endpoints.list', {}, [site]],
    ['endpoints.list', { page: '1500' }],
    ['endpoints.list', { sort: '-lastSeen' }],
    ['endpoints.list', { sort: 'firstSeen' }],
    ['endpoints.list', { current: '1' }, [site]],
    ['endpoints.list', { mac: '00.12.34' }],
    ['endpoints.list', { search: '10.32.1.' }],
    ['endpoints.list', { search: '3com europe' }],
    ['endpoints.list', { search: 'host-12345.' }],
    ['endpoints.list', { search: 'caf' }],
    ['endpoints.list', { ip: '10.32.1.7', at: '1795000000' }],
    ['endpoints.list', { device }],
    ['endpoints.list', { device, vlan: '7', current: '1' }],
    ['endpoints.list', { interface: fleetId('interface', 77_777) }],
    ['search.get', { q: 'switch-0123' }],
    ['search.get', { q: 'switch-01' }, [site]],
    ['search.get', { q: '00.1234' }],
    ['search.get', { q: '02:00:00:00:12:34' }],
    ['search.get', { q: '10.32.1.7' }],
    ['search.get', { q: 'host-12345.' }],
    ['search.get', { q: 'switch-0123 Gi1/0/7' }],
    ['search.get', { q: '#777' }],
    ['availability.list', { site }],
    ['changes.list', {}],
    ['changes.list', { site }],
    ['changes.list', { device }],
    ['changes.list', { endpoints: '1' }, [site]],
    ['changes.list', { kind: 'endpoint.moved', device }],
    ['changes.counts', {}],
    ['changes.counts', { endpoints: '1' }, [site]],
    ['availability.list', { of: 'devices', site }],
    ['availability.list', { of: 'interfaces', deviceId: device }],
    ['cases.list', {}],
    ['cases.list', {}, [site]],
    ['cases.list', { tag: 'floor-7' }],
    ['cases.list', { q: '12345' }],
    ['cases.list', { q: '#777' }],
    ['cases.list', { assignee: 'user-7' }],
  ])('%s %j reads no whole table', async (id, query, sites) => {
    expect(await wholeTables(id, { query }, sites)).toEqual([]);
  });

  it.each(['0', '1'])(
    'devices.list with monitor=%s walks over no device of the other kind',
    async (monitor) => {
      const steps = await stepsOf('devices.list', { query: { monitor, page: '500' } });
      const walks = steps.filter(
        (step) => step['Node Type'] === 'Index Only Scan' && step['Relation Name'] === 'devices',
      );
      const indexes = walks.map((step) => step['Index Name'] ?? '');
      expect(indexes).not.toHaveLength(0);
      // The latter has watched devices alone.
      for (const index of indexes) expect(['devices_by_monitor', 'devices_watched']).toContain(index);
    },
  );

  it.each(['name', 'address', '-class', 'vendor', 'model', 'status', 'health', '-firstSeen', 'lastSeen'])(
    'a deep page of devices by %s is walked to in its index alone',
    async (sort) => {
      const steps = await stepsOf('devices.list', { query: { sort, page: '1500' } });
      const walks = steps.filter(({ 'Index Name': index }) => /_by_/.test(index ?? ''));
      expect(walks.map((step) => step['Node Type'])).toEqual(['Index Only Scan']);
    },
  );

  it('interfaces.free finds the ports of a site in the index that has the free ones alone', async () => {
    const steps = await stepsOf('interfaces.free', { query: { site } });
    const ports = steps.filter((step) => step['Index Name']?.startsWith('interfaces_'));
    expect(ports.map((step) => step['Index Name'])).toContain('interfaces_free');
  });

  it.each<[OperationId, string]>([
    ['devices.get', device],
    ['devices.history', device],
    ['devices.explain', device],
    ['events.get', fleetId('event', 77)],
    ['cases.get', fleetId('case', 77)],
    ['cases.changes', fleetId('case', 77)],
  ])('%s reads no whole table', async (id, thing) => {
    expect(await wholeTables(id, { params: { id: thing } })).toEqual([]);
  });
});
