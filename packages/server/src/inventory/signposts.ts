/**
 * Signposts: places in the order of names that deep pages were walked to. How many devices stand before one is a number
 * that is remembered per site, exact at its revision (remembered.ts), so that a later page near it begins there instead
 * of at an end of the list.
 */
import { inScope, type OrderBy, orderSql, type Parameters, reversed, type Scope } from '../kernel/list.ts';
import { type Counted, Remembered, rememberedCount } from './remembered.ts';

/** A page that many devices away from every signpost, and from both ends, becomes one. */
const NEAR = 20_000;
/** Of all lists together; the one that was not used for longest goes first. */
const SIGNPOSTS_MOST = 200;

export interface Signpost {
  /** Name and id of the device that stood there. */
  key: readonly [name: string, id: string];
  /** How many stood before it when it was used last. */
  rank: number;
  known: Counted;
}

export class Signposts {
  readonly #near: number;
  readonly #posts: { list: string; key: Signpost['key']; rank: number }[] = [];
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
    return nearest && { ...nearest, known: this.#counts.get(nearest.key.join()) };
  }

  /** A page was walked to that began with `key`. */
  walked(list: string, key: Signpost['key'], rank: number, total: number): void {
    if (Math.min(rank, total - rank) <= this.#near || this.near(list, rank)) return;
    this.#posts.push({ list, key, rank });
    if (this.#posts.length > SIGNPOSTS_MOST) this.#posts.shift();
  }

  /** A signpost was used; `counted` is what was counted anew. */
  used(list: string, { key }: Signpost, rank: number, counted: Counted): void {
    const at = this.#posts.findIndex((post) => post.list === list && post.key.join() === key.join());
    this.#posts.splice(at, at < 0 ? 0 : 1);
    this.#posts.push({ list, key, rank });
    this.#counts.put(key.join(), counted);
  }
}

interface Page {
  scope: Scope;
  order: readonly OrderBy[];
  offset: number;
  pageSize: number;
  signpost: Signpost;
}

/**
 * A page of all devices by name, from a signpost: common table expressions that end in `place` (one row: `rank`, the
 * exact number of devices before it, and `counted`), and the query of the page's keys. The page may lie on either side
 * of the signpost, or on both.
 */
export function pageFrom(p: Parameters, { scope, order, offset, pageSize, signpost }: Page) {
  const descending = order[0]?.descending === true;
  const key = `(${p.add(signpost.key[0])}::text, ${p.add(signpost.key[1])}::uuid)`;
  const visible = inScope(p, 'd.site_id', scope);
  const before = `${visible} AND (d.name, d.id) ${descending ? '>' : '<'} ${key}`;
  const after = `${visible} AND (d.name, d.id) ${descending ? '<=' : '>='} ${key}`;
  const count = rememberedCount(p, {
    known: signpost.known,
    scope,
    column: 'd.site_id',
    count: (and) =>
      `SELECT d.site_id, count(*) AS n FROM devices d WHERE ${before} AND ${and} GROUP BY d.site_id`,
  });
  const rank = '(SELECT rank FROM place)';
  const end = offset + pageSize;
  const part = (where: string, by: readonly OrderBy[], rows: string, skipped: string) =>
    `(SELECT d.site_id, d.id FROM devices d WHERE ${where} ORDER BY ${orderSql(by)}
      LIMIT greatest(0, least(${pageSize}, ${rows})) OFFSET greatest(0, ${skipped}))`;
  return {
    place: `${count.before}, ${count.after('true')},
      place AS MATERIALIZED (SELECT n AS rank, counted FROM remembered)`,
    // The outer LIMIT is for the planner: it cannot see through the ones that are computed.
    keys: `SELECT * FROM (${part(before, reversed(order), `${rank} - ${offset}`, `${rank} - ${end}`)}
      UNION ALL ${part(after, order, `${end} - ${rank}`, `${offset} - ${rank}`)}) AS found LIMIT ${pageSize}`,
  };
}
