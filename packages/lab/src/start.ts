/** A whole site, live: every box of a description answering on its addresses, changeable while it runs. */
import { systemClock } from '@rollcall/shared/clock';
import { Agent } from './agent.ts';
import { type Contexts, describe } from './describe/mib.ts';
import { type Device, reachable } from './device.ts';
import { type Site, type SiteTruth, truthOf } from './site.ts';
import { type Responder, Wire } from './wire.ts';

/** One box at run time. */
export class LiveBox {
  readonly device: Device;
  #startedAt = systemClock.monotonic();
  #localStart = localSeconds();
  #contexts: Contexts | null = null;
  #agent: Agent;

  constructor(device: Device) {
    this.device = device;
    this.#agent = this.#makeAgent();
  }

  /** What the wire calls. */
  readonly respond: Responder = (datagram, send) => {
    const answer = this.#agent.answer(datagram);
    if (answer) send(answer);
  };

  /**
   * What it shows now, by context. Made from its facts when first asked for and after each change of the site; single
   * objects that a test sets or removes here last until then.
   */
  get contexts(): Contexts {
    this.#contexts ??= describe(this.device, () => this.#elapsed(), this.#localStart);
    return this.#contexts;
  }

  /** Its facts or those it reports of its neighbours were changed. */
  refresh(): void {
    this.#contexts = null;
    this.#agent = this.#makeAgent();
  }

  /** Local time by its own clock, seconds. */
  get localTime(): number {
    return this.#localStart + this.#elapsed();
  }

  /** It begins anew, as after a loss of power. */
  restart(): void {
    this.#startedAt = systemClock.monotonic();
    this.#localStart = localSeconds();
    this.device.upBefore = 0;
    this.device.engineBoots += 1;
    this.refresh();
  }

  #elapsed(): number {
    return (systemClock.monotonic() - this.#startedAt) / 1000;
  }

  #makeAgent(): Agent {
    const { access, engineBoots, engineId, upBefore } = this.device;
    return new Agent({
      contexts: () => this.contexts,
      access: access ? [access] : [],
      engineId: Buffer.from(engineId, 'hex'),
      engineBoots,
      seconds: () => upBefore + this.#elapsed(),
    });
  }
}

const localSeconds = (): number => systemClock.now() / 1000 - new Date().getTimezoneOffset() * 60;

export interface LiveSite {
  /** What is true now. */
  readonly truth: SiteTruth;
  readonly devices: readonly Device[];
  readonly wire: Wire;
  box(name: string): LiveBox;
  /**
   * Plays a change: `edit` alters the facts of one box (a port goes down, a serial number changes, an address moves in
   * or out), then every table that follows from them, on all boxes, and who answers where are brought up to date. Of
   * two boxes that claim an address the one changed last gets it.
   */
  change(name: string, edit: (device: Device) => void): Promise<void>;
  /** Ports went down or came up: brings every table that follows from them up to date. */
  refresh(): void;
  /** Agents of these boxes answer nobody, all others do. */
  silence(names: ReadonlySet<string>): Promise<void>;
  stop(): Promise<void>;
}

/** Starts all agents of `site` on one UDP port. Hosts without SNMP need nothing: on loopback every address answers ICMP. */
export async function startSite(site: Site, { port }: { port: number }): Promise<LiveSite> {
  const wire = new Wire(port);
  const boxes = new Map(site.devices.map((d) => [d.name, new LiveBox(d)] as const));
  const box = (name: string): LiveBox => {
    const found = boxes.get(name);
    if (!found) throw new Error(`the site ${site.name} has no box ${name}`);
    return found;
  };
  let silent: ReadonlySet<string> = new Set();
  const attach = async (live: LiveBox) => {
    if (!live.device.access || silent.has(live.device.name)) return;
    for (const address of reachable(live.device)) {
      await wire.attach(address, live.respond);
    }
  };
  try {
    for (const live of boxes.values()) await attach(live);
  } catch (error) {
    await wire.stop();
    throw error;
  }
  const refresh = () => {
    site.learn();
    for (const each of boxes.values()) each.refresh();
  };
  return {
    get truth() {
      return truthOf(site);
    },
    devices: site.devices,
    wire,
    box,
    refresh,
    silence: async (names) => {
      const before = silent;
      silent = names;
      for (const [name, live] of boxes) {
        if (names.has(name)) for (const address of reachable(live.device)) wire.detach(address);
        else if (before.has(name)) await attach(live);
      }
    },
    change: async (name, edit) => {
      const live = box(name);
      const before = new Set(reachable(live.device));
      edit(live.device);
      for (const address of reachable(live.device)) before.delete(address);
      const taken = new Set(site.devices.flatMap((d) => (d.access ? reachable(d) : [])));
      for (const address of before) if (!taken.has(address)) wire.detach(address);
      refresh();
      await attach(live);
    },
    stop: () => wire.stop(),
  };
}
