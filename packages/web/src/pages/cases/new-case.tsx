import type { Event } from '@rollcall/shared/api/incidents';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { useRefresh } from '../../action.ts';
import { call } from '../../api.ts';
import { ChoiceField, FormDialog, LinesField, Pair, TextField } from '../../components/form.tsx';
import { PRIORITIES } from '../../components/mark.tsx';
import { useSiteChoices } from '../../sites.ts';

export const PRIORITY_CHOICES = PRIORITIES.map((label, i) => ({ value: String(i + 1), label }));
export const tagsOf = (text: string): string[] => [
  ...new Set(
    text
      .split(',')
      .map((tag) => tag.trim())
      .filter(Boolean),
  ),
];

/** A case opened by hand, empty or about an event. */
export function NewCase({ opened, onClose, event }: { opened: boolean; onClose: () => void; event?: Event }) {
  const sites = useSiteChoices();
  const navigate = useNavigate();
  const refresh = useRefresh();
  const [title, setTitle] = useState('');
  const [description, setDescription] = useState('');
  const [site, setSite] = useState('');
  const [priority, setPriority] = useState('3');
  const [tags, setTags] = useState('');
  useEffect(() => {
    if (opened) setTitle(event?.message ?? '');
  }, [opened, event]);
  const siteId = event?.siteId ?? (site || sites[0]?.value || '');
  const create = async () => {
    const { data } = await call('cases.create', {
      body: {
        siteId,
        title,
        description,
        priority: Number(priority),
        tags: tagsOf(tags),
        ...(event && { eventIds: [event.id] }),
      },
    });
    refresh('cases', 'events', 'summary');
    // After the dialog has taken itself out of the address.
    setTimeout(() => void navigate({ to: '/cases/$id', params: { id: data.id } }));
  };
  return (
    <FormDialog title="New case" opened={opened} onClose={onClose} onSubmit={create} submit="Open the case">
      <TextField path="title" label="Title" required value={title} onChange={setTitle} data-autofocus />
      <LinesField path="description" label="Description" value={description} onChange={setDescription} />
      <Pair>
        {!event && (
          <ChoiceField path="siteId" label="Site" choices={sites} value={siteId} onChange={setSite} />
        )}
        <ChoiceField
          path="priority"
          label="Priority"
          choices={PRIORITY_CHOICES}
          value={priority}
          onChange={setPriority}
        />
      </Pair>
      <TextField path="tags" label="Tags" placeholder="uplink, provider" value={tags} onChange={setTags} />
    </FormDialog>
  );
}
