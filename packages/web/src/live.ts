import type { LiveChange } from '@rollcall/shared/api/service';
import type { Query, QueryClient } from '@tanstack/react-query';
import { useSyncExternalStore } from 'react';

/**
 * The one stream of changes of this page. A change names a kind and ids; the queries it touches are asked again.
 * Nothing is polled. When the stream breaks, what is shown is marked with the time since when it may be stale.
 */

type LiveState = { status: 'connecting' | 'live' } | { status: 'stale'; since: number };

let state: LiveState = { status: 'connecting' };
const listeners = new Set<() => void>();
const set = (next: LiveState) => {
  state = next;
  for (const listener of listeners) listener();
};
const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};
export const useLive = (): LiveState => useSyncExternalStore(subscribe, () => state);

/** Resources that a change of each kind touches; the ids are those of the first. */
const TOUCHED: Record<LiveChange['kind'], readonly string[]> = {
  device: ['devices', 'topology', 'summary'],
  interface: ['interfaces', 'topology'],
  event: ['events', 'summary', 'devices', 'cases', 'topology'],
  case: ['cases', 'summary'],
  scan: ['scans', 'summary'],
  collector: ['collectors', 'summary'],
  site: ['sites', 'summary'],
  maintenance: ['maintenance'],
  delivery: ['deliveries', 'subscriptions'],
};

/** Changes come in bursts while a scan runs: the first is acted on soon, the following ones this far apart. */
const FIRST_MS = 60;
const BETWEEN_MS = 700;
/** More changed ids than this between two rounds: everything of their kind is asked again. */
const IDS_MOST = 500;
/** Waiting before a stream that the server refused is tried again; each time twice as long. */
const RETRY_MS = { least: 1_000, most: 30_000 };

/** Ids that changed, by the kind's own resource; null: any of them. */
type Pending = Map<string, Set<string> | null>;

function note(pending: Pending, { kind, ids }: LiveChange): void {
  const touched = TOUCHED[kind] ?? [];
  for (const resource of touched) {
    const own = resource === touched[0];
    const before = pending.get(resource);
    if (before === null) continue;
    if (!own || !ids) pending.set(resource, null);
    else {
      const merged = new Set([...(before ?? []), ...ids]);
      pending.set(resource, merged.size > IDS_MOST ? null : merged);
    }
  }
}

/** A query of one thing is touched by changes of that thing only; lists and figures by every change. */
const isTouched = (pending: Pending) => (query: Query) => {
  const [resource, , request] = query.queryKey as [string, string, { params?: Record<string, string> }?];
  const ids = pending.get(resource);
  if (ids === undefined) return false;
  const one = request?.params?.id ?? request?.params?.scanId;
  return ids === null || one === undefined || ids.has(one);
};

/** A machine that slept, or was off the network, holds a dead connection for minutes before it notices. */
const LOOK_MS = 10_000;
const ASLEEP_MS = 40_000;
function onReturn(act: () => void): () => void {
  let looked = Date.now();
  const timer = setInterval(() => {
    const now = Date.now();
    if (now - looked > ASLEEP_MS) act();
    looked = now;
  }, LOOK_MS);
  window.addEventListener('online', act);
  return () => {
    clearInterval(timer);
    window.removeEventListener('online', act);
  };
}

/** How often a shared wall asks again: streams take no token. */
const POLL_MS = 15_000;

/** Keeps what is shown fresh by asking, until the returned function is called. */
export function pollChanges(client: QueryClient): () => void {
  set({ status: 'live' });
  const ask = () =>
    client.refetchQueries({ type: 'active' }, { throwOnError: true }).then(
      () => set({ status: 'live' }),
      () => state.status !== 'stale' && set({ status: 'stale', since: Date.now() }),
    );
  const timer = setInterval(() => void ask(), POLL_MS);
  return () => clearInterval(timer);
}

/** Asks anew for what changes touch, in rounds: at once after a pause, else one after the other. */
function refetchInRounds(client: QueryClient) {
  let pending: Pending = new Map();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let busy = false;
  let endedAt = Number.NEGATIVE_INFINITY;

  const round = async () => {
    const touched = pending;
    pending = new Map();
    busy = true;
    // Waited for: a round that began before the last one ended would cancel its requests, for ever under load.
    await client.invalidateQueries({ predicate: isTouched(touched) });
    busy = false;
    endedAt = performance.now();
    timer = undefined;
    if (pending.size > 0) plan();
  };
  const plan = () => {
    timer ??= setTimeout(round, Math.max(FIRST_MS, endedAt + BETWEEN_MS - performance.now()));
  };
  return {
    touch: (change: LiveChange) => {
      note(pending, change);
      if (!busy) plan();
    },
    stop: () => clearTimeout(timer),
  };
}

/** Opens the stream and keeps `client` fresh until the returned function is called. */
export function followChanges(client: QueryClient): () => void {
  const rounds = refetchInRounds(client);
  let retry: ReturnType<typeof setTimeout> | undefined;
  let waitMs = RETRY_MS.least;
  let source: EventSource | undefined;

  const stale = () => {
    if (state.status === 'stale') return;
    set({ status: 'stale', since: Date.now() });
    // What is opened from now on is asked for, not taken from what was known.
    void client.invalidateQueries({ refetchType: 'none' });
  };

  const open = (again: boolean) => {
    source = new EventSource('/api/stream');
    let fresh = again;
    source.addEventListener('open', () => {
      const broken = state.status === 'stale';
      set({ status: 'live' });
      waitMs = RETRY_MS.least;
      // A new stream knows nothing of what the old one missed; an old one is told by `resync` or by the changes.
      if (fresh) void client.invalidateQueries();
      // The server ends a stream when rights change.
      else if (broken) void client.invalidateQueries({ queryKey: ['session'] });
      fresh = false;
    });
    source.addEventListener('error', () => {
      stale();
      // A break is reconnected by the browser, with the id of the last change. An answer other than 200 is not.
      if (source?.readyState !== EventSource.CLOSED) return;
      clearTimeout(retry);
      retry = setTimeout(() => open(true), waitMs * (0.5 + Math.random()));
      waitMs = Math.min(waitMs * 2, RETRY_MS.most);
      void client.invalidateQueries({ queryKey: ['session'] });
    });
    source.addEventListener('change', (event) =>
      rounds.touch(JSON.parse((event as MessageEvent<string>).data) as LiveChange),
    );
    source.addEventListener('resync', () => void client.invalidateQueries());
  };
  open(false);
  window.addEventListener('offline', stale);
  const stopLooking = onReturn(() => {
    source?.close();
    clearTimeout(retry);
    open(true);
  });

  return () => {
    window.removeEventListener('offline', stale);
    stopLooking();
    rounds.stop();
    clearTimeout(retry);
    source?.close();
    set({ status: 'connecting' });
  };
}
