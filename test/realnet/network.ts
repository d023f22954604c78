/** Builds a planned network of real daemons: FRR on routers, bridges on switches, lldpd and snmpd on all. */
import { execFileSync, spawnSync } from 'node:child_process';
import { Box } from './box.ts';
import { columnOf, LLDP_REM_SYS_NAME, startAgent, startFrr, startLldpd } from './daemons.ts';
import type { Plan, PlannedBox } from './plan.ts';

/** The ways out of the network, at the collector. */
const outsideOf = (n: number) => ({ port: `noc${n}`, address: `10.0.${n}.2`, gateway: `10.0.${n}.1` });

export class Network {
  readonly plan: Plan;
  readonly #boxes = new Map<string, Box>();
  /** By cable, the port at either end. */
  readonly #ports = new Map<string, string>();
  readonly #upgraded = new Set<string>();

  private constructor(plan: Plan) {
    this.plan = plan;
  }

  static async build(plan: Plan): Promise<Network> {
    const network = new Network(plan);
    await Promise.all(plan.boxes.map(async ({ name }) => network.#boxes.set(name, await Box.boot(name))));
    network.#connect();
    for (const box of plan.boxes) network.#address(box);
    for (const box of plan.boxes) network.startDaemons(box.name);
    return network;
  }

  box(name: string): Box {
    const box = this.#boxes.get(name);
    if (!box) throw new Error(`there is no box ${name}`);
    return box;
  }

  /** The ports of a box that lead to another. */
  port(name: string, far: string): string {
    const port = this.#ports.get(`${name} ${far}`);
    if (port === undefined) throw new Error(`there is no cable between ${name} and ${far}`);
    return port;
  }

  /** Ends what runs in a box and takes its ports down, or starts it anew. */
  power(name: string, on: boolean): void {
    const box = this.box(name);
    const ports = this.#portsOf(name);
    const outside = this.#outside(name);
    if (outside) ports.push(outside.port);
    if (!on) for (const daemon of DAEMONS[this.#planned(name).role]) box.end(daemon);
    box.ip(...ports.map((port) => `link set ${port} ${on ? 'up' : 'down'}`));
    if (!on) return;
    this.#routes(this.#planned(name));
    this.startDaemons(name);
  }

  /** Shuts a port, or opens it: the other end loses carrier. */
  shut(name: string, far: string, on: boolean): void {
    this.box(name).ip(`link set ${this.port(name, far)} ${on ? 'down' : 'up'}`);
    if (!on) this.#routes(this.#planned(name));
  }

  /** A port that drops what it receives, or a part of it, its carrier is up; or no longer. */
  deafen(name: string, far: string, on: boolean, percent = 100): void {
    const drop = percent === 100 ? 'drop' : `numgen random mod 100 < ${percent} drop`;
    const chain = `chain netdev deaf in { type filter hook ingress device ${this.port(name, far)} priority 0; }`;
    const rules = `add table netdev deaf; add ${chain}; add rule netdev deaf in ${drop}`;
    this.box(name).exec('nft', on ? rules : 'delete table netdev deaf');
  }

  /** Puts other hardware in the place of a host that has no power. */
  swap(name: string): void {
    const box = this.box(name);
    box.exec('sh', '-c', 'rm -rf /var/lib/snmp/*');
    const number = this.plan.boxes.findIndex((planned) => planned.name === name);
    const mac = `02:00:5e:00:53:${number.toString(16).padStart(2, '0')}`;
    box.ip(`link set ${this.port(name, this.#nearest(name))} address ${mac}`);
  }

  /** Gives a box another version of its system, for when it starts. */
  upgrade(name: string): void {
    this.#upgraded.add(name);
  }

  /** Gives a box an address besides its own, or takes it. Its router hears of it at once, as keepalived tells it. */
  hold(name: string, address: string, on: boolean): void {
    const { role, net } = this.#planned(name);
    const port = role === 'switch' ? 'br0' : this.port(name, this.#nearest(name));
    this.box(name).ip(`addr ${on ? 'add' : 'del'} ${address}/24 dev ${port}`);
    if (on) this.box(`r${net}`).ip(`neigh flush to ${address}`);
  }

  /** A copy of a host at another address beside it, as of a virtual machine: the same name and engine, other hardware. */
  async copy(name: string, address: string): Promise<void> {
    const copy = await Box.boot(name);
    this.#boxes.set(`copy of ${name}`, copy);
    const near = this.#nearest(name);
    const port = `eth${this.#portsOf(near).length + 1}`;
    this.box(near).cable(port, copy, 'eth1');
    copy.exec('sysctl', '-qw', 'net.ipv4.ip_forward=0');
    this.box(near).ip(`link set ${port} master br0`);
    copy.ip(`addr add ${address}/24 dev eth1`, `route add default via 10.${this.#planned(name).net}.0.1`);
    copy.write('/var/lib/snmp/snmpd.conf', this.box(name).exec('cat', '/var/lib/snmp/snmpd.conf'));
    this.#startAgent(copy);
    startLldpd(copy, address);
  }

  /** An agent that hangs: its host answers for it in nothing. Afterwards lldpd does not come back to it by itself. */
  hang(name: string, on: boolean): void {
    const box = this.box(name);
    box.exec('pkill', on ? '-STOP' : '-CONT', '-x', 'snmpd');
    if (on) return;
    box.end('lldpd');
    startLldpd(box, this.#planned(name).address);
  }

  /** Gives a host another address in its network. */
  renumber(name: string, address: string): void {
    const { net, address: before } = this.#planned(name);
    const port = this.port(name, this.#nearest(name));
    this.box(name).ip(`addr del ${before}/24 dev ${port}`, `addr add ${address}/24 dev ${port}`);
    this.box(name).ip(`route replace default via 10.${net}.0.1`);
  }

  /** Whether every router has a way to every other, and every agent tells by LLDP of all that its box is cabled to. */
  converged(): boolean {
    for (const { name } of this.plan.boxes) {
      // Its daemon tells the agent what it hears some time after it heard it: a scan in between finds no neighbour.
      const told = this.#neighbours(name);
      const cables = this.plan.cables.filter(({ a, b }) => a === name || b === name);
      if (!cables.every(({ a, b }) => told.includes(`"${a === name ? b : a}"`))) return false;
    }
    const routers = this.plan.boxes.filter(({ role }) => role === 'router');
    return routers.every(({ name }) => {
      const routes = this.box(name).exec('ip', 'route', 'show', 'proto', 'ospf');
      return routers.every((far) => far.name === name || routes.includes(`${far.address} `));
    });
  }

  /** Whether its agent lists an address. It reads them from the kernel every 30 s only. */
  lists(name: string, address: string): boolean {
    return columnOf(this.box(name), IP_AD_ENT_ADDR).includes(address);
  }

  /** Names that its agent tells by LLDP. */
  #neighbours(name: string): string[] {
    return columnOf(this.box(name), LLDP_REM_SYS_NAME);
  }

  async remove(): Promise<void> {
    await Promise.all([...this.#boxes.values()].map((box) => box.remove()));
    // The kernel takes its time to; the next network needs the name.
    for (const name of this.plan.entries) spawnSync('ip', ['link', 'del', this.#outside(name)?.port ?? '']);
  }

  startDaemons(name: string): void {
    const { role, address } = this.#planned(name);
    const box = this.box(name);
    this.#startAgent(box);
    startLldpd(box, address);
    if (role !== 'router') return;
    startFrr(box, 'ospfd', frr(name, address, this.#areas(name)));
  }

  #startAgent(box: Box): void {
    const version = `sysdescr Linux ${box.name} 6.99.0 #1 SMP x86_64\n`;
    startAgent(box, this.#upgraded.has(box.name) ? version : '');
  }

  /** Each network of a router with its OSPF area. */
  #areas(name: string): string[] {
    const { net, address, area = 0 } = this.#planned(name);
    const cables = this.plan.cables.flatMap(({ a, b, area: own = 0 }, number) =>
      a === name || b === name ? [`10.254.${number}.0/30 area ${own}`] : [],
    );
    const outside = this.#outside(name);
    const ways = outside ? [`${outside.gateway}/30 area 0`] : [];
    return [`${address}/32 area ${area}`, `10.${net}.0.0/24 area ${area}`, ...ways, ...cables];
  }
  #portsOf(name: string): string[] {
    return [...this.#ports].filter(([key]) => key.startsWith(`${name} `)).map(([, port]) => port);
  }
  /** The way to the collector of a box that has one. */
  #outside(name: string): ReturnType<typeof outsideOf> | undefined {
    const n = this.plan.entries.indexOf(name);
    return n < 0 ? undefined : outsideOf(n);
  }
  /** What a host is cabled to. */
  #nearest(name: string): string {
    return this.plan.cables.find(({ b }) => b === name)?.a ?? '';
  }

  #planned(name: string): PlannedBox {
    const box = this.plan.boxes.find((planned) => planned.name === name);
    if (!box) throw new Error(`there is no box ${name}`);
    return box;
  }

  #connect(): void {
    const used = new Map<string, number>();
    const nextPort = (name: string, far: string): string => {
      const number = (used.get(name) ?? 0) + 1;
      used.set(name, number);
      this.#ports.set(`${name} ${far}`, `eth${number}`);
      return `eth${number}`;
    };
    for (const { a, b } of this.plan.cables) this.box(a).cable(nextPort(a, b), this.box(b), nextPort(b, a));
    const ways = this.plan.entries.map((name, n) => {
      const { port, address, gateway } = outsideOf(n);
      this.box(name).cableOut(port, port);
      execFileSync('ip', ['addr', 'add', `${address}/30`, 'dev', port]);
      return ['nexthop', 'via', gateway, 'dev', port];
    });
    // What has no carrier is no way.
    execFileSync('sysctl', ['-qw', 'net.ipv4.conf.all.ignore_routes_with_linkdown=1']);
    execFileSync('ip', ['route', 'add', '10.0.0.0/8', ...ways.flat()]);
  }

  #address(planned: PlannedBox): void {
    const { name, role, address, net } = planned;
    const box = this.box(name);
    const outside = this.#outside(name);
    // A new namespace has what the machine has.
    box.exec('sysctl', '-qw', `net.ipv4.ip_forward=${role === 'router' ? 1 : 0}`);
    if (role === 'router') {
      box.ip(
        `addr add ${address}/32 dev lo`,
        `addr add 10.${net}.0.1/24 dev ${this.port(name, `s${net}`)}`,
        ...(outside ? [`addr add ${outside.gateway}/30 dev ${outside.port}`] : []),
        ...this.plan.cables.flatMap(({ a, b }, number) => {
          if (!a.startsWith('r') || !b.startsWith('r') || (a !== name && b !== name)) return [];
          const far = a === name ? b : a;
          return [`addr add 10.254.${number}.${a === name ? 1 : 2}/30 dev ${this.port(name, far)}`];
        }),
      );
    } else if (role === 'switch') {
      box.ip(
        `link add br0 address ${bridgeMac(address)} type bridge`,
        ...this.#portsOf(name).map((port) => `link set ${port} master br0`),
        'link set br0 up',
        `addr add ${address}/24 dev br0`,
      );
    } else box.ip(`addr add ${address}/24 dev ${this.port(name, this.#nearest(name))}`);
    this.#routes(planned);
  }

  /** A way out: gone with the port that it leads through. */
  #routes({ name, role, net }: PlannedBox): void {
    if (role !== 'router') this.box(name).ip(`route replace default via 10.${net}.0.1`);
  }
}

/** One that stays: else a bridge takes the lowest of its ports', and is unreachable for a while when a port is added. */
const bridgeMac = (address: string): string =>
  ['02', '00', ...address.split('.').map((byte) => Number(byte).toString(16).padStart(2, '0'))].join(':');

const DAEMONS = {
  router: ['snmpd', 'lldpd', 'ospfd', 'zebra'],
  switch: ['snmpd', 'lldpd'],
  host: ['snmpd', 'lldpd'],
};

/** RFC 4293, IP-MIB */
const IP_AD_ENT_ADDR = '1.3.6.1.2.1.4.20.1.1';

/** Hellos every second and a dead interval of 3 s: a way that is gone is gone soon. */
const frr = (name: string, address: string, networks: readonly string[]): string => `hostname ${name}
agentx
${Array.from(
  { length: 8 },
  (_, n) => `interface eth${n + 1}
 ip ospf hello-interval 1
 ip ospf dead-interval 3
`,
).join('')}router ospf
 ospf router-id ${address}
${networks.map((each) => ` network ${each}\n`).join('')} passive-interface lo
`;
