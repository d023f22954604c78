/** The agent's own interfaces by what neighbour protocols call them. */
import type { InterfaceRow } from '@rollcall/shared/observation';

export interface LocalPort {
  ifIndex?: number;
  localPort?: string;
}

/** What an agent says of one of its LLDP ports. */
export interface PortWords {
  id: string | undefined;
  description: string | undefined;
}

export class Ports {
  readonly #byIndex = new Map<number, InterfaceRow>();
  readonly #byName = new Map<string, InterfaceRow>();
  readonly #byMac = new Map<string, InterfaceRow | null>();

  constructor(interfaces: readonly InterfaceRow[]) {
    for (const row of interfaces) {
      this.#byIndex.set(row.ifIndex, row);
      for (const name of [row.ifName, row.ifDescr, row.ifAlias])
        if (name) this.#byName.set(name.toLowerCase(), row);
      // A MAC that several ports share names none of them.
      if (row.physAddress) this.#byMac.set(row.physAddress, this.#byMac.has(row.physAddress) ? null : row);
    }
  }

  byIfIndex(ifIndex: number | undefined): LocalPort {
    if (ifIndex === undefined) return {};
    return named(this.#byIndex.get(ifIndex)) ?? { ifIndex };
  }

  byName(name: string): LocalPort {
    return named(this.#byName.get(name.toLowerCase())) ?? { localPort: name };
  }

  /** LLDP's own port numbers are not ifIndexes: found by the port's id or description, else by the number itself. */
  byLldp(number: number, { id, description }: PortWords): LocalPort {
    const found =
      (id !== undefined && (this.#byName.get(id.toLowerCase()) ?? this.#byMac.get(id))) ||
      (description !== undefined && this.#byName.get(description.toLowerCase())) ||
      (id !== undefined && /^\d+$/.test(id) && this.#byIndex.get(Number(id))) ||
      this.#byIndex.get(number);
    if (found) return named(found) ?? {};
    const name = description ?? id;
    return name === undefined ? {} : { localPort: name };
  }
}

function named(row: InterfaceRow | undefined): LocalPort | undefined {
  if (!row) return undefined;
  const localPort = row.ifName ?? row.ifDescr;
  return localPort === undefined ? { ifIndex: row.ifIndex } : { ifIndex: row.ifIndex, localPort };
}
