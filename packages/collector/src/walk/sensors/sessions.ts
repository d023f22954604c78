/** Sessions with other routers: peers of BGP4-MIB (RFC 4273), neighbours of OSPF-MIB (RFC 4750). */
import type { SensorReading, SensorStatus } from '@rollcall/shared/sensors';
import { columns, type Standard, stateReading } from './standard.ts';

const PEER = '1.3.6.1.2.1.15.3.1';
const peer = { state: 2, admin: 3, remoteAs: 9 };
const PEER_STATES = ['idle', 'connect', 'active', 'opensent', 'openconfirm', 'established'];
const STOPPED = 1;

export const bgp: Standard = {
  columns: columns(PEER, ...Object.values(peer)),
  decode(values) {
    const found: SensorReading[] = [];
    for (const index of values.column(`${PEER}.${peer.state}`).keys()) {
      const state = PEER_STATES[(values.number(`${PEER}.${peer.state}`, index) ?? 0) - 1];
      if (!state) continue;
      const as = values.number(`${PEER}.${peer.remoteAs}`, index);
      const name = `BGP peer ${index}${as === undefined ? '' : ` AS ${as < 0 ? as + 2 ** 32 : as}`}`;
      const stopped = values.number(`${PEER}.${peer.admin}`, index) === STOPPED;
      const status: SensorStatus = state === 'established' ? 'ok' : stopped ? 'unknown' : 'critical';
      found.push(stateReading(`${PEER}.${peer.state}.${index}`, name, 'session', [state, status]));
    }
    return found;
  },
};

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
