/** A standard MIB whose readings need more than the catalogue says. */
import type { SensorReading, SensorStatus } from '@rollcall/shared/sensors';
import type { Component } from './catalogue.ts';
import type { Names } from './names.ts';
import type { Values } from './values.ts';

export interface Standard {
  /** What it is made of; asked for where the agent has it. */
  columns: readonly string[];
  /** Uses the names of physical entities. */
  entities?: true;
  decode: (values: Values, names: Names) => SensorReading[];
}

export const columns = (entry: string, ...numbers: readonly number[]): string[] =>
  numbers.map((number) => `${entry}.${number}`);

/** A reading of a component's or session's state. */
export function stateReading(
  key: string,
  name: string,
  component: Component | undefined,
  [state, status]: readonly [state: string, status: SensorStatus],
): SensorReading {
  return { key, kind: 'state', name: name.slice(0, 255), ...(component ? { component } : {}), state, status };
}
