import { Select, Stack, TagsInput } from '@mantine/core';
import type { CaseDetail } from '@rollcall/shared/api/incidents';
import { useQuery } from '@tanstack/react-query';
import { apiQuery } from '../../api.ts';
import { useSiteName } from '../../choices.ts';
import { Panel } from '../../components/page/index.ts';
import {
  DeviceLink,
  duration,
  Fact,
  Facts,
  PRIORITIES,
  Priority,
  SEVERITIES,
  Severity,
  Tags,
  TimeFact,
  useNow,
} from '../../components/show/index.ts';
import { useMe } from '../../session.tsx';
import { useAction } from '../../use-action.ts';
import classes from './cases.module.css';
import { courseOf } from './course.ts';
import { Impact } from './impact.tsx';

interface Props {
  one: CaseDetail;
  worked: boolean;
}

/** Who, how urgent, which words: set here, at once. */
export function Properties({ one, worked }: Props) {
  return (
    <Panel title="Properties">
      {worked ? <Editable one={one} /> : <Readable one={one} />}
      <div className={classes.facts}>
        <Places one={one} />
      </div>
    </Panel>
  );
}

const Readable = ({ one }: { one: CaseDetail }) => (
  <Facts>
    <Fact name="Assignee">{one.assignee ?? 'Unassigned'}</Fact>
    <Fact name="Priority">
      <Priority code={one.priority} />
    </Fact>
    <Fact name="Severity">
      <Severity code={one.severity} />
    </Fact>
    <Fact name="Tags">{one.tags.length > 0 && <Tags tags={one.tags} />}</Fact>
  </Facts>
);

const UNASSIGNED = '';

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
    <Stack gap={10} p={12}>
      <Select
        label="Assignee"
        searchable
        data={[{ value: UNASSIGNED, label: 'Unassigned' }, ...choices]}
        value={one.assigneeId ?? UNASSIGNED}
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
        placeholder={one.tags.length === 0 ? 'Type and press Enter' : ''}
        value={one.tags}
        maxTags={50}
        onChange={(tags) => void update.run({ params, body: { tags } })}
      />
    </Stack>
  );
}

function Places({ one }: { one: CaseDetail }) {
  const siteName = useSiteName();
  const course = courseOf(one, Math.floor(useNow() / 1000));
  const root = useQuery({
    ...apiQuery('devices.get', { params: { id: one.rootDeviceId ?? '' } }),
    enabled: one.rootDeviceId !== null,
    retry: false,
  });
  return (
    <Facts>
      <Fact name="Site">{siteName(one.siteId)}</Fact>
      <Fact name="Root device">
        {one.rootDeviceId && root.data && (
          <DeviceLink id={one.rootDeviceId}>{root.data.data.name}</DeviceLink>
        )}
      </Fact>
      <TimeFact name="Began" at={course.begunAt} />
      <Fact name="Duration">{duration(course.lasted)}</Fact>
      <Impact one={one} course={course} />
      <Fact name="Acknowledged">
        {course.acknowledgedAfter !== null && `after ${duration(course.acknowledgedAfter)}`}
      </Fact>
      <TimeFact name="Opened" at={one.createdAt} />
      <TimeFact name="Updated" at={one.updatedAt} />
      <TimeFact name="Resolved" at={one.resolvedAt} />
      <TimeFact name="Closed" at={one.closedAt} />
    </Facts>
  );
}
