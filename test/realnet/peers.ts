/**
 * Two routers with FRR's bgpd and one cable between them that carries forty sessions: half of them over subinterfaces
 * of the port, half over further addresses of the port itself. Each has a way of its own to the collector.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { Box } from './box.ts';
import { columnOf, LLDP_REM_SYS_NAME, startAgent, startFrr, startLldpd } from './daemons.ts';

export const ROUTERS = ['r1', 'r2'] as const;
export type RouterName = (typeof ROUTERS)[number];
/** The cable's port of either router. */
export const PORT = 'eth1';
export const SESSIONS = 40;

const numberOf = (name: RouterName): number => ROUTERS.indexOf(name) + 1;
export const addressOf = (name: RouterName): string => `10.255.0.${numberOf(name)}`;
const wayOf = (name: RouterName) => ({
  port: `noc${numberOf(name)}`,
  gateway: `10.0.${numberOf(name)}.1`,
  outside: `10.0.${numberOf(name)}.2`,
});
/** The network of each session: the port that it is on, and the address of either end. */
const GROUNDS = Array.from({ length: SESSIONS }, (_, n) =>
  n < SESSIONS / 2
    ? { port: `${PORT}.${101 + n}`, addresses: [`10.253.${n}.1`, `10.253.${n}.2`], bits: 30 }
    : { port: PORT, addresses: [`10.254.${n}.0`, `10.254.${n}.1`], bits: 31 },
);
/** Networks that a router announces. */
const announcedBy = (name: RouterName): string[] =>
  Array.from({ length: 5 }, (_, n) => `10.${100 + numberOf(name)}.${n}.0/24`);

/** BGP4-MIB (RFC 4273) */
const BGP_PEER_STATE = '1.3.6.1.2.1.15.3.1.2';
const ESTABLISHED = '6';

export class Peers {
  readonly #routers = new Map<RouterName, Box>();
  readonly #cable: Box;

  private constructor(cable: Box) {
    this.#cable = cable;
  }

  static async build(): Promise<Peers> {
    // Two ends of a veth have one carrier: a box in the middle can cut a cable so that neither router shut its port.
    const peers = new Peers(await Box.boot('cable'));
    for (const name of ROUTERS) peers.#routers.set(name, await Box.boot(name));
    for (const name of ROUTERS) peers.#cable.cable(name, peers.router(name), PORT);
    peers.#cable.ip(
      // Also LLDP, which a bridge keeps to itself by default (IEEE 802.1Q: 01-80-C2-00-00-0E).
      'link add br0 type bridge group_fwd_mask 0x4000',
      ...ROUTERS.map((name) => `link set ${name} master br0`),
      'link set br0 up',
    );
    for (const name of ROUTERS) peers.#address(name);
    for (const name of ROUTERS) peers.#start(name);
    return peers;
  }

  router(name: RouterName): Box {
    const box = this.#routers.get(name);
    if (!box) throw new Error(`there is no router ${name}`);
    return box;
  }

  /** Cuts the cable, or mends it: both routers lose carrier. */
  cut(off: boolean): void {
    this.#cable.ip(...ROUTERS.map((name) => `link set ${name} ${off ? 'down' : 'up'}`));
  }

  /** Sessions that the agent of a router lists as established. */
  established(name: RouterName): number {
    return columnOf(this.router(name), BGP_PEER_STATE).filter((state) => state === ESTABLISHED).length;
  }
  /** Whether all sessions are established, the routes of the other are there, and either hears the other by LLDP. */
  converged(): boolean {
    return ROUTERS.every((name) => {
      const routes = this.router(name).exec('ip', 'route', 'show', 'proto', 'bgp');
      const [far] = ROUTERS.filter((each) => each !== name);
      return (
        this.established(name) === SESSIONS &&
        announcedBy(far as RouterName).every((network) => routes.includes(network)) &&
        columnOf(this.router(name), LLDP_REM_SYS_NAME).some((value) => value.includes(far as string))
      );
    });
  }

  async remove(): Promise<void> {
    await Promise.all([this.#cable, ...this.#routers.values()].map((box) => box.remove()));
    for (const name of ROUTERS) spawnSync('ip', ['link', 'del', wayOf(name).port]);
  }

  #address(name: RouterName): void {
    const box = this.router(name);
    const { port, gateway, outside } = wayOf(name);
    const end = ROUTERS.indexOf(name);
    box.cableOut(port, port);
    execFileSync('ip', ['addr', 'add', `${outside}/30`, 'dev', port]);
    execFileSync('ip', ['route', 'add', `${addressOf(name)}/32`, 'via', gateway]);
    // Each port answers for its own addresses only, as on a router.
    box.exec('sysctl', '-qw', 'net.ipv4.ip_forward=1', 'net.ipv4.conf.all.arp_ignore=1');
    box.ip(
      `addr add ${addressOf(name)}/32 dev lo`,
      `addr add ${gateway}/30 dev ${port}`,
      ...GROUNDS.flatMap(({ port: on, addresses, bits }) => [
        // In place of a VLAN, which not every kernel has: it loses its lower layer with the port as well.
        ...(on === PORT
          ? []
          : [`link add link ${PORT} name ${on} type macvlan mode bridge`, `link set ${on} up`]),
        `addr add ${addresses[end]}/${bits} dev ${on}`,
      ]),
    );
  }

  #start(name: RouterName): void {
    const box = this.router(name);
    startAgent(box);
    startLldpd(box, addressOf(name));
    startFrr(box, 'bgpd', bgp(name));
  }
}

/** Keepalives every second and a hold time of 3 s: a session whose way is gone ends soon. */
function bgp(name: RouterName): string {
  const own = numberOf(name);
  const peers = GROUNDS.map(({ addresses }) => addresses[2 - own]);
  return `hostname ${name}
agentx
router bgp ${65_000 + own}
 bgp router-id ${addressOf(name)}
 no bgp ebgp-requires-policy
 no bgp network import-check
${peers
  .map(
    (peer) => ` neighbor ${peer} remote-as ${65_000 + 3 - own}
 neighbor ${peer} timers 1 3
 neighbor ${peer} timers connect 1
`,
  )
  .join('')} address-family ipv4 unicast
${announcedBy(name)
  .map((network) => `  network ${network}\n`)
  .join('')} exit-address-family
`;
}
