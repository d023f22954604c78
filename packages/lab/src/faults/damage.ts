/** What follows from cables that are out and boxes without power. Pure. */
import type { Device, Port } from '../device.ts';

export interface Broken {
  /** One end of each cable that is out. */
  ports: ReadonlySet<Port>;
  /** Names of boxes without power. */
  boxes: ReadonlySet<string>;
}

export interface Damage {
  /** Ports without a link. */
  linkless: Set<Port>;
  /** Names of boxes that do not answer: without power, or not reached from where the collector is. */
  silent: Set<string>;
}

/** @param from name of the box at which the collector is */
export function damageOf(devices: readonly Device[], { ports, boxes }: Broken, from: string): Damage {
  const linkless = new Set<Port>();
  for (const device of devices)
    for (const port of device.ports) {
      const out = ports.has(port) || (port.peer !== undefined && ports.has(port.peer.port));
      if (out || (port.peer !== undefined && boxes.has(port.peer.device))) linkless.add(port);
    }
  const byName = new Map(devices.map((device) => [device.name, device]));
  const reached = new Set<string>([from]);
  // A set is walked in the order of its entries, those that are added meanwhile too.
  for (const name of reached)
    for (const port of byName.get(name)?.ports ?? [])
      if (port.peer && !linkless.has(port)) reached.add(port.peer.device);
  const silent = devices.map(({ name }) => name).filter((name) => boxes.has(name) || !reached.has(name));
  return { linkless, silent: new Set(silent) };
}
