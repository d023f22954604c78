/** `run`: the daemon in the foreground, for systemd or a terminal. */
import { join } from 'node:path';
import { openServiceManager } from '@rollcall/host/systemd/service-manager';
import { systemClock } from '@rollcall/shared/clock';
import type { Logger } from 'pino';
import { type CollectorOptions, type RunningCollector, startCollector } from '../agent.ts';
import { loadIdentity } from '../link/identity.ts';
import { join as joinServer } from '../link/join.ts';
import { readConfig, stateFolder } from '../platform/config.ts';
import { openLog } from '../platform/log.ts';
import { VERSION } from '../platform/version.ts';
import { Pace } from '../runner/pace.ts';
import { takeSweeps } from './handover/server.ts';
import type { SweepResources } from './sweep.ts';
import { performSweep } from './sweep-command.ts';

export interface RunFlags {
  state?: string;
  config?: string;
  /** Server to join first, where none was joined yet, with its token. */
  join?: string;
  token?: string;
  name?: string;
}

/** Whatever hangs, the process is gone by then; systemd would kill it later and less gently. */
const STOP_MS = 9000;
/** Addresses of a sweep by hand; a larger one would take memory and time from the jobs of the server. */
const MOST_BY_HAND = 4096;

/** Runs until SIGTERM or SIGINT; answers the exit code. Throws a Refusal when it cannot start. */
export async function run(flags: RunFlags, own: Pick<CollectorOptions, 'openNetwork'> = {}): Promise<number> {
  // Heard from the first moment on: a stop during the start is a stop like any other.
  const signalled = new Promise<string>((resolve) => {
    for (const name of ['SIGTERM', 'SIGINT'] as const) process.on(name, () => resolve(name));
  });
  const settings = await readConfig(process.env, flags.config);
  const log = await openLog(settings.log);
  const manager = await openServiceManager(process.env, systemClock);
  const folder = stateFolder(settings, process.env, flags.state);
  await joinFirst(folder, flags, log);
  const collector = await startCollector({
    stateFolder: folder,
    settings,
    clock: systemClock,
    log,
    ...own,
    onLink: (state) => manager.notify(`STATUS=link: ${state}`),
  });
  const { identity } = collector;
  log.info({ version: VERSION, collector: identity.name, site: identity.site.name }, 'collector started');
  manager.notify('READY=1');
  const unwatch = manager.watch(() => collector.unhealthyReason());

  process.on('SIGHUP', () => {
    readConfig(process.env, flags.config).then(
      (changed) => {
        collector.apply(changed);
        log.level = changed.log;
        log.info('settings were read again');
      },
      (error: Error) => log.error({ reason: error.message }, 'settings were not changed'),
    );
  });
  const taking = await takeByHand(collector, process.env, log);
  const signal = await signalled;
  log.info({ signal }, 'stopping');
  manager.notify('STOPPING=1');
  unwatch();
  await taking?.close();
  setTimeout(() => {
    log.error('stopping took too long: what was not on disk yet is collected again');
    process.exit(0);
  }, STOP_MS).unref();
  await collector.stop();
  log.info('stopped');
  return 0;
}

/** A container has nobody who joins it beforehand: the line that starts it names the server, and later starts find it joined. */
async function joinFirst(folder: string, { join: url, token, name }: RunFlags, log: Logger): Promise<void> {
  if (url === undefined || loadIdentity(folder)) return;
  const {
    name: given,
    site,
    server,
  } = await joinServer({ stateFolder: folder, url, token: token ?? '', name });
  log.info({ server, collector: given, site: site.name }, 'joined');
}

/** Takes sweeps from people at this host, where systemd made a folder for it; null elsewhere. */
async function takeByHand(
  { resources }: RunningCollector,
  { ROLLCALL_SOCKET, RUNTIME_DIRECTORY }: NodeJS.ProcessEnv,
  log: Logger,
) {
  const path = ROLLCALL_SOCKET ?? (RUNTIME_DIRECTORY && join(RUNTIME_DIRECTORY, 'sweep.sock'));
  if (!path) return null;
  return takeSweeps(path, {
    log,
    perform: (argv, terminal, begun) => performSweep(argv, terminal, resourcesOf(resources, begun)),
  });
}

/** The collector's own resources. Unless the site's administrator set caps, the command's own rates hold. */
const resourcesOf = (
  { settings, network, paces }: RunningCollector['resources'],
  begun: () => void,
): SweepResources => ({
  settings,
  open: async () => {
    begun();
    return { ...network, close: async () => undefined };
  },
  pace: (wanted) =>
    settings.rate === undefined && settings.ratePerNet === undefined
      ? { pace: new Pace(wanted, systemClock), done: () => undefined }
      : paces.take(wanted),
  most: MOST_BY_HAND,
});
