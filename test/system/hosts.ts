/** Hosts in network namespaces, each behind a cable of its own, with Debian's snmpd. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const PATH = `${process.env.PATH}:/usr/sbin:/sbin`;
const run = (command: string, ...args: string[]): string =>
  execFileSync(command, args, { encoding: 'utf8', env: { ...process.env, PATH, MIBS: '' }, stdio: 'pipe' });
const ip = (...args: string[]) => run('ip', ...args);

/** lldpRemTable (IEEE 802.1AB-2005), as far as it takes to name a neighbour. */
const lldpRow = (port: number, name: string): string =>
  [
    [4, 'integer', 7],
    [5, 'octet_str', name],
    [6, 'integer', 5],
    [7, 'octet_str', 'eth0'],
    [9, 'octet_str', name],
  ]
    .map(
      ([column, type, value]) => `override 1.0.8802.1.1.2.1.4.1.1.${column}.0.${port}.1 ${type} ${value}\n`,
    )
    .join('');

/** All but the disks: those are of the machine that runs the tests, and those of other tests, which fill some. */
const ACCESS = `view ours included .1
view ours excluded .1.3.6.1.2.1.25.2
rocommunity public default -V ours
`;

/** A network of this process: tests beside each other, and what an ended run left, do not meet (RFC 2544: 198.18.0.0/15). */
const LAN = `198.${18 + ((process.pid >> 8) & 1)}.${process.pid & 255}`;

/** A host in a namespace, on a cable to the test's own network or to another host, which then forwards for it. */
export class Host {
  readonly name: string;
  readonly sysName: string;
  readonly net: string;
  readonly address: string;
  readonly gateway: string;
  #snmpd: ChildProcess | null = null;

  constructor(number: number, sysName: string, behind?: Host) {
    this.name = `rcw${process.pid}-${number}`;
    this.sysName = sysName;
    this.net = `${LAN}.${number * 4}/30`;
    this.address = `${LAN}.${number * 4 + 2}`;
    this.gateway = `${LAN}.${number * 4 + 1}`;
    const link = `w${process.pid}n${number}`;
    const near = (...args: string[]) => (behind ? behind.ip(...args) : ip(...args));
    ip('netns', 'add', this.name);
    near('link', 'add', link, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', this.name);
    near('addr', 'add', `${this.gateway}/30`, 'dev', link);
    near('link', 'set', link, 'up');
    this.ip('addr', 'add', `${this.address}/30`, 'dev', 'eth0');
    for (const own of ['lo', 'eth0']) this.ip('link', 'set', own, 'up');
    if (!behind) return;
    behind.exec('sysctl', '-qw', 'net.ipv4.ip_forward=1');
    ip('route', 'add', this.net, 'via', behind.address);
    this.ip('route', 'add', `${LAN}.0/24`, 'via', this.gateway);
  }

  ip(...args: string[]): void {
    ip('-n', this.name, ...args);
  }
  exec(command: string, ...args: string[]): string {
    return run('ip', 'netns', 'exec', this.name, command, ...args);
  }
  /** Off the network, or back on. */
  power(on: boolean): void {
    this.ip('link', 'set', 'eth0', on ? 'up' : 'down');
  }

  /** `neighbours`: whom it names by LLDP. */
  startSnmpd(folder: string, neighbours: readonly string[] = []): void {
    const state = join(folder, this.name);
    mkdirSync(state, { recursive: true });
    const conf = join(state, 'snmpd.conf');
    const lldp = neighbours.map((name, i) => lldpRow(i + 1, name)).join('');
    writeFileSync(conf, `${ACCESS}sysName ${this.sysName}\ninterface_fadeout 1\n${lldp}`);
    const agent = ['/usr/sbin/snmpd', '-f', '-Lf', join(state, 'log'), '-C', '-c', conf, '-I', '-smux'];
    this.#snmpd = spawn('ip', ['netns', 'exec', this.name, ...agent, `udp:${this.address}:161`], {
      env: { ...process.env, PATH, SNMP_PERSISTENT_DIR: state, MIBS: '' },
      stdio: 'ignore',
    });
  }
  async killSnmpd(): Promise<void> {
    const child = this.#snmpd;
    if (!child || child.exitCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await ended;
  }
  async remove(): Promise<void> {
    await this.killSnmpd();
    ip('netns', 'del', this.name);
  }
}
