/**
 * What committed, to whom it may concern: every instance hears the changes of all of them by LISTEN and passes on to
 * each open stream those of its visible sites.
 */
import { change as changeSchema } from '@rollcall/shared/api/service';
import type { Clock } from '@rollcall/shared/clock';
import { uuidv7 } from '@rollcall/shared/uuid';
import type { Response } from 'express';
import type { Logger } from 'pino';
import type { Database } from '../platform/db/db.ts';
import { scopeOf } from '../platform/db/list.ts';
import { LIVE_CHANNEL } from '../platform/db/notify.ts';
import { type Actor, type Handlers, sees } from '../platform/http/handler.ts';
import { Problem } from '../platform/problem.ts';
import { type Entry, Ring } from './ring.ts';
import { Stream } from './stream.ts';
import { readSummary } from './summary.ts';

/** What a client may come back for, in changes and ids: some 8 MB. */
const RING_MOST = 50_000;
/** An idle event stream bears a sign of life this often: below the idle limits of common proxies (60 s). */
export const HEARTBEAT_MS = 15_000;
/** Changes of so long go out together: each piece costs as much as many changes, and nobody sees the difference. */
const GATHER_MS = 50;
/** And no more than so many: a client that keeps up must not be taken for one that is behind. */
const GATHER_MOST = 64;
const STREAMS_MOST = 5_000;
const STREAMS_PER_USER = 50;

export interface LiveDeps {
  db: Database;
  clock: Clock;
  log: Logger;
  /** Calls `gone` once when the actor's rights are no longer what they were; returns what stops the watching. */
  watch: (actor: Actor, gone: () => void) => () => void;
}

export interface Live {
  handlers: Handlers<'summary.get' | 'stream.open'>;
  /** Open streams. */
  readonly size: number;
  /** Ends every stream; clients come back elsewhere. */
  close(): Promise<void>;
}

export async function openLive({ db, clock, log, watch }: LiveDeps): Promise<Live> {
  const ring = new Ring(uuidv7(clock.now()).replaceAll('-', ''), RING_MOST);
  const streams = new Map<Stream, Actor>();
  let gathered: Entry[] = [];

  const sendGathered = (): void => {
    const entries = gathered;
    gathered = [];
    for (const stream of streams.keys()) stream.send(entries);
  };
  const hear = (payload: string): void => {
    // The connection was lost for a while: what was said then is unknown.
    if (payload === '') {
      ring.break();
      gathered = [];
      for (const stream of streams.keys()) stream.resync(ring.lastId);
      return;
    }
    const change = readChange(payload);
    if (!change) {
      log.warn({ payload: payload.slice(0, 200) }, 'a live notification that is none');
      return;
    }
    if (gathered.length === 0) void clock.sleep(GATHER_MS).then(sendGathered);
    gathered.push(ring.push(change));
    if (gathered.length === GATHER_MOST) sendGathered();
  };
  const unlisten = await db.listen(LIVE_CHANNEL, hear);
  const stopBeating = clock.every(HEARTBEAT_MS, () => {
    for (const stream of streams.keys()) stream.beat();
  });

  const admit = (actor: Actor): void => {
    const own = [...streams.values()].filter(({ userId }) => userId === actor.userId).length;
    if (own >= STREAMS_PER_USER || streams.size >= STREAMS_MOST)
      throw new Problem('rate_limited', 'too many open streams; close some', {
        headers: { 'Retry-After': '10' },
      });
  };

  const open = (
    response: Response,
    actor: Actor,
    site: string | undefined,
    lastId: string | undefined,
  ): void => {
    response.writeHead(200, {
      'Content-Type': 'text/event-stream; charset=utf-8',
      'Cache-Control': 'no-store',
      // nginx gathers answers otherwise.
      'X-Accel-Buffering': 'no',
    });
    const stream = new Stream(
      response,
      (change) =>
        (change.site === null ? actor.sites === 'all' : sees(actor, change.site)) &&
        (site === undefined || change.site === site),
      () => clock.monotonic(),
    );
    const unwatch = watch(actor, () => stream.end());
    // What it may come back for has all been sent, to others.
    sendGathered();
    streams.set(stream, actor);
    response.on('drain', () => {
      sendGathered();
      stream.drained(ring.lastId);
    });
    response.once('close', () => {
      unwatch();
      streams.delete(stream);
    });
    stream.begin(ring.lastId, lastId === undefined ? undefined : ring.since(lastId));
  };

  return {
    handlers: {
      'stream.open': async ({ query, actor, header }) => {
        // Checks the site, too.
        scopeOf(actor, query.site);
        admit(actor);
        const lastId = header('last-event-id');
        return { raw: (response) => open(response, actor, query.site, lastId) };
      },
      'summary.get': async ({ query, actor }) => ({
        data: await readSummary(db, scopeOf(actor, query.site), clock.now()),
      }),
    },
    get size() {
      return streams.size;
    },
    close: async () => {
      stopBeating();
      await unlisten();
      sendGathered();
      for (const stream of streams.keys()) stream.end();
    },
  };
}

function readChange(payload: string) {
  try {
    return changeSchema.safeParse(JSON.parse(payload)).data;
  } catch {
    return undefined;
  }
}
