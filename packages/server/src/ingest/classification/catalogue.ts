/**
 * What vendors' MIBs say of where model, version and serial number stand, and which sysObjectID is which product
 * (`rules/catalogue`, derived by `npm run catalogue`): for makers that no rule knows.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { compareOid } from '@rollcall/shared/oid';

const ROLES = ['model', 'version', 'serial'] as const;
type Role = (typeof ROLES)[number];

/** Below an enterprise, the most telling first: scalars end with `.0`, columns have no index. First those that surely speak of the device. */
type Inventory = Partial<Record<Role, readonly [sure: string[], unsure: string[]]>>;

export interface Named {
  text: string;
  /** Its object is by name and place the device's own, and not perhaps a part's. */
  sure: boolean;
}

export interface Catalogue {
  /** OIDs to read of agents of each enterprise. */
  readonly extra: readonly { prefix: string; oids: string[] }[];
  /** Texts that objects of this role hold, the most telling object first. */
  named(role: Role, facts: Readonly<Record<string, string>>): Named[];
  /** The name that MIBs give a sysObjectID. */
  product(sysObjectId: string): string | null;
}

export const NO_CATALOGUE: Catalogue = { extra: [], named: () => [], product: () => null };

const ENTERPRISES = '1.3.6.1.4.1.';

/** Reads the catalogue below a folder of rules. The products are many and read when first asked for. */
export function openCatalogue(folder: string): Catalogue {
  const inventory = new Map<string, Inventory>();
  for (const [enterprise, rest] of lines(join(folder, 'inventory.txt')))
    inventory.set(enterprise, JSON.parse(rest));
  const roles = positions(inventory);
  let products: Products | undefined;
  return {
    extra: [...inventory].map(([enterprise, entry]) => ({
      prefix: `${ENTERPRISES}${enterprise}`,
      oids: ROLES.flatMap((role) => entry[role]?.flat() ?? []).map(
        (oid) => `${ENTERPRISES}${enterprise}.${oid}`,
      ),
    })),
    named: (role, facts) => named(roles[role], facts),
    product: (sysObjectId) => {
      products ??= new Products(join(folder, 'products.txt'));
      return products.name(sysObjectId);
    },
  };
}

/** Lines of a file: enterprise number, and what stands behind it. */
function lines(file: string): [string, string][] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => [line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1)]);
}

/** Object → its place in the list of its enterprise, and whether it is sure. */
type Positions = Map<string, { at: number; sure: boolean }>;

function positions(inventory: ReadonlyMap<string, Inventory>): Record<Role, Positions> {
  const all: Record<Role, Positions> = { model: new Map(), version: new Map(), serial: new Map() };
  for (const [enterprise, entry] of inventory) {
    for (const role of ROLES) {
      const [sure = [], unsure = []] = entry[role] ?? [];
      for (const [at, oid] of [...sure, ...unsure].entries())
        all[role].set(`${ENTERPRISES}${enterprise}.${oid}`, { at, sure: at < sure.length });
    }
  }
  return all;
}

/** Facts name an object as the catalogue asked for it, or, in a sample, with the index of a row. */
function named(known: Positions, facts: Readonly<Record<string, string>>): Named[] {
  const found: { oid: string; at: number; text: string; sure: boolean }[] = [];
  for (const [oid, text] of Object.entries(facts)) {
    if (!oid.startsWith(ENTERPRISES)) continue;
    const place = known.get(oid) ?? (oid.endsWith('.0') ? undefined : columnOf(known, oid));
    if (place) found.push({ oid, text, ...place });
  }
  return found.sort((a, b) => Number(b.sure) - Number(a.sure) || a.at - b.at || compareOid(a.oid, b.oid));
}

/** Indexes of rows are longer than this only where they hold names and addresses. */
const LONGEST_INDEX = 4;

function columnOf(known: Positions, oid: string): { at: number; sure: boolean } | undefined {
  let column = oid;
  for (let cut = 0; cut < LONGEST_INDEX; cut++) {
    column = column.slice(0, column.lastIndexOf('.'));
    const place = known.get(column);
    if (place) return column.endsWith('.0') ? undefined : place;
  }
  return undefined;
}

/** Names of products: the file is split once, an enterprise's line when a device of it is first seen. */
class Products {
  readonly #lines: Map<string, string>;
  readonly #names = new Map<string, Map<string, string>>();

  constructor(file: string) {
    this.#lines = new Map(lines(file));
  }

  name(sysObjectId: string): string | null {
    const below = sysObjectId.startsWith(ENTERPRISES) ? sysObjectId.slice(ENTERPRISES.length) : '';
    const dot = below.indexOf('.');
    if (dot < 0) return null;
    return this.#of(below.slice(0, dot)).get(below.slice(dot + 1)) ?? null;
  }

  #of(enterprise: string): Map<string, string> {
    let names = this.#names.get(enterprise);
    if (!names) {
      const words = this.#lines.get(enterprise)?.split(' ') ?? [];
      names = new Map(
        words.map((word) => [word.slice(0, word.indexOf('=')), word.slice(word.indexOf('=') + 1)]),
      );
      this.#names.set(enterprise, names);
    }
    return names;
  }
}
