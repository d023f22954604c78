// npm run catalogue   derives rules/catalogue/ from the facts of vendor MIBs, where a device's model, version and serial
// number stand, which sysObjectID is which product, and which objects are readings of health
//
// ROLLCALL_MIBS names the folder of the facts (../shared/mibs): JSON lines, gzip. The result holds OIDs, roles and names
// of products only; one line an enterprise, so that a change of the facts is a readable difference.
import './usage.mjs';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { root } from './bootstrap.mjs';
import { sensors, sensorsLine } from './catalogue/sensors.mjs';

const mibs = resolve(root, process.env.ROLLCALL_MIBS ?? '../shared/mibs');
const target = join(root, 'rules/catalogue');
const ENTERPRISES = '1.3.6.1.4.1.';
/** Objects of one enterprise and role: a collector asks for at most 128 objects of a device. */
const MOST = { model: 12, version: 16, serial: 14 };
const ROLES = Object.keys(MOST);

const facts = (name) =>
  gunzipSync(readFileSync(join(mibs, `${name}.jsonl.gz`)))
    .toString()
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));

/** Names of objects that speak of something else than the box, or of something else than its running software. */
const OTHERS =
  /group|peer|neighbo|remote|client|subscr|license|licence|backup|standby|pending|next|previous|old|upgrade|download|upload|tftp|server(?=.*ver)|user|protocol|proto|snmp|mib|igmp|mld|ntp|ssh|ssl|tls|vrrp|ospf|rip|bgp|stp|dhcp|radius|cfg|config|template|signature|database|pattern|virus|driver|kernel|bios|boot|prom|fpga|cpld|loader|hardware|hw|battery|sfp|transceiver|xcvr|optic|fan|psu|power(?=supply)|disk|drive|lun|port|sensor|probe|slave|registered|onu|ont\b|cpe|cable|outlet|vm|guest|app(?=l)/i;
const PREFERRED = {
  model: /model|product|devicetype|platform|systype|hardwaretype|boardname|modelname/i,
  version: /software|firmware|\bsw|\bfw|sysver|osver|release|image|swver|fwver|version$/i,
  serial: /serial|\bsn$|sn$|sernum/i,
};

/** Names that administrators give, or that say what a number stands for. */
const OF_THE_HOST = /^(?!.*(?:model|product|type)).*(?:name|descr|description|alias|label)$/i;

/** How likely the object says it of the whole box: higher is better; 0 is left out. */
function worth({ role, name, table, rank, of, syntax, enum: numbers, obsolete }) {
  if (!ROLES.includes(role) || rank > 2 || obsolete) return 0;
  if (
    numbers ||
    !['OCTET STRING', ...(role === 'serial' ? ['Gauge32', 'Unsigned32', 'INTEGER'] : [])].includes(syntax)
  )
    return 0;
  const other = OTHERS.test(name.replace(/Support/gi, ''));
  const part = of !== undefined && of !== 'stack';
  return (
    100 -
    (table ? 30 : 0) -
    (rank - 1) * 15 -
    (other ? 40 : 0) -
    (part ? 20 : 0) -
    (of === 'stack' && table ? 5 : 0) +
    (role === 'model' && OF_THE_HOST.test(name) ? -60 : 0) +
    (PREFERRED[role].test(name) ? 12 : 0)
  );
}

/** From here on an object is taken at its word; below it is a guess. */
const STRONG = 80;

/** What a part number is worth less than a model. */
const PART = 40;

function inventory() {
  const best = new Map();
  for (const stated of facts('inventory')) {
    // Where no object has the model, the number of the device as a part is the next best.
    const part = stated.role === 'partNumber';
    const fact = part ? { ...stated, role: 'model' } : stated;
    const value = worth(fact) - (part ? PART : 0);
    if (value <= 20 || fact.enterprise === undefined) continue;
    const oid =
      fact.oid.slice(ENTERPRISES.length + String(fact.enterprise).length + 1) + (fact.table ? '' : '.0');
    const key = `${fact.enterprise} ${fact.role}`;
    const rows = best.get(key) ?? new Map();
    if ((rows.get(oid) ?? 0) < value) rows.set(oid, value);
    best.set(key, rows);
  }
  const makers = new Map();
  for (const [key, rows] of best) {
    const [enterprise, role] = key.split(' ');
    const sorted = [...rows].sort((a, b) => b[1] - a[1] || byNumbers(a[0], b[0])).slice(0, MOST[role]);
    const entry = makers.get(enterprise) ?? {};
    entry[role] = [
      sorted.filter(([, value]) => value >= STRONG).map(([oid]) => oid),
      sorted.filter(([, value]) => value < STRONG).map(([oid]) => oid),
    ];
    makers.set(enterprise, entry);
  }
  return makers;
}

const byNumbers = (a, b) => {
  const [x, y] = [a.split('.').map(Number), b.split('.').map(Number)];
  for (let i = 0; i < Math.max(x.length, y.length); i++)
    if (x[i] !== y[i]) return (x[i] ?? -1) - (y[i] ?? -1);
  return 0;
};

/** Nodes of a MIB that no device calls itself: groups, notifications, parts. */
const NO_PRODUCT =
  /^linux|group|compl|conform|notif|trap|event|alarm|condition|status|table|entry|mib|objects|objs?$|module|card|slot|fan|psu|sfp|xfp|transceiver|cable|sensor|licen|version|config|capabilit/i;
/** Words before the name itself. */
const BEFORE = /^(?:product|model|chassis|device|platform|name|line|switch|sysobjid|oid)+(?=[A-Z0-9-])-?/i;
/** Share of an enterprise's names that begin with the same lower-case letters, from which these are the maker's mark. */
const MARK = 0.25;

function products() {
  const makers = new Map();
  for (const { oid, name, enterprise, likely } of facts('products')) {
    if (!likely || !/\d/.test(name) || name.length < 3 || NO_PRODUCT.test(name)) continue;
    const rows = makers.get(enterprise) ?? new Map();
    rows.set(oid.slice(ENTERPRISES.length + String(enterprise).length + 1), name);
    makers.set(enterprise, rows);
  }
  for (const rows of makers.values()) {
    const marks = marksOf([...rows.values()]);
    for (const [oid, name] of rows) rows.set(oid, withoutMark(name.replace(/^\w+Prod-/, ''), marks));
  }
  return makers;
}

const markOf = (name) => /^([a-z]+\d?[a-z]+|[a-z]{2,})(?=[A-Z]|-)/.exec(name)?.[1];

function marksOf(names) {
  const counts = new Map();
  for (const name of names) counts.set(markOf(name), (counts.get(markOf(name)) ?? 0) + 1);
  return new Set(
    [...counts].filter(([mark, n]) => mark && n >= 3 && n >= MARK * names.length).map(([mark]) => mark),
  );
}

function withoutMark(name, marks) {
  const mark = markOf(name);
  const rest = (marks.has(mark) ? name.slice(mark.length).replace(/^-/, '') : name).replace(BEFORE, '');
  return /\d/.test(rest) && rest.length >= 3 ? rest : name;
}

function write(name, makers, line) {
  const lines = [...makers]
    .sort(([a], [b]) => (Number(a) || 0) - (Number(b) || 0))
    .map(([enterprise, entry]) => line(enterprise, entry));
  writeFileSync(join(target, name), `${lines.join('\n')}\n`);
  process.stderr.write(
    `catalogue: ${name}: ${lines.length} enterprises, ${lines.join('\n').length} characters\n`,
  );
}

mkdirSync(target, { recursive: true });
write('inventory.txt', inventory(), (enterprise, entry) => `${enterprise} ${JSON.stringify(entry)}`);
write('products.txt', products(), (enterprise, rows) =>
  [enterprise, ...[...rows].map(([oid, name]) => `${oid}=${name}`)].join(' '),
);
write('sensors.txt', sensors(facts), sensorsLine);
