/** The grammar of rule files (`rules/README.md` tells it in prose). Strict: an unknown word refuses the file. */
import { DEVICE_CLASSES } from '@rollcall/shared/model';
import { z } from 'zod';

const oid = z
  .string()
  .regex(/^1(\.\d+){1,127}$/, 'an OID: numbers and dots, no leading dot')
  .max(512);

/** Case is ignored. Bounded: facts are at most a few thousand characters. */
const pattern = z
  .string()
  .min(1)
  .max(500)
  .transform((text, context) => {
    try {
      return new RegExp(text, 'i');
    } catch (error) {
      context.addIssue({ code: 'custom', message: `not a pattern: ${(error as Error).message}` });
      return z.NEVER;
    }
  });

const oids = z.union([oid.transform((one) => [one]), z.array(oid).min(1).max(200)]);

/** All members hold. */
const condition = z
  .strictObject({
    /** Prefix, or several. */
    sysObjectId: oids.optional(),
    sysDescr: pattern.optional(),
    sysName: pattern.optional(),
    /** OID → pattern of its value; the OID is read for it. */
    value: z.record(oid, pattern).optional(),
    /** Any chassis row's model, description, name or manufacturer. */
    entity: pattern.optional(),
    /** Only in `class` lists: the model that was found. */
    model: pattern.optional(),
    not: z.strictObject({ sysDescr: pattern.optional(), sysObjectId: oids.optional() }).optional(),
  })
  .refine((c) => Object.keys(c).some((key) => key !== 'not'), 'needs a condition besides `not`');

const ENTITY_COLUMNS = [
  'model',
  'serial',
  'software',
  'firmware',
  'hardware',
  'description',
  'name',
] as const;

/** `match` finds the value in the text, its first group or all of it; `as` composes several groups (`$1 $2`). */
const part = { match: pattern.optional(), as: z.string().max(100).optional() };
const source = z.union([
  /** The value of an OID as it is. */
  oid.transform((one): { oid: string; match?: RegExp | undefined; as?: string | undefined } => ({
    oid: one,
  })),
  z.strictObject({ oid, ...part }),
  z.strictObject({ sysDescr: pattern, as: part.as }),
  z.strictObject({ sysName: pattern, as: part.as }),
  z.strictObject({ entity: z.enum(ENTITY_COLUMNS), ...part }),
  /** What makers published about the sysObjectID. */
  z.strictObject({ published: z.literal(true) }),
  /** The same text for every device of the rule. */
  z.strictObject({ text: z.string().min(1).max(100) }),
]);
const sources = z.union([source.transform((one) => [one]), z.array(source).min(1).max(20)]);

const deviceClass = z.enum(DEVICE_CLASSES);

export const ruleSchema = z.strictObject({
  name: z
    .string()
    .regex(/^[a-z0-9][a-z0-9.-]*$/, 'lower case, digits, dots, dashes')
    .max(60),
  /** Considered after all other rules, however well it fits: for what runs on anybody's hardware. */
  last: z.literal(true).optional(),
  /** Any of these. */
  match: z.union([condition.transform((one) => [one]), z.array(condition).min(1).max(50)]),
  vendor: z.string().min(1).max(80).optional(),
  os: z.string().min(1).max(80).optional(),
  class: z
    .union([
      deviceClass,
      /** The first that holds; the last may have no condition. */
      z
        .array(z.strictObject({ when: condition.optional(), is: deviceClass }))
        .min(1)
        .max(50),
    ])
    .optional(),
  model: sources.optional(),
  version: sources.optional(),
  serial: sources.optional(),
  /** Last arcs of sysObjectID, below the prefix that matched → model, where the agent does not say it itself. */
  products: z.record(z.string().regex(/^\d+(\.\d+)*$/), z.string().min(1).max(100)).optional(),
  /** More OIDs to read, for conditions and for people. */
  read: oids.optional(),
});

export const ruleFile = z.strictObject({ rules: z.array(ruleSchema).min(1).max(2000) });

/** Enterprise number → name, or name and what most of its devices are. */
export const vendorFile = z.strictObject({
  vendors: z.record(
    z.string().regex(/^\d{1,6}$/),
    z.union([
      z
        .string()
        .min(1)
        .max(80)
        .transform((name) => ({ name, class: undefined })),
      z.strictObject({ name: z.string().min(1).max(80), class: deviceClass.optional() }),
    ]),
  ),
});

export type Rule = z.infer<typeof ruleSchema>;
export type Condition = z.infer<typeof condition>;
export type Source = z.infer<typeof source>;
export type VendorTable = z.infer<typeof vendorFile>['vendors'];
