// Debian hosts with systemd on this machine, for tests of an installation:
//
//   node test/install/hosts.mjs NAME...   boots a host for each name and opens a shell; when it ends, so do the hosts
//
// In that shell `NAME COMMAND...` runs a command on a host. The hosts have the addresses 10.77.0.1, 10.77.0.2 and so on
// in a network without a way out. Root is needed, and the Debian packages debootstrap, systemd-container, util-linux
// and iproute2. The Debian tree that all hosts start from is downloaded once and kept in the folder for temporary files.
//
// How it works: the program starts itself again in namespaces of its own for mounts, processes and the network. All
// machines, mounts, interfaces and files of the hosts exist in there only, so the kernel removes all of them when the
// program ends, however it ends. A host is a systemd-nspawn machine on an overlay: the shared tree below, and in memory
// what the host writes.
import '../../scripts/usage.mjs';
import { execFile, execFileSync, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** Programs that are needed, each with its Debian package. */
const PROGRAMS = {
  debootstrap: 'debootstrap',
  'systemd-nspawn': 'systemd-container',
  unshare: 'util-linux',
  nsenter: 'util-linux',
  setpriv: 'util-linux',
  mount: 'mount',
  ip: 'iproute2',
};
const SUITE = 'bookworm';
const PACKAGES = [
  ...['systemd', 'systemd-sysv', 'dbus', 'iproute2', 'iputils-ping', 'procps', 'curl', 'ca-certificates'],
  ...['postgresql', 'snmpd'],
];
/** Makes the tree in the folder `$1` from the mirror `$2`. A host enables the services that it wants. */
const DEBOOTSTRAP = `set -e
debootstrap --variant=minbase --include=${PACKAGES} ${SUITE} "$1" $2
rm -r "$1"/var/cache/apt/archives/*.deb "$1"/var/lib/apt/lists/*
: >"$1/etc/machine-id"
chroot "$1" systemctl -q disable postgresql snmpd
sync --file-system "$1"`;
/** Another recipe makes another tree. */
const version = createHash('sha256').update(DEBOOTSTRAP).digest('hex').slice(0, 8);
const base = join(tmpdir(), `rollcall-hosts-${version}`);
/** The files of Debian that all hosts start from, there once `enterNamespaces` has returned. */
export const tree = join(base, 'tree');

const INSIDE = 'ROLLCALL_HOSTS_INSIDE';
/** The namespace has its own /run, in memory: what hosts write is there, and what `ip` and systemd-nspawn remember. */
const STATE = '/run/rollcall-hosts';
const BRIDGE = 'lan';
/** A machine has control groups of its own; they are folders, so the kernel does not remove them. */
const HIERARCHIES = ['/sys/fs/cgroup', '/sys/fs/cgroup/unified', '/sys/fs/cgroup/systemd'];
const GROUPS = 'rollcall-hosts-';

/**
 * Starts this program again in namespaces of its own and ends as it ends; returns only in there. Refuses where there can
 * be no hosts.
 */
export async function enterNamespaces() {
  if (process.env[INSIDE]) {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'mode=755', 'rollcall-hosts', '/run']);
    ip('link', 'set', 'lo', 'up');
    ip('link', 'add', BRIDGE, 'type', 'bridge');
    ip('link', 'set', BRIDGE, 'up');
    return;
  }
  refuseWithout();
  await makeBase();
  removeGroups();
  process.on('exit', removeGroups);
  const env = { ...process.env, [INSIDE]: String(process.pid) };
  const again = [process.execPath, ...process.argv.slice(1)];
  process.exit(await inNamespaces(['--net'], again, { stdio: 'inherit', env }));
}

function refuseWithout() {
  const folders = `${process.env.PATH}:/usr/sbin:/sbin`.split(':');
  const lacking = Object.keys(PROGRAMS).filter(
    (name) => !folders.some((folder) => existsSync(join(folder, name))),
  );
  const reasons = [
    ...(process.geteuid?.() === 0 ? [] : ['hosts need root']),
    ...lacking.map((name) => `hosts need ${name} (Debian package ${PROGRAMS[name]})`),
  ];
  if (reasons.length === 0) return;
  for (const reason of reasons) console.error(`rollcall: ${reason}`);
  process.exit(1);
}

/**
 * Runs a program in mount and process namespaces, and in more where named; answers its exit status. A signal to this
 * process ends all of it. When this process is killed, unshare is (--pdeathsig), then the program (--kill-child), and
 * with it, as the first process of its namespace, every other one.
 */
async function inNamespaces(namespaces, words, options) {
  const flags = [...namespaces, '--mount', '--pid', '--mount-proc', '--fork', '--kill-child'];
  const child = spawn('setpriv', ['--pdeathsig', 'KILL', 'unshare', ...flags, ...words], options);
  const ended = once(child, 'exit');
  let signalled = 0;
  const handlers = Object.entries({ SIGHUP: 1, SIGINT: 2, SIGTERM: 15 }).map(([name, number]) => {
    const handler = () => {
      signalled = 128 + number;
      // unshare ends when the namespace has no process any more: nothing is left when this process ends.
      for (const pid of childrenOf(child.pid)) process.kill(pid, 'SIGKILL');
    };
    process.on(name, handler);
    return [name, handler];
  });
  const [status] = await ended;
  for (const [name, handler] of handlers) process.off(name, handler);
  if (signalled) process.exit(signalled);
  return status ?? 1;
}

/** Control groups of the machine with this name, made where this system keeps such. */
function makeGroups(name) {
  return HIERARCHIES.filter((folder) => existsSync(join(folder, 'cgroup.procs'))).map((folder) => {
    const group = join(folder, `${GROUPS}${process.env[INSIDE]}`, name);
    mkdirSync(group, { recursive: true });
    return group;
  });
}

/** Removes the control groups of this process and of those that were killed. */
function removeGroups() {
  const running = (pid) => Number(pid) !== process.pid && existsSync(`/proc/${pid}`);
  for (const hierarchy of HIERARCHIES.filter(existsSync))
    for (const name of readdirSync(hierarchy).filter((each) => each.startsWith(GROUPS)))
      if (!running(name.slice(GROUPS.length))) removeGroup(join(hierarchy, name));
}

function removeGroup(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true }))
    if (entry.isDirectory()) removeGroup(join(folder, entry.name));
  rmdirSync(folder);
}

function childrenOf(pid) {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
}

/** Makes the tree that all hosts start from, where it is not there; one process of the machine at a time. */
async function makeBase() {
  if (isWhole(base)) return;
  const lock = await locked('rollcall-hosts-base');
  if (!isWhole(base)) {
    const draft = `${base}.draft`;
    for (const folder of [base, draft]) rmSync(folder, { recursive: true, force: true });
    mkdirSync(draft, { mode: 0o755 });
    process.on('exit', () => rmSync(draft, { recursive: true, force: true }));
    console.log(`rollcall: making a tree of Debian ${SUITE} in ${base}, once`);
    const log = `${base}.log`;
    const out = openSync(log, 'w');
    const words = ['sh', '-c', DEBOOTSTRAP, 'sh', join(draft, 'tree'), mirror()];
    const status = await inNamespaces([], words, { stdio: ['ignore', out, out] });
    if (status !== 0) {
      console.error(`rollcall: debootstrap failed (${log}):\n${lastLines(log)}`);
      process.exit(1);
    }
    writeFileSync(join(draft, 'entries'), String(entries(draft)));
    renameSync(draft, base);
    rmSync(log);
  }
  lock.close();
}

/** Whether the tree is there, root's, and complete: a folder for temporary files may be cleaned file by file. */
function isWhole(folder) {
  const count = join(folder, 'entries');
  if (!existsSync(count) || statSync(folder).uid !== 0) return false;
  return Number(readFileSync(count, 'utf8')) === entries(folder);
}
const entries = (folder) =>
  // With types, links are not followed: some of them name folders of this machine.
  readdirSync(join(folder, 'tree'), { recursive: true, withFileTypes: true }).length;

/** Where this machine gets the packages of that Debian from; without an answer debootstrap asks Debian itself. */
function mirror() {
  const which = ['--format', '$(REPO_URI)', 'Created-By: Packages', 'Origin: Debian', `Codename: ${SUITE}`];
  return execFileSync('apt-get', ['indextargets', ...which], { encoding: 'utf8' }).split('\n')[0];
}

/** The lock is an abstract socket: it ends with the process, however that ends. */
async function locked(name) {
  for (;;) {
    const lock = createServer();
    const held = await new Promise((resolve, reject) => {
      lock.once('error', (error) => (error.code === 'EADDRINUSE' ? resolve(false) : reject(error)));
      lock.listen(`\0${name}`, () => resolve(true));
    });
    if (held) return lock;
    await pause(1000);
  }
}

const ip = (...words) => execFileSync('ip', words);
const lastLines = (file) => readFileSync(file, 'utf8').trimEnd().split('\n').slice(-5).join('\n');
const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

/** A Debian machine; exists inside `enterNamespaces` only. */
export class Host {
  /** @param address of the network 10.77.0.0/24 */
  constructor(name, address) {
    this.name = name;
    this.address = address;
    this.folder = join(STATE, name);
    this.tree = join(this.folder, 'tree');
  }
  /** Boots; the first time it is a fresh Debian. */
  async up() {
    if (!existsSync(this.folder)) this.#create();
    const log = join(this.folder, 'console.log');
    const out = openSync(log, 'a');
    const flags = ['--quiet', '--boot', '--register=no', '--keep-unit', '--settings=no', '--link-journal=no'];
    const where = [`--directory=${this.tree}`, `--machine=${this.name}`];
    const network = [`--network-namespace-path=/run/netns/${this.name}`, '--resolv-conf=off'];
    const moves = makeGroups(this.name).map((group) => `echo $$ >${group}/cgroup.procs`);
    const line = [...moves, 'exec systemd-nspawn "$@"'].join(' && ');
    const machine = spawn('sh', ['-c', line, 'sh', ...flags, ...where, ...network], {
      stdio: ['ignore', out, out],
      detached: true,
    });
    this.ended = once(machine, 'exit');
    await until(60, `${this.name} to boot`, async () => {
      if (machine.exitCode !== null) throw new Error(lastLines(log));
      this.init = firstProcessOf(machine.pid);
      const state = await this.sh('systemctl is-system-running --wait || true');
      return ['running', 'degraded'].includes(state.trim());
    });
  }
  #create() {
    const parts = ['upper', 'work'].map((name) => join(this.folder, name));
    for (const folder of [...parts, this.tree]) mkdirSync(folder, { recursive: true });
    const [upper, work] = parts;
    const layers = `lowerdir=${tree},upperdir=${upper},workdir=${work}`;
    execFileSync('mount', ['-t', 'overlay', '-o', layers, 'overlay', this.tree]);
    writeFileSync(join(this.tree, 'etc/hostname'), `${this.name}\n`);
    ip('netns', 'add', this.name);
    ip('link', 'add', this.name, 'type', 'veth', 'peer', 'name', 'host0', 'netns', this.name);
    ip('link', 'set', this.name, 'master', BRIDGE, 'up');
    ip('-n', this.name, 'link', 'set', 'lo', 'up');
    ip('-n', this.name, 'address', 'add', `${this.address}/24`, 'dev', 'host0');
    ip('-n', this.name, 'link', 'set', 'host0', 'up');
  }
  /** Ends with a shutdown, and starts again. */
  async restart() {
    await this.sh('systemctl poweroff');
    await this.ended;
    await this.up();
  }
  /** Ends as by a power cut, and starts again. */
  async powerCut() {
    process.kill(this.init, 'SIGKILL');
    await this.ended;
    await this.up();
  }
  /** What runs a command in it. */
  get entrance() {
    const clean = ['env', '-i', 'PATH=/usr/sbin:/usr/bin:/sbin:/bin', 'HOME=/root', 'TERM=dumb'];
    return ['nsenter', '--target', this.init, '--mount', '--uts', '--ipc', '--net', '--pid', ...clean].map(
      String,
    );
  }
  /** Runs a line of shell in it; answers what it printed. */
  async sh(line) {
    const [program, ...words] = [...this.entrance, 'sh', '-c', line];
    try {
      const { stdout } = await promisify(execFile)(program, words, { maxBuffer: 2 ** 26, timeout: 300_000 });
      return stdout;
    } catch ({ code, stdout = '', stderr = '' }) {
      const said = (stdout + stderr).slice(-2000);
      throw Object.assign(new Error(`on ${this.name} this ended with ${code}: ${line}\n${said}`), {
        stdout,
        stderr,
      });
    }
  }
  /** Runs a line that must fail; answers all that it printed. */
  async fails(line) {
    try {
      await this.sh(line);
    } catch ({ stdout, stderr }) {
      return stdout + stderr;
    }
    throw new Error(`on ${this.name} this went through: ${line}`);
  }
  /** Off the network without a word: the host itself still has a carrier, the others get no FIN and no RST. */
  cut() {
    ip('link', 'set', this.name, 'nomaster');
  }
  heal() {
    ip('link', 'set', this.name, 'master', BRIDGE);
  }
  /** Installs a Debian package from a file of this machine. */
  install(file) {
    const name = basename(file);
    copyFileSync(file, join(this.tree, 'root', name));
    return this.sh(`dpkg -i /root/${name} 2>&1; rm /root/${name}; dpkg --audit`);
  }
}

/** systemd of the machine: of the processes that systemd-nspawn started, the one in a process namespace of its own. */
function firstProcessOf(machine) {
  const own = readlinkSync('/proc/self/ns/pid');
  const init = childrenOf(machine).find((pid) => readlinkSync(`/proc/${pid}/ns/pid`) !== own);
  if (init === undefined) throw new Error('no process yet');
  return init;
}

/** A shell for a person; `NAME COMMAND...` runs a command on the host. */
export function openShell(hosts) {
  const bin = join(STATE, 'bin');
  mkdirSync(bin, { recursive: true });
  for (const { name, entrance } of hosts)
    writeFileSync(join(bin, name), `#!/bin/sh\nexec ${entrance.join(' ')} "$@"\n`, { mode: 0o755 });
  console.log(`hosts: ${hosts.map(({ name, address }) => `${name} ${address}`).join(', ')}; exit ends them`);
  const env = { ...process.env, PATH: `${bin}:${process.env.PATH}`, PS1: 'hosts# ' };
  spawnSync('bash', ['--norc'], { stdio: 'inherit', env });
}

/** Asks until the answer is true; says what was waited for, and what came last. */
export async function until(seconds, what, ask) {
  const end = Date.now() + seconds * 1000;
  let last;
  for (;;) {
    try {
      last = await ask();
      if (last) return last;
    } catch (error) {
      last = error;
    }
    if (Date.now() > end)
      throw new Error(
        `waited ${seconds} s for ${what}; last: ${String(last?.message ?? last).slice(0, 600)}`,
      );
    await pause(200);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const names = process.argv.slice(2);
  if (names.length === 0 || names.some((name) => !/^[a-z][a-z0-9]{0,13}$/.test(name))) {
    console.error('rollcall: give names of hosts (letters and digits, 14 at most); --help says more');
    process.exit(2);
  }
  await enterNamespaces();
  const hosts = names.map((name, index) => new Host(name, `10.77.0.${index + 1}`));
  await Promise.all(hosts.map((host) => host.up()));
  openShell(hosts);
  process.exit();
}
