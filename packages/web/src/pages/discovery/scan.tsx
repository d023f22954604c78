import { Box, Group, Text } from '@mantine/core';
import type { ScanDetail } from '@rollcall/shared/api/scans';
import { IconBan, IconRefresh } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { apiQuery } from '../../api.ts';
import { IconButton } from '../../components/controls/index.ts';
import { Confirm } from '../../components/form/index.ts';
import { Body, LoadedPage, Page, Tabs } from '../../components/page/index.ts';
import { duration, Progress, ScanStatus, Time, useNow } from '../../components/show/index.ts';
import { count } from '../../format.ts';
import { useMay } from '../../session.tsx';
import { useUrlState } from '../../url-state.ts';
import { useSend } from '../../use-action.ts';
import { AddressMap } from './address-map.tsx';
import classes from './discovery.module.css';
import { Jobs } from './jobs.tsx';
import { OutcomeLegend } from './legend.tsx';
import { ScanAddresses, type Shown } from './scan-addresses.tsx';

const route = getRouteApi('/discovery/scans/$id');
const UP = { to: '/discovery', label: 'Discovery' };

export function ScanPage() {
  const { id } = route.useParams();
  const scan = useQuery(apiQuery('scans.get', { params: { scanId: id } }));
  return (
    <LoadedPage title="Scan" up={UP} query={scan}>
      {({ data }) => <ScanView scan={data} at={scan.dataUpdatedAt} />}
    </LoadedPage>
  );
}

const isOver = (scan: ScanDetail): boolean => !['queued', 'running'].includes(scan.status);

function ScanView({ scan, at }: { scan: ScanDetail; at: number }) {
  const {
    search: { tab = 'map', outcome, address },
    change,
  } = useUrlState('/discovery/scans/$id');
  const tabs = [
    { id: 'map', label: 'Map' },
    { id: 'addresses', label: 'Addresses', count: scan.addressesTotal },
    { id: 'jobs', label: 'Jobs', count: scan.jobs.length },
  ];
  const show = (next: Shown, replace = false) => change({ tab: 'addresses', ...next }, replace);
  return (
    <Page
      title={`Scan of ${scan.targets}`}
      up={UP}
      fill
      heading={
        <span className="mono" title={scan.targets}>
          {scan.targets.slice(0, 200)}
        </span>
      }
      marks={
        <>
          <ScanStatus status={scan.status} />
          <span>{scan.site}</span>
          <span>profile {scan.profile}</span>
          <span>
            by {scan.createdBy} <Time at={scan.createdAt} />
          </span>
        </>
      }
      actions={<Actions scan={scan} />}
    >
      <Figures scan={scan} />
      <Tabs label="Parts of the scan" tabs={tabs} active={tab} />
      {tab === 'jobs' ? (
        <Jobs scan={scan} />
      ) : (
        <>
          <OutcomeLegend
            scanId={scan.id}
            over={isOver(scan)}
            chosen={tab === 'addresses' ? outcome : undefined}
            onChoose={(next) => show({ outcome: next, address: undefined })}
          />
          <Body>
            {tab === 'addresses' ? (
              <ScanAddresses scan={scan} outcome={outcome} address={address} onShow={show} />
            ) : (
              <AddressMap
                scan={scan}
                at={at}
                onPick={(picked) => show({ address: picked, outcome: undefined })}
              />
            )}
          </Body>
        </>
      )}
    </Page>
  );
}

function Figures({ scan }: { scan: ScanDetail }) {
  const now = useNow();
  const figures: [label: string, value: string][] = [
    ['addresses probed', `${count(scan.addressesProbed)} of ${count(scan.addressesTotal)}`],
    ['alive', count(scan.hostsAlive)],
    ['devices', count(scan.devicesFound)],
    ['new', count(scan.devicesNew)],
    ['changed', count(scan.devicesChanged)],
  ];
  if (scan.startedAt !== null)
    figures.push([
      scan.finishedAt === null ? 'so far' : 'took',
      duration((scan.finishedAt ?? Math.floor(now / 1000)) - scan.startedAt),
    ]);
  return (
    <section className="panel" aria-label="Progress">
      <Group gap="4px 32px" align="end" px={16} py={12}>
        {figures.map(([label, value]) => (
          <div key={label} className={classes.figure}>
            <b>{value}</b>
            <span>{label}</span>
          </div>
        ))}
      </Group>
      {scan.status === 'running' && (
        <Box px={16} pb={14}>
          <Progress done={scan.addressesProbed} of={scan.addressesTotal} label="Addresses probed" />
        </Box>
      )}
      {scan.statusReason && (
        <Text size="sm" c="dimmed" px={16} pb={12}>
          {scan.statusReason}
        </Text>
      )}
    </section>
  );
}

function Actions({ scan }: { scan: ScanDetail }) {
  const may = useMay('scans.cancel');
  const navigate = useNavigate();
  const send = useSend('summary');
  const [asking, setAsking] = useState(false);
  if (!may) return null;
  const again = { new: '1', targets: scan.targets, site: scan.siteId, profile: scan.profile };
  return (
    <>
      {isOver(scan) ? (
        <IconButton icon={IconRefresh} onClick={() => void navigate({ to: '/discovery', search: again })}>
          Scan again
        </IconButton>
      ) : (
        <IconButton icon={IconBan} onClick={() => setAsking(true)}>
          Cancel the scan
        </IconButton>
      )}
      {asking && (
        <Confirm
          title="Cancel the scan?"
          confirm="Cancel the scan"
          onClose={() => setAsking(false)}
          onConfirm={() => send('scans.cancel', { params: { scanId: scan.id } })}
        >
          Its collectors stop within two seconds. What was found stays.
        </Confirm>
      )}
    </>
  );
}
