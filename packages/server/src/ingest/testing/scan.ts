/** A scan as collectors report it, into the ingest of a test's site. */
import { uuidv7 } from '@rollcall/shared/uuid';
import { answered, asked, type Box, port, type TestSite, table } from './site.ts';

const HOUR = 3600_000;

/** What a scan meets at an address: an agent, or a host of which no more is known. */
export type Met = Box | string | { host: string; mac?: string; aliasOf?: string };

/**
 * A scan of 10.0.0.0/24 and 10.0.1.0/24 in two jobs, an hour after the one before; what is not found is silent.
 * @param at where an agent is read
 */
export async function scanOf(
  site: TestSite,
  found: readonly (readonly Met[])[],
  at: (box: Box) => string = ({ table: [first = ''] = [] }) => first,
): Promise<void> {
  const { db } = site;
  const scanId = uuidv7();
  site.clock.set(site.clock.now() + HOUR);
  const now = site.clock.now();
  await db.query(
    `INSERT INTO scans (id, site_id, targets, profile, settings, addresses_total, started_at)
     VALUES ($1::uuid, $2::uuid, '', '', '{}', 512, $3)`,
    [scanId, site.siteId, new Date(now - 1000)],
  );
  const jobs = [0, 1].map((net) => ({ id: uuidv7(), net }));
  for (const { id, net } of jobs)
    await db.query(
      `INSERT INTO jobs (id, scan_id, site_id, position, cidr, spans, size, outcomes, started_at, status)
       VALUES ($1::uuid, $2::uuid, $3::uuid, $4, '', $5::jsonb, 256, $6, $7, 'leased')`,
      [
        id,
        scanId,
        site.siteId,
        net,
        `[{"first":"10.0.${net}.0","count":256}]`,
        '_'.repeat(256),
        new Date(now - 1000),
      ],
    );
  for (const { id: job, net } of jobs) {
    const items = (found[net] ?? []).flatMap((each) => {
      if (typeof each === 'string' || 'host' in each) {
        const { host, ...more } = typeof each === 'string' ? { host: each } : each;
        return [answered(host, { at: now, job, ...more })];
      }
      const walk = asked(each, at(each), { at: now, job });
      const ports = (each.table ?? []).map((address, i) =>
        port(i + 1, `p${i}`, address.startsWith('10.0.1.2') ? { ifType: 24 } : {}),
      );
      // As keepalived adds an address that moves.
      const maskOf = (address: string) => (address.endsWith('.250') ? { prefixLength: 32 } : {});
      const rows = (each.table ?? []).map((address, i) => ({ address, ifIndex: i + 1, ...maskOf(address) }));
      return [
        walk,
        table(walk, 'interfaces', ports, { at: now }),
        table(walk, 'addresses', rows, { at: now }),
      ];
    });
    const codes = [...'_'.repeat(256)];
    for (const item of items)
      if (item.kind !== 'rows') codes[Number((item.address as string).split('.')[3])] = 'i';
    await site.send(items);
    await db.query(`UPDATE jobs SET outcomes = $2 WHERE id = $1::uuid`, [job, codes.join('')]);
    await site.send([{ kind: 'job-end', job, fence: 1, at: now, result: 'done', counts: {} }]);
    await db.query(`UPDATE jobs SET status = 'done' WHERE id = $1::uuid`, [job]);
  }
}
