/** The credentials that the server gave for monitoring, in memory only. */
import { createHash } from 'node:crypto';
import type { WireCredential } from '@rollcall/shared/protocol';
import { credentialOf, type SnmpCredential } from '@rollcall/snmp/engine/credential';

export class Credentials {
  readonly #known = new Map<string, { mark: string; credential: SnmpCredential }>();

  /** One that came as it was stays the same object: its keys are derived. */
  take(wires: readonly WireCredential[]): void {
    for (const wire of wires) {
      const mark = createHash('sha256').update(JSON.stringify(wire)).digest('base64');
      if (this.#known.get(wire.id)?.mark === mark) continue;
      this.#known.set(wire.id, { mark, credential: credentialOf(wire) });
    }
  }

  get(id: string | undefined): SnmpCredential | undefined {
    return this.#known.get(id ?? '')?.credential;
  }

  get all(): SnmpCredential[] {
    return [...this.#known.values()].map(({ credential }) => credential);
  }

  /** What no target uses and no trap can come with is kept nowhere. */
  keep(used: ReadonlySet<string | undefined>): void {
    for (const [id, { credential }] of this.#known)
      if (!used.has(id) && credential.version !== 'v3') this.#known.delete(id);
  }
}
