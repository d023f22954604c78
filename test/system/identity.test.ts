import type { SiteTruth } from '@rollcall/lab/site';
import { startIdentity } from '@rollcall/lab/testing/identity';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Installation, oneDatabase } from './harness.ts';

/**
 * The identity fixture through the whole product: real collectors sweep it, two of them the same boxes at once, while it
 * changes between the scans. Every run is a pair of new sites. IDENTITY_RUNS says how many runs; the promise is 20 of 20
 * (`IDENTITY_RUNS=20 npm test -- test/identity`), and each guard of a change plays RUNS of them.
 */
const RUNS = Number(process.env.IDENTITY_RUNS ?? 2);
const PORTS = { north: 16_201, south: 16_202 };

/** What the issue promises to tell apart or to recognise, by the name of its case. */
const PROMISED = [
  'vrf-router',
  'hidden-address',
  'ha-pair',
  'vrrp',
  'hsrp',
  'carp',
  'stack',
  'clones',
  'two-sites',
  'dhcp',
  'renumbered',
  'overlap',
  'fleet',
];

interface Listed {
  id: string;
  name: string;
  addresses: string[];
}

/** Where the devices of a site are not the boxes of the truth, in words; nothing where they are. */
function wrong(truth: SiteTruth, devices: readonly Listed[]): string[] {
  const holders = (address: string) => devices.filter(({ addresses }) => addresses.includes(address));
  const boxOf = new Map<string, string>();
  const said: string[] = [];
  if (devices.length !== truth.devices.length)
    said.push(`${devices.length} devices, true are ${truth.devices.length}`);
  for (const box of truth.devices) {
    const ids = [...new Set(box.addresses.flatMap((address) => holders(address).map(({ id }) => id)))];
    const lost = box.addresses.filter((address) => holders(address).length === 0);
    if (lost.length > 0) said.push(`${box.name} lacks ${lost.join(', ')}`);
    if (ids.length > 1)
      said.push(
        `${box.name} is ${ids.length} devices: ${box.addresses.map((a) => `${a}=${holders(a).map(({ id }) => id)}`)}`,
      );
    for (const id of ids) {
      const other = boxOf.get(id);
      if (other) said.push(`${box.name} and ${other} are one device`);
      boxOf.set(id, box.name);
    }
  }
  return said;
}

describe.each(oneDatabase)('the identity fixture on %s', (database, url) => {
  let world: Installation;
  beforeAll(async () => {
    world = await Installation.start({ databaseUrl: await url() });
  }, 120_000);
  afterAll(() => world?.stop());

  const scan = async (site: string, targets: string) => {
    const { scanId } = await world.api('POST', '/api/discovery/scan', { targets, profile: 'standard', site });
    expect(await world.scanEnd(scanId)).toMatchObject({ status: 'completed' });
  };

  it.each(Array.from({ length: RUNS }, (_, i) => i + 1))(
    'has every box once, run %i',
    async (run) => {
      const lab = await startIdentity({ ports: PORTS });
      const collectors: { stop(): Promise<unknown> }[] = [];
      try {
        expect(lab.cases.map(({ name }) => name).sort()).toEqual([...PROMISED].sort());
        const name = (site: string) => `${site}-${run}`;
        const north = await world.site(name('north'), PORTS.north, lab.north.truth.credentials);
        const south = await world.site(name('south'), PORTS.south, lab.south.truth.credentials);
        collectors.push(
          ...(await Promise.all([
            world.collector(north, `${database}-${name('north')}-a`),
            world.collector(north, `${database}-${name('north')}-b`),
            world.collector(south, `${database}-${name('south')}`),
          ])),
        );
        for (const step of lab.steps) {
          await step.apply();
          await Promise.all([
            ...lab.overlapping.map((targets) => scan(name('north'), targets)),
            scan(name('north'), lab.north.truth.targets),
            scan(name('south'), lab.south.truth.targets),
          ]);
          for (const [site, live] of [
            [north, lab.north],
            [south, lab.south],
          ] as const) {
            const devices = await world.all<Listed>(`/api/devices?site=${site}`);
            expect({ step: step.name, wrong: wrong(live.truth, devices) }).toEqual({
              step: step.name,
              wrong: [],
            });
          }
        }
      } finally {
        await Promise.all(collectors.map((collector) => collector.stop()));
        await lab.stop();
      }
    },
    180_000,
  );
});
