import { enterOwnNetwork } from '@rollcall/host/testing/own-network';
import { skipped } from '@rollcall/shared/testing/skipped';
import { haveSnmpd } from '@rollcall/snmp/testing/snmpd';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from './harness.ts';
import { Host } from './hosts.ts';
import { Plant } from './plant.ts';

/**
 * A site of plain Debian hosts whose agents name no neighbours: a router with two hosts behind it, and one beside it, each
 * in a namespace of its own. What lies behind the router is known by addresses alone.
 */

const possible = haveSnmpd() && enterOwnNetwork();
if (!possible) skipped('routers of real hosts: be root, install iproute2 and snmpd');

describe.skipIf(!possible)('a router of real hosts without LLDP', () => {
  let plant: Plant;

  beforeAll(async () => {
    const router = new Host(1, 'router');
    const behind = [new Host(2, 'host-a', router), new Host(3, 'host-b', router)];
    plant = new Plant([router, ...behind, new Host(4, 'beside')]);
    await plant.discover({}, { recoverySeconds: 10 });
    for (const name of ['router', 'host-a', 'host-b', 'beside'])
      expect(await plant.neighbours(name)).toEqual([]);
    await plant.watch();
  }, 120_000);
  afterAll(() => plant?.stop());

  it('dies: one case that names it, and the hosts behind it have none', async () => {
    plant.host('router').power(false);
    await until(60_000, 'all are told', async () => (await plant.openEvents()).length === 3);
    const told = await plant.openEvents();
    expect(new Set(told.map(({ message }) => message))).toEqual(
      new Set([
        'router does not answer',
        `host-a is unreachable behind router, the only way into ${plant.host('host-a').net}`,
        `host-b is unreachable behind router, the only way into ${plant.host('host-b').net}`,
      ]),
    );
    expect(await plant.cases()).toMatchObject([
      { title: 'router does not answer', rootDeviceId: plant.id('router'), status: 0 },
    ]);
  }, 90_000);

  it('comes back: resolved, and nothing else was told', async () => {
    plant.host('router').power(true);
    await until(60_000, 'resolved', async () =>
      (await plant.cases()).every(({ status, openEventCount }) => status === 2 && openEventCount === 0),
    );
    expect(await plant.cases()).toHaveLength(1);
    expect(await plant.ofKind('device.down')).toMatchObject([{ deviceId: plant.id('router') }]);
  }, 90_000);

  it('lives while a host behind it dies: that one stands for itself', async () => {
    plant.host('host-a').power(false);
    await until(60_000, 'it is told', async () =>
      (await plant.openOf('device.down')).some(({ deviceId }) => deviceId === plant.id('host-a')),
    );
    plant.host('host-a').power(true);
  }, 90_000);
});
