/**
 * Neighbours, forwarding and ARP tables of monitored bridges and routers and the states of their ports, read every quarter of an hour. One request at a time, and
 * none while the states of the same device are polled: a table may be long, and what is down must be known soon.
 */
import type { Clock } from '@rollcall/shared/clock';
import type { ArpRow, RowsObservation, WatchObservation } from '@rollcall/shared/observation';
import type { FactGroup } from '@rollcall/shared/profile';
import { profileSettings } from '@rollcall/shared/profile';
import { Session } from '@rollcall/snmp/engine/session';
import type { Logger } from 'pino';
import type { Outbox } from '../outbox/outbox.ts';
import type { SharedTools } from '../sweep/tools.ts';
import { readTables } from '../walk/inventory.ts';
import type { PortState } from '../walk/port-states.ts';
import { DueQueue, onGrid } from './due-queue.ts';
import type { WatchSettings } from './list.ts';
import { intervalFor } from './measure/pace.ts';
import type { Target } from './target.ts';

/** Devices whose tables are read at once: each holds its rows until they are on the disk. */
const AT_ONCE = 16;
/** An agent may be busy with its tables a quarter of what it may be with its interfaces. */
const SHARE = 4;
/** Longest time that the tables of one device may take. */
const BUDGET_MS = 120_000;
/** Most rows of one table. */
const ROWS = 50_000;
/** Ports of one observation, and of one device. */
const PORTS = 1000;
const PORTS_MOST = 10_000;
const NOTHING = { rows: [], states: [] };
/** An agent that does not answer just now is asked again after this time. */
const SILENT_MS = 60_000;

const SYS_OBJECT_ID = '1.3.6.1.2.1.1.2.0';
const GROUPS: readonly FactGroup[] = ['neighbours', 'arp', 'vlans', 'fdb'];
const SETTINGS = profileSettings.parse({
  snmp: { groups: GROUPS, perDevice: 1, deviceBudgetMs: BUDGET_MS, rows: ROWS },
});

export interface TablesDeps {
  clock: Clock;
  log: Logger;
  outbox: Pick<Outbox, 'append'>;
  tools: Pick<SharedTools, 'names'>;
  /** With the agent of a device; null where there is none. */
  session: (target: Target) => Promise<Session | null>;
}

export class Tables {
  readonly #deps: TablesDeps;
  readonly #due = new DueQueue<Target>();
  #everyMs: number | undefined;
  #namesMs: number | undefined;
  #reading = 0;

  constructor(deps: TablesDeps) {
    this.#deps = deps;
  }

  /**
   * How often tables are read from now on, and how long a name of an address holds; undefined: they are not read at all, no name is looked
   * up.
   */
  interval(
    { tablesMs: everyMs, namesMs }: Pick<WatchSettings, 'tablesMs' | 'namesMs'>,
    targets: Iterable<Target>,
  ): void {
    this.#namesMs = namesMs;
    if (everyMs === this.#everyMs) return;
    this.#everyMs = everyMs;
    for (const target of targets) this.put(target);
  }

  /** Spread over the interval, so that a start asks no hundred agents at once. */
  put(target: Target): void {
    if (this.#everyMs === undefined || target.credentialId === undefined || !target.hasTables) return;
    this.#at(target, onGrid(this.#deps.clock.monotonic(), this.#everyMs, target.phase));
  }

  /** Begins what is due. */
  tick(now: number): void {
    while (this.#reading < AT_ONCE) {
      const next = this.#due.take(now);
      if (!next) return;
      const target = next.item;
      if (target.gone || !target.hasTables || next.time !== target.tablesDue) continue;
      if (this.#everyMs === undefined) continue;
      if (target.agent.state !== 'up' || target.agent.missed > 0) this.#at(target, now + SILENT_MS);
      else void this.#read(target, this.#everyMs);
    }
  }

  #at(target: Target, due: number): void {
    target.tablesDue = due;
    this.#due.add(due, target);
  }

  /** Never rejects. */
  async #read(target: Target, everyMs: number): Promise<void> {
    const { clock, log, outbox } = this.#deps;
    const begun = clock.monotonic();
    this.#reading += 1;
    try {
      const { rows, states } = await this.#ask(target);
      const differ = differing(target, states);
      const told = [...rows, ...this.#reports(target, differ)];
      if (target.gone || told.length === 0) return;
      await outbox.append(told);
      for (const state of differ) target.portStates.set(state.ifIndex, contentOf(state));
      const read = new Set(states.map(({ ifIndex }) => ifIndex));
      for (const ifIndex of target.portStates.keys())
        if (!read.has(ifIndex)) target.portStates.delete(ifIndex);
    } catch (error) {
      log.warn(
        { address: target.agentAddress, err: String(error) },
        'neighbours and forwarding tables were not read',
      );
    } finally {
      this.#reading -= 1;
      const done = clock.monotonic();
      this.#at(target, onGrid(done, intervalFor(everyMs, SHARE * (done - begun)), target.phase));
    }
  }

  #reports({ deviceId }: Target, states: readonly PortState[]): WatchObservation[] {
    const told: WatchObservation[] = [];
    for (let from = 0; from < states.length; from += PORTS) {
      const interfaces = states.slice(from, from + PORTS);
      told.push({ kind: 'watch', at: this.#deps.clock.now(), deviceId, interfaces });
    }
    return told;
  }

  async #ask(target: Target): Promise<{ rows: RowsObservation[]; states: PortState[] }> {
    const { clock, log, tools } = this.#deps;
    const namesMs = this.#namesMs;
    const names = namesMs === undefined ? undefined : await tools.names();
    const session = await this.#deps.session(target);
    if (!session) return NOTHING;
    const turns = new Turns(target, session);
    try {
      const answer = await turns.session.get([SYS_OBJECT_ID]);
      const [id] = answer.ok ? answer.varbinds : [];
      if (!id) return NOTHING;
      const subject = {
        session: turns.session,
        system: typeof id.value === 'string' ? { sysObjectId: id.value } : {},
        deviceId: target.deviceId,
        settings: SETTINGS.snmp as NonNullable<typeof SETTINGS.snmp>,
        extra: [],
        now: () => clock.now(),
        names: names && ((rows: readonly ArpRow[]) => names.look(rows, namesMs)),
      };
      const ports = target.ports.all().map(({ ifIndex }) => ifIndex);
      const { rows: facts, states } = await readTables(subject, ports.slice(0, PORTS_MOST));
      const [partial] = facts.filter(({ last, complete }) => last && complete !== true);
      if (partial)
        log.warn(
          { address: target.agentAddress, table: partial.table, reason: partial.reason },
          'a table was not read to its end: what it lacks is kept as it was',
        );
      // A table of which nothing was read says nothing.
      const rows = facts.filter(
        (fact) => !fact.last || fact.complete || fact.part > 0 || fact.rows.length > 0,
      );
      return { rows, states };
    } finally {
      turns.end();
    }
  }
}

const contentOf = ({ stp, aggregate }: PortState): string => JSON.stringify([stp, aggregate]);

/** Those of spanning tree and aggregates that differ from the last that were told. */
const differing = (target: Target, states: readonly PortState[]): PortState[] =>
  states.filter(
    (state) =>
      (state.stp !== undefined || state.aggregate !== undefined) &&
      target.portStates.get(state.ifIndex) !== contentOf(state),
  );

/** A session whose requests wait while the device is polled, and for which its next poll waits. */
class Turns {
  readonly session: Session;
  readonly #target: Target;
  readonly #gone = new AbortController();
  #end: (() => void) | null = null;

  constructor(target: Target, { engine, target: at, credential, options }: Session) {
    this.#target = target;
    const { pace, signal } = options;
    const take = async (count: number, address: string) => {
      await this.#take();
      await pace?.take(count, address);
    };
    const stopped = signal ? AbortSignal.any([signal, this.#gone.signal]) : this.#gone.signal;
    this.session = new Session(engine, at, credential, { ...options, signal: stopped, pace: { take } });
  }

  /** The request before was answered, or is sent again. */
  async #take(): Promise<void> {
    this.end();
    while (this.#target.reading) await this.#target.reading;
    if (this.#target.gone) this.#gone.abort();
    this.#target.asking = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  end(): void {
    this.#end?.();
    this.#end = null;
    this.#target.asking = null;
  }
}
