/** One run of chaos on one database: a schedule that follows from its seed, and what came of it. */
import { systemClock } from '@rollcall/shared/clock';
import { sound, type Verdict } from './check.ts';
import { eventually } from './child.ts';
import type { SourceProcess } from './collector.ts';
import { type Fault, faultsOf } from './faults.ts';
import { Matrix } from './matrix.ts';
import { arrange, inPhase, PHASES, type Phase, release } from './phases.ts';
import { Random } from './random.ts';
import { type DatabaseKind, World } from './world.ts';

export interface ChaosOptions {
  seed: string;
  minutes: number;
  /** It ends by then, whatever was not met. */
  mostMinutes: number;
  database: DatabaseKind;
  /** Of several one is killed every now and then, and that is all that befalls them. */
  servers: number;
  sources: number;
  /** Observations per second of each source. */
  rate: number;
  /** Observations that a backlog begins with. */
  burst: number;
  /** Go on until every cell has been met so often, so much was observed and so many faults done. */
  least: number;
  observations: number;
  faults: number;
  /** These kinds only, by the beginning of their names: to look at one that failed. */
  only: readonly string[];
  /** What other runs have met already: it is not met first again. */
  before?: Matrix;
  say: (line: string) => void;
}

export interface Outcome {
  database: DatabaseKind;
  matrix: Matrix;
  /** Faults done; one that befalls the server counts once here, and in the matrix for every phase that it met. */
  injected: number;
  verdict: Verdict;
  /** What else must not happen: starts that failed, processes that ended by themselves, outboxes that did not drain. */
  faults: string[];
  /** Milliseconds from the start of a server process until it is ready. */
  starts: number[];
  /** Milliseconds from the death of one of several servers until every collector is with one. */
  moves: number[];
  seconds: number;
  folder: string;
  ok: boolean;
}

/** One of several servers is killed this often, and its collectors must be with another by then. */
const KILL_EVERY_MS = 20_000;
const MOVED_MS = 10_000;
/** What a killed server leaves of its connections is noticed within. */
const NOTICED_MS = 300;

/** A backlog that stands still for so long after everything is mended will not be delivered. */
const STILL_MS = 60_000;

/** Deals out what comes next: the rarest first, in an order that follows from the seed. */
class Deck<T> {
  readonly #cards: T[];
  readonly #rank: (card: T) => number;
  readonly #taken = new Set<T>();

  constructor(cards: readonly T[], rank: (card: T) => number) {
    this.#cards = [...cards];
    this.#rank = rank;
  }

  /** Undefined while all that suits is in other hands. */
  next(suits: (card: T) => boolean = () => true): T | undefined {
    const free = this.#cards.filter((card) => !this.#taken.has(card) && suits(card));
    const [first] = free.sort((a, b) => this.#rank(a) - this.#rank(b));
    if (!first) return undefined;
    // To the end of the queue, so that one that cannot be arranged does not come up again at once.
    this.#cards.splice(this.#cards.indexOf(first), 1);
    this.#cards.push(first);
    this.#taken.add(first);
    return first;
  }
  done(card: T): void {
    this.#taken.delete(card);
  }
  get empty(): boolean {
    return this.#cards.length === 0;
  }
}

export async function chaos(options: ChaosOptions): Promise<Outcome> {
  const { seed, database, servers, sources, rate, least, before, only, say } = options;
  const begun = systemClock.monotonic();
  const kinds = faultsOf(database).filter(
    ({ name, scope }) =>
      (only.length === 0 || only.some((begin) => name.startsWith(begin))) &&
      (servers === 1 || scope === 'source'),
  );
  const matrix = new Matrix(kinds.map(({ name }) => name));
  const faults: string[] = [];
  const moves: number[] = [];
  let injected = 0;
  // The last sources, one for each phase, are there to be met by what befalls the server; the others are on their own.
  const world = await World.create({
    database,
    servers,
    sources: sources + PHASES.length,
    rate,
    // How soon collectors are with another server is up to how long they wait in truth.
    haste: servers > 1 ? 1 : 0.1,
    smallDisks: true,
  });
  const [own, audience] = [world.sources.slice(0, sources), world.sources.slice(sources)];
  say(`${database}: ${world.sources.length} sources, ${kinds.length} kinds of fault, in ${world.folder}`);

  const met = (kind: string, phase: Phase) => matrix.at(kind, phase) + (before?.at(kind, phase) ?? 0);
  const rarest = ({ name }: Fault) => Math.min(...PHASES.map((phase) => met(name, phase)));
  const ofScope = (scope: Fault['scope']) => kinds.filter((fault) => fault.scope === scope);
  const shuffled = <T>(cards: T[], name: string) => new Random(`${seed} ${name}`).shuffled(cards);
  const cells = ofScope('source').flatMap((fault) => PHASES.map((phase) => ({ fault, phase })));
  const sourceDeck = new Deck(shuffled(cells, 'source'), ({ fault, phase }) => met(fault.name, phase));
  const serverDeck = new Deck(shuffled(ofScope('server'), 'server'), rarest);

  const observed = () => world.sources.reduce((sum, { told }) => sum + (told?.n ?? 0), 0);
  const start = systemClock.monotonic();
  const over = () => {
    const minutes = (systemClock.monotonic() - start) / 60_000;
    const enough =
      kinds.every((fault) => rarest(fault) >= least) &&
      observed() >= options.observations &&
      injected >= options.faults;
    return minutes >= options.minutes && (enough || minutes >= options.mostMinutes);
  };

  /** One fault on somebody who is in the phases that are named; none when that could not be brought about. */
  const strike = async (fault: Fault, actors: readonly (readonly [Phase, SourceProcess])[]) => {
    const names = actors.map(([phase]) => phase).join(' ');
    // How it goes follows from the seed, the cell and how often it was met: the same with whatever happens beside it.
    const random = new Random(`${seed} ${fault.name} ${names} ${matrix.of(fault.name)}`);
    const [first] = actors;
    try {
      // The one that cannot be held comes last.
      const [passing, lasting] = [true, false].map((is) =>
        actors.filter(([phase]) => (phase === 'connecting') === is),
      );
      for (const each of [lasting, passing])
        await Promise.all((each ?? []).map(([phase, source]) => arrange(phase, source, options, random)));
      const hit = actors.filter(([phase, source]) => inPhase(phase, source));
      if (hit.length === 0 || !first) return;
      world.note(
        `${fault.name} while ${hit.map(([phase, { name }]) => `${phase} ${name.index}`).join(', ')}`,
      );
      for (const [phase] of hit) matrix.count(fault.name, phase);
      injected += 1;
      await fault.inject({ world, source: first[1], random });
    } catch (error) {
      faults.push(`${fault.name} while ${names}: ${error instanceof Error ? error.message : String(error)}`);
      world.note(faults.at(-1) ?? '');
    } finally {
      for (const [, source] of actors) await release(source, options);
    }
    await systemClock.sleep(random.whole(0, 500));
  };
  const onSource = async (source: SourceProcess) => {
    while (!sourceDeck.empty && !over()) {
      const cell = sourceDeck.next(({ fault }) => fault.suits?.(source) ?? true);
      if (cell) await strike(cell.fault, [[cell.phase, source]]);
      else await systemClock.sleep(200);
      if (cell) sourceDeck.done(cell);
      await mendSource(world, source, faults);
    }
  };
  const onServer = async () => {
    const stage = audience.map((source, i) => [PHASES[i] ?? 'steady', source] as const);
    while (!serverDeck.empty && !over()) {
      const fault = serverDeck.next();
      if (!fault) return;
      await strike(fault, stage);
      serverDeck.done(fault);
      await mendServer(world, faults);
      for (const source of audience) await mendSource(world, source, faults);
    }
  };
  const onServers = async () => {
    const random = new Random(`${seed} servers`);
    while (!over()) {
      const next = systemClock.monotonic() + KILL_EVERY_MS;
      const which = random.whole(0, servers - 1);
      const victim = world.servers[which];
      await victim?.kill();
      const from = systemClock.monotonic();
      world.note(`server ${which} killed`);
      injected += 1;
      await systemClock.sleep(NOTICED_MS);
      const away = () => audience.filter(({ linked }) => !linked);
      if (await eventually(() => away().length === 0, MOVED_MS - NOTICED_MS, 20))
        moves.push(systemClock.monotonic() - from);
      else
        for (const { name, told } of away())
          faults.push(`source ${name.index} is with no other server: ${JSON.stringify(told)}`);
      await systemClock.sleep(random.whole(0, 3000));
      await victim?.startReady().catch((error: Error) => faults.push(error.message));
      await systemClock.sleep(Math.max(0, next - systemClock.monotonic()));
    }
  };
  const telling = systemClock.every(15_000, () => {
    const depth = world.sources.reduce((sum, { told }) => sum + (told?.depth ?? 0), 0);
    say(
      `${database}: ${injected} faults, ${matrix.empty.length} cells empty, ${observed()} observed, ${depth} under way`,
    );
  });
  await Promise.all([servers > 1 ? onServers() : onServer(), ...own.map(onSource)]);

  for (const source of world.sources) source.setRate(0);
  const late = await world.drained(STILL_MS);
  telling();
  for (const { name, told } of late)
    faults.push(`source ${name.index} has not delivered everything: ${JSON.stringify(told)}`);
  const verdict = await world.verdict();
  const ok = sound(verdict) && faults.length === 0 && verdict.reported === 0;
  await world.destroy(!ok);
  return {
    database,
    matrix,
    injected,
    verdict,
    faults,
    starts: world.servers.flatMap(({ startTimes }) => startTimes),
    moves,
    seconds: (systemClock.monotonic() - begun) / 1000,
    folder: world.folder,
    ok,
  };
}

/** What ended by itself is a fault of its own; the run goes on. */
async function mendSource(world: World, source: SourceProcess, faults: string[]): Promise<void> {
  if (source.running) return;
  faults.push(`source ${source.name.index} ended by itself: ${JSON.stringify(source.child?.over)}`);
  world.note(faults.at(-1) ?? '');
  await source.startSpeaking().catch((error: Error) => faults.push(error.message));
}

async function mendServer(world: World, faults: string[]): Promise<void> {
  if (world.server.running) return;
  faults.push(`the server ended by itself: ${JSON.stringify(world.server.child?.over)}`);
  world.note(faults.at(-1) ?? '');
  await world.server.startReady().catch((error: Error) => faults.push(error.message));
}
