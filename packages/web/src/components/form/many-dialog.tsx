import { Textarea } from '@mantine/core';
import { useForm } from '@mantine/form';
import { type Annotations, NOTE_MOST } from '@rollcall/shared/api/annotations';
import { TagsField } from './annotation-fields.tsx';
import { type ManyValues, manyBody, tagsOf } from './annotation-values.ts';
import { FormDialog } from './form.tsx';

/** Tags and the note of several devices or interfaces. */
export function ManyDialog({
  name,
  items,
  onClose,
  onSave,
}: {
  /** `3 devices`. */
  name: string;
  items: readonly Pick<Annotations, 'tags'>[];
  onClose: () => void;
  onSave: (set: ReturnType<typeof manyBody>) => Promise<unknown>;
}) {
  const form = useForm<ManyValues>({ initialValues: { add: [], remove: [], note: '' } });
  const set = manyBody(form.values);
  return (
    <FormDialog
      form={form}
      title={`Tags and note of ${name}`}
      onClose={onClose}
      onSubmit={() => onSave(set)}
      ready={Object.keys(set).length > 0}
    >
      <TagsField label="Add tags" data-autofocus {...form.getInputProps('add')} />
      <TagsField label="Remove tags" data={tagsOf(items)} {...form.getInputProps('remove')} />
      <Textarea
        label="Note"
        description="Empty: each keeps its own"
        autosize
        minRows={2}
        maxLength={NOTE_MOST}
        {...form.getInputProps('note')}
      />
    </FormDialog>
  );
}
