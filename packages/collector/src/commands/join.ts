/** `join`: makes this host a collector of a site. */
import { readConfig, stateFolder } from '../config.ts';
import { join } from '../join.ts';

export interface JoinFlags {
  state?: string;
  config?: string;
  name?: string;
  json: boolean;
}

export async function runJoin(url: string, token: string, flags: JoinFlags): Promise<number> {
  const settings = await readConfig(process.env, flags.config);
  const folder = stateFolder(settings, process.env, flags.state);
  const identity = await join({ stateFolder: folder, url, token, name: flags.name });
  const { server, site, name, collector } = identity;
  process.stdout.write(
    flags.json
      ? `${JSON.stringify({ server, collector, name, site, state: folder })}\n`
      : `Joined ${server} as "${name}" of site "${site.name}". Start it with: rollcall-collector run${flags.state ? ` --state ${folder}` : ''}\n`,
  );
  return 0;
}
