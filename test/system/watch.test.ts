import { enterOwnNetwork } from '@rollcall/host/testing/own-network';
import { skipped } from '@rollcall/shared/testing/skipped';
import { haveSnmpd } from '@rollcall/snmp/testing/snmpd';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Installation, type RunningCollector, until } from './harness.ts';
import { Host } from './hosts.ts';

/**
 * The watch over real agents and links that really go down: two hosts in network namespaces, one of them with Debian's
 * snmpd and a cable of its own, seen from the collector's end of two more cables.
 */

interface Event {
  kind: string;
  status: number;
  deviceId: string | null;
  message: string;
  count: number;
  closeReason: string | null;
  details: { after?: { varbinds: { oid: string; value: string }[]; dropped: number } };
}

const possible = haveSnmpd() && enterOwnNetwork();
if (!possible) skipped('the watch over real links: be root, install iproute2 and snmpd');

describe.skipIf(!possible)('watching real hosts', () => {
  let world: Installation;
  let switched: Host;
  let plain: Host;
  let site: string;
  let collector: RunningCollector;
  const ids: Record<string, string> = {};

  const events = async (kind: string): Promise<Event[]> =>
    (await world.all<Event>('/api/events')).filter((event) => event.kind === kind);
  const open = async (kind: string) => (await events(kind)).filter(({ status }) => status < 2);
  const opens = (kind: string, withinMs: number) =>
    until(withinMs, `${kind} opens`, async () => (await open(kind)).length > 0);
  const clears = (kind: string, withinMs: number) =>
    until(withinMs, `${kind} clears`, async () => (await open(kind)).length === 0);
  const port = async () =>
    (
      await world.all<{ name: string; operStatus: string; adminStatus: string }>(
        `/api/interfaces?deviceId=${ids.watched}`,
      )
    ).find(({ name }) => name === 'port1');
  const watches = async (): Promise<Record<string, number>> =>
    Object.fromEntries(
      (
        await world.all<{ name: string; health: { watch: { targets: number } | null } }>('/api/collectors')
      ).map(({ name, health }) => [name, health.watch?.targets ?? 0]),
    );

  beforeAll(async () => {
    switched = new Host(1, 'watched');
    plain = new Host(2, 'plain');
    // A port whose far end hangs in the other host: taken down there, the carrier is gone here.
    switched.ip('link', 'add', 'port1', 'type', 'veth', 'peer', 'name', 'far1', 'netns', plain.name);
    switched.ip('link', 'set', 'port1', 'up');
    plain.ip('link', 'set', 'far1', 'up');
    world = await Installation.start();
    switched.startSnmpd(world.folder);
    const { data } = await world.api<{ id: string }>('POST', '/api/sites', {
      name: 'bench',
      networks: [],
      exclude: [],
      settings: { watchIcmpSeconds: 2, watchSnmpSeconds: 5 },
    });
    site = data.id;
    await world.api('POST', '/api/credentials', {
      name: 'public',
      version: 'v2c',
      community: 'public',
      allSites: true,
    });
    await world.api('POST', '/api/credentials', {
      name: 'traps',
      version: 'v3',
      user: 'trapper',
      authProtocol: 'sha256',
      authKey: 'authentication phrase',
      privProtocol: 'aes128',
      privKey: 'privacy phrase 1',
      allSites: true,
    });
    collector = await world.collector(site, 'one');
    const { scanId } = await world.api('POST', '/api/discovery/scan', {
      targets: `${switched.address} ${plain.address}`,
      profile: 'standard',
      site,
    });
    await world.scanEnd(scanId);
    for (const device of await world.all<{ id: string; name: string }>('/api/devices'))
      ids[device.name === 'watched' ? 'watched' : 'plain'] = device.id;
    expect(Object.keys(ids).sort()).toEqual(['plain', 'watched']);
    await world.api('POST', '/api/devices/bulk', { filter: { site }, set: { monitor: 1 } });
    // Told in a heartbeat, one in five seconds, which is written every ten.
    await until(30_000, 'both are watched', async () => (await watches()).one === 2);
    // Everybody has been asked once.
    await new Promise((resolve) => setTimeout(resolve, 7000));
    expect((await world.all<{ status: string }>('/api/devices')).map(({ status }) => status)).toEqual([
      'up',
      'up',
    ]);
  }, 120_000);
  afterAll(async () => {
    await world?.stop();
    await switched?.remove();
    await plain?.remove();
  });

  it('sees a cable pulled and put back; a port that an operator shuts is no alarm', async () => {
    expect(await port()).toMatchObject({ adminStatus: 'up', operStatus: 'up' });
    plain.ip('link', 'set', 'far1', 'down');
    await opens('interface.down', 60_000);
    expect(await open('interface.down')).toMatchObject([{ message: 'port1 of watched is down', count: 1 }]);
    expect((await port())?.operStatus).not.toBe('up');
    plain.ip('link', 'set', 'far1', 'up');
    await clears('interface.down', 20_000);
    switched.ip('link', 'set', 'port1', 'down');
    await until(20_000, 'shut', async () => (await port())?.adminStatus === 'down');
    expect(await open('interface.down')).toEqual([]);
    switched.ip('link', 'set', 'port1', 'up');
    await until(20_000, 'open', async () => (await port())?.operStatus === 'up');
    expect(await events('interface.down')).toHaveLength(1);
  }, 120_000);

  it('tells an agent that is gone from a device that is, and its return as a reboot', async () => {
    await switched.killSnmpd();
    await opens('snmp.unreachable', 90_000);
    expect(await open('device.down')).toEqual([]);
    const { data } = await world.api<{ status: string; reachable: object }>(
      'GET',
      `/api/devices/${ids.watched}`,
    );
    expect(data).toMatchObject({ status: 'up', reachable: { icmp: true, snmp: false } });
    switched.startSnmpd(world.folder);
    await clears('snmp.unreachable', 30_000);
    // It joins the case of the agent's silence, which is over with that silence: told, and expired with its case.
    await until(60_000, 'the reboot is told', async () => (await events('device.rebooted')).length === 1);
  }, 180_000);

  it('keeps its word over restarts of the collector: nobody is down who is not', async () => {
    await collector.kill();
    collector.start();
    await world.online('one', false, 30_000).catch(() => undefined);
    await world.online('one', true);
    await until(30_000, 'it watches again', async () => (await watches()).one === 2);
    await new Promise((resolve) => setTimeout(resolve, 8000));
    expect(await events('device.down')).toEqual([]);
  }, 120_000);

  it('sees a host taken off the network, and its return', async () => {
    plain.ip('link', 'set', 'eth0', 'down');
    await until(15_000, 'down', async () => {
      const { data } = await world.api<{ status: string }>('GET', `/api/devices/${ids.plain}`);
      return data.status === 'down';
    });
    await opens('device.down', 45_000);
    expect(await open('device.down')).toMatchObject([{ deviceId: ids.plain }]);
    plain.ip('link', 'set', 'eth0', 'up');
    await clears('device.down', 15_000);
  }, 120_000);

  const notify = (tool: 'snmptrap' | 'snmpinform', version: string[], ...trap: string[]) =>
    switched.exec(tool, ...version, switched.gateway, ...trap);
  const V2C = ['-v2c', '-c', 'public'];
  const V3 = [
    ...['-v3', '-u', 'trapper', '-l', 'authPriv', '-a', 'SHA-256', '-A', 'authentication phrase'],
    ...['-x', 'AES', '-X', 'privacy phrase 1'],
  ];
  const TRAP = '1.3.6.1.4.1.8072.9999.0';

  it('takes traps of every version, answers informs, and says what is in them', async () => {
    notify('snmptrap', V2C, '', `${TRAP}.1`, '1.3.6.1.4.1.8072.9999.1', 's', 'fan tray 2');
    notify('snmptrap', ['-v1', '-c', 'public'], '1.3.6.1.4.1.8072.9999', switched.address, '6', '2', '');
    notify('snmptrap', [...V3, '-e', '0x8000000001020304'], '', `${TRAP}.3`);
    // Both end with an error when nobody answers.
    notify('snmpinform', [...V2C, '-t', '3'], '', `${TRAP}.4`);
    notify('snmpinform', [...V3, '-t', '3'], '', `${TRAP}.5`);
    await until(15_000, 'five traps', async () => (await events('trap')).length === 5);
    const told = await events('trap');
    expect(told.map(({ message }) => message.replace(/.* trap /, '')).sort()).toEqual(
      [1, 2, 3, 4, 5].map((n) => `${TRAP}.${n}`),
    );
    for (const { deviceId } of told) expect(deviceId).toBe(ids.watched);
    expect(told.find(({ message }) => message.endsWith('.1'))?.details.after?.varbinds).toContainEqual({
      oid: '1.3.6.1.4.1.8072.9999.1',
      type: 'octets',
      value: 'fan tray 2',
    });
  }, 60_000);

  it('believes no v3 trap with a wrong key', async () => {
    const wrong = V3.map((each) => (each === 'authentication phrase' ? 'another phrase' : each));
    notify('snmptrap', [...wrong, '-e', '0x8000000001020305'], '', `${TRAP}.6`);
    await until(60_000, 'counted', async () => {
      const [{ health }] = (await world.all<{ health: { drops: Record<string, number> } }>(
        '/api/collectors',
      )) as [{ health: { drops: Record<string, number> } }];
      return health.drops['trap-wrong-digest'] === 1;
    });
    expect((await events('trap')).some(({ message }) => message.endsWith('.6'))).toBe(false);
  }, 120_000);

  it('opens and clears by link traps at once, and reads the truth behind them', async () => {
    const ifIndex = switched.exec('cat', '/sys/class/net/port1/ifindex').trim();
    const column = `1.3.6.1.2.1.2.2.1.1.${ifIndex}`;
    const before = (await events('interface.down')).length;
    notify('snmptrap', V2C, '', '1.3.6.1.6.3.1.1.5.3', column, 'i', ifIndex);
    // The port is up: the reading that the trap causes says so, and nothing stays open.
    await until(20_000, 'the port is read', async () => (await port())?.operStatus === 'up');
    await clears('interface.down', 20_000);
    expect((await events('interface.down')).length).toBeLessThanOrEqual(before + 1);
    notify('snmptrap', V2C, '', '1.3.6.1.6.3.1.1.5.5');
    await opens('snmp.authentication-failure', 15_000);
  }, 60_000);

  it('lets through so many traps of a storm, with the count of the others and the last of them', async () => {
    const trap = (n: string) =>
      ['snmptrap', ...V2C, switched.gateway, "''", `${TRAP}.9`, '1.3.6.1.4.1.8072.9999.1', 'i', n].join(' ');
    // All at once: one after the other they are no storm on a busy machine.
    switched.exec('sh', '-c', `for n in $(seq 0 78); do ${trap('$n')} & done; wait; ${trap('79')}`);
    await until(20_000, 'the last', async () => {
      const storm = (await events('trap')).find(({ message }) => message.endsWith('.9'));
      return storm?.details.after?.varbinds[0]?.value === '79';
    });
    const storm = (await events('trap')).find(({ message }) => message.endsWith('.9'));
    expect(storm?.count).toBeLessThan(80);
  }, 60_000);

  it('is shared with a second collector, which takes over what the first leaves', async () => {
    const second = await world.collector(site, 'two');
    await until(30_000, 'shared', async () => {
      const { one = 0, two = 0 } = await watches();
      return one + two === 2;
    });
    await collector.kill();
    await world.online('one', false);
    await until(45_000, 'taken over', async () => (await watches()).two === 2);
    plain.ip('link', 'set', 'eth0', 'down');
    await opens('device.down', 60_000);
    expect(await open('device.down')).toMatchObject([{ deviceId: ids.plain }]);
    await second.stop();
  }, 180_000);
});
