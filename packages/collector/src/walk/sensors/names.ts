/** What the rows of tables are called: physical entities (ENTITY-MIB), interfaces (IF-MIB), and indexes that are text. */
import type { Component } from './catalogue.ts';
import type { Values } from './values.ts';

const ENTITY = '1.3.6.1.2.1.47.1.1.1.1';
const entity = {
  description: `${ENTITY}.2`,
  parent: `${ENTITY}.4`,
  class: `${ENTITY}.5`,
  name: `${ENTITY}.7`,
};
export const ENTITY_NAME_COLUMNS: readonly string[] = Object.values(entity);
const IF_NAME = '1.3.6.1.2.1.31.1.1.1.1';
const IF_DESCR = '1.3.6.1.2.1.2.2.1.2';
export const IF_NAME_COLUMNS: readonly string[] = [IF_NAME, IF_DESCR];

/** IANAPhysicalClass → component. */
const CLASSES: Record<number, Component> = {
  3: 'chassis',
  6: 'psu',
  7: 'fan',
  9: 'module',
  10: 'optics',
  11: 'chassis',
  12: 'cpu',
  14: 'battery',
  15: 'disk',
};
/** Entities between a sensor and what it belongs to. */
const DEPTH = 4;

export class Names {
  readonly #values: Values;

  constructor(values: Values) {
    this.#values = values;
  }

  entity(index: string): string | undefined {
    return this.#values.text(entity.name, index) ?? this.#values.text(entity.description, index);
  }

  /** IANAPhysicalClass of an entity. */
  classOf(index: string): number | undefined {
    return this.#values.number(entity.class, index);
  }

  /** What an entity is, or what the sensor that it is belongs to. */
  componentOf(index: string): Component | undefined {
    let at = index;
    for (let depth = 0; depth < DEPTH; depth++) {
      const component = CLASSES[this.classOf(at) ?? 0];
      if (component) return component;
      const parent = this.#values.number(entity.parent, at);
      if (parent === undefined || parent <= 0) return undefined;
      at = String(parent);
    }
    return undefined;
  }

  port(index: string): string | undefined {
    return this.#values.text(IF_NAME, index) ?? this.#values.text(IF_DESCR, index);
  }
}

/** An index, or the end of one, that is a text with its length before it, or implied; undefined where it is none. */
export function textIndex(index: string): string | undefined {
  const arcs = index.split('.').map(Number);
  const text = arcs[0] === arcs.length - 1 ? arcs.slice(1) : arcs;
  if (text.length < 2 || !text.every((arc) => arc >= 32 && arc < 127)) return undefined;
  const shown = String.fromCharCode(...text).trim();
  return /[a-z]/i.test(shown) ? shown : undefined;
}
