/** The real snmpget and snmpwalk; where they are missing, the tests that need them say so and are skipped. */
import { execFile, spawnSync } from 'node:child_process';
import { promisify } from 'node:util';
import { skipped } from '@rollcall/shared/testing/skipped';

const has = (): boolean => spawnSync('snmpwalk', ['-V'], { stdio: 'ignore' }).status === 0;

/** Whether Net-SNMP's tools can be used. */
export function haveTools(): boolean {
  if (has()) return true;
  skipped("net-snmp's tools against the simulated agents: install snmp");
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
