import type { Varbind } from '../message/pdu.ts';
import type { SnmpCredential } from './credential.ts';
import type { SnmpEngine } from './engine.ts';
import type { Answer, AskOptions, Target } from './exchange.ts';
import { failure } from './failure.ts';
import { Query, type Question } from './query.ts';

/** One agent asked with one credential. Costs nothing but this object; the engine holds everything that is open. */
export class Session {
  readonly target: Target;
  readonly credential: SnmpCredential;
  readonly engine: SnmpEngine;
  readonly options: AskOptions;

  constructor(engine: SnmpEngine, target: Target, credential: SnmpCredential, options: AskOptions) {
    this.engine = engine;
    this.target = target;
    this.credential = credential;
    this.options = options;
  }

  /**
   * Values of exactly these OIDs, in their order. What the agent does not have or cannot read is `noSuchObject`, also
   * in v1, where one missing object fails the whole request. Split in halves when the agent finds it too big.
   */
  async get(oids: readonly string[]): Promise<Answer> {
    const answer = await this.#ask({ type: 'get', oids });
    if (answer.ok) return answer;
    const named = answer.index;
    switch (answer.code) {
      case 'no-such-name':
      case 'gen-err':
        if (oids.length === 1) return absent(oids);
        return named === undefined ? this.#halves(oids) : this.#without(oids, named - 1);
      case 'too-big':
        return oids.length > 1 ? this.#halves(oids) : answer;
      default:
        return answer;
    }
  }

  /** The first object after each of these OIDs. */
  getNext(oids: readonly string[], options?: Partial<AskOptions>): Promise<Answer> {
    return this.#ask({ type: 'getNext', oids }, options);
  }

  /** Up to `maxRepetitions` objects after each of these OIDs, row by row; not in v1. */
  getBulk(oids: readonly string[], maxRepetitions: number, options?: Partial<AskOptions>): Promise<Answer> {
    if (this.credential.version === 'v1') return Promise.resolve(failure('mismatched', 'v1 has no GetBulk'));
    return this.#ask({ type: 'getBulk', oids, nonRepeaters: 0, maxRepetitions }, options);
  }

  #ask(question: Question, options?: Partial<AskOptions>): Promise<Answer> {
    return this.engine.ask(this.target, new Query(this.credential, question), {
      ...this.options,
      ...options,
    });
  }

  async #without(oids: readonly string[], missing: number): Promise<Answer> {
    const rest = await this.get(oids.filter((_, i) => i !== missing));
    if (!rest.ok) return rest;
    const oid = oids[missing] ?? '';
    const varbinds = [...rest.varbinds];
    varbinds.splice(missing, 0, { oid, type: 'noSuchObject', value: null });
    return { ...rest, varbinds };
  }

  async #halves(oids: readonly string[]): Promise<Answer> {
    const middle = Math.ceil(oids.length / 2);
    const first = await this.get(oids.slice(0, middle));
    if (!first.ok) return first;
    const second = await this.get(oids.slice(middle));
    if (!second.ok) return second;
    return {
      ok: true,
      varbinds: [...first.varbinds, ...second.varbinds],
      bytes: first.bytes + second.bytes,
      rttMs: Math.max(first.rttMs, second.rttMs),
    };
  }
}

const absent = (oids: readonly string[]): Answer => ({
  ok: true,
  varbinds: oids.map((oid): Varbind => ({ oid, type: 'noSuchObject', value: null })),
  bytes: 0,
  rttMs: 0,
});
