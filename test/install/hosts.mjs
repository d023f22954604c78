// Real Debian hosts on one machine, through the tool beside the project (see the header of hosts.sh).
import { execFile, execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const tool = fileURLToPath(new URL('../../../shared/hosts/hosts.sh', import.meta.url));
const run = promisify(execFile);

/** Why there can be no hosts here; null when there can. */
export function missing() {
  if (process.getuid?.() !== 0) return 'it needs root';
  if (!existsSync(tool)) return 'the tool ../shared/hosts/hosts.sh is not there';
  for (const command of ['debootstrap', 'systemd-nspawn', 'ip', 'nsenter']) {
    try {
      execFileSync('sh', ['-c', `command -v ${command}`], { stdio: 'ignore' });
    } catch {
      return `${command} is not installed (Debian: debootstrap systemd-container iproute2 util-linux)`;
    }
  }
  return null;
}

/**
 * Waits until no other run on this machine has hosts (their names and bridge are the machine's), at most half an hour.
 * The lock is an abstract socket: it ends with the process, however that ends.
 */
export async function alone() {
  for (const end = Date.now() + 1_800_000; ; ) {
    const lock = createServer().unref();
    const held = await new Promise((resolve, reject) => {
      lock.once('error', (error) => (error.code === 'EADDRINUSE' ? resolve(false) : reject(error)));
      lock.listen('\0rollcall-install-hosts', () => resolve(true));
    });
    if (held) return;
    if (Date.now() > end) throw new Error('another run has had the hosts of this machine for half an hour');
    await new Promise((done) => setTimeout(done, 1000));
  }
}

/** Runs the tool; answers what it printed. */
export async function hosts(...args) {
  try {
    const { stdout } = await run('bash', [tool, ...args], { maxBuffer: 2 ** 26, timeout: 300_000 });
    return stdout;
  } catch (error) {
    const { code, stdout = '', stderr = '' } = error;
    throw Object.assign(
      new Error(`hosts ${args.join(' ')} ended with ${code}: ${(stdout + stderr).slice(-2000)}`),
      {
        stdout,
        stderr,
      },
    );
  }
}

/** One host. */
export class Host {
  constructor(name, address) {
    this.name = name;
    this.address = address;
  }
  up() {
    return hosts('up', this.name, `${this.address}/24`);
  }
  /** Ends with a shutdown, and starts again. */
  async restart() {
    await hosts('down', this.name);
    await this.up();
  }
  /** Ends as by a power cut, and starts again. */
  async powerCut() {
    await hosts('kill', this.name);
    await this.up();
  }
  /** Runs a line of shell in it; answers what it printed. */
  sh(line) {
    return hosts('run', this.name, 'sh', '-c', line);
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
  push(file, path) {
    return hosts('push', this.name, file, path);
  }
  cut() {
    return hosts('cut', this.name);
  }
  heal() {
    return hosts('heal', this.name);
  }
  async install(file) {
    const name = file.split('/').at(-1);
    await this.push(file, `root/${name}`);
    return this.sh(`dpkg -i /root/${name} 2>&1; rm /root/${name}; dpkg --audit`);
  }
  /** Files of the tree, from outside. */
  path(...parts) {
    return join(process.env.HOSTS_DIR, this.name, ...parts);
  }
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
    await new Promise((done) => setTimeout(done, 500));
  }
}
