// Recordings read by the collector's own decoders through an agent in memory, and classified as the server would: no
// network, no database, and so quick enough to run after every edit of a rule.
import { readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { takeInventory } from '../../packages/collector/dist/walk/inventory.js';
import { mibOf, readRecording } from '../../packages/lab/dist/testing/recording.js';
import { classifier } from '../../packages/server/dist/ingest/classification/classify.js';
import { loadRules, rulesWithout } from '../../packages/server/dist/ingest/classification/rules.js';
import { SYSTEM_OIDS } from '../../packages/snmp/dist/discover.js';

/**
 * Lines in the evaluator's form for the recordings of a folder. `makers: false` leaves out
 * the rules that know a maker: what is left must do for devices nobody has seen.
 */
export async function classifyFolder(folder, { makers = true } = {}) {
  const every = loadRules([new URL('../../rules', import.meta.url).pathname]);
  const rules = makers ? every : rulesWithout(every, isOfMaker);
  const classify = classifier(rules);
  const recordings = join(folder, 'recordings');
  const files = readdirSync(recordings, { recursive: true })
    .filter((name) => name.endsWith('.snmprec.gz') && !name.includes('@'))
    .sort();
  const lines = [];
  for (const name of files) {
    const file = join(recordings, name);
    const recording = relative(recordings, file).replace(/\.snmprec\.gz$/, '');
    lines.push(await result(file, recording, rules, classify));
  }
  return lines;
}

/** Agents that run on anybody's hardware. */
const ANYBODYS = /^1\.3\.6\.1\.4\.1\.(8072|2021)(\.|$)/;
const isOfMaker = (rule) =>
  rule.vendor !== undefined ||
  rule.match.some(({ sysObjectId }) => sysObjectId && !sysObjectId.every((oid) => ANYBODYS.test(oid)));

/** A session over a recording: the questions of the collector, answered without packets. */
function sessionOver(mib) {
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

async function result(file, recording, rules, classify) {
  const mib = mibOf(await readRecording(file));
  const facts = await takeInventory({
    session: sessionOver(mib),
    system: systemOf(mib),
    settings: { groups: ['interfaces', 'entities'], rows: 100_000, deviceBudgetMs: 60_000, perDevice: 1 },
    extra: rules.ruleset.extra,
    now: () => 0,
  });
  const device = facts.find((fact) => fact.kind === 'device');
  const c = classify({ system: device.system, chassis: device.chassis, vendor: device.vendor });
  return {
    recording,
    vendor: c.vendor,
    model: c.model,
    os: c.os,
    osVersion: c.osVersion,
    serial: c.serial,
    class: c.class,
    sysName: device.system.sysName,
    sysObjectID: device.system.sysObjectId,
    by: c.by,
  };
}
