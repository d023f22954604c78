import { Select, TagsInput } from '@mantine/core';
import type { CaseDetail } from '@rollcall/shared/api/incidents';
import { useQuery } from '@tanstack/react-query';
import { apiQuery } from '../../api.ts';
import { Panel } from '../../components/page/index.ts';
import {
  DeviceLink,
  Facts,
  PRIORITIES,
  Priority,
  SEVERITIES,
  Severity,
  Tag,
  Time,
} from '../../components/show/index.ts';
import { useMe } from '../../session.tsx';
import { useSiteName } from '../../sites.ts';
import { useAction } from '../../use-action.ts';
import classes from './cases.module.css';

interface Props {
  one: CaseDetail;
  worked: boolean;
}

/** Who, how urgent, which words: set here, at once. */
export function Properties({ one, worked }: Props) {
  return (
    <Panel title="Properties">
      {worked ? <Editable one={one} /> : <Facts facts={readable(one)} />}
      <div className={classes.facts}>
        <Places one={one} />
      </div>
    </Panel>
  );
}

const readable = (one: CaseDetail) =>
  [
    ['Assignee', one.assignee ?? 'nobody'],
    ['Priority', <Priority key="priority" code={one.priority} />],
    ['Severity', <Severity key="severity" code={one.severity} />],
    [
      'Tags',
      one.tags.length > 0 && (
        <span key="tags" className={classes.tags}>
          {one.tags.map((tag) => (
            <Tag key={tag}>{tag}</Tag>
          ))}
        </span>
      ),
    ],
  ] as const;

const NOBODY = '';

function Editable({ one }: { one: CaseDetail }) {
  const { user } = useMe();
  const people = useQuery(apiQuery('assignees.list', { query: { site: one.siteId, pageSize: 1000 } }));
  const update = useAction('cases.update', { failed: 'Not changed', touches: ['summary'] });
  const params = { id: one.id };
  const choices = (people.data?.data ?? []).map(({ id, name, displayName }) => ({
    value: id,
    label: id === user.id ? `${displayName || name} (me)` : displayName || name,
  }));
  // Someone who has left since is still whom it was assigned to.
  if (one.assigneeId && !choices.some((choice) => choice.value === one.assigneeId))
    choices.push({ value: one.assigneeId, label: one.assignee ?? 'somebody' });
  return (
    <div className={classes.properties}>
      <Select
        label="Assignee"
        searchable
        data={[{ value: NOBODY, label: 'nobody' }, ...choices]}
        value={one.assigneeId ?? NOBODY}
        onChange={(value) => void update.run({ params, body: { assignee: value || null } })}
      />
      <Select
        label="Priority"
        data={PRIORITIES.map((label, i) => ({ value: String(i + 1), label }))}
        value={String(one.priority)}
        leftSection={<Priority code={one.priority} word={false} />}
        onChange={(value) => value && void update.run({ params, body: { priority: Number(value) } })}
      />
      <Select
        label="Severity"
        data={SEVERITIES.map(({ code, name }) => ({ value: String(code), label: name }))}
        value={String(one.severity)}
        leftSection={<Severity code={one.severity} word={false} />}
        onChange={(value) => value && void update.run({ params, body: { severity: Number(value) } })}
      />
      <TagsInput
        label="Tags"
        size="xs"
        placeholder={one.tags.length === 0 ? 'Type and press Enter' : ''}
        value={one.tags}
        maxTags={50}
        onChange={(tags) => void update.run({ params, body: { tags } })}
      />
    </div>
  );
}

function Places({ one }: { one: CaseDetail }) {
  const siteName = useSiteName();
  const root = useQuery({
    ...apiQuery('devices.get', { params: { id: one.rootDeviceId ?? '' } }),
    enabled: one.rootDeviceId !== null,
    retry: false,
  });
  return (
    <Facts
      facts={[
        ['Site', siteName(one.siteId)],
        [
          'Root device',
          one.rootDeviceId && root.data && (
            <DeviceLink id={one.rootDeviceId}>{root.data.data.name}</DeviceLink>
          ),
        ],
        ['Opened', <Time key="created" at={one.createdAt} />],
        ['Updated', <Time key="updated" at={one.updatedAt} />],
        ['Resolved', one.resolvedAt && <Time at={one.resolvedAt} />],
        ['Closed', one.closedAt && <Time at={one.closedAt} />],
      ]}
    />
  );
}
