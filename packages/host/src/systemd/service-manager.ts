/** Notifications of systemd, sd_notify(3): that the service is ready, lives, stops. Silent where nobody asked. */
import type { Clock } from '@rollcall/shared/clock';
import { type Datagrams, openDatagrams } from './datagrams.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export interface ServiceManager {
  /** Sends assignments, such as `READY=1` or `STATUS=…`. */
  notify(...assignments: string[]): void;
  /**
   * Feeds the watchdog (WatchdogSec= of the unit) for as long as `unhealthyReason` answers null. What else it answers is shown
   * by `systemctl status`, and when it lasts, systemd restarts the service. The returned function ends it.
   */
  watch(unhealthyReason: () => string | null): () => void;
}

/** @param env `NOTIFY_SOCKET` and `WATCHDOG_USEC`, as systemd sets them */
export async function openServiceManager(
  env: Environment,
  clock: Clock,
  open: () => Promise<Datagrams | null> = openDatagrams,
): Promise<ServiceManager> {
  const socket = env.NOTIFY_SOCKET;
  const datagrams = socket ? await open() : null;
  const notify = (...assignments: string[]) => {
    if (socket) datagrams?.send(socket, Buffer.from(assignments.map(oneLine).join('\n')));
  };
  // Twice as often as asked: one late turn is no reason to be killed.
  const everyMs = Number(env.WATCHDOG_USEC ?? 0) / 2000;
  return {
    notify,
    watch: (unhealthyReason) => {
      if (!(everyMs >= 1)) return () => undefined;
      let last: string | null = null;
      return clock.every(everyMs, () => {
        const found = unhealthyReason();
        if (found === null) notify('WATCHDOG=1');
        if (found !== last) notify(`STATUS=${found ?? 'recovered'}`);
        last = found;
      });
    },
  };
}

const oneLine = (text: string): string => text.replace(/\s*\n\s*/g, ' ').slice(0, 500);
