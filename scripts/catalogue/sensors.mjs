// Which objects of MIBs are readings of health, out of the facts (`health.jsonl`, `objects.jsonl`): one line an
// enterprise, `std` for the standard MIBs. rules/README.md describes the form.

import { guessed, KNOWN, namedValues } from './guess.mjs';
import { isLimitBeside, limitColumns, limitsOf } from './limits.mjs';
import { indexOf, labelOf, nameColumns, nameOf, ownerOf, prefixesOf } from './names.mjs';
import { AMOUNTS, groupOf, roleIn, roleOf } from './roles.mjs';
import { tokens } from './words.mjs';

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
  'power-factor': ['power-factor', { '': 1, '%': 0.01 }],
  bitrate: ['bitrate', { 'bit/s': 1 }],
  'wireless-rate': ['bitrate', { 'bit/s': 1 }, 'wireless'],
  'chromatic-dispersion': ['chromatic-dispersion', { 'ps/nm': 1 }],
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
  'wireless-sinr': ['snr', { dB: 1 }, 'wireless'],
  'wireless-rsrq': ['snr', { dB: 1 }, 'wireless'],
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

const componentOf = ({ of }) => (of in COMPONENTS ? COMPONENTS[of] : of);

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
  /ovrflw|overflow|extcal|slope|offset|thctrl|nbr$|history|simul|template|profile|notif|neighbo|15min|24hour|interval|^isis|rttmon|bucket|previous|pmprev|integerpart|decimalpart/i;
const NOT_HEALTH_WORDS = new Set('hist log config cfg configuration trap remote prev'.split(' '));
const speaksOfOther = (name) =>
  NOT_HEALTH.test(name) || tokens(name).some((word) => NOT_HEALTH_WORDS.has(word));

export function sensors(facts) {
  const health = facts('health');
  const objects = facts('objects');
  const read = likeSiblings([...health, ...unnamed(health, objects)].filter(wanted).map(mended));
  const names = nameColumns(objects);
  const enums = new Map(objects.flatMap(({ oid, enum: labels }) => (labels ? [[oid, labels]] : [])));
  const prefixes = prefixesOf(read);
  const columns = limitColumns(objects, health);
  const tables = new Map();
  for (const fact of read) {
    const entry = fact.oid.slice(0, fact.oid.lastIndexOf('.'));
    const group = tables.get(entry) ?? {
      ...{ entry, values: new Map(), states: new Map(), scalar: !fact.table },
    };
    const arc = Number(fact.oid.slice(entry.length + 1));
    const facts = fact.kind === 'state' ? group.states : group.values;
    const known = facts.get(arc);
    if (!known || fact.rank < known.rank) facts.set(arc, fact);
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
  const told = new Set(health.flatMap(({ oid, kind }) => (kind === 'state' ? [] : [oid])));
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
  const made = [...objects, ...missing].flatMap((object) => {
    if (known.has(object.oid)) return [fromHand(object)];
    const fact = told.has(object.oid) ? null : guessed(object, tokens);
    return fact ? [fact] : [];
  });
  const all = new Set([...health, ...made].map(({ oid }) => oid));
  return [...made, ...namedValues(objects, (oid) => all.has(oid))];
}

/**
 * Readings by column. Modules may disagree on what a column is, and some count states into the same object: then
 * a number that is no state is the reading.
 */
function columnsOf({ values, states }) {
  const found = [];
  for (const arc of new Set([...values.keys(), ...states.keys()])) {
    const [value, state] = [values.get(arc), states.get(arc)];
    const both = value && state && KINDS[value.kind] && !LOADS.has(value.kind) && value.kind !== 'storage';
    if (state && (!value || state.rank <= value.rank)) found.push([arc, state]);
    else found.push([arc, value]);
    if (both && state.rank <= value.rank)
      found.push([arc, { ...value, enum: state.enum ?? value.enum ?? state.states }]);
  }
  return found.sort(([a], [b]) => a - b);
}

/** Levels of light that a maker states in one scale keep it where nothing states any. */
function likeSiblings(facts) {
  const scales = new Map();
  const isLevel = ({ kind, unit }) => kind === 'dbm' && unit === 'dBm';
  for (const fact of facts)
    if (isLevel(fact) && fact.from !== 'default') {
      const { maker } = ownerOf(fact.oid);
      scales.set(maker, [...(scales.get(maker) ?? []), fact.scale]);
    }
  return facts.map((fact) => {
    const stated =
      isLevel(fact) && fact.from === 'default' ? (scales.get(ownerOf(fact.oid).maker) ?? []) : [];
    const isOne = stated.length >= 3 && stated.every((scale) => scale === stated[0]);
    return isOne ? { ...fact, scale: stated[0] } : fact;
  });
}

/** Loads over some time are loads; peaks and thresholds are not. */
const PEAK = /max|min(?!ute|\b|ur|Ave?|Rev|HC|s?$)|peak|high|low|thresh|limit/i;
const LOADS = new Set(['processor', 'memory']);

/** Rates without a unit may be in anything, speeds are what a port could carry, and clients come and go; NTP has a dispersion, too. */
const isUntold = ({ name, kind, from, scale }) =>
  kind === 'bitrate' || kind === 'wireless-rate'
    ? from === 'default' || scale < 1 || /speed|bandw|bw$|client|sta(?=[A-Z])|error|fixed|assured/i.test(name)
    : kind === 'chromatic-dispersion' && from === 'default' && !/chrom/i.test(name);

function wanted({ oid, name, table = '', kind, rank, role, obsolete, rw, from, scale }) {
  if (obsolete || BY_HAND.some((prefix) => oid.startsWith(prefix)) || !oid.startsWith(STANDARD)) return false;
  // A table of settings may hold what is measured as well.
  if (speaksOfOther(name) || speaksOfOther(rw ? table : table.replace(/config(uration)?|cfg/i, '')))
    return false;
  if (role === 'limit' || isUntold({ name, kind, from, scale })) return false;
  if (LOADS.has(kind) && (role === 'statistic' || (!role && rank === 4))) return !PEAK.test(name);
  if (isAverage({ name, kind, role })) return rank <= 4;
  if (role === 'statistic' || role === 'nominal') return false;
  return (
    (kind in KINDS || kind === 'dynamic') &&
    rank <= 3 &&
    !(rw && kind !== 'temperature' && kind !== 'dynamic')
  );
}

/** An average stands in for a reading that the device does not have. */
const isAverage = ({ name, kind, role }) =>
  role === 'statistic' &&
  kind in KINDS &&
  kind !== 'state' &&
  /a(ve?rage|vg)/i.test(name) &&
  !PEAK.test(name);
const isNeedless = (fact, others) =>
  isAverage(fact) &&
  !LOADS.has(fact.kind) &&
  others.some(([, { kind, role }]) => kind === fact.kind && !role);

/** A state counts where it has good and bad, and is of the hardware. */
const isHealthState = ({ states, rank, of }) => {
  const said = new Set(Object.values(states ?? {}));
  return said.has('ok') && (said.has('critical') || said.has('warning')) && (rank === 1 || of);
};

function tableOf(
  { entry, scalar, ...columnsThere },
  { prefix, names, enums, prefixes, columns, entry: maker },
) {
  // What a row is called is no reading: `+3.3V` names the voltage beside it.
  const isName = ({ oid, kind }) => kind !== 'state' && names.byEntry.get(entry)?.oid === oid;
  const all = columnsOf(columnsThere).filter(
    ([, fact], _, others) => !isNeedless(fact, others) && !isName(fact),
  );
  if (all.length === 0) return null;
  const common = prefixes.get(all[0][1].module) ?? [];
  const readings = [];
  const bounds = all.filter(([, fact]) => isLimitBeside(fact, all)).map(([, fact]) => fact);
  const values = all.filter(([, fact]) => !bounds.includes(fact));
  const limits = [...bounds.map((fact) => ({ ...fact, fact })), ...columns.of(all[0][1])];
  for (const [arc, fact] of values) {
    if (fact.kind === 'state' && !isHealthState(fact)) continue;
    if (fact.kind === 'dynamic') {
      const by = dynamicOf(fact, entry, enums, names);
      const beside = fact.l ?? (by && limitsOf(fact, limits, values, { entry, prefix }));
      const called = fact.called ? { m: fact.called.slice(prefix.length) } : {};
      const c = componentOf(fact);
      const more = { ...by, ...called, ...(c ? { c } : {}), ...(beside ? { l: beside } : {}) };
      if (by) readings.push([arc, 'dynamic', 1, labelOf(fact, common), more]);
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
  withoutWeak(readings);
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

/** What is only called a usage gives way to amounts that are named as such. */
function withoutWeak(readings) {
  for (const reading of readings.filter(([, , , , { weak }]) => weak)) {
    const { g } = reading[4];
    delete reading[4].weak;
    const isTold = readings.some(
      (each) => each !== reading && each[4].g === g && /used|free/.test(each[4].o),
    );
    if (isTold) readings.splice(readings.indexOf(reading), 1);
  }
}

/** Loads and shares that are a processor's by their name. */
const OF_PROCESSOR = /cpu|processor|processing/i;
const OF_MEMORY = /memory|mem(?=usage|util|$)/i;

/** Modules of optics, whose inputs and outputs are light. */
const OF_OPTICS = /fiber|optic|edfa|-oa-|-os-|ddm|sfp|transceiver|hfc|laser/i;
const LIGHT = /((in|out)put-?p(o)?we?r|[rt]x-?p(o)?we?r|lightpower)(value)?$/i;

/** What a name says against the kind that the facts took it for, where no unit is stated. */
function mended(fact) {
  if (fact.kind !== 'power' || fact.from === 'units' || fact.from === 'prose') return fact;
  if (/(pwr|power|supply)current$/i.test(fact.name)) return { ...fact, kind: 'current', unit: 'A' };
  if (OF_OPTICS.test(fact.module) && LIGHT.test(fact.name))
    return { ...fact, kind: 'dbm', unit: 'dBm', of: 'optical' };
  return fact;
}

function readingOf(fact, arc, common, maker) {
  const isShare = ['percent', 'load'].includes(fact.kind);
  const shareOf = OF_PROCESSOR.test(fact.name)
    ? 'processor'
    : OF_MEMORY.test(fact.name)
      ? 'memory'
      : undefined;
  const [kind, units, component] = KINDS[(isShare ? shareOf : undefined) ?? fact.kind];
  const of = component ?? componentOf(fact);
  const more = { ...(of ? { c: of } : {}), k: fact.rank };
  if (kind === 'state') return [arc, kind, 1, labelOf(fact, common), { ...more, z: enumOf(fact, maker) }];
  const convert = units[fact.unit ?? ''];
  if (convert === undefined) return null;
  const factor = typeof convert === 'number' ? convert * (fact.scale ?? 1) : (fact.scale ?? 1);
  if (typeof convert === 'string') more.u = convert;
  if (fact.from === 'default') more.q = 1;
  if (kind === 'memory' || kind === 'storage') {
    const role = roleIn(fact.name) ?? (AMOUNTS.includes(fact.role) ? fact.role : roleOf(fact.name));
    // Shares are not counted in kilobytes: such a usage is the amount in use.
    const isAmount = fact.unit === '%' && (fact.scale ?? 1) >= 1024;
    if (!role && fact.unit !== '%') return null;
    if (isAmount && !role) more.weak = true;
    more.o = isAmount
      ? (role ?? 'used')
      : fact.unit === '%'
        ? role === 'free'
          ? 'freePercent'
          : 'percent'
        : role;
    if (fact.unit === '%' && !isAmount)
      return [arc, kind, Math.min(factor, 1), labelOf(fact, common), { ...more, g: groupOf(fact.name) }];
    more.g = groupOf(fact.name);
  } else if (fact.role === 'idle') more.o = 'idle';
  if (fact.enum) more.n = Object.keys(fact.enum).map(Number);
  return [arc, kind, Number(factor.toPrecision(10)), labelOf(fact, common), more];
}

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

export const sensorsLine = (maker, { enums, tables }) =>
  `${maker} ${JSON.stringify({ z: enums, t: tables.sort((a, b) => byNumbers(a.e, b.e)) })}`;

const byNumbers = (a, b) => {
  const [x, y] = [a.split('.').map(Number), b.split('.').map(Number)];
  for (let i = 0; i < Math.max(x.length, y.length); i++)
    if (x[i] !== y[i]) return (x[i] ?? -1) - (y[i] ?? -1);
  return 0;
};
