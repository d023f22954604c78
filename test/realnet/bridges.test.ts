import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { enterOwnNetwork } from '@rollcall/host/testing/own-network';
import type { EndpointPlaces } from '@rollcall/shared/api/endpoints';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../system/harness.ts';
import { type Member, Plant } from '../system/plant.ts';
import { Box } from './box.ts';
import { haveDaemons } from './daemons.ts';

/**
 * Where stations are by the tables of real bridges: three of the Linux kernel's, each with Debian's snmpd and lldpd, an unmanaged one
 * that nobody can ask, and stations that say nothing of themselves.
 */
const possible = haveDaemons() && enterOwnNetwork();

const SWITCHES = { sw1: '10.9.0.1', sw2: '10.9.0.2', sw3: '10.9.0.3' };
const STATIONS = { pc1: 11, pc2: 12, pc3: 13, pc4: 14, pc5: 15 };
/** Port of the first, port of the second. */
const CABLES = [
  ['sw1', 'to2', 'sw2', 'to1'],
  ['sw1', 'to3', 'sw3', 'to1'],
  ['sw2', 'p1', 'hub', 'p0'],
  ['hub', 'p1', 'pc1', 'eth0'],
  ['hub', 'p2', 'pc2', 'eth0'],
  ['sw2', 'p3', 'pc3', 'eth0'],
  ['sw3', 'p4', 'pc4', 'eth0'],
  ['sw2', 'p5', 'pc5', 'eth0'],
  ['sw3', 'p6', 'pc5', 'eth1'],
] as const;
type Station = keyof typeof STATIONS;

const SNMPD = `rocommunity public
master agentx
agentXSocket /var/agentx/master
agentXPerms 0777 0777
pass_persist .1.3.6.1.2.1.17 ${process.execPath} ${fileURLToPath(new URL('bridge-mib.mjs', import.meta.url))}
`;

const macOf = (station: Station): string => `00:1b:21:00:00:${STATIONS[station]}`;
const addressOf = (station: Station): string => `10.9.0.${STATIONS[station]}`;

class Fabric {
  readonly #boxes = new Map<string, Box>();

  static async build(): Promise<Fabric> {
    const fabric = new Fabric();
    const names = ['hub', ...Object.keys(SWITCHES), ...Object.keys(STATIONS)];
    await Promise.all(names.map(async (name) => fabric.#boxes.set(name, await Box.boot(name))));
    for (const [a, port, b, far] of CABLES) fabric.box(a).cable(port, fabric.box(b), far);
    fabric.box('sw1').cableOut('out', 'where0');
    execFileSync('ip', ['addr', 'add', '10.9.0.254/24', 'dev', 'where0']);
    for (const name of ['hub', ...Object.keys(SWITCHES)]) fabric.#bridge(name);
    for (const [name, address] of Object.entries(SWITCHES))
      fabric.box(name).ip(`addr add ${address}/24 dev br0`);
    for (const name of Object.keys(STATIONS) as Station[]) fabric.#station(name, 'eth0');
    for (const [name, address] of Object.entries(SWITCHES)) fabric.#serve(name, address);
    return fabric;
  }

  box(name: string): Box {
    return this.#boxes.get(name) ?? expect.fail(name);
  }

  #bridge(name: string): void {
    const ports = CABLES.flatMap<string>(([a, port, b, far]) =>
      a === name ? [port] : b === name ? [far] : [],
    );
    if (name === 'sw1') ports.push('out');
    this.box(name).ip(
      'link add br0 type bridge',
      ...ports.map((port) => `link set ${port} master br0`),
      'link set br0 up',
    );
  }

  #serve(name: string, address: string): void {
    const box = this.box(name);
    box.write('/run/snmpd.conf', SNMPD);
    box.daemon('snmpd', '-Lf', '/run/snmpd.log', '-C', '-c', '/run/snmpd.conf', '-I', '-smux', 'udp:161');
    box.write('/run/lldpd.conf', 'configure lldp tx-interval 2\n');
    box.daemon('lldpd', '-x', '-X', '/var/agentx/master', '-m', address, '-O', '/run/lldpd.conf');
  }

  #station(name: Station, port: string): void {
    this.box(name).ip(
      `link set ${port} down`,
      `link set ${port} address ${macOf(name)}`,
      `link set ${port} up`,
      `addr add ${addressOf(name)}/24 dev ${port}`,
    );
  }

  /** Takes the cable out here and puts it in there. */
  move(name: Station): void {
    this.box(name).ip('link set eth0 down', 'addr flush dev eth0', 'link set eth0 address 00:1b:21:00:00:99');
    this.#station(name, 'eth1');
  }

  /** Every station says something, which all bridges on the way hear. */
  speak(): void {
    for (const name of Object.keys(STATIONS)) this.box(name).exec('ping', '-c1', '-W5', SWITCHES.sw1);
  }

  /** The port that the agent of a switch lists a station at. Its table is read from the kernel once a second (bridge-mib.mjs). */
  listed(name: keyof typeof SWITCHES, station: Station): string {
    const mac = macOf(station)
      .split(':')
      .map((octet) => Number.parseInt(octet, 16));
    const oid = `1.3.6.1.2.1.17.4.3.1.2.${mac.join('.')}`;
    return this.box(name).exec('snmpget', '-v2c', '-cpublic', '-Oqv', SWITCHES[name], oid).trim();
  }

  converged(): boolean {
    const heard = (name: string) => this.box(name).exec('lldpcli', 'show', 'neighbors', '-f', 'keyvalue');
    return ['sw2', 'sw3'].every(
      (far) => heard('sw1').includes(`chassis.name=${far}\n`) && heard(far).includes('chassis.name=sw1\n'),
    );
  }

  async remove(): Promise<void> {
    await Promise.all([...this.#boxes.values()].map((box) => box.remove()));
  }
}

describe.skipIf(!possible)('endpoints on real bridges', () => {
  let fabric: Fabric;
  let plant: Plant<Member>;
  const targets = Object.values(SWITCHES).join(' ');

  beforeAll(async () => {
    fabric = await Fabric.build();
    const silent = { startSnmpd: () => undefined, remove: async () => undefined };
    plant = new Plant(
      Object.entries(SWITCHES).map(([sysName, address]) => ({ sysName, address, ...silent })),
    );
    await until(60_000, 'every bridge has heard of its neighbours', async () => fabric.converged());
    fabric.speak();
    await plant.discover({}, {}, targets);
    // This snmpd answers the first question for its ARP table with an empty one.
    await plant.scan(targets);
  }, 400_000);
  afterAll(async () => {
    await plant?.stop();
    await fabric?.remove();
  });

  const read = async (station: Station): Promise<EndpointPlaces> => {
    const { data } = await plant.world.api<EndpointPlaces[]>('GET', `/api/endpoints/${macOf(station)}`);
    return data[0] ?? expect.fail(`${station} is not known`);
  };
  const placesOf = async () =>
    Object.fromEntries(
      await Promise.all(
        (Object.keys(STATIONS) as Station[]).map(async (station) => {
          const { placement, addresses } = await read(station);
          const ports = placement.ports.map(({ device, port }) => `${device} ${port}`);
          return [station, [placement.verdict, ...ports, ...addresses].join(' ')];
        }),
      ),
    );
  /** The server rests ten times as long as it took to link a site: on a busy machine that is long. */
  const poll = () => expect.poll(placesOf, { timeout: 120_000, interval: 500 });
  const BEFORE = {
    pc1: 'placed sw2 p1 10.9.0.11',
    pc2: 'placed sw2 p1 10.9.0.12',
    pc3: 'placed sw2 p3 10.9.0.13',
    pc4: 'placed sw3 p4 10.9.0.14',
    pc5: 'placed sw2 p5 10.9.0.15',
  };

  it('every station is on the port where it enters, also behind an unmanaged switch', async () => {
    await poll().toEqual(BEFORE);
    expect((await read('pc1')).placement.reason).toContain('unmanaged switch');
  }, 150_000);

  it('one that moved is on its new port, and was on the old one before', async () => {
    const listed = () => [fabric.listed('sw2', 'pc5'), fabric.listed('sw3', 'pc5')];
    const [old, uplink] = listed();
    fabric.move('pc5');
    fabric.speak();
    await until(30_000, 'both agents list the move', async () => {
      const [sw2, sw3] = listed();
      return sw2 !== old && sw3 !== uplink;
    });
    await plant.scan(targets);
    await poll().toEqual({ ...BEFORE, pc5: 'placed sw3 p6 10.9.0.15' });
    const { places } = await read('pc5');
    // A scan that reads sw3 before sw2 has both of them in between.
    const sure = places.filter(({ ports }) => ports.length === 1).flatMap(({ ports }) => ports);
    expect(sure.map(({ device, port }) => `${device} ${port}`)).toEqual(['sw3 p6', 'sw2 p5']);
  }, 200_000);
});
