/** `join`: makes this host a collector of a site. */
import { execFile } from 'node:child_process';
import { statSync } from 'node:fs';
import { promisify } from 'node:util';
import { join } from '../link/join.ts';
import { readConfig, stateFolder } from '../platform/config.ts';

export interface JoinFlags {
  state?: string;
  config?: string;
  name?: string;
  json: boolean;
}

export async function runJoin(url: string, token: string, flags: JoinFlags): Promise<number> {
  const settings = await readConfig(process.env, flags.config);
  const folder = stateFolder(settings, process.env, flags.state);
  const root = process.geteuid?.() === 0;
  const service = root ? ownerOf(folder) : null;
  // What is written belongs to the service from the first byte on: it could not read root's.
  if (service) {
    process.setegid?.(service.gid);
    process.seteuid?.(service.uid);
  }
  const identity = await join({ stateFolder: folder, url, token, name: flags.name });
  if (service) {
    process.seteuid?.(0);
    process.setegid?.(0);
  }
  const { server, site, name, collector } = identity;
  const started = service !== null && (await startService());
  process.stdout.write(
    flags.json
      ? `${JSON.stringify({ server, collector, name, site, state: folder, started })}\n`
      : `Joined ${server} as "${name}" of site "${site.name}". ${started ? `The service runs: systemctl status ${SERVICE}` : `Start it with: rollcall-collector run${flags.state ? ` --state ${folder}` : ''}`}\n`,
  );
  return 0;
}

const SERVICE = 'rollcall-collector';

/** The ordinary user that the state folder of an installed service belongs to; null: another folder, or root's own. */
function ownerOf(folder: string): { uid: number; gid: number } | null {
  try {
    const { uid, gid } = statSync(folder);
    return uid === 0 ? null : { uid, gid };
  } catch {
    // Not there yet, or never: making it says what is wrong.
    return null;
  }
}

/** The service must have started by then. */
const START_MS = 30_000;

/** Whether the installed service runs now. */
async function startService(): Promise<boolean> {
  return promisify(execFile)('systemctl', ['start', SERVICE], { timeout: START_MS }).then(
    () => true,
    () => false,
  );
}
