/** What people say of devices and interfaces (tags, note, fields), as conditions of statements. */
import { meantBy } from './custom-fields.ts';
import { anywhere, foundBy, type Parameters } from './list.ts';

/** Partial indexes hold what has any of them: every condition says so. */
export const annotated = (alias: string, condition: string): string =>
  `${alias}.own_text <> '' AND ${condition}`;

/** Whether a row has all of some tags, whatever their case. */
export const tagged = (p: Parameters, alias: string, tags: readonly string[]): string =>
  annotated(alias, `lower_all(${alias}.tags) @> lower_all(${p.add(tags)}::text[])`);

/** Whether a row has what all of some filters by custom fields name. */
export const withFields = (p: Parameters, alias: string, filters: readonly string[]): string =>
  annotated(alias, filters.map((filter) => withField(p, alias, filter)).join(' AND '));

function withField(p: Parameters, alias: string, filter: string): string {
  const { name, values } = meantBy(filter);
  if (!values) return `${alias}.fields ? ${p.add(name)}::text`;
  const ways = values.map((value) => `${alias}.fields @> ${p.add(JSON.stringify({ [name]: value }))}::jsonb`);
  return `(${ways.join(' OR ')})`;
}

/** Whether a text stands in what is known of a row, or in what people say of it. */
export const foundIn = (p: Parameters, alias: string, words: string): string =>
  `(${foundBy(p, `${alias}.search_text`, words)} OR (${annotated(alias, `${alias}.own_text LIKE ${p.add(anywhere(words))}::text`)}))`;
