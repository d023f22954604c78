import { Box, Button, Textarea } from '@mantine/core';
import { useForm } from '@mantine/form';
import type { CaseActivity, CaseDetail } from '@rollcall/shared/api/incidents';
import { Panel } from '../../components/page/index.ts';
import { PRIORITIES, Prose, Time } from '../../components/show/index.ts';
import { useAction } from '../../use-action.ts';
import classes from './cases.module.css';

/** What was done and said, oldest first, and the place to say more. */
export function Activity({ one, worked }: { one: CaseDetail; worked: boolean }) {
  return (
    <Panel title="Activity">
      <ol className={`timeline ${classes.activity}`}>
        {one.activity.map((entry) => (
          <li key={entry.id} data-comment={entry.kind === 'comment' || undefined}>
            <b>{entry.actor}</b> {saidOf(entry)} <Time at={entry.at} />
            {entry.kind === 'comment' && (
              <div className={classes.comment}>
                <Prose text={entry.text} />
              </div>
            )}
          </li>
        ))}
      </ol>
      {worked && <Composer id={one.id} />}
    </Panel>
  );
}

const priority = (code: string | null): string => PRIORITIES[Number(code) - 1] ?? code ?? '';

function saidOf({ kind, text, from, to }: CaseActivity): string {
  switch (kind) {
    case 'created':
      return text ? `opened the case: ${text}` : 'opened the case';
    case 'event_added':
      return `added the event “${text}”`;
    case 'event_closed':
      return `closed the event “${text}”`;
    case 'status':
      return `${from ? `moved it from ${from} to ${to}` : `made it ${to}`}${text ? `: ${text}` : ''}`;
    case 'assigned':
      return to ? `assigned it to ${to}` : 'unassigned it';
    case 'priority':
      return `set the priority from ${priority(from)} to ${priority(to)}`;
    case 'tag':
      return to ? `set the tags to ${to}` : 'removed the tags';
    case 'comment':
      return 'wrote';
  }
}

function Composer({ id }: { id: string }) {
  const form = useForm({ initialValues: { text: '' } });
  const { text } = form.values;
  const comment = useAction('cases.comment', { failed: 'The comment was not saved' });
  const send = form.onSubmit(async (body) => {
    if (body.text.trim() && (await comment.run({ params: { id }, body }))) form.reset();
  });
  return (
    <Box component="form" px={14} pb={12} onSubmit={send}>
      <Textarea
        aria-label="Comment"
        placeholder="What was done, what is next; Markdown, Ctrl Enter sends"
        maxRows={12}
        maxLength={10_000}
        {...form.getInputProps('text')}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) send();
        }}
      />
      <Button type="submit" mt={6} loading={comment.pending} disabled={!text.trim()}>
        Comment
      </Button>
    </Box>
  );
}
