/**
 * The watch: observes the devices that the server names. Changes are reported at once, everything else in a summary now
 * and then. Nothing is kept across a restart, so a report always rests on answers of its own.
 */
import type { Clock } from '@rollcall/shared/clock';
import { parseAddress } from '@rollcall/shared/ip';
import type { WatchTarget } from '@rollcall/shared/protocol';
import type { SnmpCredential } from '@rollcall/snmp/engine/credential';
import type { Session } from '@rollcall/snmp/engine/session';
import type { Logger } from 'pino';
import type { SweepPace } from '../icmp/sweep.ts';
import type { Outbox } from '../outbox/outbox.ts';
import type { Scope } from '../sweep/scope.ts';
import type { SharedTools } from '../sweep/tools.ts';
import { Credentials } from './credentials.ts';
import { DueQueue, onGrid } from './due-queue.ts';
import { WatchList, type WatchMessage, type WatchSettings } from './list.ts';
import { answered, isUnconfirmed, missed } from './liveness.ts';
import { ALL_COLUMNS } from './measure/columns.ts';
import { Measuring } from './measure/measuring.ts';
import { type Pinged, Pinger } from './pinger.ts';
import { agentElsewhere, type Reading, readAgent } from './reading.ts';
import { ReportQueue } from './report-queue.ts';
import { Reports } from './reports.ts';
import { Sessions } from './sessions.ts';
import { Tables } from './tables.ts';
import { Target } from './target.ts';
import { restarted } from './uptime.ts';

/** How often due readings and reports are looked for. */
const TICK_MS = 100;
/** A reading that failed is tried again this soon, until it is decided. */
const RETRY_MS = 5000;
/** Speed and duplex are read once in so many readings, and when a port came up. */
const LINE_EVERY = 5;
/** Readings under way at once: each holds its rows until it is done. */
const READINGS_MOST = 512;
/** How often the measurements of a watched address are reported. */
const SUMMARY_MS = 300_000;
/** One in so many summaries lists all interfaces, so that a lost report is made good. */
const WHOLE_EVERY = 12;
/** Reports and samples that may wait for the disk; apart, so that neither takes the room of the other. */
const REPORTS_MOST = 20_000;
const SAMPLES_MOST = 5_000;

export interface WatchDeps {
  tools: Pick<SharedTools, 'echo' | 'snmp' | 'names'>;
  outbox: Pick<Outbox, 'append'>;
  clock: Clock;
  log: Logger;
  pace: Pick<SweepPace, 'take'>;
  scope: Scope;
  /** Whether the server hears: summaries are for the moment, and not kept for later. */
  linked: () => boolean;
}

type Appointment = { target: Target; kind: 'read' | 'summary' | 'sample' };

export class Watch {
  readonly #deps: WatchDeps;
  readonly #list = new WatchList();
  readonly #targets = new Map<string, Target>();
  readonly #byAddress = new Map<string, Set<Target>>();
  readonly #credentials = new Credentials();
  readonly #due = new DueQueue<Appointment>();
  readonly #pinger: Pinger;
  readonly #reports: Reports;
  readonly #measuring: Measuring;
  readonly #sessions: Sessions;
  readonly #tables: Tables;
  readonly #stopping = new AbortController();
  readonly #stop: () => void;
  #settings: WatchSettings = { icmpMs: 15_000, snmpMs: 60_000, port: 161 };
  #scope: Scope;
  #refused = new Map<string, WatchTarget>();
  #readings = 0;

  constructor(deps: WatchDeps) {
    this.#deps = deps;
    this.#scope = deps.scope;
    this.#reports = new Reports(new ReportQueue(deps.outbox, REPORTS_MOST), deps.clock, () =>
      this.#targets.values(),
    );
    this.#sessions = new Sessions({ ...deps, signal: this.#stopping.signal });
    this.#tables = new Tables({ ...deps, session: (target) => this.#open(target, target.agentAddress) });
    this.#measuring = new Measuring(deps, new ReportQueue(deps.outbox, SAMPLES_MOST));
    this.#pinger = new Pinger(
      {
        ...deps.tools,
        clock: deps.clock,
        pace: deps.pace,
        turned: (host) => this.#turned(host),
        refused: (family, reason) => deps.log.warn({ family, reason }, 'monitored devices cannot be pinged'),
      },
      this.#settings.icmpMs,
    );
    this.#stop = deps.clock.every(TICK_MS, () => this.#tick());
  }

  /** Takes a message of the server over. */
  take(message: WatchMessage): void {
    const before = this.#targets.size;
    const { set, remove, credentials, settings } = this.#list.take(message);
    this.#credentials.take(credentials);
    for (const id of remove) this.#remove(id);
    this.#set(settings);
    for (const target of set) this.#put(target);
    if (set.length + remove.length > 0)
      this.#deps.log.info(
        { devices: this.#targets.size, before, refused: this.#refused.size },
        'the list of monitored devices changed',
      );
    if (!message.more)
      this.#credentials.keep(new Set([...this.#targets.values()].map(({ credentialId }) => credentialId)));
  }

  /** Devices outside a narrower scope are let go, those inside a wider one taken up. */
  limit(scope: Scope): void {
    this.#scope = scope;
    for (const { address, wanted } of [...this.#targets.values()])
      if (!this.#allows(address)) this.#put(wanted);
    for (const target of [...this.#refused.values()]) this.#put(target);
  }

  /** Users that prove themselves by a key: for traps. */
  get users(): SnmpCredential[] {
    return this.#credentials.all;
  }

  /** A device says itself that something happened: it is read now. `port`: the state known of it is in doubt. */
  readSoon(address: string, port: number | null): void {
    const now = this.#deps.clock.monotonic();
    for (const target of this.#byAddress.get(address) ?? []) {
      if (port !== null) target.ports.doubt(port);
      if (target.readDue - now > RETRY_MS) this.#planReading(target, now);
    }
  }

  /** Whether an address is one of a watched device. */
  isWatched(address: string): boolean {
    return this.#byAddress.has(address);
  }

  status(): { targets: number; up: number; down: number; refused: number; lagMs: number } {
    let [up, down] = [0, 0];
    for (const target of this.#targets.values()) {
      const { icmp, snmp } = target.report(0);
      if (icmp === 'up' || snmp === 'ok') up += 1;
      else if (icmp === 'down' || snmp !== undefined) down += 1;
    }
    const lag = Math.max(this.#pinger.lagMs, this.#deps.clock.monotonic() - this.#due.next);
    return {
      targets: this.#targets.size,
      up,
      down,
      refused: this.#refused.size,
      lagMs: Math.max(0, Math.round(lag)),
    };
  }

  stop(): void {
    this.#stop();
    this.#stopping.abort();
    this.#pinger.close();
    this.#targets.clear();
  }

  #allows(address: string): boolean {
    const parsed = parseAddress(address);
    return parsed.ok && this.#scope.allows(parsed.value);
  }

  #put(wanted: WatchTarget): void {
    const { deviceId, address } = wanted;
    const known = this.#targets.get(deviceId);
    const allowed = this.#allows(address);
    if (allowed && known?.address === address && known.credentialId === wanted.credentialId) {
      known.elsewhere = wanted.elsewhere;
      known.hasTables = wanted.tables === true;
      this.#tables.put(known);
      return;
    }
    this.#drop(deviceId);
    if (!allowed) {
      const why = 'a device is not monitored: this collector’s settings do not allow it';
      if (!this.#refused.has(deviceId)) this.#deps.log.warn({ address }, why);
      this.#refused.set(deviceId, wanted);
      return;
    }
    const target = new Target(wanted, this.#pinger.add(address));
    this.#targets.set(deviceId, target);
    const here = this.#byAddress.get(address) ?? new Set();
    here.add(target);
    this.#byAddress.set(address, here);
    const now = this.#deps.clock.monotonic();
    if (target.credentialId !== undefined)
      this.#planReading(target, onGrid(now, this.#settings.snmpMs, target.phase));
    this.#tables.put(target);
    this.#planSummary(target, onGrid(now, SUMMARY_MS, target.phase));
    target.sampledAt = now;
    target.pinged?.tallies.add(target.tally);
    this.#planSample(target, now);
  }

  #remove(deviceId: string): void {
    this.#refused.delete(deviceId);
    this.#drop(deviceId);
  }

  #drop(deviceId: string): void {
    const target = this.#targets.get(deviceId);
    if (!target) return;
    target.gone = true;
    this.#targets.delete(deviceId);
    target.pinged?.tallies.delete(target.tally);
    const here = this.#byAddress.get(target.address);
    here?.delete(target);
    if (here?.size !== 0) return;
    this.#byAddress.delete(target.address);
    this.#pinger.remove(target.address);
  }

  #set(settings: WatchSettings): void {
    const reading = settings.snmpMs !== this.#settings.snmpMs;
    this.#settings = settings;
    this.#pinger.interval(settings.icmpMs);
    this.#tables.interval(settings, this.#targets.values());
    if (!reading) return;
    const now = this.#deps.clock.monotonic();
    for (const target of this.#targets.values()) {
      this.#planSample(target, now);
      if (target.credentialId !== undefined)
        this.#planReading(target, onGrid(now, settings.snmpMs, target.phase));
    }
  }

  #planReading(target: Target, due: number): void {
    target.readDue = due;
    this.#due.add(due, { target, kind: 'read' });
  }
  #planSummary(target: Target, due: number): void {
    target.summaryDue = due;
    this.#due.add(due, { target, kind: 'summary' });
  }

  /** Half an interval away from its readings, which tell its pings as well, where it is read. */
  #planSample(target: Target, now: number): void {
    target.sampleDue = onGrid(now, this.#settings.snmpMs, (target.phase + 0.5) % 1);
    this.#due.add(target.sampleDue, { target, kind: 'sample' });
  }

  #tick(): void {
    const now = this.#deps.clock.monotonic();
    this.#tables.tick(now);
    this.#reports.settle(now);
    while (this.#readings < READINGS_MOST) {
      const next = this.#due.take(now);
      if (!next) return;
      const { target, kind } = next.item;
      const due = { read: target.readDue, summary: target.summaryDue, sample: target.sampleDue }[kind];
      if (target.gone || next.time !== due) continue;
      if (kind === 'summary') this.#summarise(target, now);
      else if (kind === 'read') void this.#read(target);
      else {
        this.#measuring.ping(target, now, this.#settings.snmpMs);
        this.#planSample(target, now);
      }
    }
  }

  #summarise(target: Target, now: number): void {
    this.#planSummary(target, onGrid(now, SUMMARY_MS, target.phase));
    if (!this.#deps.linked()) return;
    const shown = target.summary(now);
    target.summaries += 1;
    this.#reports.ports(target, target.summaries % WHOLE_EVERY === 0 ? target.ports.all() : [], shown);
  }

  #turned(host: Pinged): void {
    const rtt = host.rttMs === null ? {} : { rttMs: Math.round(host.rttMs * 1000) / 1000 };
    for (const target of this.#byAddress.get(host.address) ?? []) {
      if (host.liveness.state === 'up') {
        target.readAt(target.address, 0);
        this.#reports.state(target, rtt);
      }
      // Silent to ping is not yet down: its agent is asked before anybody is alarmed.
      if (target.credentialId === undefined) {
        if (host.liveness.state === 'down') this.#reports.silence(target, { lossPercent: 100 });
      } else if (host.liveness.state === 'down') void this.#secondOpinion(target);
      else if (target.agent.missed > 0) this.#planReading(target, this.#deps.clock.monotonic());
    }
  }

  async #secondOpinion(target: Target): Promise<void> {
    target.askedElsewhere = this.#askElsewhere(target);
    // An answer to a question of before is no opinion; that there was none is one.
    const unanswered = await target.reading?.then(() => target.agent.missed > 0);
    if (!unanswered) await this.#read(target);
    target.askedElsewhere = null;
    if (!target.gone && target.isSilent) this.#reports.silence(target, { lossPercent: 100 });
  }

  #read(target: Target): Promise<void> {
    target.reading ??= this.#readNow(target).finally(() => {
      target.reading = null;
    });
    return target.reading;
  }

  async #readNow(target: Target): Promise<void> {
    if (target.asking) await target.asking;
    const session = await this.#session(target, target.agentAddress);
    if (!session || target.gone) return;
    this.#readings += 1;
    const line = target.readings % LINE_EVERY === 0;
    const { hasBoots: boots, columns } = target;
    const wanted = { ports: target.ports.size, line, boots, columns };
    let reading = await readAgent(session, wanted);
    const asks = !reading.ok && target.isSilent;
    const other = asks ? await (target.askedElsewhere ?? this.#askElsewhere(target)) : undefined;
    // Its own address may have answered meanwhile: nothing would lead back to that.
    if (other && target.isSilent) {
      target.readAt(other.target.address, this.#deps.clock.monotonic());
      reading = await readAgent(other, wanted);
    }
    this.#readings -= 1;
    if (target.gone || this.#stopping.signal.aborted) return;
    target.readings += 1;
    if (reading.ok)
      void this.#measuring.sensing.answered(target, other ?? session, this.#answered(target, reading));
    else this.#missed(target, reading.verdict);
  }

  #askElsewhere(target: Target): Promise<Session | undefined> {
    return agentElsewhere(target, (at) => (this.#allows(at) ? this.#session(target, at) : null));
  }

  async #open(target: Target, where: string): Promise<Session | null> {
    const credential = this.#credentials.get(target.credentialId);
    return credential ? this.#sessions.with({ address: where, port: this.#settings.port }, credential) : null;
  }

  async #session(target: Target, where: string): Promise<Session | null> {
    const session = await this.#open(target, where);
    if (!session)
      this.#planReading(target, onGrid(this.#deps.clock.monotonic(), this.#settings.snmpMs, target.phase));
    return session;
  }

  /** Answers whether the device restarted. */
  #answered(target: Target, reading: Reading & { ok: true }): boolean {
    const { uptime, hasBoots, ports, complete } = reading;
    const now = this.#deps.clock.monotonic();
    // What was silent altogether while its agent was in doubt was reported down.
    const back = target.isSilent && target.agent.missed > 0;
    const moved = target.provesElsewhere(now);
    const turned = answered(target.agent) || back || moved;
    const again = target.uptime !== null && uptime !== null && restarted(target.uptime, uptime);
    const first = target.uptime === null;
    target.uptime = uptime ?? target.uptime;
    target.hasBoots = hasBoots || uptime === null;
    const speedBefore = new Map([...ports.keys()].map((port) => [port, target.ports.speedOf(port)]));
    const changed = target.ports.take(ports, complete);
    target.columns = again ? ALL_COLUMNS : reading.columns;
    this.#measuring.read(target, reading, again, this.#settings.snmpMs, (port) => speedBefore.get(port));
    const cameUp =
      !first && changed.some(({ operStatus, speedBps }) => operStatus === 1 && speedBps === undefined);
    if (turned || again || changed.length > 0) {
      const shown = uptime ? { sysUpTime: uptime.ticks } : {};
      this.#reports.ports(target, changed, { ...shown, ...(again ? { restarted: true } : {}) });
    }
    // A port that came up may run at another speed: it is looked at with the next reading.
    if (cameUp) target.readings = 0;
    // What was not reached may have changed; of a table that never ends that is known after some readings.
    (complete ? answered : missed)(target.table);
    const soon = cameUp || isUnconfirmed(target.table) ? now + RETRY_MS : Number.POSITIVE_INFINITY;
    const interval = this.#measuring.interval(target, this.#settings.snmpMs, reading.tookMs);
    this.#planReading(target, Math.min(soon, onGrid(now, interval, target.phase)));
    return again;
  }

  #missed(target: Target, verdict: 'timeout' | 'auth-failed' | null): void {
    const now = this.#deps.clock.monotonic();
    if (verdict !== null) {
      const other = target.agent.state === 'down' && target.trouble !== verdict;
      target.trouble = verdict;
      if (missed(target.agent) || other) this.#reports.silence(target);
    }
    this.#measuring.ping(target, now, this.#settings.snmpMs);
    const usual = onGrid(now, this.#settings.snmpMs, target.phase);
    this.#planReading(target, isUnconfirmed(target.agent) ? Math.min(usual, now + RETRY_MS) : usual);
  }
}
