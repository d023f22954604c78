/** Sessions with other routers: peers of BGP4-MIB (RFC 4273), neighbours of OSPF-MIB (RFC 4750). */
import type { SensorReading, SensorStatus } from '@rollcall/shared/sensors';
import { columns, type Standard, stateReading } from './standard.ts';

/** Tables of BGP peers with the numbers of their columns: all count states alike, and the peer is in the index. */
const PEERS: readonly { entry: string; state: number; admin?: number; remoteAs?: number }[] = [
  // BGP4-MIB.
  { entry: '1.3.6.1.2.1.15.3.1', state: 2, admin: 3, remoteAs: 9 },
  // CISCO-BGP4-MIB cbgpPeer2Table and, of every VRF, cbgpPeer3Table: IPv6 too, as in all that follow.
  { entry: '1.3.6.1.4.1.9.9.187.1.2.5.1', state: 3, admin: 4, remoteAs: 11 },
  { entry: '1.3.6.1.4.1.9.9.187.1.2.9.1', state: 5, admin: 6, remoteAs: 13 },
  // BGP4V2-MIB as Dell OS10, Foundry and Arista number it; Avaya's RAPID-CITY.
  { entry: '1.3.6.1.4.1.674.11000.5000.200.1.1.2.1', state: 13, admin: 12, remoteAs: 10 },
  { entry: '1.3.6.1.4.1.1991.3.5.1.1.2.1', state: 13, admin: 12, remoteAs: 10 },
  { entry: '1.3.6.1.4.1.30065.4.1.1.2.1', state: 13, admin: 12, remoteAs: 10 },
  { entry: '1.3.6.1.4.1.2272.1.8.101.17.10.1.1', state: 12, admin: 11, remoteAs: 9 },
  // BGP4-V2-MIB as Juniper and Force10 number it.
  { entry: '1.3.6.1.4.1.2636.5.1.1.2.1.1.1', state: 2, admin: 3, remoteAs: 13 },
  { entry: '1.3.6.1.4.1.6027.20.1.2.1.1.1', state: 3, admin: 4, remoteAs: 14 },
  // HUAWEI-BGP-VPN-MIB hwBgpPeerTable, TIMETRA-BGP-MIB tBgpPeerNgTable, HH3C-BGP4V2-MIB.
  { entry: '1.3.6.1.4.1.2011.5.25.177.1.1.2.1', state: 5, admin: 11, remoteAs: 2 },
  { entry: '1.3.6.1.4.1.6527.3.1.2.14.4.7.1', state: 59, remoteAs: 66 },
  { entry: '1.3.6.1.4.1.25506.2.183.1.1.1', state: 3 },
];
const PEER_STATES = ['idle', 'connect', 'active', 'opensent', 'openconfirm', 'established'];
const STOPPED = 1;

export const bgp: Standard = {
  columns: PEERS.flatMap(({ entry, ...numbers }) => columns(entry, ...Object.values(numbers))),
  decode(values) {
    const found = new Map<string, SensorReading>();
    for (const { entry, state, admin, remoteAs } of PEERS)
      for (const index of values.column(`${entry}.${state}`).keys()) {
        const shown = PEER_STATES[(values.number(`${entry}.${state}`, index) ?? 0) - 1];
        const as = remoteAs === undefined ? undefined : values.number(`${entry}.${remoteAs}`, index);
        const name = `BGP peer ${peerOf(index)}${as === undefined ? '' : ` AS ${as < 0 ? as + 2 ** 32 : as}`}`;
        // The makers' tables list the peers of BGP4-MIB once more.
        if (!shown || found.has(name)) continue;
        const stopped = admin !== undefined && values.number(`${entry}.${admin}`, index) === STOPPED;
        const status: SensorStatus = shown === 'established' ? 'ok' : stopped ? 'unknown' : 'critical';
        found.set(name, stateReading(`${entry}.${state}.${index}`, name, 'session', [shown, status]));
      }
    return [...found.values()];
  },
};

/** The address at the end of an index: behind its type (1 IPv4, 2 IPv6), which its length may follow. */
export function peerOf(index: string): string {
  const arcs = index.split('.').map(Number);
  for (const [type, length] of [
    [2, 16],
    [1, 4],
  ] as const) {
    const before = arcs.slice(0, -length);
    const last = before.at(-1);
    if (last !== type && !(last === length && before.at(-2) === type)) continue;
    const octets = arcs.slice(-length);
    if (length === 4) return octets.join('.');
    const hex = octets.map((octet) => octet.toString(16).padStart(2, '0')).join('');
    return hex.replace(/.{4}(?=.)/g, '$&:');
  }
  return index;
}

const NEIGHBOUR = '1.3.6.1.2.1.14.10.1';
const neighbour = { router: 3, state: 6 };
/** Two routers of a network that both are not the designated one stay at twoWay (RFC 2328 section 10.1). */
const NEIGHBOUR_STATES: readonly (readonly [string, SensorStatus])[] = [
  ['down', 'critical'],
  ['attempt', 'warning'],
  ['init', 'warning'],
  ['twoWay', 'ok'],
  ['exchangeStart', 'warning'],
  ['exchange', 'warning'],
  ['loading', 'warning'],
  ['full', 'ok'],
];

export const ospf: Standard = {
  columns: columns(NEIGHBOUR, ...Object.values(neighbour)),
  decode(values) {
    const found: SensorReading[] = [];
    for (const index of values.column(`${NEIGHBOUR}.${neighbour.state}`).keys()) {
      const state = NEIGHBOUR_STATES[(values.number(`${NEIGHBOUR}.${neighbour.state}`, index) ?? 0) - 1];
      if (!state) continue;
      const address = index.split('.').slice(0, 4).join('.');
      const router = values.column(`${NEIGHBOUR}.${neighbour.router}`).get(index);
      const name = `OSPF neighbour ${address}${router?.type === 'ipaddress' ? ` router ${router.value}` : ''}`;
      found.push(stateReading(`${NEIGHBOUR}.${neighbour.state}.${index}`, name, 'session', state));
    }
    return found;
  },
};
