// The questions of api.mjs: name, kind of bound, and a function that answers the path to ask.
import {
  FLEET_NOW,
  fleetEndpointAddress,
  fleetId,
  fleetMac,
  fleetPartSerial,
} from '@rollcall/server/testing/fleet';

const CLASSES = ['switch', 'router', 'firewall', 'camera', 'ups', 'printer', 'phone', 'server'];
const SOURCES = ['icmp', 'snmp', 'trap', 'discovery', 'collector', 'api'];
const DEVICE_SORTS = ['address', '-class', 'vendor', 'model', 'status', '-firstSeen'];
const PAGE_SIZE = 25;

let round = 0;
/** Sets the round: each round asks with other values. */
export const setRound = (number) => {
  round = number;
};

/** The questions for an installation of this size. */
export function questionsOf(size, sites) {
  /** A number below `most` that differs from round to round. */
  const pick = (most) => Math.floor(((round * 7919 + 13) % 10007) * (most / 10007));
  const id = (kind, most) => fleetId(kind, pick(most));
  const device = () => id('device', size.devices);
  const address = () => {
    const n = pick(size.devices);
    return `10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`;
  };
  /** Four digits, which occur in names, titles and serial numbers. */
  const digits = () => String(pick(10_000)).padStart(4, '0');
  const stations = size.endpoints / 5;
  const mac = () => fleetMac(pick(stations));
  const digitsOf = (text) => text.replaceAll(':', '');
  const dotted = (text) => text.replaceAll(':', '').replace(/(.{4})(?=.)/g, '$1.');
  const daysAgo = (days) => Math.floor((FLEET_NOW - days * 86_400_000) / 1000);
  const from = () => daysAgo(80) + pick(60 * 86_400);

  const first = (name, path) => [[name, 'default', path]];
  const filter = (name, path) => [[name, 'filter', path]];
  /** Page 100, the middle and the last pages of a list with so many rows. */
  const deep = (name, total, path) =>
    [
      ['page 100', 2475 / total],
      ['middle', 0.5],
      ['end', 0.999],
    ].flatMap(([where, share]) =>
      filter(
        `${name}, ${where}`,
        () => `${path}page=${Math.max(1, Math.floor((total * share) / PAGE_SIZE))}`,
      ),
    );

  return [
    ...first('devices', () => '/api/devices'),
    ...deep('devices', size.devices, '/api/devices?'),
    ...DEVICE_SORTS.flatMap((sort) => first(`devices sort=${sort}`, () => `/api/devices?sort=${sort}`)),
    ...filter('devices sort=-lastSeen', () => '/api/devices?sort=-lastSeen'),
    ...filter('devices sort=vendor, page=15000', () => '/api/devices?sort=vendor&page=15000'),
    ...filter('devices search=name', () => `/api/devices?search=${digits()}`),
    ...filter('devices search=serial', () => `/api/devices?search=sn00${digits()}`),
    ...filter('devices search=common word', () => '/api/devices?search=juniper'),
    ...filter('devices search=two letters', () => '/api/devices?search=ju'),
    ...filter('devices Address', () => `/api/devices?Address=${address()}`),
    ...filter('devices Address=/24', () => `/api/devices?Address=${address()}/24`),
    ...filter('devices Address=/16', () => `/api/devices?Address=${address()}/16`),
    ...filter('devices Address=/8', () => '/api/devices?Address=10.0.0.0/8'),
    ...filter('devices Address=/112 v6', () => '/api/devices?Address=2001:db8::/112'),
    ...filter('devices monitor', () => `/api/devices?monitor=${round % 2}`),
    ...deep('devices monitor', size.devices * 0.3, '/api/devices?monitor=0&'),
    ...filter('devices class', () => `/api/devices?class=${CLASSES[round % 8]}`),
    ...filter('devices class=a,b', () => '/api/devices?class=ups,camera,phone'),
    ...deep('devices class', size.devices * 0.2, '/api/devices?class=switch&'),
    ...filter('devices collector', () => `/api/devices?collector=collector-${pick(2 * sites)}`),
    ...filter('devices site', () => `/api/devices?site=${id('site', sites)}`),
    ...first('device', () => `/api/devices/${device()}`),
    ...first('interfaces', () => `/api/interfaces?deviceId=${device()}`),

    ...filter('free ports of a site', () => `/api/interfaces/free?site=${id('site', sites)}`),
    ...filter('free ports of switches', () => `/api/interfaces/free?site=${id('site', sites)}&class=switch`),
    ...filter('free ports search', () => `/api/interfaces/free?site=${id('site', sites)}&search=${digits()}`),
    ...filter('free ports of all sites', () => '/api/interfaces/free'),

    ...first('events', () => '/api/events'),
    ...deep('events', size.events, '/api/events?'),
    ...first('events sort=severity', () => '/api/events?sort=severity'),
    ...filter('events from,to', () => `/api/events?from=${from()}&to=${from() + 100_000}`),
    ...filter('events from (half)', () => `/api/events?from=${daysAgo(45) + round}`),
    ...filter('events Severity', () => `/api/events?Severity=${1 + (round % 5)}`),
    ...deep('events Severity=1', size.events / 1000, '/api/events?Severity=1&'),
    ...deep('events Severity=3', size.events * 0.6, '/api/events?Severity=3&'),
    ...filter('events Status', () => `/api/events?Status=${round % 3}`),
    ...filter('events Status=0,1', () => '/api/events?Status=0,1'),
    ...filter('events Source', () => `/api/events?Source=${SOURCES[round % 6]}`),
    ...filter('events Device=id', () => `/api/events?Device=${device()}`),
    ...filter('events Device=address', () => `/api/events?Device=${address()}`),
    ...filter(
      'events all filters',
      () => `/api/events?from=${from()}&to=${from() + 900_000}&Severity=3&Status=2&Source=snmp`,
    ),
    ...filter('events site', () => `/api/events?site=${id('site', sites)}`),
    ...first('event', () => `/api/events/${id('event', size.events)}`),

    ...first('cases', () => '/api/cases'),
    ...deep('cases', size.cases, '/api/cases?'),
    ...first('cases sort=severity', () => '/api/cases?sort=severity'),
    ...filter('cases status=0,1', () => '/api/cases?status=0,1'),
    ...filter('cases severity', () => `/api/cases?severity=${1 + (round % 5)}`),
    ...filter('cases priority', () => '/api/cases?priority=1,2'),
    ...filter('cases assignee', () => `/api/cases?assignee=user-${round % 50}`),
    ...filter('cases assignee=none', () => '/api/cases?assignee=none'),
    ...filter('cases tag', () => `/api/cases?tag=floor-${round % 40}`),
    ...filter('cases tag twice', () => `/api/cases?tag=floor-${round % 40}&tag=core`),
    ...filter('cases q', () => `/api/cases?q=${digits()}`),
    ...filter('cases q=common word', () => '/api/cases?q=answer'),
    ...filter('cases q=#', () => `/api/cases?q=%23${1 + pick(size.cases)}`),
    ...first('case', () => `/api/cases/${id('case', size.cases)}`),

    ...filter('summary', () => '/api/summary'),

    ...first('endpoints', () => '/api/endpoints'),
    ...first('endpoint', () => `/api/endpoints/${mac()}`),
    ...filter('endpoints search=name', () => `/api/endpoints?search=host-${pick(stations)}.`),
    ...first('search name of an endpoint', () => `/api/search?q=host-${pick(stations)}.`),
    ...first('search name of every endpoint', () => '/api/search?q=example.net'),
    ...first('search MAC with colons', () => `/api/search?q=${mac()}`),
    ...first('search MAC of Cisco', () => `/api/search?q=${dotted(mac())}`),
    ...first('search MAC of Windows', () => `/api/search?q=${mac().replaceAll(':', '-').toUpperCase()}`),
    ...first('search MAC without signs', () => `/api/search?q=${digitsOf(mac())}`),
    ...first('search end of a MAC', () => `/api/search?q=${mac().slice(-8)}`),
    ...first('search begin of a MAC', () => `/api/search?q=${mac().slice(0, 11)}`),
    ...first('search middle of a MAC', () => `/api/search?q=${digitsOf(mac()).slice(5, 11)}`),
    ...first('search 4 digits of a MAC', () => `/api/search?q=${digitsOf(mac()).slice(7, 11)}`),
    ...first('search 4 digits of every MAC', () => '/api/search?q=1b54'),
    ...first('search 5 digits across octets', () => `/api/search?q=b54${digitsOf(mac()).slice(6, 8)}`),
    ...first('search 8 digits of a MAC', () => `/api/search?q=${digitsOf(mac()).slice(3, 11)}`),
    ...first('search IP of a device', () => `/api/search?q=${address()}`),
    ...first('search IP of an endpoint', () => `/api/search?q=${fleetEndpointAddress(pick(stations))}`),
    ...first('search IP of nobody', () => `/api/search?q=192.0.2.${pick(250)}`),
    ...first('search begin of an IP', () => `/api/search?q=${address().split('.').slice(0, 3).join('.')}.`),
    ...first('search name', () => `/api/search?q=switch-${digits()}`),
    ...first('search part of a name', () => `/api/search?q=${digits()}`),
    ...first('search two letters', () => `/api/search?q=z${'abcdefghij'[pick(10)]}`),
    ...first('search three letters', () => '/api/search?q=swi'),
    ...first('search serial', () => `/api/search?q=SN00${digits()}`),
    ...first(
      'search serial of a part',
      () => `/api/search?q=${fleetPartSerial(pick(size.devices)).slice(4)}`,
    ),
    ...first('search common word', () => '/api/search?q=juniper'),
    ...first('search case', () => `/api/search?q=%23${1 + pick(size.cases)}`),
    ...first('search nothing', () => `/api/search?q=nobody-${digits()}`),
  ];
}
