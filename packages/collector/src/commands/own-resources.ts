/** What a process of its own sweeps with: settings from the file, sockets that it opens, no more than the local cap. */
import { systemClock } from '@rollcall/shared/clock';
import { readConfig } from '../platform/config.ts';
import { Pace } from '../runner/pace.ts';
import { openNetwork } from '../sweep/tools.ts';
import type { SweepResources } from './sweep.ts';

export async function ownResources({ config }: { config?: string }): Promise<SweepResources> {
  const settings = await readConfig(process.env, config);
  return {
    settings,
    open: (engines = settings.engines) => openNetwork(systemClock, engines),
    pace: (wanted) => ({ pace: new Pace(wanted, systemClock), done: () => undefined }),
    most: Number.POSITIVE_INFINITY,
  };
}
