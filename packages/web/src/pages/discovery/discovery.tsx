import { Button } from '@mantine/core';
import { IconRadar2 } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { type ComponentType, useCallback } from 'react';
import { Page } from '../../components/page.tsx';
import { Tabs } from '../../components/tabs.tsx';
import { useMay } from '../../session.tsx';
import { Credentials } from './credentials.tsx';
import { type DiscoverySearch, type PartProps, route } from './part.ts';
import { Profiles } from './profiles.tsx';
import { Scans } from './scans.tsx';
import { Schedules } from './schedules.tsx';
import { StartScan } from './start-scan.tsx';

const TABS = [
  { id: 'scans', label: 'Scans' },
  { id: 'schedules', label: 'Schedules' },
  { id: 'profiles', label: 'Profiles' },
  { id: 'credentials', label: 'Credentials' },
];
const PARTS: Record<string, ComponentType<PartProps>> = {
  scans: Scans,
  schedules: Schedules,
  profiles: Profiles,
  credentials: Credentials,
};

export function Discovery() {
  const search = route.useSearch();
  const navigate = useNavigate({ from: '/discovery' });
  const operator = useMay('operator');
  const { tab = 'scans' } = search;
  const change = useCallback(
    (next: DiscoverySearch, replace = false) =>
      void navigate({ search: (old) => ({ ...old, ...next }), replace }),
    [navigate],
  );
  const Part = PARTS[tab] ?? Scans;
  return (
    <Page
      title={tab === 'scans' ? 'Discovery' : `Discovery: ${tab}`}
      heading="Discovery"
      fill
      actions={
        operator && (
          <Button
            leftSection={<IconRadar2 size={14} aria-hidden />}
            onClick={() => change({ tab: undefined, new: '1' })}
          >
            Start a scan
          </Button>
        )
      }
    >
      <Tabs label="Parts of discovery" tabs={TABS} active={tab} />
      <Part search={search} change={change} />
      {search.new === '1' && tab === 'scans' && (
        <StartScan
          targets={search.targets ?? ''}
          site={search.site}
          profile={search.profile}
          onClose={() => change({ new: undefined, targets: undefined }, true)}
        />
      )}
    </Page>
  );
}
