import type { Profile } from '@rollcall/shared/api/profiles';
import type { ProfileSettings } from '@rollcall/shared/profile';
import { IconCopy } from '@tabler/icons-react';
import { useState } from 'react';
import { Empty } from '../../components/feedback/index.ts';
import { Collection, NewButton } from '../../components/list/index.ts';
import { Tag } from '../../components/show/index.ts';
import { type Column, usePagedList } from '../../components/table/index.ts';
import { count } from '../../format.ts';
import { useMay } from '../../session.tsx';
import type { UrlState } from '../../url-state.ts';
import { GROUPS } from './choices.ts';
import { ProfileForm } from './profile-form.tsx';

const rateOf = (rate: ProfileSettings['rate']): string => (rate === 'max' ? 'unlimited' : count(rate));

const COLUMNS: readonly Column<Profile>[] = [
  {
    id: 'name',
    title: 'Name',
    width: 'minmax(210px, 0.8fr)',
    narrow: true,
    cell: (one) => (
      <>
        {one.name} {one.builtIn && <Tag>built in</Tag>}
      </>
    ),
  },
  {
    id: 'icmp',
    title: 'ICMP',
    width: 'minmax(110px, 0.6fr)',
    narrow: true,
    value: ({ settings: { icmp } }) => (icmp ? `${icmp.tries} × ${count(icmp.timeoutMs)} ms` : 'no'),
  },
  {
    id: 'snmp',
    title: 'SNMP',
    width: 'minmax(130px, 0.7fr)',
    value: ({ settings: { snmp } }) =>
      snmp
        ? `${snmp.ask === 'all' ? 'all addresses' : 'alive ones'}${snmp.port === null ? '' : `, port ${snmp.port}`}`
        : 'no',
  },
  {
    id: 'groups',
    title: 'What is read',
    width: 'minmax(150px, 1.6fr)',
    value: ({ settings: { snmp } }) =>
      snmp ? ['system', ...snmp.groups.map((group) => GROUPS[group])].join(', ') : '',
  },
  {
    id: 'rate',
    title: 'Packets/s',
    width: '76px',
    numeric: true,
    value: ({ settings }) => rateOf(settings.rate),
  },
  {
    id: 'net',
    title: 'Per /24',
    width: '86px',
    numeric: true,
    value: ({ settings }) => rateOf(settings.ratePerNet),
  },
  { id: 'dns', title: 'DNS', width: '40px', value: ({ settings }) => (settings.dns ? 'yes' : 'no') },
];

export function Profiles({ search, change }: UrlState<'/discovery'>) {
  const may = useMay('profiles.create');
  const source = usePagedList('profiles.list', {});
  /** What a new one begins with. */
  const [like, setLike] = useState<Profile>();
  const copy = (one: Profile) => {
    setLike(one);
    change({ edit: 'new' });
  };
  return (
    <>
      <div className="strip">
        <p>Named settings of a scan: which probes, how fast, what is left out.</p>
        {may && (
          <NewButton change={change} variant="default">
            New profile
          </NewButton>
        )}
      </div>
      <Collection
        kind="profiles"
        label="Profiles"
        source={source}
        columns={COLUMNS}
        search={search}
        change={(next, replace) => {
          setLike(undefined);
          change(next, replace);
        }}
        may={may}
        actions={(one) => (may ? [{ label: 'Copy', icon: IconCopy, run: () => copy(one) }] : [])}
        fixed={(one) => (one.builtIn ? 'whole' : undefined)}
        form={(props) => <ProfileForm {...props} like={like} />}
        lost={() =>
          'Scans keep the settings they were started with. A profile that a schedule uses cannot be deleted.'
        }
        empty={<Empty title="No profiles" />}
      />
    </>
  );
}
