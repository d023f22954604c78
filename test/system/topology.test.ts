import { type LiveSite, startSite } from '@rollcall/lab/start';
import { type TrueLink, topologyFixture } from '@rollcall/lab/testing/topology';
import type { Topology } from '@rollcall/shared/api/interfaces';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Installation, oneDatabase } from './harness.ts';

/** Seventy boxes, swept by a real collector: every cable that can be known is told, and no other. */

const { site, links } = topologyFixture();

const linkText = (ends: { device: string; port: string }[]): string =>
  ends
    .map(({ device, port }) => `${device} ${port}`)
    .sort()
    .join(' — ');
/** Ports by what an agent shows: ifName, or ifDescr where it has no ifXTable. */
const shown = ({ device: name, port: named }: TrueLink['a']) => {
  const device = site.devices.find((each) => each.name === name);
  const port = device?.ports.find((each) => each.name === named);
  const text = device?.features.includes('high-speed') ? port?.name : port?.descr;
  return { device: name, port: text ?? '?' };
};
const trueLink = ({ a, b }: TrueLink) => linkText([shown(a), shown(b)]);

describe.each(oneDatabase)('the topology of the fixture on %s', (_name, url) => {
  let world: Installation;
  let live: LiveSite;
  let siteId: string;
  let topology: Topology;

  const read = async () => (await world.api<Topology>('GET', `/api/topology?site=${siteId}`)).data;
  const linksOf = ({ nodes, links }: Topology): string[] => {
    const names = new Map(nodes.map((node) => [node.id, node.name]));
    return links.map(({ a, b }) =>
      linkText([a, b].map((end) => ({ device: names.get(end.deviceId) ?? '?', port: end.port ?? '?' }))),
    );
  };
  const scan = async () => {
    const { scanId } = await world.api('POST', '/api/discovery/scan', {
      targets: live.truth.targets,
      profile: 'deep',
      site: 'topology',
    });
    const ended = await world.scanEnd(scanId);
    expect(ended.status).toBe('completed');
  };

  beforeAll(async () => {
    world = await Installation.start({ databaseUrl: await url() });
    live = await startSite(site, { port: 16_191 });
    world.onStop(() => live.stop());
    siteId = await world.site('topology', 16_191, live.truth.credentials);
    await world.collector(siteId, 'collector');
    await scan();
  }, 180_000);
  afterAll(() => world?.stop());

  it('has every true link and no other, soon after the scan', async () => {
    const wanted = links.map(trueLink).sort();
    const ended = Date.now();
    let found: string[] = [];
    do {
      topology = await read();
      found = linksOf(topology).sort();
      if (Date.now() - ended > 60_000) break;
      await new Promise((resolve) => setTimeout(resolve, 200));
    } while (found.join() !== wanted.join());
    expect(found).toEqual(wanted);
    expect(topology.nodes).toHaveLength(site.devices.length);
  });
});
