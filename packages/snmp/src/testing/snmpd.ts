/** Debian's snmpd on a loopback port, for tests against an agent that is not ours. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const SNMPD = '/usr/sbin/snmpd';
const TOOL = '/usr/bin/snmpbulkwalk';

/** Whether snmpd and the command-line tools are here; root on Debian gets them installed. */
export function haveSnmpd(): boolean {
  const present = () => existsSync(SNMPD) && existsSync(TOOL);
  if (present()) return true;
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) return false;
  try {
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
    execFileSync('apt-get', ['install', '-y', '-qq', 'snmp', 'snmpd'], {
      env,
      stdio: 'ignore',
      timeout: 120_000,
    });
  } catch {
    return false;
  }
  return present();
}

export interface Snmpd {
  address: string;
  port: number;
  stop(): void;
}

/** Starts snmpd with these configuration lines; resolves when it answers the community `public`. */
export async function startSnmpd(lines: string[]): Promise<Snmpd> {
  const folder = mkdtempSync(join(tmpdir(), 'rollcall-snmpd-'));
  const port = await freePort();
  const address = '127.0.0.1';
  writeFileSync(join(folder, 'snmpd.conf'), [...lines, ''].join('\n'));
  const child: ChildProcess = spawn(
    SNMPD,
    [
      '-f',
      '-Lf',
      join(folder, 'log'),
      '-C',
      '-c',
      join(folder, 'snmpd.conf'),
      '-I',
      '-smux',
      `udp:${address}:${port}`,
    ],
    { env: { ...process.env, SNMP_PERSISTENT_DIR: folder, MIBS: '' }, stdio: 'ignore' },
  );
  const stop = () => {
    child.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  };
  for (let i = 0; i < 50; i++) {
    try {
      tool('snmpget', [
        '-v2c',
        '-c',
        'public',
        '-t',
        '0.2',
        '-r',
        '0',
        `${address}:${port}`,
        '1.3.6.1.2.1.1.3.0',
      ]);
      return { address, port, stop };
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
  stop();
  throw new Error('snmpd does not answer');
}

/** Runs one of net-snmp's tools and returns what it prints: numeric OIDs, raw values, strings as hex. */
export const tool = (name: string, args: string[]): string =>
  execFileSync(name, ['-OnQexUt', ...args], {
    env: { ...process.env, MIBS: '' },
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
    maxBuffer: 1 << 26,
  });

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const socket = createSocket('udp4').bind(0, '127.0.0.1', () => {
      const { port } = socket.address();
      socket.close(() => resolve(port));
    });
  });
}
