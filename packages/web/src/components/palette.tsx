import { Spotlight, type SpotlightActionData } from '@mantine/spotlight';
import { IconDeviceDesktop, IconSearch } from '@tabler/icons-react';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { ask } from '../api.ts';

const PAGES = [
  ['/', 'Overview', 'health by site'],
  ['/devices', 'Devices', 'all devices and filters'],
  ['/topology', 'Topology', 'map of links'],
  ['/events', 'Events', 'alarms'],
  ['/cases', 'Cases', 'incidents and work on them'],
  ['/discovery', 'Discovery', 'scans, schedules, profiles, credentials'],
  ['/collectors', 'Collectors', 'health, add, revoke'],
  ['/profile', 'Profile', 'API tokens, sessions, password, theme'],
] as const;

/** Command palette: pages by name, devices by whatever the list can be searched by. */
export function Palette() {
  const navigate = useNavigate();
  const [query, setQuery] = useState('');
  const found = useQuery({
    ...ask('devices.list', { query: { search: query, pageSize: 8 } }),
    enabled: query.trim().length > 1,
    placeholderData: keepPreviousData,
    staleTime: 10_000,
  });
  const devices: SpotlightActionData[] =
    query.trim().length > 1
      ? (found.data?.data ?? []).map((device) => ({
          id: device.id,
          label: device.name,
          description: [device.address, device.vendor, device.model].filter(Boolean).join(' · '),
          leftSection: <IconDeviceDesktop size={17} aria-hidden />,
          keywords: query,
          onClick: () => void navigate({ to: `/devices/${device.id}` as string }),
        }))
      : [];
  const pages: SpotlightActionData[] = PAGES.map(([to, label, description]) => ({
    id: to,
    label,
    description,
    onClick: () => void navigate({ to: to as string }),
  }));
  return (
    <Spotlight
      actions={[
        { group: 'Devices', actions: devices },
        { group: 'Pages', actions: pages },
      ]}
      query={query}
      onQueryChange={setQuery}
      nothingFound="Nothing found"
      highlightQuery
      limit={12}
      shortcut={null}
      searchProps={{
        leftSection: <IconSearch size={17} aria-hidden />,
        placeholder: 'Search devices and pages',
      }}
    />
  );
}
