/** Breaks the demonstration site as a person would, and puts it back: each fault is one member of the list. */
import {
  FAULT_KINDS,
  type FaultKind,
  type FaultRequest,
  type Lab,
  type LabFault,
} from '@rollcall/shared/api/lab';
import type { Clock } from '@rollcall/shared/clock';
import { uuidv7 } from '@rollcall/shared/uuid';
import { type Burst, type Device, type Port, portNamed, reachable } from '../device.ts';
import type { LiveSite } from '../start.ts';
import { damageOf } from './damage.ts';

/** What is offered, by kind. A cable and a port are named by one end. */
export const TARGETS: Record<FaultKind, readonly string[]> = {
  cable: ['access-5:49', 'access-6:49', 'access-7:xe-0/2/0', 'branch-1:Gi0/0/0', 'dist-1:1/1/49'],
  box: ['dist-2', 'dist-1', 'core-2', 'edge-1', 'access-4', 'access-6', 'web-1', 'db-1', 'branch-3'],
  uplink: ['access-6:49', 'access-7:xe-0/2/0', 'branch-2:ether1'],
  port: ['access-9:ge-0/0/3', 'access-3:Gi1/0/20', 'access-1:Gi1/0/3'],
  reboot: ['access-3', 'fw-1', 'branch-2', 'nas-1'],
  hardware: ['access-3', 'access-7', 'ups-1'],
};
/** Where the collector of the demonstration is: the switch that everything else hangs on. */
const FROM = 'core-1';
/** Faults at a time. */
const MOST = 20;
/** How long a box that was rebooted answers nothing. */
const BOOT_MS = 20_000;
/** A flapping port is down so long, then up so long: longer than the time between two readings. */
const FLAP_MS = 20_000;

/** A request that cannot be done; its message says why. */
export class FaultRefused extends Error {}

interface Active extends LabFault {
  /** Of a port that flaps: whether it is down now. */
  down: boolean;
  /** Beside what follows from cables and power. */
  undo: () => Promise<void> | void;
  stop: AbortController;
}

export class Faults {
  readonly #site: LiveSite;
  readonly #clock: Clock;
  readonly #active = new Map<string, Active>();
  /** Ports that are down because of a fault. */
  readonly #down = new Set<Port>();
  #silent: ReadonlySet<string> = new Set();
  /** Changes of the site come one after the other. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(site: LiveSite, clock: Clock) {
    this.#site = site;
    this.#clock = clock;
  }

  get state(): Lab {
    const silent = this.#site.devices.filter(({ name }) => this.#silent.has(name));
    return {
      targets: Object.fromEntries(FAULT_KINDS.map((kind) => [kind, [...TARGETS[kind]]])) as Lab['targets'],
      faults: [...this.#active.values()].map(told),
      silent: silent.flatMap(reachable),
    };
  }

  /** @throws FaultRefused */
  break(request: FaultRequest): Promise<LabFault> {
    return this.#inTurn(async () => {
      const { kind, target } = request;
      if (!TARGETS[kind].includes(target)) throw new FaultRefused(`${target} is not offered for ${kind}`);
      if ([...this.#active.values()].some((one) => one.kind === kind && one.target === target))
        throw new FaultRefused(`${target} is broken already: put it back first`);
      if (this.#active.size >= MOST)
        throw new FaultRefused(`${MOST} faults are the most: put one back first`);
      const fault: Active = {
        ...{ id: uuidv7(), kind, target, at: Math.floor(this.#clock.now() / 1000) },
        restores: kind === 'reboot',
        down: kind === 'port',
        undo: await this.#apply(request),
        stop: new AbortController(),
      };
      this.#active.set(fault.id, fault);
      await this.#update();
      if (kind === 'reboot') this.#later(fault, BOOT_MS, () => this.#booted(fault));
      if (kind === 'port') this.#flap(fault);
      return told(fault);
    });
  }

  /** False: there is no such fault. */
  repair(id: string): Promise<boolean> {
    return this.#inTurn(() => this.#end(id));
  }

  stop(): void {
    for (const { stop } of this.#active.values()) stop.abort();
  }

  async #end(id: string): Promise<boolean> {
    const fault = this.#active.get(id);
    if (!fault) return false;
    fault.stop.abort();
    this.#active.delete(id);
    await fault.undo();
    await this.#update();
    return true;
  }

  /** What a fault changes beside cables and power; answers what takes it back. */
  async #apply({ kind, target }: FaultRequest): Promise<Active['undo']> {
    if (kind === 'uplink') return this.#fill(target);
    if (kind !== 'hardware') return () => undefined;
    const old = this.#site.box(target).device.serial ?? '';
    const other = old.replace(/\d/g, (digit) => String((Number(digit) + 3) % 10));
    await this.#site.change(target, (device) => swap(device, old, other));
    return () => this.#site.change(target, (device) => swap(device, other, old));
  }

  /** What the port sends fills its link. */
  #fill(target: string): Active['undo'] {
    const { live, port } = this.#portAt(target);
    const burst: Burst = { from: live.localTime };
    const out = { ...port.load?.out, bursts: [...(port.load?.out?.bursts ?? []), burst] };
    port.load = { ...port.load, out };
    return () => {
      burst.to = live.localTime;
    };
  }

  async #booted(fault: Active): Promise<void> {
    this.#site.box(fault.target).restart();
    await this.#end(fault.id);
  }

  /** Down and up, again and again, until it is put back. */
  #flap(fault: Active): void {
    this.#later(fault, FLAP_MS, async () => {
      fault.down = !fault.down;
      await this.#update();
      this.#flap(fault);
    });
  }

  #later(fault: Active, ms: number, work: () => Promise<void>): void {
    this.#clock.sleep(ms, fault.stop.signal).then(
      () => this.#inTurn(async () => this.#active.has(fault.id) && (await work())),
      () => undefined,
    );
  }

  /** Brings ports, tables and who answers up to date with the list of faults. */
  async #update(): Promise<void> {
    const faults = [...this.#active.values()];
    const out = faults.filter(({ kind, down }) => kind === 'cable' || (kind === 'port' && down));
    const ports = new Set(out.map(({ target }) => this.#portAt(target).port));
    const off = faults.filter(({ kind }) => kind === 'box' || kind === 'reboot');
    const boxes = new Set(off.map(({ target }) => target));
    const { linkless, silent } = damageOf(this.#site.devices, { ports, boxes }, FROM);
    for (const port of this.#down) if (!linkless.has(port)) this.#set(port, 'up');
    for (const port of linkless) if (port.oper === 'up') this.#set(port, 'down');
    this.#silent = silent;
    this.#site.refresh();
    await this.#site.silence(silent);
  }

  #set(port: Port, oper: 'up' | 'down'): void {
    port.oper = oper;
    if (oper === 'down') this.#down.add(port);
    else this.#down.delete(port);
  }

  #portAt(target: string) {
    const [name = '', port = ''] = target.split(/:(.*)/);
    const live = this.#site.box(name);
    return { live, port: portNamed(live.device, port) };
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work);
    this.#last = result.catch(() => undefined);
    return result;
  }
}

function swap(device: Device, from: string, to: string): void {
  device.serial = to;
  for (const entity of device.entities) if (entity.serial === from) entity.serial = to;
  for (const [oid, value] of Object.entries(device.objects)) if (value === from) device.objects[oid] = to;
}

const told = ({ id, kind, target, at, restores }: Active): LabFault => ({ id, kind, target, at, restores });
