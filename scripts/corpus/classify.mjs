// Recordings read by the collector's own decoders through an agent in memory, and classified as the server would: no
// network, no database, and so quick enough to run after every edit of a rule.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { takeInventory } from '../../packages/collector/dist/walk/inventory.js';
import { mibOf, readRecording } from '../../packages/lab/dist/testing/recording.js';
import { classifier, matcher } from '../../packages/server/dist/ingest/classification/classify.js';
import { loadRules, rulesWithout } from '../../packages/server/dist/ingest/classification/rules.js';
import { enterpriseOf } from '../../packages/server/dist/ingest/identity/fingerprint.js';
import { SYSTEM_OIDS } from '../../packages/snmp/dist/discover.js';

const every = () => loadRules([new URL('../../rules', import.meta.url).pathname]);

/**
 * Lines in the evaluator's form for the recordings of a folder. `makers: false` leaves out
 * the rules that know a maker: what is left must do for devices nobody has seen.
 */
export async function classifyFolder(folder, { makers = true } = {}) {
  const rules = makers ? every() : rulesWithout(every(), isOfMaker);
  const classify = classifier(rules);
  const lines = [];
  for (const recording of recordingsOf(folder))
    lines.push(lineOf(recording, await factsOf(recording, rules), classify));
  return lines;
}

/**
 * The same by families: each half of them without what was written for it, that is, without the rules that hold for none
 * of the other half's recordings, and without the names of makers that only the half itself has.
 * @param familyOf name of a recording → its family
 */
export async function classifyUnseen(folder, familyOf) {
  const rules = every();
  const holds = matcher(rules);
  const recordings = [];
  for (const recording of recordingsOf(folder)) {
    const facts = await factsOf(recording, rules);
    const enterprise = String(enterpriseOf(facts.system.sysObjectId));
    recordings.push({ ...recording, half: half(familyOf(recording.name)), rules: holds(facts), enterprise });
  }
  const lines = [];
  for (const held of [0, 1]) {
    const own = recordings.filter((each) => each.half === held);
    const others = recordings.filter((each) => each.half !== held);
    const only = (of) => {
      const elsewhere = new Set(others.flatMap(of));
      return new Set(own.flatMap(of).filter((each) => !elsewhere.has(each)));
    };
    const names = only((each) => each.rules);
    const makers = only((each) => [each.enterprise]);
    const rest = rulesWithout(
      rules,
      ({ name }) => names.has(name),
      (number) => makers.has(number),
    );
    const classify = classifier(rest);
    for (const recording of own) lines.push(lineOf(recording, await factsOf(recording, rest), classify));
  }
  return lines;
}

/** Which half a family is in: one bit of a hash, so that a new family moves no other one. */
const half = (family) => createHash('sha256').update(family).digest()[0] & 1;

export function recordingsOf(folder) {
  const recordings = join(folder, 'recordings');
  return readdirSync(recordings, { recursive: true })
    .filter((name) => name.endsWith('.snmprec.gz') && !name.includes('@'))
    .sort()
    .map((name) => {
      const file = join(recordings, name);
      return { file, name: relative(recordings, file).replace(/\.snmprec\.gz$/, '') };
    });
}

/** Recording → family, as the truth of a folder has it; a recording without one is a family of its own. */
export function familiesOf(folder) {
  const truth = JSON.parse(readFileSync(join(folder, 'expected.json'), 'utf8'));
  const families = new Map(truth.map(({ recording, family }) => [recording, family]));
  return (name) => families.get(name) ?? name;
}

/** Agents that run on anybody's hardware. */
const ANYBODYS = /^1\.3\.6\.1\.4\.1\.(8072|2021)(\.|$)/;
const isOfMaker = (rule) =>
  rule.vendor !== undefined ||
  rule.match.some(({ sysObjectId }) => sysObjectId && !sysObjectId.every((oid) => ANYBODYS.test(oid)));

/** A session over a recording: the questions of the collector, answered without packets. */
export function sessionOver(mib) {
  const reply = (varbinds) => Promise.resolve({ ok: true, varbinds, bytes: 0, rttMs: 0 });
  const missing = (oid, type) => ({ oid, type, value: null });
  const follow = (oids, count) => {
    const chains = oids.map((oid) => mib.after(oid));
    const rows = [];
    for (let i = 0; i < count; i++) {
      for (const [n, next] of chains.entries()) {
        const object = next();
        rows.push(object ? { oid: object.oid, ...object.value } : missing(oids[n], 'endOfMibView'));
      }
    }
    return reply(rows);
  };
  return {
    target: { address: '127.0.0.1', port: 161 },
    credential: { id: '00000000-0000-7000-8000-000000000000', version: 'v2c', community: { with: () => '' } },
    options: { timeoutMs: 1000, tries: 1 },
    engine: { clock: { monotonic: () => 0, now: () => 0 }, ask: () => reply([]) },
    get: (oids) =>
      reply(
        oids.map((oid) => {
          const value = mib.get(oid);
          return value ? { oid, ...value } : missing(oid, 'noSuchInstance');
        }),
      ),
    getNext: (oids) => follow(oids, 1),
    getBulk: (oids, count) => follow(oids, count),
  };
}

const MEMBERS = [
  'sysDescr',
  'sysObjectId',
  'sysUpTime',
  'sysContact',
  'sysName',
  'sysLocation',
  'sysServices',
];
const systemOf = (mib) =>
  Object.fromEntries(
    SYSTEM_OIDS.flatMap((oid, i) => {
      const value = mib.get(oid);
      return value && value.value !== null ? [[MEMBERS[i], value.value]] : [];
    }),
  );

async function factsOf({ file }, rules) {
  const mib = mibOf(await readRecording(file));
  const facts = await takeInventory({
    session: sessionOver(mib),
    system: systemOf(mib),
    settings: { groups: ['interfaces', 'entities'], rows: 100_000, deviceBudgetMs: 60_000, perDevice: 1 },
    extra: rules.ruleset.extra,
    now: () => 0,
  });
  const { system, chassis, vendor } = facts.find((fact) => fact.kind === 'device');
  return { system, chassis, vendor };
}

function lineOf({ name: recording }, facts, classify) {
  const c = classify(facts);
  return {
    recording,
    vendor: c.vendor,
    model: c.model,
    os: c.os,
    osVersion: c.osVersion,
    serial: c.serial,
    class: c.class,
    sysName: facts.system.sysName,
    sysObjectID: facts.system.sysObjectId,
    by: c.by,
  };
}
