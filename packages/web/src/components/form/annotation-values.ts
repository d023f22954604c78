/** Tags, note and custom fields as a form holds them. Pure. */
import type { Annotations, CustomField, FieldValue } from '@rollcall/shared/api/annotations';

/** What a form holds of them: of custom fields the texts that its inputs show, by name. */
export interface AnnotationValues {
  tags: string[];
  note: string;
  fields: Record<string, string>;
}
export const annotationValues = (one?: Annotations): AnnotationValues => ({
  tags: one?.tags ?? [],
  note: one?.note ?? '',
  fields: Object.fromEntries(Object.entries(one?.fields ?? {}).map(([name, value]) => [name, String(value)])),
});

const typed = ({ type }: CustomField, text: string): FieldValue =>
  type === 'number' ? Number(text) : type === 'boolean' ? text === 'true' : text;

/** As the body of a change: only what differs from what was loaded; others may have changed the rest meanwhile. */
export const annotationBody = (
  { tags, note, fields }: AnnotationValues,
  defined: readonly CustomField[],
  loaded: AnnotationValues = annotationValues(),
) => {
  const next = defined.flatMap((field): [string, FieldValue | null][] => {
    const text = fields[field.name]?.trim() ?? '';
    if (text === (loaded.fields[field.name] ?? '')) return [];
    return [[field.name, text === '' ? null : typed(field, text)]];
  });
  return {
    ...(JSON.stringify(tags) !== JSON.stringify(loaded.tags) && { tags }),
    ...(note !== loaded.note && { note }),
    ...(next.length > 0 && { fields: Object.fromEntries(next) }),
  };
};

/** A value stays when it is taken from the choices: it is shown, and only another one is sent. */
export const choiceOptions = (choices: readonly string[], value: string) => [
  ...choices.map((choice) => ({ value: choice, label: choice })),
  ...(value === '' || choices.includes(value) ? [] : [{ value, label: `${value} (no longer a choice)` }]),
];

/** What a filter by these fields may be, as far as it is known: every choice, yes and no. */
export const filterChoices = (defined: readonly CustomField[]): string[] => [
  ...new Set(
    defined.flatMap(({ name, type, choices }) =>
      (type === 'boolean' ? ['true', 'false'] : choices).map((value) => `${name}:${value}`),
    ),
  ),
];

/** What a form says of several devices or interfaces at once. */
export interface ManyValues {
  add: string[];
  remove: string[];
  note: string;
  fields: Record<string, string>;
}
/** As what a bulk change sets; what is empty is left as each has it. */
export const manyBody = ({ add, remove, note, fields }: ManyValues, defined: readonly CustomField[]) => {
  const { fields: values } = annotationBody({ tags: [], note: '', fields }, defined);
  return {
    ...(add.length > 0 && { addTags: add }),
    ...(remove.length > 0 && { removeTags: remove }),
    ...(note.trim() !== '' && { note }),
    ...(values && { fields: values }),
  };
};

/** All tags of some, each once whatever its case, in the order of the alphabet. */
export const tagsOf = (items: readonly Pick<Annotations, 'tags'>[]): string[] =>
  [...new Map(items.flatMap(({ tags }) => tags.map((tag) => [tag.toLowerCase(), tag]))).values()].sort();
