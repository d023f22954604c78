/** One reading of a watched device: its uptime, states and counters of its interfaces, in as few answers as it takes. */

import { type FailureCode, isRefused } from '@rollcall/snmp/engine/failure';
import type { Session } from '@rollcall/snmp/engine/session';
import type { Varbind } from '@rollcall/snmp/message/pdu';
import { walk } from '@rollcall/snmp/walk';
import { speedOf } from '../walk/interfaces.ts';
import { textOf } from '../walk/text.ts';
import {
  type Columns,
  columnsOf,
  dropStopped,
  LOW_COLUMNS,
  lacksCounters,
  learnt,
  takeCounter,
  V1_COLUMNS,
} from './measure/columns.ts';
import { CounterRow } from './measure/counters.ts';
import type { PortReading } from './ports.ts';
import type { Target } from './target.ts';
import type { Uptime } from './uptime.ts';

const SYS_UP_TIME = '1.3.6.1.2.1.1.3.0';
const SYS_NAME = '1.3.6.1.2.1.1.5.0';
const ENGINE_ID = '1.3.6.1.6.3.10.2.1.1.0';
const ENGINE_BOOTS = '1.3.6.1.6.3.10.2.1.2.0';
const IF_ENTRY = '1.3.6.1.2.1.2.2.1';
const IF_DESCR = `${IF_ENTRY}.2`;
/** Largest InterfaceIndex (RFC 2863). */
const INDEX_MOST = 2 ** 31 - 1;
const COLUMNS = {
  adminStatus: `${IF_ENTRY}.7`,
  operStatus: `${IF_ENTRY}.8`,
  speed: `${IF_ENTRY}.5`,
  highSpeed: '1.3.6.1.2.1.31.1.1.1.15',
  /** dot3StatsDuplexStatus (RFC 3635). */
  duplex: '1.3.6.1.2.1.10.7.2.1.19',
} as const;
const STATE = [COLUMNS.adminStatus, COLUMNS.operStatus];
const LINE = [COLUMNS.speed, COLUMNS.highSpeed, COLUMNS.duplex];
const DUPLEX = ['unknown', 'half', 'full'] as const;

/** What one device may cost: thousands of ports, but not for ever. */
const ROWS = 10_000;
const BYTES = 8 << 20;
/** Longest time one reading of a watched device may take. */
const BUDGET_MS = 20_000;

export interface ReadingWanted {
  /** Ports expected; 0: not known. */
  ports: number;
  /** Speed and duplex too. */
  line: boolean;
  /** Ask for snmpEngineBoots: not of agents that did not have it. */
  boots: boolean;
  /** Counters that the agent has, as far as is known. */
  columns: Columns;
}

export type Reading =
  | {
      ok: true;
      uptime: Uptime | null;
      /** False: the agent has no snmpEngineBoots. */
      hasBoots: boolean;
      ports: Map<number, PortReading>;
      counters: Map<number, CounterRow>;
      columns: Columns;
      /** When it began, and how long the agent took over it, milliseconds. */
      at: number;
      tookMs: number;
      /** The whole table was read. */
      complete: boolean;
    }
  /** No answer, or one that refuses the credential; null: it says nothing about the device. */
  | { ok: false; verdict: 'timeout' | 'auth-failed' | null };

/** Never rejects. */
export async function readAgent(session: Session, wanted: ReadingWanted): Promise<Reading> {
  const { clock } = session.engine;
  const asked = clock.monotonic();
  const answer = await session.get(wanted.boots ? [SYS_UP_TIME, ENGINE_BOOTS] : [SYS_UP_TIME]);
  if (!answer.ok) return { ok: false, verdict: verdictOf(answer.code) };
  const at = clock.monotonic();
  const [ticks, boots] = answer.varbinds.map(number);
  const table = await readTable(session, at, wanted);
  return {
    ok: true,
    uptime: ticks === undefined ? null : { ticks, boots: boots ?? null, at },
    hasBoots: boots !== undefined,
    ...table,
    at,
    tookMs: clock.monotonic() - asked,
  };
}

/** The interfaces, in one walk; in a second one where it shows that some have counters of 32 bits only. */
async function readTable(session: Session, at: number, { ports: expected, line, columns }: ReadingWanted) {
  const ports = new Map<number, PortReading & Speeds>();
  const counters = new Map<number, CounterRow>();
  const options = {
    budget: { rows: ROWS, bytes: BYTES, until: at + BUDGET_MS },
    parallel: 1,
    giveUpAfter: 3,
    ...(expected > 0 ? { expect: expected } : {}),
  };
  const visit = (column: string, index: string, varbind: Varbind) => {
    const ifIndex = Number(index);
    if (!Number.isSafeInteger(ifIndex)) return;
    let row = counters.get(ifIndex);
    if (!row) {
      row = new CounterRow();
      counters.set(ifIndex, row);
    }
    if (!takeCounter(row, column, varbind)) take(ports, column, ifIndex, varbind);
  };
  let has = session.credential.version === 'v1' ? V1_COLUMNS : columns;
  const end = await walk(session, [...STATE, ...columnsOf(has), ...(line ? LINE : [])], options, visit);
  const complete = STATE.every((column) => !end.stopped.has(column));
  for (const ifIndex of counters.keys())
    if (!ports.has(ifIndex) || ifIndex > INDEX_MOST) counters.delete(ifIndex);
  if (complete && !has.learnt) {
    const more = !has.low && lacksCounters(counters.values());
    if (more) await walk(session, [...LOW_COLUMNS, IF_DESCR], options, visit);
    has = learnt(counters.values());
  }
  dropStopped(counters.values(), end.stopped);
  for (const port of ports.values()) takeSpeed(port);
  return { ports, counters, columns: has, complete };
}

/**
 * The agent of a device at another of its addresses, where it proves to be the same: a device that lost one of them is not
 * down. Never rejects. `sessionAt`: null where nobody may be asked.
 */
export async function agentElsewhere(
  { elsewhere, agentAddress }: Pick<Target, 'elsewhere' | 'agentAddress'>,
  sessionAt: (address: string) => Promise<Session | null> | null,
): Promise<Session | undefined> {
  const others = (elsewhere?.addresses ?? []).filter((address) => address !== agentAddress);
  const asked = others.map(async (address) => {
    const session = await sessionAt(address);
    return session && elsewhere && (await isAgent(session, elsewhere)) ? session : undefined;
  });
  return (await Promise.all(asked)).find((session) => session !== undefined);
}

/** Whether the agent that answers is the one that is known by this name and engine. */
async function isAgent(
  session: Session,
  known: { sysName: string; engineId?: string | undefined },
): Promise<boolean> {
  const answer = await session.get([SYS_NAME, ENGINE_ID]);
  if (!answer.ok) return false;
  const [name, engine] = answer.varbinds.map(({ value }) => (Buffer.isBuffer(value) ? value : undefined));
  return (
    name !== undefined &&
    textOf(name).trim() === known.sysName.trim() &&
    (known.engineId === undefined || engine?.toString('hex') === known.engineId)
  );
}

const verdictOf = (code: FailureCode): 'timeout' | 'auth-failed' | null => {
  if (isRefused(code)) return 'auth-failed';
  // An agent that answers badly is not reached either; our own trouble says nothing about it.
  return code === 'cancelled' || code === 'closed' || code === 'busy' ? null : 'timeout';
};

const number = (varbind: Varbind): number | undefined =>
  typeof varbind.value === 'number' ? varbind.value : undefined;

interface Speeds {
  speed?: number;
  highSpeed?: number;
}

function take(
  ports: Map<number, PortReading & Speeds>,
  column: string,
  ifIndex: number,
  varbind: Varbind,
): void {
  const value = number(varbind);
  if (value === undefined) return;
  let port = ports.get(ifIndex);
  // Other tables may have rows of their own; a port is what ifTable has.
  if (!port && (LINE as string[]).includes(column)) return;
  if (!port) {
    port = {};
    ports.set(ifIndex, port);
  }
  // Statuses are small numbers: others are none.
  const status = value > 0 && value < 255 ? value : undefined;
  if (column === COLUMNS.adminStatus && status) port.adminStatus = status;
  else if (column === COLUMNS.operStatus && status) port.operStatus = status;
  else if (column === COLUMNS.speed) port.speed = value >>> 0;
  else if (column === COLUMNS.highSpeed) port.highSpeed = value >>> 0;
  else if (column === COLUMNS.duplex) port.duplex = DUPLEX[value - 1] ?? 'unknown';
}

function takeSpeed(port: PortReading & Speeds): void {
  const speed = speedOf(port.speed, port.highSpeed);
  if (speed !== undefined) port.speedBps = speed;
}
