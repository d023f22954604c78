import { Group, Loader, Select, Stack } from '@mantine/core';
import { useForm } from '@mantine/form';
import { IconCircleCheckFilled } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { apiQuery, type Result } from '../../api.ts';
import { useSiteChoices } from '../../choices.ts';
import { Dialog, Form } from '../../components/form/index.ts';
import { CollectorLink, CopyField, StatusLabel, Time } from '../../components/show/index.ts';
import { useSend } from '../../use-action.ts';

type Made = Result<'joinTokens.create'>;

/** Adds a collector: a token for one site, the command to run on its host, and the moment it comes online. */
export function JoinDialog({ site: given, onClose }: { site: string | undefined; onClose: () => void }) {
  const sites = useSiteChoices();
  const form = useForm({ initialValues: { siteId: given ?? '' } });
  const [made, setMade] = useState<Made>();
  const send = useSend();
  const siteId = form.values.siteId || sites[0]?.value || '';
  return (
    <Dialog title="Add a collector" onClose={onClose} size={620}>
      {made ? (
        <Command made={made} />
      ) : (
        <Form
          form={form}
          submit="Make a join token"
          ready={siteId !== ''}
          onCancel={onClose}
          onSubmit={async () => setMade(await send('joinTokens.create', { body: { siteId } }))}
        >
          <Select
            label="Site"
            description="The collector sweeps and watches there, and nowhere else"
            data={sites}
            data-autofocus
            {...form.getInputProps('siteId')}
            value={siteId}
          />
        </Form>
      )}
    </Dialog>
  );
}

function Command({ made }: { made: Made }) {
  const { data, token, install } = made;
  // Asked again whenever a collector changes: the one that joins since the token was made is the one waited for.
  const collectors = useQuery(
    apiQuery('collectors.list', { query: { site: data.siteId, sort: '-createdAt', pageSize: 5 } }),
  );
  const joined = collectors.data?.data.find((one) => one.createdAt >= data.createdAt);
  return (
    <Stack gap={10}>
      <p>
        Run this as root on the host of the new collector. It works once, until <Time at={data.expiresAt} />,
        and is shown only now.
      </p>
      {install !== null && <CopyField label="Install and join, on the host" text={install} />}
      <CopyField
        label={install === null ? 'Command' : 'Or, where the collector is installed'}
        text={`rollcall-collector join ${location.origin} ${token}`}
      />
      <Group component="output" className="panel" gap={10} mih={32} px={12}>
        {joined ? (
          <>
            <StatusLabel tone="ok" icon={IconCircleCheckFilled}>
              {joined.online ? `${joined.name} is online` : `${joined.name} has joined`}
            </StatusLabel>
            <CollectorLink id={joined.id}>Show it</CollectorLink>
          </>
        ) : (
          <>
            <Loader size={14} color="gray" />
            Waiting for a collector to join {data.site}
          </>
        )}
      </Group>
    </Stack>
  );
}
