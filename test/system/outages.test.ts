import { setTimeout as sleep } from 'node:timers/promises';
import { enterOwnNetwork } from '@rollcall/host/testing/own-network';
import { skipped } from '@rollcall/shared/testing/skipped';
import { haveSnmpd } from '@rollcall/snmp/testing/snmpd';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from './harness.ts';
import { Host } from './hosts.ts';
import { Plant } from './plant.ts';

/**
 * What fails for real becomes the cases that people expect: a core router with hosts behind it, named by LLDP, and two
 * hosts that nobody knows a link of, each in a namespace of its own with Debian's snmpd; links really go down.
 */

const possible = haveSnmpd() && enterOwnNetwork();
if (!possible) skipped('outages of real hosts: be root, install iproute2 and snmpd');

describe.skipIf(!possible)('outages of real hosts', () => {
  let plant: Plant;
  const LEAVES = ['leaf-a', 'leaf-b', 'leaf-c'];
  const cases = async () => (await plant.cases()).filter(({ status }) => status < 3);

  beforeAll(async () => {
    const core = new Host(1, 'core');
    const leaves = LEAVES.map((name, i) => new Host(i + 2, name, core));
    const edge = new Host(5, 'edge');
    const lone = new Host(6, 'lone');
    plant = new Plant([core, ...leaves, edge, lone]);
    // A port of the edge whose far end hangs in the lone host.
    edge.ip('link', 'add', 'port1', 'type', 'veth', 'peer', 'name', 'far1', 'netns', lone.name);
    edge.ip('link', 'set', 'port1', 'up');
    lone.ip('link', 'set', 'far1', 'up');
    await plant.discover({ core: LEAVES }, { holdSeconds: { 'snmp.unreachable': 3 } });
    await until(20_000, 'the core names what hangs on it', async () => {
      const linked = await plant.neighbours('core');
      return LEAVES.every((name) => linked.includes(plant.id(name)));
    });
    await plant.watch();
  }, 120_000);
  afterAll(() => plant?.stop());

  /** A cable that is pulled and put back so many times, with the traps that a switch sends of it. */
  const flap = async (times: number) => {
    const edge = plant.host('edge');
    const ifIndex = edge.exec('cat', '/sys/class/net/port1/ifindex').trim();
    const trap = (number: number) =>
      edge.exec(
        'snmptrap',
        ...['-v2c', '-c', 'public', edge.gateway, '', `1.3.6.1.6.3.1.1.5.${number}`],
        ...[`1.3.6.1.2.1.2.2.1.1.${ifIndex}`, 'i', ifIndex],
      );
    for (let i = 0; i < times; i++) {
      plant.host('lone').ip('link', 'set', 'far1', 'down');
      trap(3);
      await sleep(150);
      plant.host('lone').ip('link', 'set', 'far1', 'up');
      trap(4);
      await sleep(150);
    }
  };

  it('a core that dies with what is behind it, a link that flaps a hundred times, an agent that breaks: a case each', async () => {
    await plant.host('lone').killSnmpd();
    const flapping = flap(100);
    const died = Date.now();
    plant.host('core').power(false);
    await until(45_000, 'the core is told', async () =>
      (await cases()).some(({ rootDeviceId }) => rootDeviceId === plant.id('core')),
    );
    expect(Date.now() - died).toBeLessThanOrEqual(45_000);
    await flapping;
    await until(60_000, 'what is behind the core and the broken agent are told', async () => {
      const behind = await plant.openOf('device.unreachable');
      return behind.length === LEAVES.length && (await plant.openOf('snmp.unreachable')).length === 1;
    });
    const found = await cases();
    expect(found.map(({ rootDeviceId }) => rootDeviceId).sort()).toEqual(
      ['core', 'edge', 'lone'].map((name) => plant.id(name)).sort(),
    );
    expect(found.find(({ rootDeviceId }) => rootDeviceId === plant.id('core'))).toMatchObject({
      title: 'core does not answer',
      severity: 2,
    });
    expect((await plant.ofKind('device.down')).map(({ deviceId }) => deviceId)).toEqual([plant.id('core')]);
    const ofPort = await plant.ofKind('interface.down', 'flapping');
    expect(ofPort.length).toBeLessThanOrEqual(3);
    expect(ofPort.find(({ kind }) => kind === 'flapping')?.count).toBeGreaterThan(50);
    const ofEdge = ofPort.filter(({ deviceId }) => deviceId === plant.id('edge'));
    expect(new Set(ofEdge.map(({ caseId }) => caseId)).size).toBe(1);
  }, 180_000);

  it('they resolve themselves when all is well; the agent that came back is told as a reboot', async () => {
    plant.host('core').power(true);
    plant.host('lone').startSnmpd(plant.world.folder);
    await until(60_000, 'resolved', async () =>
      (await cases())
        .filter(({ rootDeviceId }) => rootDeviceId !== plant.id('edge'))
        .every(({ status, openEventCount }) => status === 2 && openEventCount === 0),
    );
    expect((await plant.ofKind('device.rebooted')).map(({ deviceId }) => deviceId)).toEqual([
      plant.id('lone'),
    ]);
  }, 90_000);

  it('the power of the whole site goes and returns: one case more, which resolves itself', async () => {
    const before = new Set((await cases()).map(({ id }) => id));
    const down = () => plant.openOf('device.down', 'device.unreachable');
    for (const name of ['core', 'edge', 'lone']) plant.host(name).power(false);
    await until(60_000, 'all are told', async () => (await down()).length === plant.size);
    const told = await down();
    expect(new Set(told.map(({ caseId }) => caseId)).size).toBe(1);
    for (const name of ['core', 'edge', 'lone']) plant.host(name).power(true);
    await until(60_000, 'all are back', async () => (await down()).length === 0);
    const [outage] = (await cases()).filter(({ id }) => id === told[0]?.caseId);
    await until(20_000, 'resolved', async () =>
      (await cases()).some(({ id, status }) => id === outage?.id && status === 2),
    );
    expect((await cases()).filter(({ id }) => !before.has(id)).length).toBeLessThanOrEqual(1);
  }, 180_000);
});
