import type { FieldValue } from '@rollcall/shared/api/annotations';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { closeDatabases, databases } from '../../testing/database.ts';
import { withFields } from './annotated.ts';
import { hasField } from './custom-fields.ts';
import type { Database } from './db.ts';
import { Parameters } from './list.ts';

afterAll(closeDatabases);

describe.each(databases())('a filter by a custom field, on %s', (_name, open) => {
  let db: Database;
  beforeAll(async () => {
    db = await open();
  });

  it.each<[filter: string, own: Record<string, FieldValue>, fits: boolean]>([
    ['Rack:A-17', { Rack: 'A-17' }, true],
    ['Rack: A-17 ', { Rack: 'A-17' }, true],
    ['Rack:a-17', { Rack: 'A-17' }, false],
    ['Rack:A-1', { Rack: 'A-17' }, false],
    ['Rack:A-17', { Row: 'A-17' }, false],
    ['Rack:A-17', {}, false],
    ['Page:https://example.net/a:b', { Page: 'https://example.net/a:b' }, true],
    ['Floor:3', { Floor: 3 }, true],
    ['Floor:3.0', { Floor: 3 }, true],
    ['Floor:0.0000001', { Floor: 1e-7 }, true],
    ['Floor:3', { Floor: '3' }, true],
    ['Floor:30', { Floor: 3 }, false],
    ['Metered:true', { Metered: true }, true],
    ['Metered:true', { Metered: 'true' }, true],
    ['Metered:false', { Metered: true }, false],
    ['Metered:yes', { Metered: true }, true],
    ['Metered:TRUE', { Metered: true }, true],
    ['Metered:0', { Metered: false }, true],
    ['Metered:0', { Metered: 0 }, true],
    ['Metered:no', { Metered: true }, false],
    ['Metered', { Metered: false }, true],
    ['Metered', {}, false],
    ['toString', {}, false],
  ])('%s of %j: %s, in SQL and out of it', async (filter, own, fits) => {
    expect(hasField(own, filter)).toBe(fits);
    const p = new Parameters();
    const row = `(SELECT ${p.add(JSON.stringify(own))}::jsonb AS fields, 'x' AS own_text) r`;
    expect(
      await db.query(`SELECT 1 FROM ${row} WHERE ${withFields(p, 'r', [filter])}`, p.values),
    ).toHaveLength(fits ? 1 : 0);
  });
});
