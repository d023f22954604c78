import { Group, Loader, Select, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { IconCircleCheckFilled } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { apiQuery, type Result } from '../../api.ts';
import { useSiteChoices } from '../../choices.ts';
import { Dialog, Form } from '../../components/form/index.ts';
import { CollectorLink, CopyField, StatusLabel, Time } from '../../components/show/index.ts';
import { useSend } from '../../use-action.ts';
import { isLoopback, withServer } from './server-address.ts';

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
          submit="Create a join token"
          ready={siteId !== ''}
          onCancel={onClose}
          onSubmit={async () => setMade(await send('joinTokens.create', { body: { siteId } }))}
        >
          <Select
            label="Site"
            description="The collector scans and monitors there, and nowhere else"
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
  const { data, token, install, container } = made;
  const [server, setServer] = useState<string>(location.origin);
  const address = server.trim().replace(/\/+$/, '');
  // Asked again whenever a collector changes: the one that joins since the token was made is the one waited for.
  const collectors = useQuery(
    apiQuery('collectors.list', { query: { site: data.siteId, sort: '-createdAt', pageSize: 5 } }),
  );
  const joined = collectors.data?.data.find((one) => one.createdAt >= data.createdAt);
  const join = `rollcall-collector join ${address} ${token}`;
  return (
    <Stack gap={10}>
      <p>
        Run this as root on the host of the new collector. The token is for a single use, expires{' '}
        <Time at={data.expiresAt} />, and is shown only now.
      </p>
      <TextInput
        label="Address of this server, as that host reaches it"
        value={server}
        onChange={(event) => setServer(event.currentTarget.value)}
        error={isLoopback(address) ? LOOPBACK : undefined}
      />
      {install !== null && (
        <CopyField label="Install and join, on the host" text={withServer(install, address)} />
      )}
      {install !== null && <CopyField label="Or, where the collector is installed" text={join} />}
      {install === null && <FromCheckout join={join} />}
      {container !== null && (
        <CopyField
          label="Or in a container, where its image is loaded (npm run images makes it)"
          text={withServer(container, address)}
        />
      )}
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

const LOOPBACK =
  'Only this machine reaches this address. For a collector on another host give one that it reaches: the server needs TLS for that (ROLLCALL_TLS_OWN=true).';

/** A server that runs from a checkout hands out no package: how to come by one, and how to do without. */
const FromCheckout = ({ join }: { join: string }) => (
  <>
    <p>
      This server runs from a checkout and hands out no package. Make one there and install it on the host, or
      run the collector from a checkout:
    </p>
    <CopyField label="Make packages, in the checkout (they are in dist/ then)" text="npm run package" />
    <CopyField label="Install, on the host" text="apt install ./rollcall-collector_*.deb" />
    <CopyField label="Then join" text={join} />
    <CopyField label="Or join and run from a checkout" text={`npx ${join} && npx rollcall-collector run`} />
  </>
);
