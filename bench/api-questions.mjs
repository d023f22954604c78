// What api.mjs asks: each question as an address, and as the SQL that a person would write for it.
import { FLEET_NOW, fleetId } from '@rollcall/server/testing/fleet';

let round = 0;
/** Which round it is: questions ask with other values in each. */
export const turn = (number) => {
  round = number;
};

/** The questions for an installation of a size: name, kind of bound, address, statements by hand (null: none). */
export function questionsOf(size, sites) {
  /** A number below `most` that differs from round to round. */
  const pick = (most, salt = 0) => Math.floor(((round * 7919 + salt * 104729 + 13) % 10007) * (most / 10007));
  const device = () => fleetId('device', pick(size.devices));
  const seconds = (ms) => Math.floor(ms / 1000);
  const daysAgo = (days) => new Date(FLEET_NOW - days * 86_400_000);
  const CLASSES = ['switch', 'router', 'firewall', 'camera', 'ups', 'printer', 'phone', 'server'];
  const SOURCES = ['icmp', 'snmp', 'trap', 'discovery', 'collector', 'api'];
  const page = (total, share) => Math.max(1, Math.floor((total * share) / 25));

  const DEVICE = `SELECT d.*, v.last_seen, v.last_scan_id, v.rtt_ms, s.name AS site, c.name AS collector,
  ARRAY(SELECT host(a.address) FROM device_addresses a WHERE a.site_id = d.site_id AND a.device_id = d.id) AS addresses,
  (SELECT count(*) FROM events e WHERE e.device_id = d.id AND e.status < 2) AS open
  FROM devices d JOIN sightings v ON v.site_id = d.site_id AND v.device_id = d.id
  JOIN sites s ON s.id = d.site_id LEFT JOIN collectors c ON c.id = d.collector_id`;
  const EVENT =
    'SELECT e.*, d.name AS device FROM events e LEFT JOIN devices d ON d.site_id = e.site_id AND d.id = e.device_id';
  const CASE = `SELECT c.*, (SELECT name FROM users u WHERE u.id = c.assignee_id) AS assignee,
  (SELECT count(*) FROM events e WHERE e.case_id = c.id) AS events,
  (SELECT count(*) FROM events e WHERE e.case_id = c.id AND e.status < 2) AS open FROM cases c`;
  const INTERFACE = `SELECT i.*,
  ARRAY(SELECT host(a.address) FROM device_addresses a
    WHERE a.site_id = i.site_id AND a.device_id = i.device_id AND a.if_index = i.if_index) AS addresses,
  (SELECT json_build_object('deviceId', r.id, 'name', coalesce(r.name, n.sys_name), 'port', n.port_id, 'protocol', n.protocol)
    FROM neighbours n LEFT JOIN devices r ON r.site_id = n.site_id AND r.id = n.remote_device_id
    WHERE n.site_id = i.site_id AND n.device_id = i.device_id AND n.if_index = i.if_index LIMIT 1) AS neighbour
  FROM interfaces i`;
  /** What a person would write: the rows, and the count. */
  const asked = (select, table, where, params, order, offset = 0) => [
    [`${select} ${where && `WHERE ${where}`} ORDER BY ${order} LIMIT 25 OFFSET ${offset}`, params],
    [`SELECT count(*) FROM ${table} ${where && `WHERE ${where}`}`, params],
  ];
  const devices = (where = '', params = [], offset = 0, order = 'd.name, d.id') =>
    asked(DEVICE, 'devices d', where, params, order, offset);
  const events = (where = '', params = [], offset = 0, order = 'e.timestamp DESC, e.id DESC') =>
    asked(EVENT, 'events e', where, params, order, offset);
  const cases = (where = '', params = [], offset = 0, order = 'c.updated_at DESC, c.id DESC') =>
    asked(CASE, 'cases c', where, params, order, offset);

  /** Which bound holds: that of default lists and single reads, or that of documented parameters. */
  const LIST = 'default';
  const FILTER = 'filter';
  // name, kind of bound, address, the same by hand
  return [
    ['devices', LIST, () => '/api/devices', () => devices()],
    ...deep(
      'devices',
      FILTER,
      size.devices,
      (p) => `/api/devices?page=${p}`,
      (offset) => devices('', [], offset),
    ),
    ...['address', '-class', 'vendor', 'model', 'status', '-firstSeen'].map((sort) => [
      `devices sort=${sort}`,
      LIST,
      () => `/api/devices?sort=${sort}`,
      () => devices('', [], 0, sortSql(sort)),
    ]),
    ...['sort=-lastSeen', 'sort=vendor&page=15000'].map((parameters) => [
      `devices ${parameters.replace('&', ', ')}`,
      FILTER,
      () => `/api/devices?${parameters}`,
      () =>
        parameters.includes('page')
          ? devices('', [], 14_999 * 25, sortSql('vendor'))
          : devices('', [], 0, 'v.last_seen DESC, d.id DESC'),
    ]),
    [
      'devices search=name',
      FILTER,
      () => `/api/devices?search=${text(4)}`,
      () => devices('d.search_text LIKE $1', [`%${text(4)}%`]),
    ],
    [
      'devices search=serial',
      FILTER,
      () => `/api/devices?search=sn00${text(4)}`,
      () => devices('d.search_text LIKE $1', [`%sn00${text(4)}%`]),
    ],
    [
      'devices search=common word',
      FILTER,
      () => `/api/devices?search=juniper`,
      () => devices('d.search_text LIKE $1', ['%juniper%']),
    ],
    [
      'devices search=new common word',
      FILTER,
      () => `/api/devices?search=${encodeURIComponent(newWord())}`,
      () => devices('d.search_text LIKE $1', [`%${newWord()}%`]),
    ],
    [
      'devices search=two letters',
      FILTER,
      () => `/api/devices?search=ju`,
      () => devices('d.search_text LIKE $1', ['%ju%']),
    ],
    [
      'devices Address',
      FILTER,
      () => `/api/devices?Address=${ip(pick(size.devices))}`,
      () => devices(ADDRESSED('= $1::inet'), [ip(pick(size.devices))]),
    ],
    [
      'devices Address=/24',
      FILTER,
      () => `/api/devices?Address=${ip(pick(size.devices))}/24`,
      () => devices(ADDRESSED('<<= $1::cidr'), [cidr(pick(size.devices), 24)]),
    ],
    [
      'devices Address=/16',
      FILTER,
      () => `/api/devices?Address=${ip(pick(size.devices))}/16`,
      () => devices(ADDRESSED('<<= $1::cidr'), [cidr(pick(size.devices), 16)]),
    ],
    [
      'devices Address=/8',
      FILTER,
      () => `/api/devices?Address=10.0.0.0/8`,
      () => devices(ADDRESSED('<<= $1::cidr'), ['10.0.0.0/8']),
    ],
    [
      'devices Address=/64 v6',
      FILTER,
      () => '/api/devices?Address=2001:db8::/112',
      () => devices(ADDRESSED('<<= $1::cidr'), ['2001:db8::/112']),
    ],
    [
      'devices monitor',
      FILTER,
      () => `/api/devices?monitor=${round % 2}`,
      () => devices('d.monitor = $1', [round % 2 === 1]),
    ],
    ...deep(
      'devices monitor',
      FILTER,
      size.devices * 0.3,
      (p) => `/api/devices?monitor=0&page=${p}`,
      (offset) => devices('NOT d.monitor', [], offset),
    ),
    [
      'devices class',
      FILTER,
      () => `/api/devices?class=${CLASSES[round % 8]}`,
      () => devices('d.class = $1', [CLASSES[round % 8]]),
    ],
    [
      'devices class=a,b',
      FILTER,
      () => '/api/devices?class=ups,camera,phone',
      () => devices('d.class = ANY($1)', [['ups', 'camera', 'phone']]),
    ],
    ...deep(
      'devices class',
      FILTER,
      size.devices * 0.2,
      (p) => `/api/devices?class=switch&page=${p}`,
      (offset) => devices(`d.class = 'switch'`, [], offset),
    ),
    [
      'devices collector',
      FILTER,
      () => `/api/devices?collector=collector-${pick(2 * sites)}`,
      () =>
        devices('d.collector_id IN (SELECT id FROM collectors WHERE name = $1)', [
          `collector-${pick(2 * sites)}`,
        ]),
    ],
    [
      'devices site',
      FILTER,
      () => `/api/devices?site=${fleetId('site', pick(sites))}`,
      () => devices('d.site_id = $1', [fleetId('site', pick(sites))]),
    ],
    [
      'device',
      LIST,
      () => `/api/devices/${device()}`,
      () => [
        [`${DEVICE} WHERE d.id = $1`, [device()]],
        [
          'SELECT n.*, r.name FROM neighbours n LEFT JOIN devices r ON r.id = n.remote_device_id WHERE n.device_id = $1 AND n.site_id = (SELECT site_id FROM devices WHERE id = $1)',
          [device()],
        ],
        [
          'SELECT x.* FROM entities x WHERE x.device_id = $1 AND x.site_id = (SELECT site_id FROM devices WHERE id = $1)',
          [device()],
        ],
        [
          `SELECT c.* FROM cases c WHERE c.status < 2 AND (c.root_device_id = $1
             OR c.id IN (SELECT case_id FROM events WHERE device_id = $1))`,
          [device()],
        ],
      ],
    ],
    [
      'interfaces',
      LIST,
      () => `/api/interfaces?deviceId=${device()}`,
      () =>
        asked(
          INTERFACE,
          'interfaces i',
          'i.device_id = $1 AND i.site_id = (SELECT site_id FROM devices WHERE id = $1) AND i.gone_at IS NULL',
          [device()],
          'i.if_index',
        ),
    ],
    ['events', LIST, () => '/api/events', () => events()],
    ...deep(
      'events',
      FILTER,
      size.events,
      (p) => `/api/events?page=${p}`,
      (offset) => events('', [], offset),
    ),
    [
      'events sort=severity',
      LIST,
      () => '/api/events?sort=severity',
      () => events('', [], 0, 'e.severity, e.timestamp DESC, e.id DESC'),
    ],
    [
      'events from,to',
      FILTER,
      () => `/api/events?from=${from()}&to=${from() + 100_000}`,
      () =>
        events('e.timestamp >= to_timestamp($1) AND e.timestamp < to_timestamp($2)', [
          from(),
          from() + 100_001,
        ]),
    ],
    [
      'events from (half)',
      FILTER,
      () => `/api/events?from=${seconds(daysAgo(45)) + round}`,
      () => events('e.timestamp >= to_timestamp($1)', [seconds(daysAgo(45)) + round]),
    ],
    [
      'events Severity',
      FILTER,
      () => `/api/events?Severity=${1 + (round % 5)}`,
      () => events('e.severity <= $1', [1 + (round % 5)]),
    ],
    ...deep(
      'events Severity=1',
      FILTER,
      size.events / 1000,
      (p) => `/api/events?Severity=1&page=${p}`,
      (offset) => events('e.severity <= 1', [], offset),
    ),
    ...deep(
      'events Severity=3',
      FILTER,
      size.events * 0.6,
      (p) => `/api/events?Severity=3&page=${p}`,
      (offset) => events('e.severity <= 3', [], offset),
    ),
    [
      'events Status',
      FILTER,
      () => `/api/events?Status=${round % 3}`,
      () => events('e.status = $1', [round % 3]),
    ],
    ['events Status=0,1', FILTER, () => '/api/events?Status=0,1', () => events('e.status IN (0, 1)')],
    [
      'events Source',
      FILTER,
      () => `/api/events?Source=${SOURCES[round % 6]}`,
      () => events('e.source = $1', [SOURCES[round % 6]]),
    ],
    [
      'events Device=id',
      FILTER,
      () => `/api/events?Device=${device()}`,
      () => events('e.device_id = $1', [device()]),
    ],
    [
      'events Device=address',
      FILTER,
      () => `/api/events?Device=${ip(pick(size.devices))}`,
      () =>
        events('e.device_id IN (SELECT device_id FROM device_addresses WHERE address = $1::inet)', [
          ip(pick(size.devices)),
        ]),
    ],
    [
      'events all filters',
      FILTER,
      () => `/api/events?from=${from()}&to=${from() + 900_000}&Severity=3&Status=2&Source=snmp`,
      () =>
        events(
          `e.timestamp >= to_timestamp($1) AND e.timestamp < to_timestamp($2) AND e.severity <= 3 AND e.status = 2 AND e.source = 'snmp'`,
          [from(), from() + 900_001],
        ),
    ],
    [
      'events site',
      FILTER,
      () => `/api/events?site=${fleetId('site', pick(sites))}`,
      () => events('e.site_id = $1', [fleetId('site', pick(sites))]),
    ],
    [
      'event',
      LIST,
      () => `/api/events/${fleetId('event', pick(size.events))}`,
      () => [[`${EVENT} WHERE e.id = $1`, [fleetId('event', pick(size.events))]]],
    ],
    ['cases', LIST, () => '/api/cases', () => cases()],
    ...deep(
      'cases',
      FILTER,
      size.cases,
      (p) => `/api/cases?page=${p}`,
      (offset) => cases('', [], offset),
    ),
    [
      'cases sort=severity',
      LIST,
      () => '/api/cases?sort=severity',
      () => cases('', [], 0, 'c.severity, c.updated_at, c.id'),
    ],
    ['cases status=0,1', FILTER, () => '/api/cases?status=0,1', () => cases('c.status IN (0, 1)')],
    [
      'cases severity',
      FILTER,
      () => `/api/cases?severity=${1 + (round % 5)}`,
      () => cases('c.severity = $1', [1 + (round % 5)]),
    ],
    ['cases priority', FILTER, () => '/api/cases?priority=1,2', () => cases('c.priority IN (1, 2)')],
    [
      'cases assignee',
      FILTER,
      () => `/api/cases?assignee=user-${round % 50}`,
      () => cases('c.assignee_id = (SELECT id FROM users WHERE name = $1)', [`user-${round % 50}`]),
    ],
    ['cases assignee=none', FILTER, () => '/api/cases?assignee=none', () => cases('c.assignee_id IS NULL')],
    [
      'cases tag',
      FILTER,
      () => `/api/cases?tag=floor-${round % 40}`,
      () => cases('$1 = ANY(c.tags)', [`floor-${round % 40}`]),
    ],
    [
      'cases tag twice',
      FILTER,
      () => `/api/cases?tag=floor-${round % 40}&tag=core`,
      () => cases('c.tags @> $1', [[`floor-${round % 40}`, 'core']]),
    ],
    [
      'cases q',
      FILTER,
      () => `/api/cases?q=${text(4)}`,
      () => cases('c.search_text LIKE $1', [`%${text(4)}%`]),
    ],
    [
      'cases q=common word',
      FILTER,
      () => '/api/cases?q=answer',
      () => cases('c.search_text LIKE $1', ['%answer%']),
    ],
    [
      'cases q=#',
      FILTER,
      () => `/api/cases?q=%23${1 + pick(size.cases)}`,
      () => cases('c.number = $1', [1 + pick(size.cases)]),
    ],
    [
      'case',
      LIST,
      () => `/api/cases/${fleetId('case', pick(size.cases))}`,
      () => [
        [`${CASE} WHERE c.id = $1`, [fleetId('case', pick(size.cases))]],
        [
          `${EVENT} WHERE e.case_id = $1 ORDER BY e.timestamp DESC, e.id DESC LIMIT 1000`,
          [fleetId('case', pick(size.cases))],
        ],
        [
          'SELECT * FROM case_activity a WHERE a.case_id = $1 AND a.site_id = (SELECT site_id FROM cases WHERE id = $1) ORDER BY at DESC LIMIT 1000',
          [fleetId('case', pick(size.cases))],
        ],
      ],
    ],
    ['summary', FILTER, () => '/api/summary', null],
  ];

  /** Page 100, the middle and the end. */
  function deep(what, bound, total, path, byHand) {
    return [
      ['page 100', 2475 / total],
      ['middle', 0.5],
      ['end', 0.999],
    ].map(([where, share]) => [
      `${what}, ${where}`,
      bound,
      () => path(page(total, share)),
      () => byHand((page(total, share) - 1) * 25),
    ]);
  }
  function sortSql(sort) {
    const column = {
      address: 'd.address',
      class: 'd.class',
      vendor: 'd.vendor',
      model: 'd.model',
      status: 'd.status',
      firstSeen: 'd.first_seen',
    }[sort.replace('-', '')];
    const direction = sort.startsWith('-') ? 'DESC' : 'ASC';
    const columns =
      column === 'd.address' || column === 'd.first_seen' ? [column, 'd.id'] : [column, 'd.name', 'd.id'];
    return columns.map((each) => `${each} ${direction}`).join(', ');
  }
  /** Digits that occur in names, titles and serial numbers. */
  function text(length) {
    return String(pick(10 ** length)).padStart(length, '0');
  }
  /** Words of an eighth of all devices, another each round: none that was counted before. */
  function newWord() {
    return 'juniper system software, version '.slice(round % 3, 9 + (Math.floor(round / 3) % 24)).trim();
  }
  function ip(n) {
    return `10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`;
  }
  function cidr(n, bits) {
    return `${ip(bits === 24 ? n & ~255 : n & ~65535)}/${bits}`;
  }
  function from() {
    return seconds(daysAgo(80)) + pick(60 * 86_400);
  }
  function ADDRESSED(condition) {
    return `EXISTS (SELECT 1 FROM device_addresses a WHERE a.site_id = d.site_id AND a.device_id = d.id AND a.address ${condition})`;
  }
}
