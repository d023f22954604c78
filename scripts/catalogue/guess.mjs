// Facts for objects that the facts on health leave out: what the name alone says, and a few that people know.

const SYNTAX = new Set(['INTEGER', 'Gauge32', 'Unsigned32', 'OCTET STRING', 'Opaque']);
/** What a limit, a peak, a setting or a count is named after. */
const NO_READING =
  /\b(thresh\w*|thr|limit|max\w*|min|minimum|high|hi|low|lo|upper|lower|alarm|alarms|warn\w*|trap|event|set|setting|config\w*|cfg|enable\w*|admin|mode|type|unit|units|name|descr\w*|index|count|counter|num|number|id|severity|hyst\w*|delta|offset|scale|factor|rated|nominal|interval|time|date|action|peak|avg|average|label|location|message|color|reason|result|bits?|version|calib\w*|delay|duration|period|test)\b|\b(status|state)$/;

const RULES = [
  [
    /\b(temp|temperature|tmp|temper)( (value|reading|current|sensor|c|celsius|deg c|degree|degrees|curr|measured|in|out|val))*$/,
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
  [/\b(amps|amperage)$/, 'current', 'A'],
  [/\bfan\b.*\b(speed|rpm)( (value|reading|current))*$/, 'fanspeed', 'rpm'],
  [/\b(watts|active power|real power|power consumption|output power watts|power watts)$/, 'power', 'W'],
  [/\b(inlet|input|output|line|bypass|phase|mains)( status)? (frequency|freq)( value)*$/, 'frequency', 'Hz'],
  [
    /\b(opr|opt|(rx|tx|receive|received|transmit|transmitted|optical) (optical )?(power|pwr|opt power|level)( dbm)?|rx power|tx power)( (value|val))*$/,
    'dbm',
    'dBm',
  ],
  [
    /\b(cpu|processor)\b.*\b(util\w*|usage|load\w*|busy|percent|pct|occupancy)( (percent|value|current|rate|\d+ ?\w*))*$/,
    'processor',
    '%',
  ],
  [/\b(cpu|cpu percentage)$/, 'processor', '%'],
  [/\bcpu idle$/, 'processor', '%', 'idle'],
  [
    /\b(mem|memory|dram|ram)\b.*\b(util\w*|usage|percent|pct|occupancy)( (percent|value|current|rate))*$/,
    'memory',
    '%',
  ],
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
  const { oid, name, syntax, enum: labels, tc = '', obsolete, table = '', rw } = object;
  if (labels || obsolete || rw || !SYNTAX.has(syntax) || !oid.startsWith('1.3.6.1.')) return null;
  if (/trap|notif|config|cfg|history|log|threshold|alarm|event|stat(?=s?$)/i.test(table)) return null;
  if (syntax === 'OCTET STRING' && /mac|addr|date|time|bits/i.test(tc)) return null;
  const words = tokens(name);
  const text = words.join(' ');
  if (NO_READING.test(text)) return null;
  const rule = RULES.find(([pattern]) => pattern.test(text));
  if (!rule) return null;
  const [, kind, unit, role] = rule;
  const scale =
    unit === 'B' ? (words.map((word) => SIZES[word]).find(Boolean) ?? sizeIn(object.units) ?? 1) : 1;
  return { ...object, kind, unit, scale, from: 'default', rank: 3, ...(role ? { role } : {}) };
}

const sizeIn = (units = '') =>
  SIZES[/^(kb|kbytes|kilobytes|mb|mbytes|megabytes|gb)\b/i.exec(units)?.[1]?.toLowerCase()];

/** Objects that no name tells: [OID, what is known]. */
export const KNOWN = [
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
  ...['674.10895.5000.2.6132', '4413', '4526.10', '7244.2'].flatMap((maker) => [
    [
      `1.3.6.1.4.1.${maker}.1.1.1.1.4.1`,
      { name: 'memoryFree', kind: 'memory', unit: 'B', scale: 1024, role: 'free' },
    ],
    [
      `1.3.6.1.4.1.${maker}.1.1.1.1.4.2`,
      { name: 'memoryTotal', kind: 'memory', unit: 'B', scale: 1024, role: 'total' },
    ],
    [`1.3.6.1.4.1.${maker}.1.1.1.1.4.9`, { name: 'processorLoad', kind: 'processor', unit: '%' }],
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
  // Dell: tenths of amperes, or watts, by the type of the probe.
  ...['1.3.6.1.4.1.674.10892.1.600.30.1.6', '1.3.6.1.4.1.674.10892.5.4.600.30.1.6'].map((oid) => [
    oid,
    { kind: 'dynamic', by: { unit: [7, { 23: '0.1 A', 24: 'W', 25: '0.1 A', 26: 'W' }] } },
  ]),
  // Brocade: sensors of a kind each.
  ['1.3.6.1.4.1.1588.2.1.1.1.1.22.1.4', { kind: 'dynamic', by: { type: 'swSensorType' } }],
];
