// Which objects of MIBs are readings of health, out of the facts (`health.jsonl`, `objects.jsonl`): one line an
// enterprise, `std` for the standard MIBs. rules/README.md describes the form.

import { guessed, KNOWN } from './guess.mjs';
import { isLimitBeside, limitColumns, limitsOf } from './limits.mjs';
import { tokens, without } from './words.mjs';

const ENTERPRISES = '1.3.6.1.4.1.';
const STANDARD = '1.3.6.1.';

/** Class of the facts → kind of a sensor, and the unit that the catalogue's factor must lead to. */
const KINDS = {
  temperature: ['temperature', { C: 1, F: 'F', K: 'K' }],
  humidity: ['humidity', { '%': 1 }],
  voltage: ['voltage', { V: 1 }],
  current: ['current', { A: 1 }],
  power: ['power', { W: 1 }],
  energy: ['energy', { kWh: 1 }],
  frequency: ['frequency', { Hz: 1, MHz: 1e6 }],
  fanspeed: ['fan', { rpm: 1 }],
  dbm: ['signal-power', { dBm: 1, W: 'mW' }],
  signal: ['signal-power', { dBm: 1 }, 'wireless'],
  snr: ['snr', { dB: 1 }],
  airflow: ['airflow', { cfm: 1 }],
  pressure: ['pressure', { kPa: 1 }],
  processor: ['processor', { '%': 1 }],
  memory: ['memory', { B: 1, '%': 1 }],
  storage: ['storage', { B: 1, '%': 1 }],
  load: ['load', { '%': 1 }],
  charge: ['charge', { '%': 1 }],
  runtime: ['runtime', { min: 1, s: 1 / 60 }],
  percent: ['percent', { '%': 1 }],
  state: ['state', {}],
  'wireless-rssi': ['signal-power', { dBm: 1 }, 'wireless'],
  'wireless-power': ['signal-power', { dBm: 1 }, 'wireless'],
  'wireless-noise-floor': ['signal-power', { dBm: 1 }, 'wireless'],
  'wireless-rsrp': ['signal-power', { dBm: 1 }, 'wireless'],
  'wireless-snr': ['snr', { dB: 1 }, 'wireless'],
  'wireless-clients': ['count', { '': 1 }, 'wireless'],
  'wireless-ap-count': ['count', { '': 1 }, 'wireless'],
  'wireless-utilization': ['percent', { '%': 1 }, 'wireless'],
};
const COMPONENTS = {
  optical: 'optics',
  power: undefined,
  sensor: undefined,
  temperature: undefined,
  voltage: undefined,
  humidity: undefined,
};
const STATUS = { ok: 'o', warning: 'w', critical: 'c', unknown: 'u' };

/** What readers of their own read: `packages/collector/src/walk/sensors/standards`. */
const BY_HAND = [
  '1.3.6.1.2.1.14.',
  '1.3.6.1.2.1.15.',
  '1.3.6.1.2.1.25.',
  '1.3.6.1.2.1.43.',
  '1.3.6.1.2.1.47.',
  '1.3.6.1.2.1.99.',
  '1.3.6.1.2.1.131.',
  '1.3.6.1.4.1.9.9.91.',
  '1.3.6.1.4.1.2021.4.',
  '1.3.6.1.4.1.2021.9.',
  '1.3.6.1.4.1.2021.10.',
  '1.3.6.1.4.1.2021.11.',
];
/** Tables and objects of something else than health: what is asked for, simulated, remembered or of other devices. */
const NOT_HEALTH =
  /ovrflw|overflow|extcal|slope|offset|thctrl|nbr$|history|simul|template|profile|notif|neighbo|15min|24hour|interval|^isis|rttmon|bucket|previous|pmcurr|pmprev/i;
const NOT_HEALTH_WORDS = new Set('hist log config cfg configuration trap remote prev'.split(' '));
const speaksOfOther = (name) =>
  NOT_HEALTH.test(name) || tokens(name).some((word) => NOT_HEALTH_WORDS.has(word));

export function sensors(facts) {
  const health = facts('health');
  const objects = facts('objects');
  const read = [...health, ...unnamed(health, objects)].filter(wanted);
  const names = nameColumns(objects);
  const enums = new Map(objects.flatMap(({ oid, enum: labels }) => (labels ? [[oid, labels]] : [])));
  const prefixes = prefixesOf(read);
  const columns = limitColumns(objects, health);
  const tables = new Map();
  for (const fact of read) {
    const entry = fact.oid.slice(0, fact.oid.lastIndexOf('.'));
    const group = tables.get(entry) ?? { entry, facts: new Map(), scalar: !fact.table };
    const arc = Number(fact.oid.slice(entry.length + 1));
    const known = group.facts.get(arc);
    if (!known || fact.rank < known.rank) group.facts.set(arc, fact);
    tables.set(entry, group);
  }
  const makers = new Map();
  for (const table of tables.values()) {
    const { maker, prefix } = ownerOf(table.entry);
    const entry = makers.get(maker) ?? { enums: [], tables: [] };
    const made = tableOf(table, { prefix, names, enums, prefixes, columns, entry });
    if (made) entry.tables.push(made);
    makers.set(maker, entry);
  }
  for (const [maker, { tables: made }] of makers) if (made.length === 0) makers.delete(maker);
  return makers;
}

/** Objects that the facts on health do not have. */
function unnamed(health, objects) {
  const told = new Set(health.map(({ oid }) => oid));
  const known = new Map(KNOWN);
  const fromHand = ({ oid, ...object }) => ({
    ...object,
    oid,
    scale: 1,
    from: 'prose',
    rank: 0,
    ...known.get(oid),
  });
  const missing = KNOWN.filter(([oid]) => !objects.some((object) => object.oid === oid)).map(([oid]) => ({
    ...{ oid, name: 'load', module: 'none' },
  }));
  return [...objects, ...missing].flatMap((object) => {
    if (known.has(object.oid)) return [fromHand(object)];
    const fact = told.has(object.oid) ? null : guessed(object, tokens);
    return fact ? [fact] : [];
  });
}

const ownerOf = (oid) => {
  if (!oid.startsWith(ENTERPRISES)) return { maker: 'std', prefix: STANDARD };
  const maker = oid.split('.')[6];
  return { maker, prefix: `${ENTERPRISES}${maker}.` };
};

/** Loads over some time are loads; peaks and thresholds are not. */
const PEAK = /max|min(?!ute|\b|ur|Ave?|Rev|HC|s?$)|peak|high|low|thresh|limit/i;
const LOADS = new Set(['processor', 'memory']);

function wanted({ oid, name, table = '', kind, rank, role, obsolete, rw }) {
  if (obsolete || BY_HAND.some((prefix) => oid.startsWith(prefix)) || !oid.startsWith(STANDARD)) return false;
  // A table of settings may hold what is measured as well.
  if (speaksOfOther(name) || speaksOfOther(rw ? table : table.replace(/config(uration)?|cfg/i, '')))
    return false;
  if (role === 'limit') return false;
  if (LOADS.has(kind) && (role === 'statistic' || (!role && rank === 4))) return !PEAK.test(name);
  if (role === 'statistic' || role === 'nominal') return false;
  return (
    (kind in KINDS || kind === 'dynamic') &&
    rank <= 3 &&
    !(rw && kind !== 'temperature' && kind !== 'dynamic')
  );
}

/** A state counts where it has good and bad, and is of the hardware. */
const isHealthState = ({ states, rank, of }) => {
  const said = new Set(Object.values(states ?? {}));
  return said.has('ok') && (said.has('critical') || said.has('warning')) && (rank === 1 || of);
};

function tableOf({ entry, facts, scalar }, { prefix, names, enums, prefixes, columns, entry: maker }) {
  const all = [...facts].sort(([a], [b]) => a - b);
  const common = prefixes.get(all[0][1].module) ?? 0;
  const readings = [];
  const bounds = all.filter(([, fact]) => isLimitBeside(fact, all)).map(([, fact]) => fact);
  const values = all.filter(([, fact]) => !bounds.includes(fact));
  const limits = [...bounds.map((fact) => ({ ...fact, fact })), ...columns.of(all[0][1])];
  for (const [arc, fact] of values) {
    if (fact.kind === 'state' && !isHealthState(fact)) continue;
    if (fact.kind === 'dynamic') {
      const by = dynamicOf(fact, entry, enums, names);
      const beside = by && limitsOf(fact, limits, values, { entry, prefix });
      if (by) readings.push([arc, 'dynamic', 1, labelOf(fact, common), beside ? { ...by, l: beside } : by]);
      continue;
    }
    const made = readingOf(fact, arc, common, maker);
    if (!made) continue;
    const [, units] = KINDS[fact.kind];
    const beside = fact.kind === 'state' ? null : limitsOf(fact, limits, values, { entry, prefix, units });
    if (beside) made[4] = { ...made[4], l: beside };
    readings.push(made);
  }
  if (readings.length === 0) return null;
  const [, first] = all[0];
  rawOptics(readings);
  alike(readings);
  return {
    e: entry.slice(prefix.length),
    ...(scalar ? { s: 1 } : {}),
    ...indexOf(first),
    ...nameOf(entry, first, names, prefix, scalar),
    r: readings,
  };
}

/** Temperatures in 1/256 °C are what the optics' own memory holds, where currents are counted in 2 µA (SFF-8472). */
function rawOptics(readings) {
  if (!readings.some(([, kind, factor]) => kind === 'temperature' && Math.abs(factor - 1 / 256) < 1e-6))
    return;
  for (const reading of readings)
    if (reading[1] === 'current') {
      reading[2] = 2e-6;
      for (const limit of Object.values(reading[4].l ?? {})) limit.length = 1;
    }
}

/** Amounts of one memory have one scale: what one object states holds for those that state none. */
function alike(readings) {
  const isAmount = ([, , , , { o }]) => ['used', 'free', 'total'].includes(o);
  for (const reading of readings.filter(isAmount)) {
    const sibling = readings.find((each) => isAmount(each) && !each[4].q && each[4].g === reading[4].g);
    if (reading[4].q && sibling) reading[2] = sibling[2];
  }
}

/** Loads and shares that are a processor's by their name. */
const OF_PROCESSOR = /cpu|processor/i;

function readingOf(fact, arc, common, maker) {
  const isProcessor = ['percent', 'load'].includes(fact.kind) && OF_PROCESSOR.test(fact.name);
  const [kind, units, component] = KINDS[isProcessor ? 'processor' : fact.kind];
  const of = component ?? (fact.of in COMPONENTS ? COMPONENTS[fact.of] : fact.of);
  const more = { ...(of ? { c: of } : {}), k: fact.rank };
  if (kind === 'state') return [arc, kind, 1, labelOf(fact, common), { ...more, z: enumOf(fact, maker) }];
  const convert = units[fact.unit ?? ''];
  if (convert === undefined) return null;
  const factor = typeof convert === 'number' ? convert * (fact.scale ?? 1) : (fact.scale ?? 1);
  if (typeof convert === 'string') more.u = convert;
  if (fact.from === 'default') more.q = 1;
  if (kind === 'memory' || kind === 'storage') {
    const role = ['used', 'free', 'total'].includes(fact.role) ? fact.role : roleOf(fact.name);
    if (!role && fact.unit !== '%') return null;
    more.o = fact.unit === '%' ? (role === 'free' ? 'freePercent' : 'percent') : role;
    if (fact.unit === '%')
      return [arc, kind, Math.min(factor, 1), labelOf(fact, common), { ...more, g: groupOf(fact.name) }];
    more.g = groupOf(fact.name);
  } else if (fact.role === 'idle') more.o = 'idle';
  if (fact.enum) more.n = Object.keys(fact.enum).map(Number);
  return [arc, kind, Number(factor.toPrecision(6)), labelOf(fact, common), more];
}

const ROLE_WORDS = new Set(
  'total used free avail available usage utilization utilisation util percent percentage pct size in use left remaining capacity allocated alloc allocation current value max space bytes byte kb kbytes kilobytes mb mbytes megabytes gb amount installed idle inuse freed consumed occupancy rate ratio unused hc ovrflw overflow'.split(
    ' ',
  ),
);
const groupOf = (name) => [...without(tokens(name), ROLE_WORDS)].join(' ');
const roleOf = (name) => tokens(name).reduceRight((found, word) => found ?? ROLES[word], undefined);
const ROLES = {
  ...{ used: 'used', inuse: 'used', alloc: 'used', allocated: 'used', consumed: 'used' },
  ...{
    free: 'free',
    freed: 'free',
    idle: 'free',
    avail: 'free',
    available: 'free',
    remaining: 'free',
    unused: 'free',
  },
  ...{ total: 'total', size: 'total', capacity: 'total', installed: 'total' },
};

function enumOf({ states, enum: labels }, maker) {
  const text = Object.entries(states)
    .map(([number, status]) => `${number}${STATUS[status] ?? 'u'}${labels?.[number] ?? ''}`)
    .join(',');
  const at = maker.enums.indexOf(text);
  if (at >= 0) return at;
  return maker.enums.push(text) - 1;
}

/** Columns that say kind, unit or scale, with their labels where they are enumerations. */
function dynamicOf({ by, role, name }, entry, enums, names) {
  if (!by || role || /descr|name|minimum|maximum|thresh|calibration|config/i.test(name)) return null;
  const columns = names.columns.get(entry) ?? new Map();
  const made = {};
  for (const [what, column] of Object.entries(by)) {
    if (Array.isArray(column)) {
      made[what] = column;
      continue;
    }
    const arc = columns.get(column);
    if (arc === undefined) continue;
    const labels = enums.get(`${entry}.${arc}`);
    made[what] = labels ? [arc, labels] : [arc];
  }
  return Object.keys(made).length > 0 || Object.keys(by).length === 0 ? { by: made } : null;
}

// ---- names

const NAME = /(descr|description|name|label|location|ident|alias|position)$/i;
const NO_NAME =
  /host|user|group|file|vendor|model|mfr|manufact|version|serial|domain|owner|mac|oid|unit$|part|product/i;
/** How well a column names its row. */
const worth = (name) =>
  /descr(iption)?$/i.test(name) ? 3 : /name$/i.test(name) ? 4 : /label$/i.test(name) ? 5 : 1;

function nameColumns(objects) {
  const byEntry = new Map();
  const byIndex = new Map();
  const columns = new Map();
  for (const { oid, name, table, index, syntax, tc = '' } of objects) {
    if (!table) continue;
    const entry = oid.slice(0, oid.lastIndexOf('.'));
    const arcs = columns.get(entry) ?? new Map();
    arcs.set(name, Number(oid.slice(entry.length + 1)));
    columns.set(entry, arcs);
    if (syntax !== 'OCTET STRING' || !NAME.test(name) || NO_NAME.test(name.replace(/^.*?(?=[A-Z])/, '')))
      continue;
    if (/mac|address|date|time|bits/i.test(tc)) continue;
    const found = { oid, worth: worth(name) };
    byEntry.set(entry, better(byEntry.get(entry), found));
    const key = `${ownerOf(oid).maker} ${(index ?? []).join(' ')}`;
    byIndex.set(key, better(byIndex.get(key), found));
  }
  return { byEntry, byIndex, columns };
}
const better = (known, found) => (!known || found.worth > known.worth ? found : known);

function nameOf(entry, { oid, index = [] }, { byEntry, byIndex }, prefix, scalar) {
  if (scalar || indexOf({ index }).i)
    return byEntry.has(entry) && !scalar ? { n: byEntry.get(entry).oid.slice(prefix.length) } : {};
  const found = byEntry.get(entry) ?? byIndex.get(`${ownerOf(oid).maker} ${index.join(' ')}`);
  return found ? { n: found.oid.slice(prefix.length) } : {};
}

/** What the first part of the index is, where that is known beyond the table. */
function indexOf({ index = [] }) {
  if (index[0] === 'ifIndex' || /ifindex$/i.test(index[0] ?? '')) return { i: 'if' };
  if (index[0] === 'entPhysicalIndex' || /entphysicalindex$/i.test(index[0] ?? '')) return { i: 'ent' };
  return {};
}

// ---- words of names

/** How many words nearly all names of a module begin with. */
const SHARED = 0.8;
function prefixesOf(facts) {
  const modules = new Map();
  for (const { module, name } of facts) modules.set(module, [...(modules.get(module) ?? []), tokens(name)]);
  const prefixes = new Map();
  for (const [module, lists] of modules) {
    let n = 0;
    for (; ; n++) {
      const counts = new Map();
      for (const list of lists) if (list.length > n + 1) counts.set(list[n], (counts.get(list[n]) ?? 0) + 1);
      if (lists.length < 3 || Math.max(0, ...counts.values()) < SHARED * lists.length) break;
    }
    prefixes.set(module, n);
  }
  return prefixes;
}

/** What is left of the name behind what the names of its module begin with. */
const labelOf = ({ name, kind }, common) =>
  tokens(name)
    .slice(common)
    // Times travel in minutes, whatever the MIB counts in.
    .map((word) => (kind === 'runtime' && /^(seconds?|minutes?|secs?|mins?)$/.test(word) ? 'time' : word))
    .join(' ');

export const sensorsLine = (maker, { enums, tables }) =>
  `${maker} ${JSON.stringify({ z: enums, t: tables.sort((a, b) => byNumbers(a.e, b.e)) })}`;

const byNumbers = (a, b) => {
  const [x, y] = [a.split('.').map(Number), b.split('.').map(Number)];
  for (let i = 0; i < Math.max(x.length, y.length); i++)
    if (x[i] !== y[i]) return (x[i] ?? -1) - (y[i] ?? -1);
  return 0;
};
