// Facts for objects that the facts on health leave out: what the name alone says, and a few that people know.

/** What holds no reading; a textual convention that no module resolves mostly is a number. */
const NO_NUMBER = /^(OBJECT IDENTIFIER|IpAddress|NetworkAddress|BITS|Counter\d*|TimeTicks|NULL)$/;
/** What a limit, a peak, a setting or a count is named after. */
const NO_READING =
  /\b(thresh\w*|thr|limit|max\w*|min|minimum|high|hi|low|lo|upper|lower|alarm|alarms|warn\w*|trap|event|set|setting|config\w*|cfg|enable\w*|admin (status|state)|mode|type|name|descr\w*|index|count|counter|num|number|id|severity|hyst\w*|delta|offset|scale|factor|rated|nominal|interval|time|date|action|peak|avg|average|label|location|message|color|reason|result|bits?|version|calib\w*|delay|duration|period|test)\b|\b(status|state|units?)$/;

const RULES = [
  [
    /\b(temp|temperature|tmp|temper) ?\d*( (value|reading|current|sensor|c|celsius|deg c|degree|degrees|curr|measured|in|out|val))*$/,
    'temperature',
    'C',
  ],
  [/\b(temp|temperature)( (value|reading|current))* (f|fahrenheit|deg f)$/, 'temperature', 'F'],
  [/\b(humidity|rh|hum)( (value|reading|current|percent|val))*$/, 'humidity', '%'],
  [/\b(voltage|volts?|vcc)( (value|reading|current|val|rms|l \d|ln|ll))*$/, 'voltage', 'V'],
  [
    /\b(bias|output|input|load|line|phase|battery|outlet|rectifier|laser|tx|inlet|bank|circuit|feed|breaker|pdu|psu|supply|charge|pcu|total)( status)? (current|amps|amperage)( (value|reading|val|rms))*$/,
    'current',
    'A',
  ],
  [
    /\b(amps|amperage)$|^current (l|lc|phase|line|bank|outlet|input|output) ?\d*$|\blaser bias$/,
    'current',
    'A',
  ],
  [/\bfan\b.*\b(speed|rpm)( (value|reading|current))*$/, 'fanspeed', 'rpm'],
  [
    /\b(watts|active power|real power|power consumption|(supply|psu|outlet) (input|output) power|output power watts|power watts)$/,
    'power',
    'W',
  ],
  [/\b(inlet|input|output|line|bypass|phase|mains)( status)? (frequency|freq)( value)*$/, 'frequency', 'Hz'],
  [
    /\b(opr|opt|(rx|tx|receive|received|transmit|transmitted|optical) (optical )?(power|pwr|opt power|level)( dbm| level)?|rx power|tx power)( (value|val))*$/,
    'dbm',
    'dBm',
  ],
  [
    /\b(cpu|processor)\b.*\b(util\w*|usage|load\w*|busy|percent|pct|occupancy)( (percent|value|current|rate|\d+ ?\w*))*$/,
    'processor',
    '%',
  ],
  [/\b(output|group|ups|inverter)\b.*\bload( (percent|pct|level))*$/, 'load', '%'],
  [/\bbattery\b.*\bcharge( (percent|pct|level))*$/, 'charge', '%'],
  [/\bchromatic dispersion$/, 'chromatic-dispersion', 'ps/nm'],
  [/\b(snr|osnr|sinr|rsrq|cnr|cn|mer|eb no)( db| value)*$/, 'snr', 'dB'],
  [/\b(cpu|cpu percentage)$/, 'processor', '%'],
  [/\bcpu idle$/, 'processor', '%', 'idle'],
  [
    /\b(mem|memory|dram|ram)\b.*\b(util\w*|usage|percent|pct|occupancy)( (percent|value|current|rate))*$/,
    'memory',
    '%',
  ],
  [/\b(mem|memory) stats current$|\b(use|cur) (mem|memory)$/, 'memory', '%'],
  [/\b(used|free|total|available) (mem|memory|ram)( (kb|mb|kbytes|mbytes))*$/, 'memory', 'B'],
  [
    /\b(mem|memory|dram|ram)\b.*\b(used|free|freed|alloc|allocated|total|avail|available|size)\b/,
    'memory',
    'B',
  ],
];

/** Scale by words of the name. */
const SIZES = {
  kb: 1024,
  kbytes: 1024,
  kilobytes: 1024,
  mb: 1048576,
  mbytes: 1048576,
  megabytes: 1048576,
  gb: 1073741824,
};

export function guessed(object, tokens) {
  const { oid, name, syntax = '', enum: labels, tc = '', obsolete, table = '', rw } = object;
  if (obsolete || rw || NO_NUMBER.test(syntax) || !oid.startsWith('1.3.6.1.')) return null;
  if (/trap|notif|config|cfg|history|log|threshold|alarm|event|stat(?=s?$)/i.test(table)) return null;
  if (syntax === 'OCTET STRING' && /mac|addr|date|time|bits/i.test(tc)) return null;
  const words = tokens(name);
  const text = words.join(' ').replace(STATUS_OF_TEMPERATURE, '$1');
  if (NO_READING.test(text)) return null;
  const rule = RULES.find(([pattern]) => pattern.test(text));
  if (!rule) return null;
  const [, kind, unit, role] = rule;
  const isStatus = text !== words.join(' ');
  if ((labels || isStatus) && kind !== 'temperature') return null;
  const scale =
    unit === 'B' ? (words.map((word) => SIZES[word]).find(Boolean) ?? sizeIn(object.units) ?? 1) : 1;
  const numbers = isStatus && !labels ? { enum: SMALL } : {};
  return { ...object, ...numbers, kind, unit, scale, from: 'default', rank: 3, ...(role ? { role } : {}) };
}

/** Some call the reading itself a status; numbers that may be states then are none. */
const STATUS_OF_TEMPERATURE = /\b((?:temp|temperature) ?\d*) status$/;
const SMALL = Object.fromEntries(Array.from({ length: 11 }, (_, number) => [number, '']));

/** What a value is called where only the name beside it says what is measured. */
const VALUE = /^(.*?)[-_ ]?(?:value|val|reading)(?:[-_ ]?(?:int|str))?$/i;
const OF_SENSORS = /sensor|probe|analog|\benv|monitor|point|health/i;

/**
 * Values whose kind only a text tells: `sensor1Value` beside `sensor1Name`, and the values of a table of sensors
 * whose rows have names.
 */
export function namedValues(objects, isKnown) {
  const named = new Map();
  const tables = new Set();
  for (const { oid, name, syntax, table } of objects) {
    if (syntax !== 'OCTET STRING') continue;
    const found = /^(.*?)[-_ ]?(?:name|label|descr(?:iption)?)$/i.exec(name);
    if (!found) continue;
    if (table) tables.add(entryOf(oid));
    else named.set(`${moduleOf(oid)} ${found[1].toLowerCase()}`, oid);
  }
  return objects.flatMap((object) => {
    const { oid, name, syntax = '', enum: labels, table, obsolete, rw } = object;
    const stem = VALUE.exec(name)?.[1];
    if (!stem || labels || obsolete || rw || NO_NUMBER.test(syntax) || isKnown(oid)) return [];
    if (NO_READING.test(name.toLowerCase()) || /max|min|high|low|thresh|alarm|limit|config/i.test(name))
      return [];
    const fact = { ...object, kind: 'dynamic', by: {}, rank: 3, from: 'name' };
    if (table) return OF_SENSORS.test(`${table} ${name}`) && tables.has(entryOf(oid)) ? [fact] : [];
    const called = named.get(`${moduleOf(oid)} ${stem.toLowerCase()}`);
    return called ? [{ ...fact, called }] : [];
  });
}
const entryOf = (oid) => oid.slice(0, oid.lastIndexOf('.'));
/** Scalars of one module, two levels up. */
const moduleOf = (oid) => entryOf(entryOf(oid));

const sizeIn = (units = '') =>
  SIZES[/^(kb|kbytes|kilobytes|mb|mbytes|megabytes|gb)\b/i.exec(units)?.[1]?.toLowerCase()];

/** Where FASTPATH stands under the numbers of those that build on it. */
const FASTPATH = ['674.10895.5000.2.6132.1.1', '4413.1.1', '4526.10', '7244.2.1.1'];

/** Room Alert counts in hundredths: internal sensor, then digital ones in °C, °F and percent. */
const ROOM_ALERT = [
  ...['6.1.2.1.1', '6.1.2.2.1', '10.1.1.1', '10.1.2.1', '11.1.1.1.1', '11.1.2.1.1', '11.1.2.2.1'].map(
    (at) => [at, { kind: 'temperature', unit: 'C', scale: 0.01 }],
  ),
  ...['10.1.2.3'].map((at) => [at, { kind: 'humidity', unit: '%', scale: 0.01 }]),
];

/** Objects that no name tells: [OID, what is known]. */
export const KNOWN = [
  ...ROOM_ALERT.map(([at, fact]) => [`1.3.6.1.4.1.20916.1.${at}`, fact]),
  // Huawei: milliwatts. Bay Stack: half degrees.
  ...[3, 6].map((at) => [`1.3.6.1.4.1.2011.6.157.1.${at}`, { kind: 'power', unit: 'W', scale: 0.001 }]),
  ['1.3.6.1.4.1.45.1.6.3.7.1.1.5', { kind: 'temperature', unit: 'C', scale: 0.5 }],
  // Juniper: load and memory in use of a part, percent.
  ['1.3.6.1.4.1.2636.3.1.13.1.8', { kind: 'processor', unit: '%' }],
  [
    '1.3.6.1.4.1.2636.3.1.13.1.11',
    { name: 'jnxOperatingMemoryUsage', kind: 'memory', unit: '%', role: 'percent' },
  ],
  [
    '1.3.6.1.4.1.2636.3.1.13.1.15',
    { name: 'jnxOperatingMemoryTotal', kind: 'memory', unit: 'B', scale: 1048576, role: 'total' },
  ],
  // FASTPATH, under the numbers of those that build on it: free memory and all of it in kB, load of all processes in percent.
  ...FASTPATH.flatMap((at) => [
    [
      `1.3.6.1.4.1.${at}.1.1.4.1`,
      { name: 'memoryFree', kind: 'memory', unit: 'B', scale: 1024, role: 'free' },
    ],
    [
      `1.3.6.1.4.1.${at}.1.1.4.2`,
      { name: 'memoryTotal', kind: 'memory', unit: 'B', scale: 1024, role: 'total' },
    ],
    [`1.3.6.1.4.1.${at}.1.1.4.9`, { name: 'processorLoad', kind: 'processor', unit: '%' }],
  ]),
  // UPS-MIB (RFC 1628): where the output comes from.
  [
    '1.3.6.1.2.1.33.1.4.1',
    {
      ...{ kind: 'state', of: 'battery' },
      states: {
        1: 'unknown',
        2: 'critical',
        3: 'ok',
        4: 'warning',
        5: 'critical',
        6: 'warning',
        7: 'warning',
      },
    },
  ],
  // D-Link: DRAM in use, percent.
  ['1.3.6.1.4.1.171.12.1.1.9.1.4', { kind: 'memory', unit: '%', role: 'percent' }],
  // Sensors of any kind that their names tell: Fortinet, Citrix, FIBRE-CHANNEL MIB (a text with the unit).
  ['1.3.6.1.4.1.12356.101.4.3.2.1.3', { kind: 'dynamic', by: {} }],
  ['1.3.6.1.4.1.5951.4.1.1.41.7.1.2', { kind: 'dynamic', by: {} }],
  ['1.3.6.1.3.94.1.8.1.6', { kind: 'dynamic', by: {} }],
  // Zyxel: what optics measure now, a row for each kind, and its limits.
  [
    '1.3.6.1.4.1.890.1.15.3.84.1.2.1.6',
    { kind: 'dynamic', of: 'optical', by: {}, l: { h: [2], l: [3], hw: [4], lw: [5] } },
  ],
  // Dell: tenths of amperes, or watts, by the type of the probe.
  ...['1.3.6.1.4.1.674.10892.1.600.30.1.6', '1.3.6.1.4.1.674.10892.5.4.600.30.1.6'].map((oid) => [
    oid,
    { kind: 'dynamic', by: { unit: [7, { 23: '0.1 A', 24: 'W', 25: '0.1 A', 26: 'W' }] } },
  ]),
  // Brocade: sensors of a kind each.
  ['1.3.6.1.4.1.1588.2.1.1.1.1.22.1.4', { kind: 'dynamic', by: { type: 'swSensorType' } }],
];
