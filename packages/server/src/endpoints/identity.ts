/** Whose hardware addresses are: the device of the inventory, else the name that they go by at their port, in DNS, by DHCP. */
import type { Endpoint } from '@rollcall/shared/api/endpoints';
import { canonicalAddress } from '@rollcall/shared/ip';
import type { Sql } from '../platform/db/sql.ts';
import { type NamedPort, portKey } from './ports.ts';

/** The device of ours that has an address. */
export type Owner = { deviceId: string; name: string } | null;

export interface Asked {
  siteId: string;
  mac: string;
  /** By its hardware address. */
  owner: Owner;
  /** By ARP tables. */
  addresses: readonly string[];
  /** Where it enters. */
  ports: readonly NamedPort[];
  /** By reverse DNS of its IP addresses, or DHCP. */
  told: Named;
}

export type Named = Pick<Endpoint, 'name' | 'nameFrom'>;
export interface Identity extends Named {
  owner: Owner;
}

/** In the order of what is asked. */
export async function readIdentities(sql: Sql, asked: readonly Asked[]): Promise<Identity[]> {
  if (asked.length === 0) return [];
  const byAddress = await ownersByAddress(sql, asked);
  const names = await namesAtPorts(sql, asked);
  return asked.map((one, n) => {
    const owner = one.owner ?? byAddress.get(n) ?? null;
    if (owner) return { owner, name: owner.name, nameFrom: 'device' };
    const own = names.get(n);
    if (own !== undefined) return { owner, name: own, nameFrom: 'lldp' };
    return { owner, ...one.told };
  });
}

interface Learnt {
  name: string | null;
  /** Empty: learnt by a forwarding table, which has names by DHCP; those of addresses are by reverse DNS. */
  address: string;
}
export const namedBy = ({ name, address }: Learnt): Named => {
  const from = address === '' ? 'dhcp' : 'dns';
  return { name, nameFrom: name === null ? null : from };
};

/** The name of what was learnt last, in DNS if any is: a client of DHCP calls itself what it likes. */
export function toldName(learnt: readonly (Learnt & { since: number })[]): Named {
  const [first] = learnt
    .filter(({ name }) => name !== null)
    .sort(
      (a, b) =>
        Number(a.address === '') - Number(b.address === '') ||
        b.since - a.since ||
        ((a.name ?? '') < (b.name ?? '') ? -1 : 1),
    );
  return namedBy(first ?? { name: null, address: '' });
}

interface Owned extends Record<string, unknown> {
  n: number;
  deviceId: string;
  name: string;
}
const owners = (rows: readonly Owned[]) =>
  new Map(rows.map(({ n, deviceId, name }) => [n, { deviceId, name }]));

/** Devices whose own interfaces have the addresses, in the order of what is asked. */
export async function readOwners(
  sql: Sql,
  asked: readonly Pick<Asked, 'siteId' | 'mac'>[],
): Promise<Owner[]> {
  const rows = await sql.query<Owned>(
    `SELECT a.n::int - 1 AS n, d.id AS "deviceId", d.name
     FROM unnest($1::uuid[], $2::text[]) WITH ORDINALITY AS a(site, mac, n)
     CROSS JOIN LATERAL (SELECT v.device_id FROM evidence v
       WHERE v.site_id = a.site AND v.kind IN ('mac', 'chassis-mac') AND v.value = a.mac LIMIT 1) v
     JOIN devices d ON d.site_id = a.site AND d.id = v.device_id`,
    [asked.map(({ siteId }) => siteId), asked.map(({ mac }) => mac)],
  );
  const of = owners(rows);
  return asked.map((_one, n) => of.get(n) ?? null);
}

/** Devices that are known by their IP address alone. An address that several devices have tells nothing. */
async function ownersByAddress(sql: Sql, asked: readonly Asked[]) {
  const told = asked.flatMap(({ siteId, addresses }, n) =>
    addresses.flatMap((text) => {
      const address = canonicalAddress(text);
      return address === null ? [] : [{ n, siteId, address }];
    }),
  );
  if (told.length === 0) return new Map<number, Identity['owner']>();
  const rows = await sql.query<Owned>(
    `SELECT a.n, min(d.id::text) AS "deviceId", min(d.name) AS name
     FROM unnest($1::int[], $2::uuid[], $3::inet[]) AS a(n, site, address)
     JOIN device_addresses x ON x.site_id = a.site AND x.address = a.address
     JOIN devices d ON d.site_id = x.site_id AND d.id = x.device_id
     GROUP BY a.n HAVING count(DISTINCT d.id) = 1`,
    [told.map(({ n }) => n), told.map(({ siteId }) => siteId), told.map(({ address }) => address)],
  );
  return owners(rows);
}

/** As they call themselves by LLDP at the port: telephones and access points that nobody asks by SNMP. */
async function namesAtPorts(sql: Sql, asked: readonly Asked[]): Promise<ReadonlyMap<number, string>> {
  const at = asked.flatMap(({ siteId, mac, ports }, n) =>
    ports.map(({ deviceId, ifIndex }) => ({ n, siteId, mac, deviceId, ifIndex })),
  );
  if (at.length === 0) return new Map();
  const rows = await sql.query<{ n: number; name: string }>(
    `SELECT a.n, b.sys_name AS name
     FROM unnest($1::int[], $2::uuid[], $3::text[], $4::uuid[], $5::int8[]) AS a(n, site, mac, device, port)
     JOIN neighbours b ON b.site_id = a.site AND b.device_id = a.device AND b.if_index = a.port
       AND (b.chassis_id = 'macAddress:' || a.mac OR b.port_id = a.mac) AND b.sys_name <> ''`,
    [
      ...[at.map(({ n }) => n), at.map(({ siteId }) => siteId), at.map(({ mac }) => mac)],
      ...[at.map(({ deviceId }) => deviceId), at.map(({ ifIndex }) => ifIndex)],
    ],
  );
  return new Map(rows.map(({ n, name }) => [n, name]));
}

/** Ports once each. */
export const distinctPorts = <Port extends NamedPort>(ports: readonly Port[]): Port[] => [
  ...new Map(ports.map((port) => [portKey(port), port])).values(),
];
