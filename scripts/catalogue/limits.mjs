// Which objects are the limits of which readings: columns of the same table, columns of another table of the module that
// has the same index, and scalars beside a scalar.

import { tokens, without } from './words.mjs';

const words = (text) => new Set(text.split(' '));
const EXPLICIT = words(
  'alarm alarms alrm alm alert warn warning critical crit major minor severe thresh threshold thr thd thld th limit lmt lim fatal shutdown trip unrecoverable noncritical allowed',
);
const LIMIT_WORDS = new Set([
  ...EXPLICIT,
  ...words(
    'high hi low lo upper lower upr lwr max maximum min minimum over under shut down point excess trigger set degree non recoverable nc value exceed below above exception v',
  ),
]);
/** What names of tables add to the names of their columns. */
const NEUTRAL = words('conf config cfg configuration status stats properties monitor info');
const VALUE_WORDS = words(
  'value current reading present curr cur now measured val degree input level raw c f celsius dbm degc int',
);
const HIGH = /^(high|hi|upper|upr|max|maximum|over|excess|exceed|above)$/;
const LOW = /^(low|lo|lower|lwr|min|minimum|under|below)$/;
const BOUND = /^(high|low|upper|lower)$/;
const NUMERIC = new Set(['INTEGER', 'Gauge32', 'Unsigned32', 'Counter32', 'OCTET STRING']);
/** Where a limit's own scale is believed; a description often leaves it out. */
const STATED = /units|hint/;
const NO_LIMIT =
  /status|state|enable|count|event|trap|hyst|delay|time|notif|severity|flag|date|duration|active|clear|action|admin|cleared|log|reset/i;
/** Words that say of what kind a limit is, where nothing else does. */
const KIND_WORDS = [
  [/^(temp|temperature|thermal)$/, 'temperature'],
  [/^(volt|voltage|vcc)$/, 'voltage'],
  [/^(humid|humidity)$/, 'humidity'],
  [/^(rpm|fan)$/, 'fanspeed'],
];
/** Amounts that are rated, not measured. */
const NOMINAL = /capacity|rating|rated|nominal/i;
/** What a name says of the form of optical power: no limit of one is a limit of the other. */
const FORMS = /dbm|uw\b|mw\b/i;
const UNIT_FORMS = { dBm: 'dbm', W: 'mw' };
const isLevel = (form) => /dbm/i.test(form);

const SYNONYMS = new Map(Object.entries({ temp: 'temperature', volt: 'voltage', pow: 'power' }));
const subjectWords = (name, left) =>
  without(
    tokens(name).map((word) => SYNONYMS.get(word) ?? word),
    left,
  );
const LEFT_OF_READING = new Set([...VALUE_WORDS, ...NEUTRAL]);
const LEFT_OF_LIMIT = new Set([...LEFT_OF_READING, ...LIMIT_WORDS]);

/** Index of a table by its names, without what the table's own name adds. */
const signatureOf = ({ index = [] }) =>
  index
    .map((name) =>
      tokens(name)
        .filter((word) => !NEUTRAL.has(word) && !EXPLICIT.has(word))
        .join(' '),
    )
    .join('|');
const entryOf = (oid) => oid.slice(0, oid.lastIndexOf('.'));
const placeOf = ({ module, table, ...fact }) => `${module} ${table ? signatureOf(fact) : ''}`;

/** Objects that limits stand in; `of(fact)`: those that stand beside the readings of the fact's table. */
export function limitColumns(objects, health) {
  const roles = new Map(health.map((fact) => [fact.oid, fact]));
  const byEntry = new Map();
  const byPlace = new Map();
  for (const object of objects) {
    const { oid, name, syntax, enum: labels, obsolete } = object;
    if (obsolete || labels || !NUMERIC.has(syntax) || NO_LIMIT.test(name)) continue;
    const fact = roles.get(oid);
    if (fact?.role !== 'limit' && (fact?.role || !tokens(name).some((word) => EXPLICIT.has(word)))) continue;
    const limit = { oid, name, fact };
    for (const [map, key] of [
      [byEntry, entryOf(oid)],
      [byPlace, placeOf(object)],
    ])
      map.set(key, [...(map.get(key) ?? []), limit]);
  }
  return {
    of(fact) {
      const near = byEntry.get(entryOf(fact.oid)) ?? [];
      const far = (byPlace.get(placeOf(fact)) ?? []).filter((limit) => !near.includes(limit));
      return [...near, ...far];
    },
  };
}

/** `outputCurrentHighCurrent` beside `outputCurrentValue`: named like a reading, but a bound of one. */
export function isLimitBeside({ kind, name, role }, values) {
  const list = tokens(name);
  if (role || kind === 'state' || !list.some((word) => BOUND.test(word))) return false;
  const rest = key(subjectWords(name, LEFT_OF_LIMIT));
  return values.some(
    ([, other]) =>
      other.kind === kind &&
      !tokens(other.name).some((word) => BOUND.test(word)) &&
      key(subjectWords(other.name, LEFT_OF_READING)) === rest,
  );
}
const key = (set) => [...set].sort().join(' ');

/** How sure it is that a limit is of a reading, 0 to 3, and how near their words are. */
function match({ name, kind, unit }, limit, alone) {
  // Numbers that a name takes for a state are bounds here.
  const limitKind = limit.fact && limit.fact.kind !== 'state' ? limit.fact.kind : kindIn(limit.name);
  if (NOMINAL.test(name)) return [0, 0];
  if (limitKind && kind !== 'dynamic' && !alike(limitKind, kind)) return [0, 0];
  const [form, other] = [FORMS.exec(name)?.[0] ?? UNIT_FORMS[unit], FORMS.exec(limit.name)?.[0]];
  if (form && other && isLevel(form) !== isLevel(other)) return [0, 0];
  const own = subjectWords(name, LEFT_OF_READING);
  const rest = subjectWords(limit.name, LEFT_OF_LIMIT);
  const bare = subjectWords(name, LEFT_OF_LIMIT);
  // Where there are both, a limit that names no form is of the reading that names none.
  const isAnotherForm = isLevel(FORMS.exec(name)?.[0]) !== isLevel(other);
  if (key(own) === key(rest) || key(bare) === key(rest)) return [3, isAnotherForm ? -1 : 0];
  const shared = [...rest].filter((word) => own.has(word)).length;
  if (shared > 0 && (shared === rest.size || shared === own.size))
    return [2, 2 * shared - Math.max(own.size, rest.size)];
  return alone && limitKind ? [1, 0] : [0, 0];
}
const alike = (a, b) => a === b || (isPower(a) && isPower(b));
const isPower = (kind) => kind === 'power' || kind === 'dbm' || kind === 'signal';
const kindIn = (name) => KIND_WORDS.find(([pattern]) => tokens(name).some((word) => pattern.test(word)))?.[1];

/** 1 warning, 2 critical, 3 beyond; 0: the name does not say. */
function levelOf(list) {
  const text = list.join(' ');
  if (/non ?recoverable|unrecoverable|fatal|shut ?down|trip/.test(text)) return 3;
  if (/\b(warn|warning|minor|non ?critical|nc|alert)\b/.test(text)) return 1;
  if (/\b(critical|crit|alarms?|alrm|alm|major|severe|v)\b/.test(text)) return 2;
  return 0;
}

/**
 * Objects that hold the limits of a reading, each with its factor: h high, hw high warning, l low, lw low warning. An
 * object of the same table is a column, one of another an OID behind the maker's prefix.
 * @param values the readings of the table, with their columns
 */
export function limitsOf(fact, limits, values, { entry, prefix, units }) {
  const beside = values.filter(([, { kind }]) => kind !== 'state').map(([, each]) => each);
  const alone = beside.filter(({ kind, role }) => kind === fact.kind && !role).length === 1;
  const sides = { h: [], l: [] };
  for (const limit of limits) {
    const list = tokens(limit.name);
    const high = list.some((word) => HIGH.test(word));
    const low = list.some((word) => LOW.test(word));
    if ((high && low) || (!high && !low && fact.kind !== 'temperature')) continue;
    const [score, near] = match(fact, limit, alone);
    const isNear = entryOf(limit.oid) === entry;
    // Of scalars in groups of their own only the words say what belongs together.
    if (score === 0 || (!isNear && (!limit.oid.startsWith(prefix) || (score === 1 && !fact.table)))) continue;
    if (beside.some((other) => other !== fact && isBetter(match(other, limit, false), [score, near])))
      continue;
    sides[low ? 'l' : 'h'].push({ limit, level: levelOf(list), isNear });
  }
  const made = {};
  for (const [side, found] of Object.entries(sides)) {
    const told = found.some(({ isNear }) => isNear) ? found.filter(({ isNear }) => isNear) : found;
    const named = told.some(({ level }) => level >= 2);
    const of = (levels) => told.find(({ level }) => levels.includes(level))?.limit;
    const warning = of([1]) ?? (named ? of([0]) : undefined);
    const critical = of([2]) ?? of([3]) ?? (named ? undefined : of([0]));
    if (critical) made[side] = placed(critical, fact, { entry, prefix, units });
    if (warning) made[`${side}w`] = placed(warning, fact, { entry, prefix, units });
  }
  return Object.keys(made).length > 0 ? made : null;
}

/** Another reading that the limit fits better; of two that it fits alike in part, it is of neither. */
const isBetter = ([score, near], [ownScore, ownNear]) =>
  score > ownScore ||
  (score === ownScore && score === 2 && near >= ownNear) ||
  (score === ownScore && score === 3 && near > ownNear);

function placed({ oid, fact: limit }, fact, { entry, prefix, units = {} }) {
  const at = entryOf(oid) === entry ? Number(oid.slice(entry.length + 1)) : oid.slice(prefix.length);
  const isOwn = limit?.kind === fact.kind && STATED.test(limit.from) && limit.unit === fact.unit;
  const convert = isOwn ? units[limit.unit] : undefined;
  if (convert === undefined) return [at];
  const factor = (typeof convert === 'number' ? convert : 1) * (limit.scale ?? 1);
  return [at, Number(factor.toPrecision(6))];
}
