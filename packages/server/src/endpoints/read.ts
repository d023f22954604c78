/** One hardware address in all sites of the caller: whose it is, where it enters, and where it was over time. */
import type { EndpointPlaces } from '@rollcall/shared/api/endpoints';
import type { Database } from '../platform/db/db.ts';
import { inScope, Parameters, type Scope, unix } from '../platform/db/list.ts';
import { staysOf } from './history.ts';
import { distinctPorts, namedBy, readIdentities, readOwners, toldName } from './identity.ts';
import { isLocal, type Makers } from './makers.ts';
import { type LearntAt, type Placement, place } from './place.ts';
import {
  countOthers,
  type NamedPort,
  namedPort,
  portKey,
  readBridges,
  readTraits,
  standingAt,
  towardKey,
} from './ports.ts';

/** Most intervals of one address that are read, the latest first. */
const INTERVALS = 1000;
/** Bridges told of one port. */
const BRIDGES = 10;

interface Interval extends NamedPort, Record<string, unknown> {
  siteId: string;
  site: string;
  vlan: number;
  address: string;
  name: string | null;
  since: number;
  until: number | null;
  firstSeen: number;
  goneAt: number | null;
}

type Sighting = EndpointPlaces['sightings'][number];

/** `mac` in lower-case colon form. One answer for each site that knows it. */
export async function placesOf(
  db: Database,
  mac: string,
  given: { scope: Scope; makers: Makers; now: number },
): Promise<EndpointPlaces[]> {
  const intervals = await readIntervals(db, mac, given.scope);
  const sites = new Map<string, Interval[]>();
  for (const each of intervals) sites.set(each.siteId, [...(sites.get(each.siteId) ?? []), each]);
  const places: EndpointPlaces[] = [];
  for (const list of sites.values()) places.push(await placesIn(db, mac, list, given));
  return places;
}

async function placesIn(
  db: Database,
  mac: string,
  list: readonly Interval[],
  { makers, now: time }: { makers: Makers; now: number },
): Promise<EndpointPlaces> {
  const [{ siteId = '', site = '', firstSeen = 0, goneAt = null } = {}] = list;
  const bridged = list.filter(({ address }) => address === '');
  const [owner = null] = await readOwners(db, [{ siteId, mac }]);
  const ways = bridged.map((each) => ({ ...each, owner: owner?.deviceId ?? null }));
  const bridges = await readBridges(db, distinctPorts(ways), BRIDGES);
  const traits = await readTraits(db, distinctPorts(ways));
  const learnt = ways.map((each) => ({
    ...{ ...each, bridges: bridges.get(towardKey(each)) ?? [], others: 0 },
    ...traits.get(portKey(each)),
  }));
  const now = distinctPorts(learnt.filter(({ until }) => until === null));
  const others = await countOthers(db, now, mac);
  const placement = place(
    now.map((port) => ({
      ...{ ...port, others: others.get(portKey(port)) ?? 0 },
      ...{ stands: standingAt(traits.get(portKey(port)) ?? { said: [] }, mac) },
    })),
    time,
  );
  const last = list.filter(({ until }) => until === goneAt);
  const addresses = [...new Set(last.flatMap(({ address }) => address || []))].sort();
  const [identity] = await readIdentities(db, [
    { siteId, mac, owner, addresses, ports: placement.ports, told: toldName(last) },
  ]);
  return {
    ...{ siteId, site, mac, maker: makers.of(mac), locallyAdministered: isLocal(mac) ? 1 : 0 },
    ...{ owner: null, name: null, nameFrom: null, ...identity, addresses },
    ...{ firstSeen, lastSeen: goneAt },
    placement: told(placement, (port) => ({ ...namedPort(port), others: port.others })),
    places: staysOf(learnt, portKey, time).map(({ from, to, ...stay }) => ({
      from,
      to,
      ...told(stay, namedPort),
    })),
    sightings: list.map(sighting),
  };
}

const told = <From extends NamedPort & LearntAt, To>(
  { verdict, reason, ports }: Placement<From>,
  port: (port: From) => To,
) => ({ verdict, reason, ports: ports.map(port) });

const sighting = ({ vlan, address, name, since, until, ...port }: Interval): Sighting => ({
  ...namedPort(port),
  vlan: vlan === 0 ? null : vlan,
  address: address === '' ? null : address,
  ...{ ...namedBy({ name, address }), since, until },
});

function readIntervals(db: Database, mac: string, scope: Scope): Promise<Interval[]> {
  const p = new Parameters();
  const wanted = p.add(mac);
  return db.query<Interval>(
    `SELECT e.site_id AS "siteId", s.name AS site, e.device_id AS "deviceId", d.name AS device,
       e.if_index AS "ifIndex", i.id AS "interfaceId", i.name AS port, e.vlan, e.address, e.name,
       ${unix('e.since')} AS since, ${unix('e.until')} AS until, ${unix('m.first_seen')} AS "firstSeen", ${unix('m.gone_at')} AS "goneAt"
     FROM endpoint_macs m JOIN sites s ON s.id = m.site_id
     CROSS JOIN LATERAL (SELECT * FROM endpoints e WHERE e.site_id = m.site_id AND e.mac = m.mac
       ORDER BY e.until DESC NULLS FIRST, e.since DESC LIMIT ${INTERVALS}) e
     JOIN devices d ON d.site_id = e.site_id AND d.id = e.device_id
     LEFT JOIN interfaces i ON i.site_id = e.site_id AND i.device_id = e.device_id AND i.if_index = e.if_index
     WHERE m.mac = ${wanted} AND ${inScope(p, 'm.site_id', scope)}
     ORDER BY s.name, e.until DESC NULLS FIRST, e.since DESC, d.name, e.if_index LIMIT ${INTERVALS}`,
    p.values,
  );
}
