// The health of recorded devices as the collector reads it, over an agent in memory, in the form of the corpus's evaluator.
import { readSensors } from '../../packages/collector/dist/walk/sensors/read.js';
import { ALL_COLUMNS } from '../../packages/collector/dist/watch/measure/columns.js';
import { readAgent } from '../../packages/collector/dist/watch/reading.js';
import { mibOf, readRecording } from '../../packages/lab/dist/testing/recording.js';
import { SENSOR_UNITS } from '../../packages/shared/dist/sensors.js';
import { recordingsOf, sessionOver } from './classify.mjs';

const BUDGET = { rows: 10_000, bytes: 64 << 20, ms: 60_000 };

/** Calls `emit` with `{ id, health }` of every recording of a folder, and the requests of a first and a further reading. */
export async function healthOfFolder(folder, emit) {
  for (const recording of recordingsOf(folder)) {
    const mib = mibOf(await readRecording(recording.file));
    const subject = { budget: BUDGET, memory: { plan: null, learntAt: 0 } };
    const asked = { count: 0 };
    const { sensors } = await readSensors(counting(sessionOver(mib), asked), subject);
    const learnt = asked.count;
    await readSensors(counting(sessionOver(mib), asked), subject);
    const requests = { first: learnt, again: asked.count - learnt };
    const health = { ...healthOf(sensors, mib), ports: await portsOf(sessionOver(mib)) };
    emit({ id: recording.name, requests, health });
  }
}

/** Counters of interfaces, as the watch reads them first. */
async function portsOf(session) {
  const read = await readAgent(session, { ports: 0, line: false, boots: false, columns: ALL_COLUMNS });
  const names = ['inOctets', 'outOctets', 'inErrors', 'outErrors', 'inDiscards', 'outDiscards'];
  return [...(read.ok ? read.counters : [])].map(([ifIndex, row]) => {
    const shown = names.flatMap((name) => {
      const counter = row.shown(name);
      return counter ? [[name, String(counter.value)]] : [];
    });
    return { ifIndex, ...Object.fromEntries(shown) };
  });
}

function counting(session, asked) {
  for (const way of ['get', 'getNext', 'getBulk']) {
    const ask = session[way];
    session[way] = (...question) => {
      asked.count += 1;
      return ask(...question);
    };
  }
  return session;
}

/** Kind of a sensor → class of the evaluator. */
const CLASSES = { fan: 'fanspeed', 'signal-power': 'dbm', count: 'count' };
const UNITS = { '°C': 'C' };
const LIMITS = { high: 'high', highWarning: 'highWarn', low: 'low', lowWarning: 'lowWarn' };

function healthOf(sensors, mib) {
  const of = (...kinds) => sensors.filter(({ kind }) => kinds.includes(kind));
  const isSession = ({ component }) => component === 'session';
  const space = ({ key, name, usedBytes, totalBytes, value }) => ({
    ...{ oid: key, descr: name, usedBytes, totalBytes, percent: value },
  });
  const sessions = sensors.filter(isSession);
  return {
    sensors: sensors
      .filter((each) => !SEPARATE.has(each.kind) && !isSession(each))
      .map((each) => sensorOf(each, mib)),
    processors: of('processor').map(({ key, name, value }) => ({
      oid: key,
      descr: name,
      usagePercent: value,
    })),
    memory: of('memory').map(space),
    storage: of('storage').map(space),
    supplies: of('supply').map(({ key, name, value }) => ({ oid: key, descr: name, percent: value })),
    bgp: sessions.flatMap(({ name, state }) => {
      const found = /^BGP peer (\S+) AS (\d+)/.exec(name);
      return found ? [{ peer: found[1], remoteAs: Number(found[2]), state }] : [];
    }),
    ospf: {
      neighbours: sessions.flatMap(({ name, state }) => {
        const found = /^OSPF neighbour (\S+) router (\S+)/.exec(name);
        return found ? [{ ip: found[1], routerId: found[2], state }] : [];
      }),
    },
  };
}
const SEPARATE = new Set(['processor', 'memory', 'storage', 'supply']);

function sensorOf({ key, kind, name, component, value, state, status, limits }, mib) {
  const wireless = component === 'wireless' && kind === 'count' ? { class: 'clients' } : {};
  // The evaluator compares the number of a state, which is what stands at its OID.
  const raw = kind === 'state' ? mib.get(key)?.value : undefined;
  const unit = SENSOR_UNITS[kind];
  return {
    class: CLASSES[kind] ?? kind,
    ...wireless,
    descr: name,
    oid: key,
    value: kind === 'state' ? (typeof raw === 'number' ? raw : undefined) : value,
    ...(unit ? { unit: UNITS[unit] ?? unit } : {}),
    state,
    status,
    ...(limits
      ? { limits: Object.fromEntries(Object.entries(limits).map(([limit, at]) => [LIMITS[limit], at])) }
      : {}),
  };
}
