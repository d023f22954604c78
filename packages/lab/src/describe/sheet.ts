/** Collects the objects of one agent. */
import type { Cell, Entry } from '../mib.ts';
import { asValue, type Plain } from '../value.ts';

type Written = Plain | ((uptime: number) => Plain) | undefined;

export class Sheet {
  readonly entries: Entry[] = [];

  /** One object; undefined leaves it out. */
  put(oid: string, value: Written): void {
    if (value !== undefined) this.entries.push([oid, cellOf(value)]);
  }

  /** The columns of one conceptual row: `entry`.column.`index`. */
  row(entry: string, index: string | number, columns: Record<number, Written>): void {
    for (const [column, value] of Object.entries(columns)) this.put(`${entry}.${column}.${index}`, value);
  }
}

const cellOf = (value: Exclude<Written, undefined>): Cell =>
  typeof value === 'function' ? (uptime) => asValue(value(uptime)) : asValue(value);
