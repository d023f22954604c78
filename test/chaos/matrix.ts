/** How often each kind of fault happened in each phase. A cell that stayed empty is a promise that nobody looked at. */
import { PHASES, type Phase } from './phases.ts';

export class Matrix {
  readonly #counts = new Map<string, Map<Phase, number>>();

  constructor(kinds: readonly string[]) {
    for (const kind of kinds) this.#counts.set(kind, new Map(PHASES.map((phase) => [phase, 0])));
  }

  count(kind: string, phase: Phase): void {
    const row = this.#counts.get(kind);
    row?.set(phase, (row.get(phase) ?? 0) + 1);
  }

  add(other: Matrix): void {
    for (const [kind, row] of other.#counts) {
      const own = this.#counts.get(kind) ?? new Map<Phase, number>();
      for (const [phase, n] of row) own.set(phase, (own.get(phase) ?? 0) + n);
      this.#counts.set(kind, own);
    }
  }

  at(kind: string, phase: Phase): number {
    return this.#counts.get(kind)?.get(phase) ?? 0;
  }
  /** All of a kind. */
  of(kind: string): number {
    return [...(this.#counts.get(kind)?.values() ?? [])].reduce((sum, n) => sum + n, 0);
  }
  get total(): number {
    return [...this.#counts.keys()].reduce((sum, kind) => sum + this.of(kind), 0);
  }
  get kinds(): number {
    return this.#counts.size;
  }
  /** `kind × phase` of every cell at 0. */
  get empty(): string[] {
    return [...this.#counts].flatMap(([kind, row]) =>
      [...row].flatMap(([phase, n]) => (n === 0 ? [`${kind} × ${phase}`] : [])),
    );
  }

  toString(): string {
    const width = Math.max(...[...this.#counts.keys()].map(({ length }) => length));
    const head = [''.padEnd(width), ...PHASES.map((phase) => phase.padStart(11))].join('');
    const lines = [...this.#counts].map(([kind, row]) =>
      [kind.padEnd(width), ...PHASES.map((phase) => (row.get(phase) || '!').toString().padStart(11))].join(
        '',
      ),
    );
    return [head, ...lines].join('\n');
  }
}
