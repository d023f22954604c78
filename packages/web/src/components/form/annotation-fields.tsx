import { NumberInput, Select, TagsInput, type TagsInputProps, Textarea, TextInput } from '@mantine/core';
import { type UseFormReturnType, useForm } from '@mantine/form';
import {
  type Annotated,
  type Annotations,
  CUSTOM_FIELDS_MOST,
  type CustomField,
  NOTE_MOST,
  TAGS_MOST,
} from '@rollcall/shared/api/annotations';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { apiQuery } from '../../api.ts';
import {
  type AnnotationValues,
  annotationBody,
  annotationValues,
  choiceOptions,
  filterChoices,
} from './annotation-values.ts';
import { FormDialog } from './form.tsx';

const NONE: readonly CustomField[] = [];
/** The custom fields of devices or of interfaces; none while they are read. */
export function useCustomFields(appliesTo: Annotated): readonly CustomField[] {
  const query = { appliesTo, pageSize: CUSTOM_FIELDS_MOST };
  return useQuery(apiQuery('fields.list', { query })).data?.data ?? NONE;
}

/** Tags, typed one after the other. */
export const TagsField = (props: Omit<TagsInputProps, 'placeholder'> & { value?: string[] }) => (
  <TagsInput
    label="Tags"
    maxTags={TAGS_MOST}
    {...props}
    placeholder={props.value?.length === 0 ? 'Type and press Enter' : ''}
  />
);

/** Filters by custom fields, each typed as `Rack:A-17`; values of choices, yes and no are offered. */
export function FieldFiltersField({
  of,
  ...props
}: Omit<TagsInputProps, 'placeholder' | 'data'> & { of: readonly Annotated[]; value?: string[] }) {
  const query = { pageSize: 2 * CUSTOM_FIELDS_MOST };
  const defined = useQuery(apiQuery('fields.list', { query })).data?.data ?? NONE;
  const offered = filterChoices(defined.filter(({ appliesTo }) => of.includes(appliesTo)));
  return (
    <TagsInput
      label="Custom fields"
      maxTags={TAGS_MOST}
      // A value may contain a comma.
      splitChars={[]}
      data={offered}
      {...props}
      placeholder={props.value?.length === 0 ? 'Field:value, and press Enter' : ''}
    />
  );
}

/** Tags, note, and an input for each custom field. */
export function AnnotationFields({
  form,
  defined,
}: {
  form: UseFormReturnType<AnnotationValues>;
  defined: readonly CustomField[];
}) {
  return (
    <>
      <TagsField {...form.getInputProps('tags')} />
      <Textarea label="Note" autosize minRows={2} maxLength={NOTE_MOST} {...form.getInputProps('note')} />
      <FieldInputs form={form} defined={defined} />
    </>
  );
}

/** An input for each custom field. */
export const FieldInputs = ({
  form,
  defined,
}: {
  form: UseFormReturnType<Pick<AnnotationValues, 'fields'>>;
  defined: readonly CustomField[];
}) =>
  defined.map((field) => (
    <FieldInput
      key={field.id}
      field={field}
      value={form.values.fields[field.name] ?? ''}
      error={form.errors[`fields.${field.name}`]}
      onChange={(text) => form.setFieldValue('fields', { ...form.values.fields, [field.name]: text })}
    />
  ));

interface FieldInputProps {
  field: CustomField;
  value: string;
  error: ReactNode;
  onChange: (text: string) => void;
}
function FieldInput({ field: { name, type, choices }, value, error, onChange }: FieldInputProps) {
  const same = { label: name, value, error };
  if (type === 'choice' || type === 'boolean') {
    const data = type === 'boolean' ? YES_NO : choiceOptions(choices, value);
    return (
      <Select
        {...same}
        data={data}
        clearable
        value={value || null}
        onChange={(next) => onChange(next ?? '')}
      />
    );
  }
  if (type === 'number') return <NumberInput {...same} onChange={(next) => onChange(String(next))} />;
  return (
    <TextInput
      {...same}
      type={type === 'date' ? 'date' : 'text'}
      placeholder={type === 'url' ? 'https://' : undefined}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}
const YES_NO = [
  { value: 'true', label: 'yes' },
  { value: 'false', label: 'no' },
];

/** Tags, note and custom fields of one device or interface. */
export function AnnotationDialog({
  name,
  of,
  one,
  onClose,
  onSave,
}: {
  name: string;
  of: Annotated;
  one: Annotations;
  onClose: () => void;
  onSave: (body: ReturnType<typeof annotationBody>) => Promise<unknown>;
}) {
  const form = useForm<AnnotationValues>({ initialValues: annotationValues(one) });
  const defined = useCustomFields(of);
  const save = async () => {
    const body = annotationBody(form.values, defined, form.getInitialValues());
    if (Object.keys(body).length > 0) await onSave(body);
  };
  return (
    <FormDialog form={form} title={`Tags and fields of ${name}`} onClose={onClose} onSubmit={save}>
      <AnnotationFields form={form} defined={defined} />
    </FormDialog>
  );
}
