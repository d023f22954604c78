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
  readonly #startedAt = systemClock.monotonic();
  readonly #localStart = systemClock.now() / 1000 - new Date().getTimezoneOffset() * 60;
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
  const attach = async (live: LiveBox) => {
    if (!live.device.access) return;
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
      for (const each of boxes.values()) each.refresh();
      await attach(live);
    },
    stop: () => wire.stop(),
  };
}
