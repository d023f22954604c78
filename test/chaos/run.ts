/** One run of chaos on one database: a schedule that follows from its seed, and what came of it. */
import { systemClock } from '@rollcall/shared/clock';
import { sound, type Verdict } from './check.ts';
import type { SourceProcess } from './collector.ts';
import { type Fault, faultsOf } from './faults.ts';
import { Matrix } from './matrix.ts';
import { arrange, inPhase, PHASES, type Phase, release } from './phases.ts';
import { Random } from './random.ts';
import { type DatabaseKind, World } from './world.ts';

export interface ChaosOptions {
  seed: string;
  minutes: number;
  database: DatabaseKind;
  sources: number;
  /** Observations per second of each source. */
  rate: number;
  /** Go on until every cell has been met so often and so much has been observed, for at most `minutes` more. */
  least: number;
  observations: number;
  /** These kinds only, by the beginning of their names: to look at one that failed. */
  only: readonly string[];
  /** What other runs have met already: it is not met first again. */
  before?: Matrix;
  say: (line: string) => void;
}

export interface Outcome {
  database: DatabaseKind;
  matrix: Matrix;
  verdict: Verdict;
  /** What else must not happen: starts that failed, processes that ended by themselves, outboxes that did not drain. */
  faults: string[];
  /** Milliseconds from the start of the server process until it is ready. */
  starts: number[];
  seconds: number;
  folder: string;
  ok: boolean;
}

/** Everything delivered, after everything is mended. */
const DRAIN_MS = 300_000;

interface Cell {
  fault: Fault;
  phase: Phase;
}

/** Deals out cells: the emptiest first, in an order that follows from the seed. */
class Deck {
  readonly #cells: Cell[];
  readonly #matrix: Matrix;
  readonly #before: Matrix | undefined;
  readonly #taken = new Set<Cell>();

  constructor(faults: readonly Fault[], matrix: Matrix, random: Random, before: Matrix | undefined) {
    this.#cells = random.shuffled(faults.flatMap((fault) => PHASES.map((phase) => ({ fault, phase }))));
    this.#matrix = matrix;
    this.#before = before;
  }

  /** Undefined while all that suits is in other hands. */
  next(source: SourceProcess): Cell | undefined {
    const free = this.#cells.filter((cell) => !this.#taken.has(cell) && (cell.fault.suits?.(source) ?? true));
    const [first] = free.sort((a, b) => this.#rank(a) - this.#rank(b));
    if (!first) return undefined;
    // To the end of the queue, so that one that cannot be arranged does not come up again at once.
    this.#cells.splice(this.#cells.indexOf(first), 1);
    this.#cells.push(first);
    this.#taken.add(first);
    return first;
  }
  done(cell: Cell): void {
    this.#taken.delete(cell);
  }
  get empty(): boolean {
    return this.#cells.length === 0;
  }
  /** Lowest count of all its cells. */
  get least(): number {
    return Math.min(...this.#cells.map((cell) => this.#count(cell)), Number.POSITIVE_INFINITY);
  }
  #count({ fault, phase }: Cell): number {
    return this.#matrix.at(fault.name, phase);
  }
  /** Cells that were never met come first, those of kinds that were never met before all others. */
  #rank({ fault, phase }: Cell): number {
    const cell = this.#matrix.at(fault.name, phase) + (this.#before?.at(fault.name, phase) ?? 0);
    const kind = this.#matrix.of(fault.name) + (this.#before?.of(fault.name) ?? 0);
    return kind === 0 ? -1 : cell;
  }
}

export async function chaos(options: ChaosOptions): Promise<Outcome> {
  const { seed, minutes, database, sources, rate, least, observations, before, only, say } = options;
  const begun = systemClock.monotonic();
  const kinds = faultsOf(database).filter(
    ({ name }) => only.length === 0 || only.some((begin) => name.startsWith(begin)),
  );
  const matrix = new Matrix(kinds.map(({ name }) => name));
  const faults: string[] = [];
  const world = await World.create({ database, sources, rate, haste: 0.1 });
  say(`${database}: ${sources} sources, ${kinds.length} kinds of fault, in ${world.folder}`);

  const until = systemClock.monotonic() + minutes * 60_000;
  const decks = {
    source: new Deck(
      kinds.filter(({ scope }) => scope === 'source'),
      matrix,
      new Random(`${seed} source`),
      before,
    ),
    server: new Deck(
      kinds.filter(({ scope }) => scope === 'server'),
      matrix,
      new Random(`${seed} server`),
      before,
    ),
  };
  const observed = () => world.sources.reduce((sum, { told }) => sum + (told?.n ?? 0), 0);
  const over = (deck: Deck) => {
    const now = systemClock.monotonic();
    const enough = deck.least >= least && observed() >= observations;
    return now >= until && (enough || now >= until + minutes * 60_000);
  };
  const turn = async (deck: Deck, source: SourceProcess) => {
    const cell = deck.next(source);
    if (!cell) return systemClock.sleep(200);
    const { fault, phase } = cell;
    // How it goes follows from the seed, the cell and how often it was met: the same with whatever happens beside it.
    const random = new Random(`${seed} ${fault.name} ${phase} ${matrix.at(fault.name, phase)}`);
    try {
      const ready = await arrange(phase, source, rate, random);
      if (ready && inPhase(phase, source)) {
        world.note(`${fault.name} while ${phase}, source ${source.name.index}`);
        matrix.count(fault.name, phase);
        await fault.inject({ world, source, random });
      }
    } catch (error) {
      faults.push(`${fault.name} while ${phase}: ${error instanceof Error ? error.message : String(error)}`);
      world.note(faults.at(-1) ?? '');
    } finally {
      deck.done(cell);
      await release(source, rate);
    }
    await mend(world, source, faults);
    await systemClock.sleep(random.whole(0, 500));
  };
  const work = async (deck: Deck, source: SourceProcess) => {
    while (!deck.empty && !over(deck)) await turn(deck, source);
  };
  // The last source belongs to whoever breaks the server: its phase is looked at, the others are as they are.
  const [theServers, ...others] = [...world.sources].reverse() as [SourceProcess, ...SourceProcess[]];
  const telling = systemClock.every(15_000, () => {
    const depth = world.sources.reduce((sum, { told }) => sum + (told?.depth ?? 0), 0);
    say(
      `${database}: ${matrix.total} faults, ${matrix.empty.length} cells empty, ${observed()} observed, ${depth} under way`,
    );
  });
  await Promise.all([work(decks.server, theServers), ...others.map((source) => work(decks.source, source))]);

  for (const source of world.sources) source.setRate(0);
  const late = await world.drained(DRAIN_MS);
  telling();
  for (const { name, told } of late)
    faults.push(`source ${name.index} has not delivered everything: ${JSON.stringify(told)}`);
  const verdict = await world.verdict();
  const ok = sound(verdict) && faults.length === 0 && verdict.reported === 0;
  await world.destroy(!ok);
  return {
    database,
    matrix,
    verdict,
    faults,
    starts: world.server.startTimes,
    seconds: (systemClock.monotonic() - begun) / 1000,
    folder: world.folder,
    ok,
  };
}

/** What ended by itself is a fault of its own; the run goes on. */
async function mend(world: World, source: SourceProcess, faults: string[]): Promise<void> {
  if (!source.running) {
    world.note(`source ${source.name.index} has ended: ${JSON.stringify(source.child?.over)}`);
    faults.push(`source ${source.name.index} ended by itself: ${JSON.stringify(source.child?.over)}`);
    await source.startSpeaking().catch((error: Error) => faults.push(error.message));
  }
  if (source === world.sources.at(-1) && !world.server.running) {
    world.note(`the server has ended: ${JSON.stringify(world.server.child?.over)}`);
    faults.push(`the server ended by itself: ${JSON.stringify(world.server.child?.over)}`);
    await world.server.startReady().catch((error: Error) => faults.push(error.message));
  }
}
