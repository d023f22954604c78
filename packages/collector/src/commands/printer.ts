/** What the `sweep` command shows: a line per live host as it is found, a bar on a terminal, explanations at the end. */
import type { AddressSpace } from '@rollcall/shared/address-space';
import { OUTCOMES, type OutcomeCode } from '@rollcall/shared/model';
import type { Observation } from '@rollcall/shared/observation';
import type { SweepReport } from '../sweep/task.ts';
import { Gathering, jsonOf, TABLE_HEAD, tableLineOf } from './host-line.ts';
import { Out } from './out.ts';
import { Progress } from './progress.ts';
import type { Terminal } from './terminal.ts';

/** Lines are cut to the terminal, elsewhere to this. */
const COLUMNS = 400;

export class Printer implements SweepReport {
  readonly #space: AddressSpace;
  readonly #json: boolean;
  /** Index → the address as it was asked for. */
  readonly #explained: ReadonlyMap<number, string>;
  readonly #terminal: Terminal;
  readonly #out: Out;
  readonly #progress: Progress;
  readonly #gathering = new Gathering();
  readonly #endings = new Map<number, { code: OutcomeCode; note: string | undefined }>();

  constructor(
    space: AddressSpace,
    terminal: Terminal,
    options: { json: boolean; explained: ReadonlyMap<number, string> },
  ) {
    this.#space = space;
    this.#json = options.json;
    this.#explained = options.explained;
    this.#terminal = terminal;
    this.#out = new Out(terminal.stdout);
    this.#out.onClosed = () => terminal.stop.abort();
    this.#progress = new Progress(terminal.stderr, space.size);
    if (!this.#json) this.#print(TABLE_HEAD);
  }

  observe(fact: Observation): void {
    this.#gathering.add(fact);
  }

  outcome(index: number, code: OutcomeCode, note?: string): void {
    this.#progress.count(code, note);
    if (this.#explained.has(index)) this.#endings.set(index, { code, note });
    const address = this.#space.at(index);
    const gathered = this.#gathering.take(address);
    if (!gathered || this.#terminal.stop.signal.aborted) return;
    const columns = this.#terminal.stdout.columns || COLUMNS;
    this.#print(
      this.#json
        ? jsonOf(address, gathered, code, note)
        : tableLineOf(address, gathered, code, note, columns),
    );
  }

  fault(address: string, error: unknown): void {
    this.#progress.above(`${address}: ${(error as Error).stack ?? error}`);
  }

  ready(): Promise<void> | undefined {
    return this.#out.ready();
  }

  /** The explanations that were asked for, and the summary. */
  finish(seconds: number): void {
    this.stop();
    for (const [index, address] of this.#explained) this.#explain(address, this.#endings.get(index));
    this.#out.flush();
    this.#terminal.stderr.write(`${this.#progress.summary(seconds)}\n`);
  }

  stop(): void {
    this.#out.flush();
    this.#progress.stop();
  }

  #explain(address: string, end: { code: OutcomeCode; note: string | undefined } | undefined): void {
    const outcome = OUTCOMES[end?.code ?? '.'];
    const why = end?.note ?? MEANING[end?.code ?? '.'];
    this.#out.line(
      this.#json ? JSON.stringify({ explain: address, outcome, why }) : `${address}: ${outcome}: ${why}`,
    );
  }

  #print(text: string): void {
    if (this.#progress.shares(this.#terminal.stdout)) this.#progress.above(text);
    else this.#out.line(text);
  }
}

const MEANING: Record<OutcomeCode, string> = {
  '.': 'the sweep ended before its turn',
  x: 'excluded',
  _: 'answered neither ICMP nor SNMP',
  i: 'answered ICMP; SNMP was not asked',
  s: 'an SNMP agent answered and was read',
  a: 'an SNMP agent is there and refused every credential',
  t: 'answered ICMP; to SNMP it was silent: no agent, another port, a firewall, or another community',
  '=': 'a further address of a device that was read already',
  b: 'a budget of the sweep was used up before it was read to the end',
  e: 'an error came in between',
};
