/** A whole site, live: every box of a description answering on its addresses, changeable while it runs. */
import { type Clock, systemClock } from '@rollcall/shared/clock';
import { Agent } from './agent.ts';
import { type Contexts, describe } from './describe/mib.ts';
import { type Device, reachable } from './device.ts';
import type { View } from './mib.ts';
import { type Site, type SiteTruth, truthOf } from './site.ts';
import { type Responder, Wire } from './wire.ts';

export interface StartSettings {
  /** UDP port of every agent; 161 where it is free and allowed. */
  port: number;
  clock?: Clock;
  /** Largest answer, octets. */
  maxMessageSize?: number;
}

/** One box at run time. */
export class LiveBox {
  readonly device: Device;
  readonly #clock: Clock;
  readonly #maxMessageSize: number | undefined;
  #startedAt: number;
  #contexts: Contexts | null = null;
  #agent: Agent;
  #wrapView: (view: View) => View = (view) => view;
  #responder: Responder;

  constructor(device: Device, clock: Clock, maxMessageSize: number | undefined) {
    this.device = device;
    this.#clock = clock;
    this.#maxMessageSize = maxMessageSize;
    this.#startedAt = clock.monotonic();
    this.#agent = this.#makeAgent();
    this.#responder = this.#answer;
  }

  /** What the wire calls. */
  readonly respond: Responder = (datagram, send, from) => this.#responder(datagram, send, from);

  /**
   * What it shows now, by context. Made from its facts when first asked for and after each change of the site; single
   * objects that a test sets or removes here last until then.
   */
  get contexts(): Contexts {
    this.#contexts ??= describe(this.device, () => this.#elapsed());
    return this.#contexts;
  }

  /** Its facts or those it tells of its neighbours were changed. */
  refresh(): void {
    this.#contexts = null;
    this.#agent = this.#makeAgent();
  }

  /** sysUpTime starts again, the engine counts one more boot. */
  reboot(): void {
    this.#startedAt = this.#clock.monotonic();
    this.device.upBefore = 0;
    this.device.engineBoots += 1;
    this.refresh();
  }

  /** Faults of the network or the agent's sending (`faults.ts`); without an argument it behaves again. */
  behave(wrap: (inner: Responder) => Responder = (inner) => inner): void {
    this.#responder = wrap(this.#answer);
  }

  /** Faults of what it shows, in every context; without an argument it shows the truth again. */
  show(wrap: (view: View) => View = (view) => view): void {
    this.#wrapView = wrap;
    this.refresh();
  }

  readonly #answer: Responder = (datagram, send) => {
    const answer = this.#agent.answer(datagram);
    if (answer) send(answer);
  };

  #elapsed(): number {
    return (this.#clock.monotonic() - this.#startedAt) / 1000;
  }

  #makeAgent(): Agent {
    let shown: { of: Contexts; views: ReadonlyMap<string, View> } | null = null;
    const views = () => {
      if (shown?.of !== this.contexts) {
        const wrapped = [...this.contexts].map(([name, mib]) => [name, this.#wrapView(mib)] as const);
        shown = { of: this.contexts, views: new Map(wrapped) };
      }
      return shown.views;
    };
    const { access, engineBoots, engineId, upBefore } = this.device;
    return new Agent({
      contexts: views,
      access: access ? [access] : [],
      engineId: Buffer.from(engineId, 'hex'),
      engineBoots,
      seconds: () => upBefore + this.#elapsed(),
      ...(this.#maxMessageSize === undefined ? {} : { maxMessageSize: this.#maxMessageSize }),
    });
  }
}

export interface LiveSite {
  /** What is true now. */
  readonly truth: SiteTruth;
  readonly wire: Wire;
  box(name: string): LiveBox;
  /**
   * Plays a change: `edit` alters the facts of one box (a port goes down, a serial number changes, an address moves in
   * or out), then every table that follows from them, on all boxes, and who answers where are brought up to date. Of
   * two boxes that claim an address the one changed last gets it.
   */
  change(name: string, edit: (device: Device) => void): Promise<void>;
  /** Pulls cables (leave them out of what `edit` returns) and plugs others (add them). */
  recable(edit: (links: Site['links']) => Site['links']): void;
  stop(): Promise<void>;
}

/** Starts all agents of `site`. Hosts without SNMP need nothing: on loopback every address answers ICMP. */
export async function startSite(site: Site, settings: StartSettings): Promise<LiveSite> {
  const clock = settings.clock ?? systemClock;
  const wire = new Wire(settings.port);
  const boxes = new Map(
    site.devices.map((d) => [d.name, new LiveBox(d, clock, settings.maxMessageSize)] as const),
  );
  const box = (name: string): LiveBox => {
    const found = boxes.get(name);
    if (!found) throw new Error(`the site ${site.name} has no box ${name}`);
    return found;
  };
  const attach = async (live: LiveBox) => {
    if (!live.device.access) return;
    for (const address of reachable(live.device)) {
      await wire.attach(address, live.respond);
    }
  };
  const refresh = () => {
    for (const live of boxes.values()) live.refresh();
  };
  try {
    for (const live of boxes.values()) await attach(live);
  } catch (error) {
    await wire.stop();
    throw error;
  }
  return {
    get truth() {
      return truthOf(site);
    },
    wire,
    box,
    change: async (name, edit) => {
      const live = box(name);
      const before = new Set(reachable(live.device));
      edit(live.device);
      for (const address of reachable(live.device)) before.delete(address);
      const taken = new Set(site.devices.flatMap((d) => (d.access ? reachable(d) : [])));
      for (const address of before) if (!taken.has(address)) wire.detach(address);
      site.learn();
      refresh();
      await attach(live);
    },
    recable: (edit) => {
      site.recable(edit(site.links));
      refresh();
    },
    stop: () => wire.stop(),
  };
}
