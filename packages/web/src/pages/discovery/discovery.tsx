import { IconRadar2 } from '@tabler/icons-react';
import type { ComponentType } from 'react';
import { IconButton } from '../../components/controls/index.ts';
import { Page, Tabs } from '../../components/page/index.ts';
import { useMay } from '../../session.tsx';
import { type UrlState, useUrlState } from '../../url-state.ts';
import { Credentials } from './credentials.tsx';
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
const PARTS: Record<string, ComponentType<UrlState<'/discovery'>>> = {
  scans: Scans,
  schedules: Schedules,
  profiles: Profiles,
  credentials: Credentials,
};

export function Discovery() {
  const { search, change } = useUrlState('/discovery');
  const may = useMay('scans.create');
  const { tab = 'scans' } = search;
  const Part = PARTS[tab] ?? Scans;
  return (
    <Page
      title={tab === 'scans' ? 'Discovery' : `Discovery: ${tab}`}
      heading="Discovery"
      fill
      actions={
        may && (
          <IconButton
            variant="filled"
            icon={IconRadar2}
            onClick={() => change({ tab: undefined, edit: undefined, new: '1' })}
          >
            Start a scan
          </IconButton>
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
