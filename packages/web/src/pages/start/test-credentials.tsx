import { Button, Group, Loader, Select, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { apiQuery } from '../../api.ts';
import { useSiteChoices } from '../../choices.ts';
import { useSubmit } from '../../components/form/use-submit.ts';
import { ScanLink } from '../../components/show/index.ts';
import { useSend } from '../../use-action.ts';
import { lookOf } from '../discovery/outcomes.ts';
import classes from './start.module.css';

/** Tries the credentials of a site on one address: a scan of that address by a collector of the site. */
export function TestCredentials() {
  const sites = useSiteChoices();
  const [address, setAddress] = useState('');
  const [chosen, setChosen] = useState<string | null>(null);
  const [scanId, setScanId] = useState<string>();
  const send = useSend('scans', 'summary');
  const site = chosen ?? sites[0]?.value;
  const { submit, pending, error } = useSubmit(async () => {
    setScanId(undefined);
    if (!/^[0-9a-f.:]+$/i.test(address.trim())) throw new Error('Give one address, such as 10.20.0.1.');
    const body = { targets: address.trim(), profile: 'standard', ...(site && { site }) };
    setScanId((await send('scans.create', { body })).scanId);
  });
  return (
    <form onSubmit={submit} className={classes.test}>
      <Group gap={6} align="start">
        <TextInput
          aria-label="Address to test the credentials on"
          placeholder="10.20.0.1"
          value={address}
          onChange={(event) => setAddress(event.currentTarget.value)}
          error={error instanceof Error ? error.message : undefined}
        />
        {sites.length > 1 && (
          <Select
            aria-label="Site of the address"
            data={sites}
            value={site ?? null}
            onChange={setChosen}
            allowDeselect={false}
          />
        )}
        <Button type="submit" variant="default" loading={pending}>
          Test the credentials
        </Button>
      </Group>
      {scanId && <Outcome scanId={scanId} />}
    </form>
  );
}

function Outcome({ scanId }: { scanId: string }) {
  const scan = useQuery(apiQuery('scans.get', { params: { scanId } })).data?.data;
  const over = scan !== undefined && !['queued', 'running'].includes(scan.status);
  const addresses = useQuery({
    ...apiQuery('scans.addresses', { params: { scanId }, query: { pageSize: 1 } }),
    enabled: over,
  });
  const result = addresses.data?.data[0];
  if (!scan || !over || !addresses.data)
    return (
      <output className={classes.outcome}>
        <Loader size={14} color="gray" />
        {scan?.status === 'queued' && scan.statusReason
          ? scan.statusReason
          : 'The collector tests this address'}
      </output>
    );
  const look = result && lookOf(result.outcome);
  return (
    <output className={classes.outcome}>
      <span className={classes.swatch} style={{ background: `var(${look?.colour})` }} aria-hidden />
      <span>
        <strong>
          {look
            ? `${look.label.replace(/^./, (first) => first.toUpperCase())}.`
            : `The scan ended ${scan.status}.`}
        </strong>{' '}
        {result?.note ?? look?.meaning ?? scan.statusReason} {result && <Found address={result.address} />}{' '}
        <ScanLink id={scanId}>Show the scan</ScanLink>
      </span>
    </output>
  );
}

/** The device that the address proved to be. */
function Found({ address }: { address: string }) {
  const query = { Address: address, pageSize: 1 };
  const device = useQuery(apiQuery('devices.list', { query })).data?.data[0];
  if (!device) return null;
  return (
    <Link to="/devices/$id" params={{ id: device.id }}>
      Show {device.name}
    </Link>
  );
}
