import { Select, Textarea, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import type { Event } from '@rollcall/shared/api/incidents';
import { useNavigate } from '@tanstack/react-router';
import { useSiteChoices } from '../../choices.ts';
import { FormDialog, Pair } from '../../components/form/index.ts';
import { PRIORITIES } from '../../components/show/index.ts';
import { useSend } from '../../use-action.ts';

const PRIORITY_CHOICES = PRIORITIES.map((label, i) => ({ value: String(i + 1), label }));
const tagsOf = (text: string): string[] => [
  ...new Set(
    text
      .split(',')
      .map((tag) => tag.trim())
      .filter(Boolean),
  ),
];

/** A case opened by hand, empty or about events of one site. */
export function NewCase({ onClose, events = [] }: { onClose: () => void; events?: readonly Event[] }) {
  const [event] = events;
  const sites = useSiteChoices();
  const navigate = useNavigate();
  const send = useSend('events', 'summary');
  const form = useForm({
    initialValues: {
      title: event?.message ?? '',
      description: '',
      siteId: event?.siteId ?? '',
      priority: '3',
      tags: '',
    },
  });
  const siteId = form.values.siteId || sites[0]?.value || '';
  const create = async () => {
    const body = {
      ...form.values,
      siteId,
      priority: Number(form.values.priority),
      tags: tagsOf(form.values.tags),
      ...(event && { eventIds: events.map(({ id }) => id) }),
    };
    const { data } = await send('cases.create', { body });
    // After the dialog has taken itself out of the address.
    setTimeout(() => void navigate({ to: '/cases/$id', params: { id: data.id } }));
  };
  return (
    <FormDialog form={form} title="New case" onClose={onClose} onSubmit={create} submit="Create case">
      <TextInput label="Title" required data-autofocus {...form.getInputProps('title')} />
      <Textarea label="Description" {...form.getInputProps('description')} />
      <Pair>
        {!event && <Select label="Site" data={sites} {...form.getInputProps('siteId')} value={siteId} />}
        <Select label="Priority" data={PRIORITY_CHOICES} {...form.getInputProps('priority')} />
      </Pair>
      <TextInput label="Tags" placeholder="uplink, provider" {...form.getInputProps('tags')} />
    </FormDialog>
  );
}
