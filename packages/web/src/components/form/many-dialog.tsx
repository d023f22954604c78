import { Textarea } from '@mantine/core';
import { useForm } from '@mantine/form';
import { type Annotated, type Annotations, NOTE_MOST } from '@rollcall/shared/api/annotations';
import { FieldInputs, TagsField, useCustomFields } from './annotation-fields.tsx';
import { type ManyValues, manyBody, tagsOf } from './annotation-values.ts';
import { FormDialog } from './form.tsx';

/** Tags, note and custom fields of several devices or interfaces. */
export function ManyDialog({
  name,
  of,
  items,
  onClose,
  onSave,
}: {
  /** `3 devices`. */
  name: string;
  of: Annotated;
  items: readonly Pick<Annotations, 'tags'>[];
  onClose: () => void;
  onSave: (set: ReturnType<typeof manyBody>) => Promise<unknown>;
}) {
  const form = useForm<ManyValues>({ initialValues: { add: [], remove: [], note: '', fields: {} } });
  const defined = useCustomFields(of);
  const set = manyBody(form.values, defined);
  return (
    <FormDialog
      form={form}
      title={`Tags and fields of ${name}`}
      onClose={onClose}
      onSubmit={() => onSave(set)}
      ready={Object.keys(set).length > 0}
    >
      <p className="quiet">What is left empty stays as it is.</p>
      <TagsField label="Add tags" data-autofocus {...form.getInputProps('add')} />
      <TagsField label="Remove tags" data={tagsOf(items)} {...form.getInputProps('remove')} />
      <Textarea label="Note" autosize minRows={2} maxLength={NOTE_MOST} {...form.getInputProps('note')} />
      <FieldInputs form={form} defined={defined} />
    </FormDialog>
  );
}
