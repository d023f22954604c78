import type { Event } from '@rollcall/shared/api/incidents';
import { useNavigate } from '@tanstack/react-router';
import { useSend } from '../../action.ts';
import { ChoiceField, FormDialog, LinesField, Pair, TextField, useFields } from '../../components/form.tsx';
import { PRIORITIES } from '../../components/mark.tsx';
import { useSiteChoices } from '../../sites.ts';

const PRIORITY_CHOICES = PRIORITIES.map((label, i) => ({ value: String(i + 1), label }));
const tagsOf = (text: string): string[] => [
  ...new Set(
    text
      .split(',')
      .map((tag) => tag.trim())
      .filter(Boolean),
  ),
];

/** A case opened by hand, empty or about an event. */
export function NewCase({ onClose, event }: { onClose: () => void; event?: Event }) {
  const sites = useSiteChoices();
  const navigate = useNavigate();
  const send = useSend('events', 'summary');
  const { values, text } = useFields({
    title: event?.message ?? '',
    description: '',
    siteId: event?.siteId ?? '',
    priority: '3',
    tags: '',
  });
  const siteId = values.siteId || sites[0]?.value || '';
  const create = async () => {
    const body = {
      ...values,
      siteId,
      priority: Number(values.priority),
      tags: tagsOf(values.tags),
      ...(event && { eventIds: [event.id] }),
    };
    const { data } = await send('cases.create', { body });
    // After the dialog has taken itself out of the address.
    setTimeout(() => void navigate({ to: '/cases/$id', params: { id: data.id } }));
  };
  return (
    <FormDialog title="New case" onClose={onClose} onSubmit={create} submit="Open the case">
      <TextField label="Title" required data-autofocus {...text('title')} />
      <LinesField label="Description" {...text('description')} />
      <Pair>
        {!event && <ChoiceField label="Site" choices={sites} {...text('siteId')} value={siteId} />}
        <ChoiceField label="Priority" choices={PRIORITY_CHOICES} {...text('priority')} />
      </Pair>
      <TextField label="Tags" placeholder="uplink, provider" {...text('tags')} />
    </FormDialog>
  );
}
