/** What people say of devices and interfaces, which discovery never writes: tags, a note, and fields that the installation defines. */
import { z } from 'zod';
import { maybeTime } from './members.ts';
import type { Operation } from './operation.ts';
import { id, line, paging, repeated, resource, unixSeconds } from './operation.ts';

export const FIELD_TYPES = ['text', 'number', 'boolean', 'date', 'choice', 'url'] as const;
export type FieldType = (typeof FIELD_TYPES)[number];
export const ANNOTATED = ['device', 'interface'] as const;
export type Annotated = (typeof ANNOTATED)[number];

export const TAGS_MOST = 50;
/** Fields of devices, and of interfaces. */
export const CUSTOM_FIELDS_MOST = 50;
export const NOTE_MOST = 2000;
const VALUE_MOST = 500;

/** `;` separates tags in CSV. */
export const tag = line(60)
  .regex(/^[^;]+$/, 'must not contain ;')
  .meta({ example: 'core' });
const note = z.string().normalize('NFC').trim().max(NOTE_MOST).meta({ example: 'Behind the ladder' });
const fieldValue = z.union([z.string().trim().min(1).max(VALUE_MOST), z.number(), z.boolean()]).meta({
  id: 'FieldValue',
  description: 'As its type says: a text, a number or a boolean; a date is YYYY-MM-DD.',
  example: 'A-17',
});
export type FieldValue = z.infer<typeof fieldValue>;

/** Members of whatever is annotated. */
export const annotations = {
  tags: z.array(z.string()).meta({ example: ['core'] }),
  note: z.string(),
  fields: z.record(z.string(), fieldValue).meta({
    id: 'FieldValues',
    description: 'Name of a custom field → its value; those without one are absent.',
    example: { Rack: 'A-17' },
  }),
};
export interface Annotations {
  tags: string[];
  note: string;
  fields: Record<string, FieldValue>;
}

/** Where a value comes from. */
export const origins = z
  .record(
    z.string(),
    z.strictObject({
      from: z.enum(['person', 'snmp', 'dns', 'rule', 'address']).meta({ id: 'OriginOf' }),
      by: z.string().nullable().meta({ description: 'Who set it, or the rule.', example: 'ada' }),
      at: maybeTime,
    }),
  )
  .meta({ id: 'Origins' });
export type Origins = z.infer<typeof origins>;

const fieldPatch = z
  .record(z.string().max(60), fieldValue.nullable())
  .refine(
    (fields) => Object.keys(fields).length <= CUSTOM_FIELDS_MOST,
    `at most ${CUSTOM_FIELDS_MOST} fields`,
  )

  .meta({
    id: 'FieldPatch',
    description: 'Only those that it names are changed; null clears one.',
    example: { Rack: 'A-17' },
  });

/** Members of a body that changes one of them. */
export const annotationPatch = {
  tags: z
    .array(tag)
    .max(TAGS_MOST)
    .optional()
    .meta({ description: 'All of its tags.', example: ['core'] }),
  note: note.optional(),
  fields: fieldPatch.optional(),
};
/** Members of a body that changes many: tags are added and removed. */
export const annotationBulk = {
  addTags: z
    .array(tag)
    .min(1)
    .max(TAGS_MOST)
    .optional()
    .meta({ example: ['core'] }),
  removeTags: z
    .array(tag)
    .min(1)
    .max(TAGS_MOST)
    .optional()
    .meta({ example: ['new'] }),
  note: note.optional(),
  fields: fieldPatch.optional(),
};

/** A custom field in what is kept: subscriptions, thresholds, maintenance. */
export const fieldFilter = z
  .string()
  .trim()
  .max(60 + 1 + VALUE_MOST)
  .regex(/^[^:;]+:.+$/, 'must be NAME:VALUE')
  .meta({
    id: 'FieldFilter',
    description: 'A custom field with exactly this value, `NAME:VALUE`.',
    example: 'Rack:A-17',
  });

/** Filters of lists by them. */
export const annotationFilters = {
  tag: repeated(z.string().min(1).max(60))
    .optional()
    .meta({
      description: 'One tag, exact but for case; given twice, both must be there.',
      example: ['core'],
    }),
  field: repeated(
    z
      .string()
      .min(1)
      .max(60 + 1 + VALUE_MOST),
  )
    .optional()
    .meta({
      description:
        'A custom field: `NAME:VALUE` has exactly this value, `NAME` alone has one; given twice, both must hold.',
      example: ['Rack:A-17'],
    }),
};

// ── Custom fields ────────────────────────────────────────────────────────────────────────────────────────────

const choices = z.array(line(100)).min(1).max(100);
const annotated = z.enum(ANNOTATED).meta({ id: 'Annotated' });
const fieldType = z.enum(FIELD_TYPES).meta({ id: 'FieldType' });
export const customField = z
  .strictObject({
    id,
    appliesTo: annotated,
    name: z.string().meta({ example: 'Rack' }),
    type: fieldType,
    choices: z.array(z.string()).meta({ description: 'Of a choice; empty of all others.' }),
    createdAt: unixSeconds,
  })
  .meta({ id: 'CustomField' });
export type CustomField = z.infer<typeof customField>;

const fieldName = line(60)
  .regex(/^(?!(__proto__|constructor|prototype)$)[^:;]+$/, 'must not contain : or ;')
  .meta({ example: 'Rack' });
const customFields = resource('/api/fields', 'Custom fields', customField);
const BY_ALL = 'Only by an administrator who sees every site.';

export const annotationOperations = {
  'fields.list': customFields.list('viewer', 'List the custom fields of devices and interfaces', {
    query: z.strictObject({ appliesTo: annotated.optional(), ...paging }),
  }),
  'fields.get': customFields.get('viewer', 'Get a custom field'),
  'fields.create': customFields.create('admin', 'Define a custom field', {
    description: `${BY_ALL} At most ${CUSTOM_FIELDS_MOST} for devices and as many for interfaces. Name and type stay as they are.`,
    body: z
      .strictObject({
        appliesTo: annotated,
        name: fieldName,
        type: fieldType,
        choices: choices.optional(),
      })
      .refine(
        ({ type, choices: some }) => (type === 'choice') === (some !== undefined),
        'a choice, and nothing else, has choices',
      ),
    errors: ['conflict'],
    example: { appliesTo: 'device', name: 'Rack', type: 'text' },
  }),
  'fields.update': customFields.update('admin', 'Change the choices of a custom field', {
    description: `${BY_ALL} Values that are set already stay, also where they are no longer among the choices.`,
    body: z.strictObject({ choices }),
    errors: ['conflict'],
    example: { choices: ['gold', 'silver'] },
  }),
  'fields.delete': customFields.remove('admin', 'Delete a custom field with all its values', {
    description: `${BY_ALL} One by whose value a subscription, a maintenance window or thresholds of a site choose is answered 409, which names them: without it they would choose everything or nothing. Subscriptions and thresholds may also choose by a field of this name of the others (devices or interfaces): where that takes the value, the deletion goes ahead.`,
    errors: ['conflict'],
  }),
} as const satisfies Record<string, Operation>;
