/** zod schemas as JSON Schema 2020-12 (the dialect of OpenAPI 3.1), named ones once under components. */
import { z } from 'zod';

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json | undefined | false };
export type Schema = { [key: string]: Json };

const PREFIX = '#/components/schemas/';

/** Collects the schemas of one document. A name that means something else as input gets a second one. */
export class Schemas {
  readonly #named = new Map<string, Schema>();
  /** What each name meant when it was first met. */
  readonly #first = new Map<string, string>();

  /** What a caller sends. */
  input(type: z.ZodType): Schema {
    return this.#convert(type, 'input');
  }

  /** What a caller is sent. */
  output(type: z.ZodType): Schema {
    return this.#convert(type, 'output');
  }

  /** What a value of text means once it is read; the text itself where that cannot be said. */
  meaning(type: z.ZodType): Schema {
    const output = this.output(type);
    const says = ['type', 'enum', 'const', 'anyOf', 'oneOf', '$ref'].some((key) => key in output);
    const schema = says ? output : this.input(type);
    const { examples, ...rest } = schema;
    return Array.isArray(examples) && examples[0] !== undefined ? { ...rest, example: examples[0] } : rest;
  }

  /** The same schema under a name, unless it has one. */
  name(name: string, schema: Schema): Schema {
    if ('$ref' in schema) return schema;
    if (this.#named.has(name)) throw new Error(`two schemas of the document are named ${name}`);
    this.#named.set(name, schema);
    return { $ref: PREFIX + name };
  }

  named(): Schema {
    return Object.fromEntries([...this.#named].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  resolve(schema: Schema): Schema {
    const ref = schema.$ref;
    return typeof ref === 'string' ? (this.#named.get(ref.slice(PREFIX.length)) ?? {}) : schema;
  }

  #convert(type: z.ZodType, io: 'input' | 'output'): Schema {
    const whole = z.toJSONSchema(type, {
      io,
      unrepresentable: 'any',
      override: ({ jsonSchema }) => tidy(jsonSchema),
    });
    // The one anonymous recursive schema there is: any JSON value.
    const text = JSON.stringify(whole).replaceAll(/__schema\d+/g, ANY_JSON);
    const { $schema: _, $defs = {}, ...schema } = JSON.parse(text) as Schema;
    const definitions = $defs as Record<string, Schema>;
    const names = this.#names(definitions, io);
    for (const [name, definition] of Object.entries(definitions))
      this.#named.set(names.get(name) ?? name, name === ANY_JSON ? anyJson : rewrite(definition, names));
    return rewrite(schema, names);
  }

  /** Each name as it is, unless it stands for another shape already: input and output differ where there are defaults. */
  #names(definitions: Record<string, Schema>, io: 'input' | 'output'): Map<string, string> {
    const texts = Object.entries(definitions).map(([name, d]) => [name, JSON.stringify(d)] as const);
    const other = new Set<string>();
    for (const [name, text] of texts) if ((this.#first.get(name) ?? text) !== text) other.add(name);
    for (let before = -1; before !== other.size; ) {
      before = other.size;
      for (const [name, text] of texts)
        if ([...other].some((changed) => text.includes(`"#/$defs/${changed}"`))) other.add(name);
    }
    for (const [name, text] of texts) if (!other.has(name)) this.#first.set(name, text);
    const suffix = io === 'input' ? 'Input' : 'Output';
    return new Map(texts.map(([name]) => [name, other.has(name) ? name + suffix : name]));
  }
}

/** Said in full it refers to itself, which generators of clients turn into a type that TypeScript refuses. */
const ANY_JSON = 'AnyJson';
const anyJson: Schema = { description: 'Any JSON value.' };

/**
 * Leaves out what says nothing: the bounds of every safe integer, the pattern behind a format. Patterns with classes of
 * Unicode as well: Python and others cannot compile them. The descriptions of those fields say in words what they may hold.
 */
function tidy(schema: Record<string, unknown>): void {
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  if (schema.format !== undefined || String(schema.pattern).includes('\\p{')) delete schema.pattern;
  if ('example' in schema) {
    schema.examples = [schema.example];
    delete schema.example;
  }
}

function rewrite<T extends Json>(value: T, names: Map<string, string>): T {
  if (Array.isArray(value)) return value.map((item) => rewrite(item, names)) as T;
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => {
      if (key === '$ref' && typeof item === 'string') {
        const name = item.replace(/^#\/\$defs\//, '');
        return [key, PREFIX + (names.get(name) ?? name)];
      }
      return [key, rewrite(item as Json, names)];
    }),
  ) as T;
}

/** A value that fits a schema: what the schema itself gives as an example, else the least that fits. */
export function exampleOf(schema: Schema, schemas: Schemas, depth = 0): unknown {
  const s = schemas.resolve(schema);
  if (Array.isArray(s.examples) && s.examples.length > 0) return s.examples[0];
  if ('const' in s) return s.const;
  if ('default' in s) return s.default;
  if (Array.isArray(s.enum)) return s.enum[0];
  const options = s.anyOf ?? s.oneOf;
  if (Array.isArray(options) && options[0] !== undefined)
    return exampleOf(options[0] as Schema, schemas, depth);
  if (Array.isArray(s.allOf))
    return Object.assign({}, ...s.allOf.map((part) => exampleOf(part as Schema, schemas, depth)));
  // A type and null: the type says more.
  switch (Array.isArray(s.type) ? s.type[0] : s.type) {
    case 'object':
      return Object.fromEntries(
        Object.entries((s.properties ?? {}) as Record<string, Schema>).map(([name, property]) => [
          name,
          exampleOf(property, schemas, depth + 1),
        ]),
      );
    case 'array': {
      const least = typeof s.minItems === 'number' ? s.minItems : 0;
      // Lists of lists of lists say nothing more.
      if (depth > 8 || typeof s.items !== 'object') return [];
      return Array.from({ length: Math.max(1, least) }, () =>
        exampleOf(s.items as Schema, schemas, depth + 1),
      );
    }
    case 'integer':
    case 'number':
      return typeof s.minimum === 'number'
        ? s.minimum
        : typeof s.maximum === 'number'
          ? Math.min(0, s.maximum)
          : 0;
    case 'boolean':
      return true;
    case 'string':
      if (s.format === 'uuid') return '019aa3c4-5b00-7000-8000-000000000001';
      return 'text'.padEnd(typeof s.minLength === 'number' ? s.minLength : 0, '.');
    case 'null':
      return null;
    default:
      return {};
  }
}
