/**
 * Histories of small networks from seeds, scanned after every step: boxes come, are renumbered, replaced, copied in part or whole, switched off,
 * lose an address, hand a virtual address over. What is true is known from the history, never from the product.
 * `TEST_HISTORIES=1-200` plays so many; without it, some.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '../../platform/db/db.ts';
import { closeDatabases, databases } from '../../testing/database.ts';
import { randomOf } from '../../testing/outages/network.ts';
import { type Met, scanOf } from '../testing/scan.ts';
import { type Box, openSite, type TestSite } from '../testing/site.ts';

afterAll(closeDatabases);

const [first = 1, last = first] = (process.env.TEST_HISTORIES ?? '1-12').split('-').map(Number);
const STEPS = 8;
/** The virtual address of the routers, and its hardware address (RFC 9568). */
const VIRTUAL = { address: '10.0.0.250', mac: '00:00:5e:00:01:0a' };

interface Real {
  name: string;
  /** Told by its agent; a copy has that of the box that it was copied from. */
  engineId: string;
  mac: string;
  serial: string | null;
  /** Its own addresses, the first in 10.0.0.0/24. */
  addresses: string[];
  isOn: boolean;
  /** Hours after the first scan. */
  startedAt: number;
}

class History {
  readonly boxes: Real[] = [];
  holder: Real | undefined;
  swaps = 0;
  #hour = 0;
  readonly #random: () => number;
  #used = 0;
  #made = 0;

  constructor(seed: number) {
    this.#random = randomOf(seed);
    for (let i = 0; i < 2; i++) this.#add({ addresses: [this.#free(0), this.#free(1)] });
    for (let i = 2 + this.#below(3); i > 0; i--) this.#add({});
    this.holder = this.boxes[0];
  }

  #below(n: number): number {
    return Math.floor(this.#random() * n);
  }
  #pick(boxes: readonly Real[]): Real | undefined {
    return boxes[this.#below(boxes.length)];
  }
  #shuffled<T>(list: readonly T[]): T[] {
    return list
      .map((each) => [this.#random(), each] as const)
      .sort(([a], [b]) => a - b)
      .map(([, each]) => each);
  }
  #free(net: number): string {
    this.#used += 1;
    return `10.0.${net}.${this.#used}`;
  }
  #hardware() {
    this.#made += 1;
    const octets = ['00', '1b', '54', '00', '01', this.#made.toString(16).padStart(2, '0')];
    return { mac: octets.join(':'), engineId: `8000000903${octets.join('')}`, startedAt: this.#hour + 0.5 };
  }
  #add(more: Partial<Real>): void {
    const serial = this.#below(3) === 0 ? `SN${1000 + this.#made}XY` : null;
    const own = { name: `box${this.boxes.length}`, addresses: more.addresses ?? [this.#free(0)] };
    this.boxes.push({ ...own, ...this.#hardware(), serial, isOn: true, ...more });
  }

  /** @returns what happened. */
  step(): string {
    const on = this.boxes.filter(({ isOn }) => isOn);
    const hosts = on.filter(({ addresses }) => addresses.length === 1);
    const steps: Record<string, () => Real | undefined> = {
      rest: () => this.boxes[0],
      comes: () => {
        this.#add({});
        return this.boxes.at(-1);
      },
      'is renumbered': () => {
        // One that has nothing but its address by itself is nobody known at another.
        const box = this.#pick(
          hosts.filter(({ mac }) => this.boxes.filter((b) => b.mac === mac).length === 1),
        );
        if (box) box.addresses = [this.#free(0)];
        return box;
      },
      'is replaced': () => {
        // Of two boxes with one name nobody can tell which was replaced.
        const box = this.#pick(
          on.filter(({ name }) => this.boxes.filter((b) => b.name === name).length === 1),
        );
        if (!box) return undefined;
        this.swaps += 1;
        const serial = box.serial && `SN${2000 + this.#made}XY`;
        return Object.assign(box, this.#hardware(), { serial });
      },
      'is copied': () => {
        const box = this.#pick(hosts);
        if (box) this.#add({ name: box.name, engineId: box.engineId, serial: null });
        return box;
      },
      'is copied with all that it has to the other network': () => {
        // While a twin of it is off, the copy may as well be that one at another address.
        const box = this.#pick(hosts.filter(({ mac }) => this.boxes.every((b) => b.isOn || b.mac !== mac)));
        const { name = '', mac = '', engineId = '', serial = null } = box ?? {};
        if (box) this.#add({ name, mac, engineId, serial, addresses: [this.#free(1)] });
        return box;
      },
      'is off or on': () => {
        const box = this.#pick(this.boxes.filter((each) => each !== this.holder));
        return box && Object.assign(box, { isOn: !box.isOn, startedAt: this.#hour + 0.5 });
      },
      'loses an address': () => {
        const box = this.#pick(on.filter(({ addresses }) => addresses.length > 1));
        box?.addresses.splice(this.#below(2), 1);
        return box;
      },
      'takes the virtual address': () => {
        this.holder = this.#pick(on.filter((each) => each !== this.holder)) ?? this.holder;
        return this.holder;
      },
    };
    const names = Object.keys(steps);
    const what = names[this.#below(names.length)] as string;
    return `${steps[what]?.()?.name ?? 'nobody'} ${what}`;
  }

  /** What a scan meets, an hour after the one before, by network. */
  met(): Met[][] {
    this.#hour += 1;
    const nets: Met[][] = [[], []];
    const put = (address: string, met: Met) => nets[Number(address.split('.')[2])]?.push(met);
    for (const box of this.#shuffled(this.boxes.filter(({ isOn }) => isOn))) {
      const [main = '', ...others] = box.addresses;
      put(main, this.agentOf(box));
      for (const host of others) put(host, { host, aliasOf: main });
    }
    const [main] = this.holder?.addresses ?? [];
    const virtual = { host: VIRTUAL.address, mac: VIRTUAL.mac, ...(main && { aliasOf: main }) };
    // Any time after the agent by which it is known: before boxes that are read later.
    const [local = []] = nets;
    const read = local.findIndex((met) => isAgent(met) && met.table?.[0] === main);
    local.splice(read + 1 + this.#below(local.length - read), 0, virtual);
    return nets;
  }

  agentOf(box: Real): Box {
    const holds = box === this.holder;
    return {
      sysName: box.name,
      engineId: box.engineId,
      sysUpTime: Math.round((this.#hour - box.startedAt) * 360_000),
      macs: [box.mac, ...(holds ? [VIRTUAL.mac] : [])],
      table: [...box.addresses, ...(holds ? [VIRTUAL.address] : [])],
      ...(box.serial !== null && { serials: [box.serial] }),
    };
  }
}

const isAgent = (met: Met): met is Box => typeof met !== 'string' && !('host' in met);

/** What is not as it must be. */
async function wrongIn(site: TestSite, history: History): Promise<string[]> {
  const wrong: string[] = [];
  const devices = await site.devices();
  if (devices.length !== history.boxes.length)
    wrong.push(`${devices.length} devices, boxes ${history.boxes.length}`);
  for (const { name, addresses, isOn } of history.boxes) {
    const there = devices.filter(({ ip }) => addresses.includes(ip as string));
    const at = devices.map(({ name: of, ip }) => `${of} ${ip}`).join(', ');
    if (isOn && there.length !== 1) wrong.push(`${there.length} at ${addresses} of ${name}: ${at}`);
  }
  const swaps = site.changes.filter(({ kind }) => kind === 'device.swapped').length;
  if (swaps !== history.swaps) wrong.push(`${swaps} told as replaced, boxes ${history.swaps}`);
  // Who has the virtual address, has it alone.
  for (const change of site.changes) if (change.kind === 'address.conflict') wrong.push(change.after.reason);
  return wrong;
}

describe.each(databases().slice(0, 1))('histories of networks on %s', (_name, open) => {
  let db: Database;
  beforeAll(async () => {
    db = await open();
  });
  const seeds = Array.from({ length: last - first + 1 }, (_, i) => first + i);

  it.each(seeds)(
    'of seed %i: every device is one box, managed where it answers; replacements are told',
    async (seed) => {
      const site = await openSite(db);
      const history = new History(seed);
      const story: string[] = [];
      for (let step = 0; step <= STEPS; step++) {
        story.push(step === 0 ? 'all are found' : history.step());
        await scanOf(site, history.met());
        // A copy that is met before its original may be that, at another address: the next scans know better.
        if (story.at(-1)?.includes('all that it has'))
          for (let i = 0; i < 2; i++) await scanOf(site, history.met());
        expect([...story, ...(await wrongIn(site, history))]).toEqual(story);
      }
    },
    60_000,
  );
});
