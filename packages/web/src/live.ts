import type { Change } from '@rollcall/shared/api/service';
import type { QueryClient } from '@tanstack/react-query';
import { useSyncExternalStore } from 'react';

/**
 * The one stream of changes of this page. A change names a kind and ids; the queries of that kind are asked again.
 * Nothing is polled. When the stream breaks, what is shown is marked with the time since when it may be stale.
 */

type LiveState = { status: 'connecting' | 'live' } | { status: 'stale'; since: number };

let state: LiveState = { status: 'connecting' };
const listeners = new Set<() => void>();
const set = (next: LiveState) => {
  state = next;
  for (const listener of listeners) listener();
};

export const useLive = (): LiveState =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => state,
  );

/** Which resources to ask again when a kind changed. */
const TOUCHED: Record<Change['kind'], readonly string[]> = {
  device: ['devices', 'topology', 'summary'],
  interface: ['interfaces', 'topology'],
  event: ['events', 'summary', 'devices', 'cases'],
  case: ['cases', 'summary'],
  scan: ['scans', 'summary'],
  collector: ['collectors', 'summary'],
  site: ['sites', 'summary'],
};

/** Changes come in bursts while a scan runs: ask again at most this often. */
const SETTLE_MS = 400;

/** Opens the stream and keeps `client` fresh until the returned function is called. */
export function followChanges(client: QueryClient): () => void {
  const pending = new Set<string>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const flush = () => {
    timer = undefined;
    for (const resource of pending) void client.invalidateQueries({ queryKey: [resource] });
    pending.clear();
  };
  const touch = (resources: readonly string[]) => {
    for (const resource of resources) pending.add(resource);
    timer ??= setTimeout(flush, SETTLE_MS);
  };

  // EventSource reconnects by itself and sends Last-Event-ID; what was missed comes again, or a `resync`.
  const source = new EventSource('/api/stream');
  source.addEventListener('open', () => {
    set({ status: 'live' });
  });
  source.addEventListener('error', () => {
    if (state.status !== 'stale') set({ status: 'stale', since: Date.now() });
  });
  source.addEventListener('change', (event) => {
    const change = JSON.parse((event as MessageEvent<string>).data) as Change;
    touch(TOUCHED[change.kind] ?? []);
  });
  source.addEventListener('resync', () => {
    void client.invalidateQueries();
  });
  return () => {
    clearTimeout(timer);
    source.close();
    set({ status: 'connecting' });
  };
}
