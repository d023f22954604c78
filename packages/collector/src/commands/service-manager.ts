/** What systemd is told (sd_notify(3)): that the daemon is ready, lives, stops. Silent where nobody asked. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import type { Clock } from '@rollcall/shared/clock';

/** Node has no datagram socket of the Unix kind, so systemd's own tool speaks; the unit says NotifyAccess=all. */
const TOOL = ['/usr/bin/systemd-notify', '/bin/systemd-notify'].find((path) => existsSync(path));

type Environment = Readonly<Record<string, string | undefined>>;

export interface ServiceManager {
  /** Tells the state, such as `READY=1` or `STATUS=…`. */
  tell(...assignments: string[]): void;
  /** Feeds the watchdog for as long as `healthy` says so. */
  watch(healthy: () => boolean): () => void;
}

export function serviceManager(env: Environment, clock: Clock): ServiceManager {
  const socket = env.NOTIFY_SOCKET;
  const tell = (...assignments: string[]) => {
    if (!socket || !TOOL) return;
    execFile(TOOL, assignments, { env: { NOTIFY_SOCKET: socket }, timeout: 5000 }, () => undefined);
  };
  const everyMs = Number(env.WATCHDOG_USEC ?? 0) / 2000;
  return {
    tell,
    watch: (healthy) => {
      if (!(everyMs >= 1)) return () => undefined;
      return clock.every(everyMs, () => {
        if (healthy()) tell('WATCHDOG=1');
      });
    },
  };
}
