import { setTimeout as sleep } from 'node:timers/promises';
import { enterOwnNetwork } from '@rollcall/host/testing/own-network';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../system/harness.ts';
import { type Member, Plant } from '../system/plant.ts';
import { haveDaemons, Network } from './network.ts';
import { planNetwork, reached } from './plan.ts';

/**
 * A network that the product did not make: routers that speak OSPF, bridges, hosts, each in namespaces of its own with
 * Debian's daemons. What must be said is computed from the plan of the network.
 */
const possible = haveDaemons() && enterOwnNetwork();

interface Found {
  id: string;
  name: string;
  address: string;
  class: string;
}

describe.skipIf(!possible)('a network of real daemons', () => {
  const plan = planNetwork({ seed: 1, routers: 6, hosts: 11, shape: 'tree' });
  /** Its loss cuts off the most. */
  const [root] = plan.boxes
    .filter(({ role, name }) => role === 'router' && name !== plan.entry)
    .map(({ name }) => ({ name, rest: reached(plan, { boxes: [name] }) }))
    .sort((a, b) => a.rest.size - b.rest.size);
  const behind = plan.boxes
    .map(({ name }) => name)
    .filter((name) => name !== root?.name && !root?.rest.has(name));
  let network: Network;
  let plant: Plant<Member>;

  beforeAll(async () => {
    network = await Network.build(plan);
    plant = new Plant(
      plan.boxes.map(({ name, address }) => ({
        sysName: name,
        address,
        startSnmpd: () => undefined,
        remove: () => network.box(name).remove(),
      })),
    );
    await until(60_000, 'OSPF has found its ways', async () => network.converged());
    const nets = plan.boxes.filter(({ role }) => role === 'router').map(({ net }) => `10.${net}.0.0/27`);
    await plant.discover({}, {}, ['10.255.0.0/28', ...nets].join(' '));
  });
  afterAll(() => plant?.stop());

  it('each box is one device, of the right class, at the address that stays', async () => {
    const found = await plant.world.all<Found>('/api/devices');
    expect(Object.fromEntries(found.map(({ name, address }) => [name, address]))).toEqual(
      Object.fromEntries(plan.boxes.map(({ name, address }) => [name, address])),
    );
    const classes = { router: 'router', switch: 'switch', host: 'server' };
    expect(Object.fromEntries(found.map((device) => [device.name, device.class]))).toEqual(
      Object.fromEntries(plan.boxes.map(({ name, role }) => [name, classes[role]])),
    );
  });

  it('the links that LLDP tells are the cables', async () => {
    const pair = (a: string, b: string) => [a, b].sort().join(' ');
    const nameOf = (id: string | null) => plan.boxes.find(({ name }) => plant.id(name) === id)?.name ?? '?';
    await until(20_000, 'every neighbour is known as a device', async () => {
      const told = new Set<string>();
      for (const { name } of plan.boxes)
        for (const far of await plant.neighbours(name)) told.add(pair(name, nameOf(far)));
      const cables = plan.cables.map(({ a, b }) => pair(a, b));
      return told.size === cables.length && cables.every((cable) => told.has(cable));
    });
  });

  it('a router dies: one case that names it, what is behind is unreachable', async () => {
    await plant.watch();
    network.power(root?.name ?? '', false);
    await until(60_000, 'all behind is told', async () => {
      const unreachable = await plant.openOf('device.unreachable');
      return unreachable.length === behind.length;
    });
    expect((await plant.ofKind('device.down')).map(({ deviceId }) => deviceId)).toEqual([
      plant.id(root?.name ?? ''),
    ]);
    const open = (await plant.cases()).filter(({ status }) => status < 2);
    expect(open).toMatchObject([
      { title: `${root?.name} does not answer`, rootDeviceId: plant.id(root?.name ?? '') },
    ]);
  });

  it('it returns: all is cleared, and nobody is told of anything else', async () => {
    // Ports that led to it are down with it; they are held longer than it is.
    const ports = plan.cables.flatMap(({ a, b }) => (a === root?.name ? [b] : b === root?.name ? [a] : []));
    const ofPort = new RegExp(`^\\S+ of (${ports.join('|')}) is down$`);
    const told = async () =>
      (await plant.events())
        .map(({ message }) => message)
        .filter((message) => !ofPort.test(message))
        .sort();
    const before = await told();
    network.power(root?.name ?? '', true);
    await until(90_000, 'all is cleared', async () => (await plant.openEvents()).length === 0);
    await sleep(5_000);
    expect((await plant.ofKind('device.down')).map(({ deviceId }) => deviceId)).toEqual([
      plant.id(root?.name ?? ''),
    ]);
    expect(await told()).toEqual(before);
    expect((await plant.cases()).filter(({ status }) => status < 2)).toEqual([]);
  });

  /** What is told of a device since, but of its parts. */
  const story = async (name: string) =>
    (await plant.events())
      .filter(({ kind, deviceId }) => deviceId === plant.id(name) && /^device\.(re|down|un|moved)/.test(kind))
      .map(({ message }) => message);
  const addressOf = async (name: string) =>
    (await plant.world.api<Found>('GET', `/api/devices/${plant.id(name)}`)).data.address;

  it('a router loses one of its addresses: it is not down, and managed at another', async () => {
    const { name, address, net } =
      plan.boxes.findLast(({ role }) => role === 'router') ?? expect.fail('none');
    const before = await story(name);
    network.box(name).ip(`addr del ${address}/32 dev lo`);
    await until(200_000, 'it is managed where it answers', async () => (await addressOf(name)) !== address);
    await sleep(25_000);
    const now = await addressOf(name);
    expect(now.startsWith(`10.${net}.0.`) || now.startsWith('10.254.')).toBe(true);
    expect((await story(name)).filter((each) => !before.includes(each))).toEqual([
      `${name} is at ${now}, before ${address}`,
    ]);
    expect(await plant.openEvents()).toEqual([]);
  }, 300_000);
});
