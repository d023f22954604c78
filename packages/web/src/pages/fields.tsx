import { Select, TagsInput, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { ANNOTATED, type CustomField, FIELD_TYPES, type FieldType } from '@rollcall/shared/api/annotations';
import { Empty } from '../components/feedback/index.ts';
import { Pair } from '../components/form/index.ts';
import { Collection, EditDialog, type FormOf, NewButton } from '../components/list/index.ts';
import { Page } from '../components/page/index.ts';
import { type Column, timeColumn, usePagedList } from '../components/table/index.ts';
import { useMay } from '../session.tsx';
import { useUrlState } from '../url-state.ts';

const TYPES: Record<FieldType, string> = {
  text: 'text',
  number: 'number',
  boolean: 'yes or no',
  date: 'date',
  choice: 'choice',
  url: 'URL',
};
const TYPE_CHOICES = FIELD_TYPES.map((type) => ({ value: type, label: TYPES[type] }));

const COLUMNS: readonly Column<CustomField>[] = [
  { id: 'name', title: 'Name', width: 'minmax(96px, 0.8fr)', narrow: true },
  { id: 'of', title: 'Applies to', width: '82px', narrow: true, value: (one) => `${one.appliesTo}s` },
  { id: 'type', title: 'Type', width: '76px', narrow: true, value: (one) => TYPES[one.type] },
  { id: 'choices', title: 'Choices', width: 'minmax(160px, 1.6fr)', value: (one) => one.choices.join(', ') },
  timeColumn({ id: 'created', title: 'Created', at: (one) => one.createdAt }),
];

/** What the installation keeps of devices and interfaces besides tags and notes. */
export function Fields() {
  const { search, change } = useUrlState('/fields');
  const admin = useMay('fields.create');
  const source = usePagedList('fields.list', {});
  return (
    <Page
      title="Custom fields"
      count={source.total}
      fill
      actions={admin && <NewButton change={change}>New field</NewButton>}
    >
      <Collection
        kind="fields"
        label="Custom fields"
        source={source}
        columns={COLUMNS}
        search={search}
        change={change}
        may={admin}
        form={(props) => <FieldForm {...props} />}
        lost={(one) => `Its values are deleted from all ${one.appliesTo}s.`}
        empty={
          <Empty title="No custom fields">
            A rack, a contract, a date of purchase: fields that are defined here can be set on devices and
            interfaces, searched, filtered, exported and imported.
          </Empty>
        }
      />
    </Page>
  );
}

function FieldForm(props: FormOf<CustomField>) {
  const { one } = props;
  const form = useForm({
    initialValues: {
      name: one?.name ?? '',
      appliesTo: one?.appliesTo ?? ('device' as const),
      type: one?.type ?? ('text' as const),
      choices: one?.choices ?? [],
    },
  });
  const { name, appliesTo, type, choices } = form.values as Pick<
    CustomField,
    'name' | 'appliesTo' | 'type' | 'choices'
  >;
  return (
    <EditDialog
      kind="fields"
      of={props}
      form={form}
      create={() => ({ name, appliesTo, type, ...(type === 'choice' && { choices }) })}
      update={() => ({ choices })}
      ready={one === undefined || one.type === 'choice'}
    >
      <TextInput
        label="Name"
        required
        disabled={one !== undefined}
        data-autofocus
        {...form.getInputProps('name')}
      />
      <Pair>
        <Select
          label="Applies to"
          data={ANNOTATED.map((kind) => ({ value: kind, label: `${kind}s` }))}
          disabled={one !== undefined}
          allowDeselect={false}
          {...form.getInputProps('appliesTo')}
        />
        <Select
          label="Type"
          data={TYPE_CHOICES}
          disabled={one !== undefined}
          allowDeselect={false}
          {...form.getInputProps('type')}
        />
      </Pair>
      {type === 'choice' && (
        <TagsInput label="Choices" placeholder="Type and press Enter" {...form.getInputProps('choices')} />
      )}
    </EditDialog>
  );
}
