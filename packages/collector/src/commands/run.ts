/** `run`: the daemon in the foreground, for systemd or a terminal. */
import { systemClock } from '@rollcall/shared/clock';
import { openServiceManager } from '@rollcall/shared/systemd/service-manager';
import { startCollector } from '../agent.ts';
import { readConfig, stateFolder } from '../config.ts';
import { openLog } from '../log.ts';
import { VERSION } from '../version.ts';

export interface RunFlags {
  state?: string;
  config?: string;
}

/** Whatever hangs, the process is gone by then; systemd would kill it later and less gently. */
const STOP_MS = 9000;

/** Runs until SIGTERM or SIGINT; answers the exit code. Throws a Refusal when it cannot start. */
export async function run(flags: RunFlags): Promise<number> {
  // Heard from the first moment on: a stop during the start is a stop like any other.
  const signalled = new Promise<string>((resolve) => {
    for (const name of ['SIGTERM', 'SIGINT'] as const) process.on(name, () => resolve(name));
  });
  const settings = await readConfig(process.env, flags.config);
  const log = await openLog(settings.log);
  const manager = await openServiceManager(process.env, systemClock);
  const collector = await startCollector({
    stateFolder: stateFolder(settings, process.env, flags.state),
    settings,
    clock: systemClock,
    log,
    onLink: (state) => manager.tell(`STATUS=link: ${state}`),
  });
  const { identity } = collector;
  log.info({ version: VERSION, collector: identity.name, site: identity.site.name }, 'collector started');
  manager.tell('READY=1');
  const unwatch = manager.watch(() => collector.ailment());

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
  const signal = await signalled;
  log.info({ signal }, 'stopping');
  manager.tell('STOPPING=1');
  unwatch();
  setTimeout(() => {
    log.error('stopping took too long: what was not on disk yet is collected again');
    process.exit(0);
  }, STOP_MS).unref();
  await collector.stop();
  log.info('stopped');
  return 0;
}
