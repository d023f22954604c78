/** A site of real hosts, found by one collector and watched by it. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { Installation, type RunningCollector } from './harness.ts';
import type { Host } from './hosts.ts';

export interface PlantEvent {
  id: string;
  kind: string;
  status: number;
  deviceId: string | null;
  caseId: string | null;
  message: string;
  count: number;
}
export interface PlantCase {
  id: string;
  title: string;
  status: number;
  severity: number;
  rootDeviceId: string | null;
  openEventCount: number;
}

/** Pings every 3 s, readings every 5 s. */
const PACE = { watchIcmpSeconds: 3, watchSnmpSeconds: 5 };

/** What a site asks of a host, whatever it is made of. */
export type Member = Pick<Host, 'sysName' | 'address' | 'startSnmpd' | 'remove'>;

export class Plant<Of extends Member = Host> {
  readonly #hosts: ReadonlyMap<string, Of>;
  readonly #ids = new Map<string, string>();
  #world: Installation | undefined;
  #collector: RunningCollector | undefined;
  #siteId = '';

  constructor(hosts: readonly Of[]) {
    this.#hosts = new Map(hosts.map((host) => [host.sysName, host]));
  }

  get world(): Installation {
    return this.#world ?? expect.fail('not discovered');
  }
  get collector(): RunningCollector {
    return this.#collector ?? expect.fail('not discovered');
  }
  get size(): number {
    return this.#hosts.size;
  }
  host(name: string): Of {
    return this.#hosts.get(name) ?? expect.fail(name);
  }
  /** Of the device that a host was found as. */
  id(name: string): string {
    return this.#ids.get(name) ?? expect.fail(name);
  }

  /** Finds every host as one device. `neighbours`: whom a host names by LLDP. `targets`: in place of their addresses. */
  async discover(
    neighbours: Readonly<Record<string, readonly string[]>> = {},
    settings = {},
    targets = [...this.#hosts.values()].map(({ address }) => address).join(' '),
  ): Promise<void> {
    const world = await Installation.start();
    this.#world = world;
    for (const [name, host] of this.#hosts) host.startSnmpd(world.folder, neighbours[name]);
    const { data: site } = await world.api<{ id: string }>('POST', '/api/sites', {
      name: 'plant',
      networks: [],
      exclude: [],
      settings: { ...PACE, ...settings },
    });
    this.#siteId = site.id;
    const credential = { name: 'public', version: 'v2c', community: 'public', allSites: true };
    await world.api('POST', '/api/credentials', credential);
    this.#collector = await world.collector(site.id, 'one');
    await this.scan(targets);
    for (const { id, name } of await world.all<{ id: string; name: string }>('/api/devices'))
      this.#ids.set(name, id);
    expect([...this.#ids.keys()].sort()).toEqual([...this.#hosts.keys()].sort());
  }

  /** Looks at these addresses again. */
  async scan(targets: string): Promise<void> {
    const { scanId } = await this.world.api('POST', '/api/discovery/scan', {
      ...{ targets, profile: 'deep', site: this.#siteId },
    });
    await this.world.scanEnd(scanId);
  }

  /** Devices that a host names as its neighbours. */
  async neighbours(name: string): Promise<(string | null)[]> {
    const { data } = await this.world.api<{ neighbours: { deviceId: string | null }[] }>(
      'GET',
      `/api/devices/${this.id(name)}`,
    );
    return data.neighbours.map(({ deviceId }) => deviceId);
  }

  /** Watches all, until everybody has been asked once and nothing was found wrong. */
  async watch(): Promise<void> {
    await this.world.api('POST', '/api/devices/bulk', {
      filter: { site: this.#siteId },
      set: { monitor: 1 },
    });
    await sleep(9_000);
    expect(await this.openEvents()).toEqual([]);
  }

  events(): Promise<PlantEvent[]> {
    return this.world.all<PlantEvent>('/api/events');
  }
  /** Those that people work on. */
  async openEvents(): Promise<PlantEvent[]> {
    return (await this.events()).filter(({ status, caseId }) => status < 2 && caseId !== null);
  }
  async ofKind(...kinds: readonly string[]): Promise<PlantEvent[]> {
    return (await this.events()).filter(({ kind }) => kinds.includes(kind));
  }
  async openOf(...kinds: readonly string[]): Promise<PlantEvent[]> {
    return (await this.openEvents()).filter(({ kind }) => kinds.includes(kind));
  }
  cases(): Promise<PlantCase[]> {
    return this.world.all<PlantCase>('/api/cases');
  }

  async stop(): Promise<void> {
    await this.#world?.stop();
    for (const host of [...this.#hosts.values()].reverse()) await host.remove();
  }
}
