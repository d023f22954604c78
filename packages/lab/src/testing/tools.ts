/** The real snmpget and snmpwalk: installed when missing and possible, else the tests that need them say so and are skipped. */
import { execFile, spawnSync } from 'node:child_process';
import { promisify } from 'node:util';

const has = (): boolean => spawnSync('snmpwalk', ['-V'], { stdio: 'ignore' }).status === 0;

/** Whether Net-SNMP's tools can be used; tries to install Debian's package `snmp` once. */
export function haveTools(): boolean {
  if (has()) return true;
  if (process.getuid?.() === 0 && spawnSync('apt-get', ['--version'], { stdio: 'ignore' }).status === 0) {
    spawnSync('apt-get', ['install', '-y', '-qq', 'snmp'], {
      stdio: 'ignore',
      timeout: 60_000,
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    });
    if (has()) return true;
  }
  process.stderr.write(
    'snmpwalk is not installed and cannot be (Debian: apt-get install snmp): its tests are skipped\n',
  );
  return false;
}

/** Runs a tool of Net-SNMP without MIB files; gives its lines, or its complaint as the only one. */
export async function netSnmp(tool: string, ...args: string[]): Promise<string[]> {
  const options = { maxBuffer: 64 << 20, env: { ...process.env, MIBS: '', LC_ALL: 'C' } };
  try {
    const { stdout } = await promisify(execFile)(tool, ['-On', '-r1', '-t2', ...args], options);
    return stdout.trimEnd().split('\n');
  } catch (error) {
    return [String((error as { stderr?: string }).stderr ?? error).trim()];
  }
}
