/** One reading of a watched device: its uptime, and the states of its interfaces in as few answers as it takes. */

import { type FailureCode, isRefused } from '@rollcall/snmp/engine/failure';
import type { Session } from '@rollcall/snmp/engine/session';
import type { Varbind } from '@rollcall/snmp/message/pdu';
import { walk } from '@rollcall/snmp/walk';
import { speedOf } from '../walk/interfaces.ts';
import { textOf } from '../walk/text.ts';
import type { PortReading } from './ports.ts';
import type { Target } from './target.ts';
import type { Uptime } from './uptime.ts';

const SYS_UP_TIME = '1.3.6.1.2.1.1.3.0';
const SYS_NAME = '1.3.6.1.2.1.1.5.0';
const ENGINE_ID = '1.3.6.1.6.3.10.2.1.1.0';
const ENGINE_BOOTS = '1.3.6.1.6.3.10.2.1.2.0';
const IF_ENTRY = '1.3.6.1.2.1.2.2.1';
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
const BYTES = 4 << 20;
/** Longest time one reading of a watched device may take. */
const BUDGET_MS = 20_000;

export interface ReadingWanted {
  /** Ports expected; 0: not known. */
  ports: number;
  /** Speed and duplex too. */
  line: boolean;
  /** Ask for snmpEngineBoots: not of agents that did not have it. */
  boots: boolean;
}

export type Reading =
  | {
      ok: true;
      uptime: Uptime | null;
      /** False: the agent has no snmpEngineBoots. */
      hasBoots: boolean;
      ports: Map<number, PortReading>;
      /** The whole table was read. */
      complete: boolean;
    }
  /** No answer, or one that refuses the credential; null: it says nothing about the device. */
  | { ok: false; verdict: 'timeout' | 'auth-failed' | null };

/** Never rejects. */
export async function readAgent(session: Session, wanted: ReadingWanted): Promise<Reading> {
  const answer = await session.get(wanted.boots ? [SYS_UP_TIME, ENGINE_BOOTS] : [SYS_UP_TIME]);
  if (!answer.ok) return { ok: false, verdict: verdictOf(answer.code) };
  const at = session.engine.clock.monotonic();
  const [ticks, boots] = answer.varbinds.map(number);
  const ports = new Map<number, PortReading & Speeds>();
  const end = await walk(
    session,
    wanted.line ? [...STATE, ...LINE] : STATE,
    {
      budget: { rows: ROWS, bytes: BYTES, until: at + BUDGET_MS },
      parallel: 1,
      giveUpAfter: 3,
      ...(wanted.ports > 0 ? { expect: wanted.ports } : {}),
    },
    (column, index, varbind) => take(ports, column, Number(index), varbind),
  );
  for (const port of ports.values()) settle(port);
  return {
    ok: true,
    uptime: ticks === undefined ? null : { ticks, boots: boots ?? null, at },
    hasBoots: boots !== undefined,
    ports,
    complete: STATE.every((column) => !end.stopped.has(column)),
  };
}

/**
 * The agent of a device at another of its addresses, where it proves to be the same: a box that lost one of them is not
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
  if (!Number.isSafeInteger(ifIndex) || value === undefined) return;
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

function settle(port: PortReading & Speeds): void {
  const speed = speedOf(port.speed, port.highSpeed);
  if (speed !== undefined) port.speedBps = speed;
}
