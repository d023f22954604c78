/**
 * A box of the network: network, mount, host-name and process namespaces of its own, in which Debian's daemons run from
 * their usual places as on a host of their own. Power off ends everything in it at once.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';

const env = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin:/sbin:/usr/lib/frr`, MIBS: '' };

/** Folders where daemons keep state: each box has empty ones. */
const OWN_FOLDERS = ['/run', '/var/agentx', '/var/lib/snmp', '/etc/frr'];
const BOOT = [
  ...OWN_FOLDERS.map((folder) => `mkdir -p ${folder}; mount -t tmpfs -o mode=755 tmpfs ${folder}`),
  'mkdir -p /run/frr /run/lldpd',
  'if id frr >/dev/null 2>&1; then chown frr:frr /run/frr /etc/frr; fi',
  // Its own name needs no name server: there is none, and a daemon would wait for it.
  'printf "127.0.1.1 $(hostname)\\n127.0.0.1 localhost\\n" > /run/hosts; mount --bind /run/hosts /etc/hosts',
  'ip link set lo up',
  'echo booted; exec sleep infinity',
].join('\n');

export class Box {
  readonly name: string;
  #init: number;
  readonly #holder: ChildProcess;

  private constructor(name: string, holder: ChildProcess) {
    this.name = name;
    this.#holder = holder;
    const child = readFileSync(`/proc/${holder.pid}/task/${holder.pid}/children`, 'utf8').trim();
    this.#init = Number(child);
  }

  static async boot(name: string): Promise<Box> {
    const holder = spawn(
      'unshare',
      [...'-n -m -u -p -f --kill-child --mount-proc sh -ec'.split(' '), `hostname ${name}\n${BOOT}`],
      { env, stdio: ['ignore', 'pipe', 'ignore'] },
    );
    await once(holder.stdout as NodeJS.ReadableStream, 'data');
    return new Box(name, holder);
  }

  /** Runs a command in it, and answers what it prints. */
  exec(command: string, ...args: string[]): string {
    return execFileSync('nsenter', ['-t', String(this.#init), '-n', '-m', '-u', '-p', command, ...args], {
      env,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  }
  /** Commands of `ip`, all in one process. */
  ip(...commands: string[]): void {
    this.#feed(['ip', '-batch', '-'], commands.join('\n'));
  }
  write(path: string, text: string): void {
    this.#feed(['sh', '-c', `cat > ${path}`], text);
  }
  /** Starts a daemon that stays after its starter ended. */
  daemon(command: string, ...args: string[]): void {
    this.exec(command, ...args);
  }
  /** Ends every process of that name in it; those that are dead stay, because nobody waits for them. */
  end(command: string): void {
    const running = `pgrep -r R,S,D -x ${command}`;
    this.exec('sh', '-c', `pkill -9 -x ${command}; while ${running}; do sleep 0.02; done`);
  }

  /** A cable from port to port. Made in this box, moved to the other. */
  cable(port: string, far: Box, farPort: string): void {
    this.ip(`link add ${port} type veth peer name ${farPort} netns ${far.#init}`, `link set ${port} up`);
    far.ip(`link set ${farPort} up`);
  }
  /** A cable to the network of this process. */
  cableOut(port: string, outside: string): void {
    execFileSync(
      'ip',
      ['link', 'add', outside, 'type', 'veth', 'peer', 'name', port, 'netns', String(this.#init)],
      { env },
    );
    execFileSync('ip', ['link', 'set', outside, 'up'], { env });
    this.ip(`link set ${port} up`);
  }

  async remove(): Promise<void> {
    if (this.#holder.exitCode !== null || this.#holder.signalCode !== null) return;
    const ended = once(this.#holder, 'exit');
    process.kill(this.#init, 'SIGKILL');
    await ended;
  }

  #feed([command = '', ...args]: string[], input: string): void {
    // Not its process namespace: a cable names the far box by its process as seen from here.
    execFileSync('nsenter', ['-t', String(this.#init), '-n', '-m', '-u', command, ...args], {
      env,
      input,
      stdio: ['pipe', 'ignore', 'pipe'],
    });
  }
}
