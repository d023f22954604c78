/** The custom fields of an installation. */
import { CUSTOM_FIELDS_MOST, type CustomField } from '@rollcall/shared/api/annotations';
import { uuidv7 } from '@rollcall/shared/uuid';
import { FIELD_COLUMNS, nameAndValue, valueOfText } from '../../platform/db/custom-fields.ts';
import { type Database, orConflict } from '../../platform/db/db.ts';
import { readPage } from '../../platform/db/list.ts';
import { announce } from '../../platform/db/notify.ts';
import type { Sql, Transaction } from '../../platform/db/sql.ts';
import type { Actor, Handlers } from '../../platform/http/handler.ts';
import { invalid, notFound, Problem } from '../../platform/problem.ts';
import type { Audit } from '../../ports.ts';

export type FieldIds = 'fields.list' | 'fields.get' | 'fields.create' | 'fields.update' | 'fields.delete';

const requireAll = (actor: Actor): void => {
  if (actor.sites !== 'all')
    throw new Problem(
      'forbidden',
      'custom fields are for all sites: only an administrator who sees every site changes them',
    );
};

async function read(sql: Sql, id: string, lock = ''): Promise<CustomField> {
  const [field] = await sql.query<CustomField & Record<string, unknown>>(
    `SELECT ${FIELD_COLUMNS} FROM custom_fields WHERE id = $1::uuid ${lock}`,
    [id],
  );
  if (!field) throw notFound('field');
  return field;
}

async function add(
  sql: Sql,
  { appliesTo, name, type, choices }: Pick<CustomField, 'appliesTo' | 'name' | 'type' | 'choices'>,
) {
  const [count] = await sql.query<{ n: number }>(
    'SELECT count(*)::int AS n FROM custom_fields WHERE applies_to = $1::text',
    [appliesTo],
  );
  if ((count?.n ?? 0) >= CUSTOM_FIELDS_MOST)
    throw new Problem(
      'conflict',
      `there are ${CUSTOM_FIELDS_MOST} fields of every ${appliesTo} already; delete one first`,
    );
  const [field] = await sql.query<CustomField & Record<string, unknown>>(
    `INSERT INTO custom_fields (id, applies_to, name, type, choices) VALUES ($1::uuid, $2::text, $3::text, $4::text, $5::text[])
     RETURNING ${FIELD_COLUMNS}`,
    [uuidv7(), appliesTo, name, type, choices],
  );
  return field as CustomField;
}

/**
 * Without the field, what filters by it would choose nothing from then on; without the filter, everything. A filter of
 * devices and interfaces still chooses where the other has a field of this name that takes the value.
 */
async function requireUnused(sql: Transaction, { id, appliesTo, name }: CustomField): Promise<void> {
  const [other] = await sql.query<CustomField & Record<string, unknown>>(
    `SELECT ${FIELD_COLUMNS} FROM custom_fields WHERE name = $1::text AND id <> $2::uuid FOR KEY SHARE`,
    [name, id],
  );
  const uses = await sql.query<{ by: string; filter: string; ofBoth: boolean }>(
    `SELECT 'subscription ' || s.name AS by, filter, true AS "ofBoth" FROM subscriptions s, unnest(s.fields) AS filter
     WHERE starts_with(filter, $1::text || ':')
     UNION SELECT 'maintenance window ' || m.name, filter, false
     FROM maintenance_windows m, jsonb_array_elements_text(m.scope -> 'field') AS filter
     WHERE starts_with(filter, $1::text || ':') AND $2::text = 'device'
     UNION SELECT 'thresholds of site ' || s.name, one ->> 'field', true
     FROM sites s, jsonb_array_elements(s.settings -> 'fieldThresholds') AS one
     WHERE starts_with(one ->> 'field', $1::text || ':')
     ORDER BY 1`,
    [name, appliesTo],
  );
  const lost = uses.filter(
    ({ filter, ofBoth }) => !(ofBoth && other && valueOfText(other, nameAndValue(filter)[1] ?? '').ok),
  );
  const by = [...new Set(lost.map((use) => use.by))].slice(0, USES_NAMED);
  if (by.length > 0)
    throw new Problem('conflict', `${name} is a filter of ${by.join(', ')}: remove it there first`);
}
/** Uses of a field that a refusal names. */
const USES_NAMED = 20;

/** Rows changed per transaction: a bound for how long they stay locked. */
const CLEARED_ROWS = 10_000;
/** Clears the values of a field that is deleted: nobody can set another one any more. */
export async function clearValues(
  db: Database,
  { appliesTo, name }: Pick<CustomField, 'appliesTo' | 'name'>,
  most = CLEARED_ROWS,
): Promise<void> {
  const [rows, device] = appliesTo === 'device' ? ['devices', 'id'] : ['interfaces', 'device_id'];
  for (let cleared = most; cleared >= most; )
    cleared = await db.transaction(async (sql) => {
      const sites = await sql.query<{ siteId: string; deviceIds: string[]; n: number }>(
        `WITH chosen AS (
           SELECT site_id, id FROM ${rows} WHERE own_text <> '' AND fields ? $1::text
           ORDER BY site_id, id LIMIT ${most} FOR UPDATE),
         cleared AS (
           UPDATE ${rows} r SET fields = r.fields - $1::text, set_by = r.set_by - ('fields.' || $1::text) FROM chosen
           WHERE r.site_id = chosen.site_id AND r.id = chosen.id RETURNING r.site_id, r.${device} AS device)
         SELECT site_id AS "siteId", array_agg(DISTINCT device) AS "deviceIds", count(*)::int AS n
         FROM cleared GROUP BY site_id ORDER BY site_id`,
        [name],
      );
      for (const { siteId, deviceIds } of sites) await announce(sql, siteId, 'device', deviceIds);
      return sites.reduce((sum, { n }) => sum + n, 0);
    });
}

export function fieldHandlers({ db, audit }: { db: Database; audit: Audit }): Handlers<FieldIds> {
  /** One change of the fields by an administrator, with its line in the audit log. */
  const change = async (
    { actor, address }: { actor: Actor; address: string },
    verb: string,
    work: (sql: Transaction) => Promise<CustomField>,
  ): Promise<CustomField> => {
    requireAll(actor);
    return db.transaction(async (sql) => {
      const field = await work(sql);
      const { appliesTo, name, type, choices } = field;
      await audit(sql, {
        ...{ actor, address, action: `field.${verb}`, subject: `field ${name} of ${appliesTo}s` },
        detail: { type, choices },
      });
      return field;
    });
  };
  return {
    'fields.list': ({ query }) =>
      readPage(db, {
        columns: FIELD_COLUMNS,
        from: 'custom_fields',
        key: ['id'],
        where: 'true',
        filters: { appliesTo: (p, of) => `applies_to = ${p.add(of)}::text` },
        query,
        order: 'applies_to, lower(name), id',
      }),
    'fields.get': async ({ params }) => ({ data: await read(db, params.id) }),
    'fields.create': async ({ body, ...call }) => {
      const data = await orConflict(`${body.appliesTo}s have a field ${body.name} already`, () =>
        change(call, 'create', (sql) => add(sql, { ...body, choices: [...new Set(body.choices ?? [])] })),
      );
      return { data };
    },
    'fields.update': async ({ params, body, ...call }) => ({
      data: await change(call, 'update', async (sql) => {
        const field = await read(sql, params.id, 'FOR UPDATE');
        if (field.type !== 'choice')
          throw invalid(
            'choices',
            `${field.name} has the type ${field.type}: only a field of the type choice has choices`,
          );
        const choices = [...new Set(body.choices)];
        await sql.query('UPDATE custom_fields SET choices = $2::text[] WHERE id = $1::uuid', [
          params.id,
          choices,
        ]);
        return { ...field, choices };
      }),
    }),
    'fields.delete': async ({ params, ...call }) => {
      const field = await change(call, 'delete', async (sql) => {
        const one = await read(sql, params.id, 'FOR UPDATE');
        await requireUnused(sql, one);
        await sql.query('DELETE FROM custom_fields WHERE id = $1::uuid', [params.id]);
        return one;
      });
      await clearValues(db, field);
      return { data: null };
    },
  };
}
