/** The collector daemon: what it is made of and how the parts are joined. */
import { hostname } from 'node:os';
import { join } from 'node:path';
import { lockFolder } from '@rollcall/host/lock';
import type { Clock } from '@rollcall/shared/clock';
import type { CollectorMessage } from '@rollcall/shared/protocol';
import type { Logger } from 'pino';
import { Health, Watchdog } from './health.ts';
import { describeChoice } from './icmp/choose.ts';
import { type Identity, Keys, loadIdentity, prepareFolder, saveIdentity } from './link/identity.ts';
import { Link } from './link/link.ts';
import { isLoopback } from './link/server-address.ts';
import type { LinkState } from './link/states.ts';
import { serveMetrics } from './metrics.ts';
import { Outbox } from './outbox/outbox.ts';
import { outboxSettings, type Settings } from './platform/config.ts';
import { Refusal, systemReason } from './platform/refusal.ts';
import { VERSION } from './platform/version.ts';
import { Paces } from './runner/paces.ts';
import { Runner, type RunnerLimits } from './runner/runner.ts';
import { bootId, CrashQuarantine } from './sweep/crash-quarantine.ts';
import { Scope } from './sweep/scope.ts';
import { type Network, openNetwork } from './sweep/tools.ts';
import { openOwnEngine } from './traps/own-engine.ts';
import { Traps } from './traps/traps.ts';
import { Watch } from './watch/watch.ts';

export interface CollectorOptions {
  stateFolder: string;
  settings: Settings;
  clock: Clock;
  log: Logger;
  onLink?: (state: LinkState) => void;
  /** The ways out to the network, where they are not this host's own. */
  openNetwork?: typeof openNetwork;
}

export interface RunningCollector {
  readonly identity: Identity;
  readonly link: LinkState;
  /** Whether results can be kept; a reason when not. */
  readonly paused: string | null;
  /** Why it should be restarted; null when it is healthy. For a watchdog. */
  unhealthyReason(): string | null;
  /** What its sweeps are done with, for others on this host. */
  readonly resources: { settings: Settings; network: Network; paces: Paces };
  /** New settings for scope, rates and jobs; the others need a restart. */
  apply(settings: Settings): void;
  /** Stops sweeps, keeps what they found, closes the link. Resolves within some seconds; may be called twice. */
  stop(): Promise<void>;
}

/** Without a cap of its own a collector sends no more than this, packets per second. */
const USUAL_RATE = 10_000;
const USUAL_RATE_PER_NET = 2000;
/** Results of stopped sweeps get this long to reach the disk. */
const SETTLE_MS = 3000;
/** An outbox that the server does not recognise is replaced once in so long. */
const ANEW_MS = 86_400_000;

/**
 * Starts the collector whose state lies in a folder. Throws a Refusal when it cannot run: not joined, the folder in use
 * or unusable, its outbox written by a newer version.
 */
export async function startCollector(options: CollectorOptions): Promise<RunningCollector> {
  const stops: Stop[] = [];
  const stopAll = async () => {
    for (const stop of stops.splice(0).reverse()) await stop();
  };
  try {
    const parts = await openParts(options, stops);
    await openMetrics(options, parts, stops);
    return running(parts, options, stopAll);
  } catch (error) {
    await stopAll();
    throw error;
  }
}

type Stop = () => Promise<void>;

/** Opens the parts, each on those before it; every part that is open has its stop in `stops`, even if a later one fails. */
async function openParts(options: CollectorOptions, stops: Stop[]) {
  const { stateFolder, settings, clock, log } = options;
  const { lock, loaded } = await takeFolder(stateFolder);
  stops.push(() => lock.release());
  const outbox = await openOutbox(options);
  stops.push(() => outbox.close());
  const network = await (options.openNetwork ?? openNetwork)(clock, settings.engines, log);
  stops.push(() => network.close());
  for (const choice of network.chosen.choices) log.info(describeChoice(choice));
  const quarantine = openQuarantine(options);
  stops.push(async () => quarantine.close());
  const limits = limitsOf(settings, loaded.identity);
  const paces = new Paces(capsOf(settings), clock);
  const tools = { ...network.tools, quarantine };
  const send = (message: CollectorMessage) => link.send(message);
  const runner = new Runner({ tools, outbox, clock, log, paces, limits, send });
  stops.push(() => within(SETTLE_MS, runner.stop(), clock));
  const { scope } = limits;
  // Its rate is the list's; only the caps of the site's administrator slow it down.
  const { pace } = paces.take({ rate: 'max', ratePerNet: 'max' });
  const linked = () => link.state === 'ready';
  const watch = new Watch({ tools: network.tools, outbox, clock, log, pace, scope, linked });
  stops.push(async () => watch.stop());
  const traps = await Traps.open(
    {
      outbox,
      clock,
      log,
      scope,
      engine: openOwnEngine(stateFolder, loaded.identity.collector, clock),
      users: () => watch.users,
      isWatched: (address) => watch.isWatched(address),
      readSoon: (address, port) => watch.readSoon(address, port),
    },
    settings.traps,
  );
  stops.push(() => traps.close());
  const watchdog = new Watchdog(clock);
  const link: Link = startLink(options, { loaded, outbox, network, runner, watch, traps, watchdog }, stops);
  return { loaded, outbox, network, paces, runner, watch, traps, watchdog, link };
}

type Parts = Awaited<ReturnType<typeof openParts>>;

function startLink(
  options: CollectorOptions,
  { loaded, outbox, network, runner, watch, traps, watchdog }: Omit<Parts, 'paces' | 'link'>,
  stops: Stop[],
): Link {
  const { stateFolder, settings, clock, log } = options;
  const health = new Health(clock, outbox, watch, traps);
  stops.push(() => health.stop());
  const identity = new StoredIdentity(stateFolder, loaded.identity);
  const link = new Link({
    clock,
    log,
    collector: {
      ...linkParts({ identity, keys: new Keys(stateFolder, loaded.key), outbox, runner, watch, clock, log }),
      about: () => ({
        software: `rollcall-collector ${VERSION}`,
        hostname: hostname(),
        capacity: settings.jobs,
        engines: enginesOf(network),
      }),
      health: () => health.beat(),
    },
    onState: (state) => {
      watchdog.entered(state);
      options.onLink?.(state);
    },
  });
  stops.push(() => link.stop());
  return link;
}

async function openMetrics({ settings, clock, log }: CollectorOptions, parts: Parts, stops: Stop[]) {
  const { link, outbox, runner, watch, traps, watchdog } = parts;
  const served = await serveMetrics(settings.metrics, () => ({
    linked: link.state === 'ready',
    outbox: outbox.status(),
    drops: { ...outbox.status().drops, ...traps.drops },
    jobs: runner.working().length,
    watch: watch.status(),
    traps: traps.status().received,
    now: clock.now(),
    unhealthyReason: watchdog.unhealthyReason(outbox.stalledMs),
  }));
  if (!served) return;
  stops.push(() => served.close());
  log.info({ url: served.url }, 'metrics are served');
}

function running(parts: Parts, { settings }: CollectorOptions, stopAll: Stop): RunningCollector {
  const { loaded, outbox, network, paces, runner, watch, traps, watchdog, link } = parts;
  let stopping: Promise<void> | undefined;
  const resources = { settings, network, paces };
  return {
    resources,
    identity: loaded.identity,
    get link() {
      return link.state;
    },
    get paused() {
      return outbox.status().paused;
    },
    unhealthyReason: () => watchdog.unhealthyReason(outbox.stalledMs),
    apply: (changed) => {
      const limits = limitsOf(changed, loaded.identity);
      resources.settings = changed;
      paces.limit(capsOf(changed));
      runner.limit(limits);
      watch.limit(limits.scope);
      traps.limit(limits.scope);
    },
    stop: () => {
      stopping ??= stopAll();
      return stopping;
    },
  };
}

/** Locks the state folder and reads who we are. */
async function takeFolder(stateFolder: string) {
  prepareFolder(stateFolder);
  const lock = await lockFolder(stateFolder, 'collector');
  if (!lock.ok)
    throw new Refusal(`the state folder ${stateFolder} is in use by ${lock.heldBy}: stop it first`);
  try {
    const loaded = loadIdentity(stateFolder);
    if (loaded) return { lock, loaded };
    throw new Refusal(
      `this collector has not joined a server yet: "rollcall-collector join URL TOKEN" (state folder ${stateFolder})`,
    );
  } catch (error) {
    await lock.release();
    throw error;
  }
}

async function openOutbox({ stateFolder, settings, clock, log }: CollectorOptions): Promise<Outbox> {
  const folder = join(stateFolder, 'outbox');
  try {
    return await Outbox.open({ folder, settings: outboxSettings(settings), clock, log });
  } catch (error) {
    throw error instanceof Refusal
      ? error
      : new Refusal(`cannot open the outbox ${folder}: ${systemReason(error)}`);
  }
}

function openQuarantine({ stateFolder, clock, log }: CollectorOptions): CrashQuarantine {
  const quarantine = CrashQuarantine.open({ stateFolder, clock, boot: bootId() });
  for (const [address, { count }] of quarantine.known)
    log.warn(
      { address, crashes: count },
      'the collector ended while it read a device, which is read alone from now on',
    );
  return quarantine;
}

/** Waits for work, but no longer than `ms`. */
async function within(ms: number, work: Promise<void>, clock: Clock): Promise<void> {
  const done = new AbortController();
  const late = clock.sleep(ms, done.signal).catch(() => undefined);
  await Promise.race([work, late]);
  done.abort();
}

/** The identity in memory and on disk. */
class StoredIdentity {
  readonly #folder: string;
  value: Identity;

  constructor(folder: string, value: Identity) {
    this.#folder = folder;
    this.value = value;
  }

  generation(generation: number, forgetAuthority: boolean): void {
    const { ca, ...rest } = this.value;
    const next = { ...rest, generation, ...(ca === undefined || forgetAuthority ? {} : { ca }) };
    saveIdentity(this.#folder, next);
    this.value = next;
  }
}

/** What the link needs of the other parts. */
function linkParts({
  identity,
  keys,
  outbox,
  runner,
  watch,
  clock,
  log,
}: {
  identity: StoredIdentity;
  keys: Keys;
  outbox: Outbox;
  runner: Runner;
  watch: Watch;
  clock: Clock;
  log: Logger;
}) {
  let begunAnewAt = Number.NEGATIVE_INFINITY;
  return {
    outbox,
    identity: () => identity.value,
    saveGeneration: identity.generation.bind(identity),
    key: () => keys.current,
    keyWorks: (key: Parameters<Keys['works']>[0]) => keys.works(key),
    makeNextKey: () => keys.makeNext(),
    useNextKey: () => keys.useNext(),
    tryOtherKey: () => keys.tryOther(),
    working: () => runner.working(),
    assign: runner.assign.bind(runner),
    cancel: runner.cancel.bind(runner),
    rules: runner.rules.bind(runner),
    watch: watch.take.bind(watch),
    sequenceRegression: async (reason: string) => {
      const now = clock.monotonic();
      if (now - begunAnewAt < ANEW_MS) {
        log.error({ reason }, 'the server claims observations that this collector never sent');
        return;
      }
      begunAnewAt = now;
      await outbox
        .startAnew(reason)
        .catch((error: unknown) => log.error({ err: error }, 'no new outbox could be made'));
    },
  };
}

/** Local limits. Loopback is swept unasked only where the server is on this machine too: a laboratory. */
const limitsOf = ({ jobs, allow, deny }: Settings, { server }: Identity): RunnerLimits => ({
  jobs,
  scope: new Scope({ allow, deny, loopback: isLoopback(new URL(server).hostname) }),
});
const capsOf = ({ rate, ratePerNet }: Settings) => ({
  rate: rate ?? USUAL_RATE,
  ratePerNet: ratePerNet ?? USUAL_RATE_PER_NET,
});

const enginesOf = ({ chosen }: Network) =>
  chosen.choices.flatMap(({ family, engine, refusals }) => [
    ...refusals.map((refusal) => ({
      name: `${refusal.engine} IPv${family}`,
      ok: false,
      reason: `${refusal.reason}; ${refusal.remedy}`.slice(0, 300),
    })),
    ...(engine === null ? [] : [{ name: `${engine} IPv${family}`, ok: true, reason: '' }]),
  ]);
