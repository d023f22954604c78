/**
 * The health of a device without configuration: the standard MIBs and what the catalogue knows of its makers'. Which of
 * these objects an agent has is learnt first, so that later readings ask for those alone.
 */
import { DEVICE_SENSORS, type SensorReading } from '@rollcall/shared/sensors';
import type { Session } from '@rollcall/snmp/engine/session';
import { walk } from '@rollcall/snmp/walk';
import { columnsOfTables, type Table, tablesOf } from './catalogue.ts';
import { decodeTables, type Levels } from './decode.ts';
import { ciscoEntitySensor, entitySensor, entityState } from './entity-sensor.ts';
import { hostResources, ucd } from './host.ts';
import { ENTITY_NAME_COLUMNS, IF_NAME_COLUMNS, Names } from './names.ts';
import { enterprisesOf, presentColumns } from './plan.ts';
import { bgp, ospf } from './sessions.ts';
import type { Standard } from './standard.ts';
import { powerEthernet, printer, radlanOptics } from './supplies.ts';
import { Values } from './values.ts';

const STANDARDS: readonly Standard[] = [
  ciscoEntitySensor,
  entitySensor,
  entityState,
  hostResources,
  ucd,
  bgp,
  ospf,
  printer,
  powerEthernet,
  radlanOptics,
];
/** Enterprises of one device whose tables are looked for. */
const ENTERPRISES = 12;
/** What a device has is looked for again after this time. */
const RELEARN_MS = 6 * 3_600_000;
/** Different plans that are held once, however many devices have them. */
const PLANS = 2_000;

const SYS_OBJECT_ID = '1.3.6.1.2.1.1.2.0';

export interface SensorSubject {
  /** Rows of one column, octets of all answers, and time for all of it, milliseconds. */
  budget: { rows: number; bytes: number; ms: number };
  /** What was learnt of the device so far; readings change it. */
  memory: SensorMemory;
}

/** What a device has. Without a plan it is learnt with the next reading. */
export interface SensorMemory {
  plan: Plan | null;
  /** Monotonic milliseconds. */
  learntAt: number;
  /** Kept for as long as the device is: what a column is does not change with its plan. */
  readonly levels: Levels;
}

export interface SensorsRead {
  sensors: SensorReading[];
  /** False: a sensor that is missing says nothing. */
  complete: boolean;
}

/** What to read of a device. */
export interface Plan {
  readonly tables: readonly Table[];
  readonly standards: readonly Standard[];
  readonly columns: readonly string[];
}

/** Plans by their columns, the one made last at the end: devices of a kind mostly have the same. */
const plans = new Map<string, Plan>();

/** Never rejects: what could not be read is missing, and `complete` says so. */
export async function readSensors(session: Session, subject: SensorSubject): Promise<SensorsRead> {
  const { clock } = session.engine;
  const { memory } = subject;
  const until = clock.monotonic() + subject.budget.ms;
  if (!memory.plan || clock.monotonic() - memory.learntAt >= RELEARN_MS) {
    const learnt = await learn(session, until);
    if (learnt) [memory.plan, memory.learntAt] = [learnt, clock.monotonic()];
  }
  const { plan } = memory;
  if (!plan) return { sensors: [], complete: false };
  if (plan.columns.length === 0) return { sensors: [], complete: true };
  const values = new Values();
  const budget = { rows: subject.budget.rows, bytes: subject.budget.bytes, until };
  const options = { budget, parallel: 1, giveUpAfter: 3 };
  const end = await walk(session, plan.columns, options, (column, index, varbind) =>
    values.put(column, index, varbind),
  );
  // A part that was there is gone: what there is must be looked for again.
  if (end.complete && plan.columns.some((column) => !values.has(column))) memory.plan = null;
  const sensors = decodePlan(plan, values, memory.levels);
  return {
    sensors: sensors.slice(0, DEVICE_SENSORS),
    complete: end.complete && sensors.length <= DEVICE_SENSORS,
  };
}

function decodePlan(plan: Plan, values: Values, levels: Levels): SensorReading[] {
  const names = new Names(values);
  return withoutDoubles([
    ...plan.standards.flatMap(({ decode }) => decode(values, names)),
    ...decodeTables(plan.tables, values, names, levels),
  ]);
}

async function learn(session: Session, until: number): Promise<Plan | undefined> {
  const system = await session.get([SYS_OBJECT_ID]);
  const sysObjectId = system.ok ? system.varbinds[0]?.value : undefined;
  const own = /^1\.3\.6\.1\.4\.1\.(\d+)/.exec(typeof sysObjectId === 'string' ? sysObjectId : '')?.[1];
  const there = await enterprisesOf(session, ENTERPRISES);
  const makers = [...new Set(['std', ...(own ? [own] : []), ...there])];
  const tables = makers.flatMap(tablesOf);
  const wanted = [
    ...columnsOfTables(tables),
    ...STANDARDS.flatMap(({ columns }) => columns),
    ...ENTITY_NAME_COLUMNS,
    ...IF_NAME_COLUMNS,
  ];
  const { present, complete } = await presentColumns(session, wanted, until);
  return complete ? shared(planOf(tables, new Set(present))) : undefined;
}

function shared(plan: Plan): Plan {
  const key = plan.columns.join(' ');
  const known = plans.get(key) ?? plan;
  plans.delete(key);
  if (plans.size >= PLANS) plans.delete(plans.keys().next().value as string);
  plans.set(key, known);
  return known;
}

/** What can be made of the columns that are there. */
function planOf(tables: readonly Table[], present: ReadonlySet<string>): Plan {
  const used: Table[] = [];
  const columns = new Set<string>();
  for (const table of tables) {
    const readings = table.readings.filter(({ oid }) => present.has(oid));
    if (readings.length === 0) continue;
    used.push({ ...table, readings });
    for (const column of columnsOfTables([{ ...table, readings }])) columns.add(column);
  }
  const standards = STANDARDS.filter((standard) => standard.columns.some((column) => present.has(column)));
  for (const standard of standards) for (const column of standard.columns) columns.add(column);
  if (standards.some(({ entities }) => entities) || used.some(({ index }) => index === 'ent'))
    for (const column of ENTITY_NAME_COLUMNS) columns.add(column);
  if (used.some(({ index }) => index === 'if')) for (const column of IF_NAME_COLUMNS) columns.add(column);
  return { tables: used, standards, columns: [...columns].filter((column) => present.has(column)) };
}

/**
 * One reading listed twice is kept once: the same object, or the same sensor, which ENTITY-SENSOR-MIB and
 * CISCO-ENTITY-SENSOR-MIB number alike.
 */
export function withoutDoubles(found: readonly SensorReading[]): SensorReading[] {
  const keys = new Set<string>();
  return found.filter(({ key }) => {
    const other = key.startsWith(ENTITY_SENSORS) ? CISCO_SENSORS + key.slice(ENTITY_SENSORS.length) : key;
    if (keys.has(key) || keys.has(other)) return false;
    keys.add(key);
    return true;
  });
}
const ENTITY_SENSORS = '1.3.6.1.2.1.99.1.1.1.4.';
const CISCO_SENSORS = '1.3.6.1.4.1.9.9.91.1.1.1.1.4.';
