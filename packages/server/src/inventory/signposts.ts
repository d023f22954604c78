/**
 * Signposts: places in the order of a list of all devices that deep pages were walked to. How many devices stand before one
 * is a number that is remembered per site, exact at its revision (remembered.ts), so that a later page near it begins there
 * instead of at an end of the list.
 */
import { inScope, type OrderBy, orderSql, type Parameters, reversed, type Scope } from '../kernel/list.ts';
import { type Counted, inOneWalk, Remembered, rememberedCount } from './remembered.ts';

/** A page that many devices away from every signpost, and from both ends, becomes one. */
const NEAR = 20_000;
/** Of all lists together; the one that was not used for longest goes first. */
const SIGNPOSTS_MOST = 200;

/** What `device_revision` tells every change of, with its type: a list by nothing else may have signposts. */
const ORDERED_BY: Readonly<Record<string, string>> = {
  'd.name': 'text',
  'd.class': 'text',
  'd.vendor': 'text',
  'd.model': 'text',
  'd.address': 'inet',
  'd.first_seen': 'timestamptz',
  'd.id': 'uuid',
};
export const mayHaveSignposts = (order: readonly OrderBy[]): boolean =>
  order.every(({ by }) => by in ORDERED_BY);

/** What a device is ordered by, as text: the key of a signpost. A column of JSON. */
export const keyOf = (order: readonly OrderBy[]): string =>
  `jsonb_build_array(${order.map(({ by }) => `${by}::text`).join(', ')})`;

export interface Signpost {
  /** What the device that stood there was ordered by, as text. */
  key: readonly string[];
  /** How many stood before it when it was used last. */
  rank: number;
  known: Counted;
}

interface Post {
  list: string;
  key: Signpost['key'];
  rank: number;
}

export class Signposts {
  readonly #near: number;
  readonly #posts: Post[] = [];
  readonly #counts = new Remembered();

  constructor(near = NEAR) {
    this.#near = near;
  }

  /** The nearest within reach. `list` names order and scope. */
  near(list: string, offset: number): Signpost | undefined {
    const away = (rank: number) => Math.abs(rank - offset);
    const [nearest] = this.#posts
      .filter((post) => post.list === list && away(post.rank) <= this.#near)
      .sort((a, b) => away(a.rank) - away(b.rank));
    return nearest && { ...nearest, known: this.#counts.get(question(list, nearest.key)) };
  }

  /** A page was walked to that began with `key`; one with a NULL, which compares with nothing, is no place to begin at. */
  walked(list: string, key: readonly (string | null)[], rank: number, total: number): void {
    if (!key.every((part) => part !== null)) return;
    if (Math.min(rank, total - rank) <= this.#near || this.near(list, rank)) return;
    this.#put({ list, key, rank });
  }

  /** A signpost was used; `counted` is what was counted anew. */
  used(list: string, { key }: Signpost, rank: number, counted: Counted): void {
    const same = JSON.stringify(key);
    const at = this.#posts.findIndex((post) => post.list === list && JSON.stringify(post.key) === same);
    if (at >= 0) this.#posts.splice(at, 1);
    this.#put({ list, key, rank });
    this.#counts.put(question(list, key), counted);
  }

  #put(post: Post): void {
    this.#posts.push(post);
    if (this.#posts.length > SIGNPOSTS_MOST) this.#posts.shift();
  }
}

const question = (list: string, key: Signpost['key']): string => JSON.stringify([list, key]);

interface Page {
  scope: Scope;
  order: readonly OrderBy[];
  offset: number;
  pageSize: number;
  signpost: Signpost;
}

/**
 * A page of all devices, from a signpost: common table expressions that end in `remembered`, the number of devices before
 * it in terms of that and of how many there are, and the query of the page's keys, which reads that number as
 * `(SELECT rank FROM total)`. The page may lie on either side of the signpost, or on both. Where it reaches those that
 * the order has nothing of (NULL: last, or first where it descends) it lacks them.
 */
export function pageFrom(p: Parameters, { scope, order, offset, pageSize, signpost }: Page) {
  const descending = order[0]?.descending === true;
  const columns = order.map(({ by }) => by).join(', ');
  const key = order.map(({ by }, i) => `${p.add(signpost.key[i])}::${ORDERED_BY[by]}`).join(', ');
  const visible = inScope(p, 'd.site_id', scope);
  const side = (compared: string) => `${visible} AND (${columns}) ${compared} (${key})`;
  const [before, after] = descending ? [side('>'), side('<=')] : [side('<'), side('>=')];
  // Of the two sides the one that no NULL belongs to is counted.
  const count = rememberedCount(p, {
    known: signpost.known,
    scope,
    count: inOneWalk(
      'd.site_id',
      (and) =>
        `SELECT d.site_id, count(*) AS n FROM devices d WHERE ${descending ? after : before} AND ${and} GROUP BY d.site_id`,
    ),
  });
  const rank = '(SELECT rank FROM total)';
  const end = offset + pageSize;
  const part = (where: string, by: readonly OrderBy[], rows: string, skipped: string) =>
    `(SELECT d.site_id, d.id FROM devices d WHERE ${where} ORDER BY ${orderSql(by)}
      LIMIT greatest(0, least(${pageSize}, ${rows})) OFFSET greatest(0, ${skipped}))`;
  return {
    counting: `${count.before}, ${count.after('true')}`,
    rankIn: (total: string, counted: string) => (descending ? `${total} - ${counted}` : counted),
    // The outer LIMIT is for the planner: it cannot see through the ones that are computed.
    keys: `SELECT * FROM (${part(before, reversed(order), `${rank} - ${offset}`, `${rank} - ${end}`)}
      UNION ALL ${part(after, order, `${end} - ${rank}`, `${offset} - ${rank}`)}) AS found LIMIT ${pageSize}`,
  };
}
