import type { Scan } from '@rollcall/shared/api/scans';
import { SCAN_STATUSES } from '@rollcall/shared/model';
import { useNavigate } from '@tanstack/react-router';
import { useSiteChoices } from '../../choices.ts';
import { Empty } from '../../components/feedback/index.ts';
import { choicesOf, Filters } from '../../components/filter/index.ts';
import { Body } from '../../components/page/index.ts';
import { duration, Progress, ScanLink, ScanStatus, useNow } from '../../components/show/index.ts';
import { type Column, timeColumn, usePagedList, VirtualTable } from '../../components/table/index.ts';
import { count } from '../../format.ts';
import type { UrlState } from '../../url-state.ts';
import { useProfileChoices } from './choices.ts';

function Took({ scan }: { scan: Scan }) {
  const now = useNow();
  if (scan.startedAt === null) return null;
  return duration((scan.finishedAt ?? Math.floor(now / 1000)) - scan.startedAt);
}

const COLUMNS: readonly Column<Scan>[] = [
  {
    id: 'status',
    title: 'Status',
    width: '104px',
    sort: 'status',
    narrow: true,
    cell: (scan) => <ScanStatus status={scan.status} />,
  },
  {
    id: 'targets',
    title: 'Targets',
    width: 'minmax(140px, 1.4fr)',
    narrow: true,
    value: (scan) => scan.targets,
    cell: (scan) => (
      <ScanLink id={scan.id} className="plain" title={scan.targets}>
        <span className="mono">{scan.targets}</span>
      </ScanLink>
    ),
  },
  { id: 'site', title: 'Site', width: 'minmax(64px, 0.6fr)' },
  { id: 'profile', title: 'Profile', width: 'minmax(64px, 0.6fr)' },
  { id: 'by', title: 'Started by', width: 'minmax(60px, 0.5fr)', value: (scan) => scan.createdBy },
  {
    id: 'progress',
    title: 'Addresses',
    width: 'minmax(120px, 0.9fr)',
    sort: 'addressesTotal',
    value: (scan) => scan.addressesTotal,
    cell: (scan) =>
      scan.status === 'running' ? (
        <Progress done={scan.addressesProbed} of={scan.addressesTotal} label="Addresses probed" />
      ) : (
        count(scan.addressesTotal)
      ),
  },
  { id: 'alive', title: 'Alive', width: '54px', numeric: true, value: (scan) => scan.hostsAlive },
  {
    id: 'devices',
    title: 'Devices',
    width: '56px',
    numeric: true,
    narrow: true,
    value: (scan) => scan.devicesFound,
  },
  { id: 'new', title: 'New', width: '40px', numeric: true, value: (scan) => scan.devicesNew || '' },
  {
    id: 'changed',
    title: 'Changed',
    width: '58px',
    numeric: true,
    value: (scan) => scan.devicesChanged || '',
  },
  {
    id: 'took',
    title: 'Duration',
    width: '88px',
    value: (scan) => scan.finishedAt,
    cell: (scan) => <Took scan={scan} />,
  },
  timeColumn({
    id: 'created',
    title: 'Started',
    width: '84px',
    sort: 'createdAt',
    at: (scan) => scan.createdAt,
  }),
];
const STATUSES = choicesOf(SCAN_STATUSES, (status) => <ScanStatus status={status} />);

export function Scans({ search, change }: UrlState<'/discovery'>) {
  const navigate = useNavigate();
  const sites = useSiteChoices();
  const profiles = useProfileChoices();
  // While a scan is planned, the profile in the address is the plan's.
  const { status, site, sort, profile } = search.new ? { ...search, profile: undefined } : search;
  const source = usePagedList('scans.list', { status, profile, site, sort });
  return (
    <>
      <Filters
        search={{ ...search, profile }}
        change={change}
        filters={[
          { key: 'status', label: 'Status', choices: STATUSES, many: true },
          { key: 'profile', label: 'Profile', choices: profiles },
          { key: 'site', label: 'Site', choices: sites },
        ]}
      />
      <Body>
        <VirtualTable
          label="Scans"
          source={source}
          columns={COLUMNS}
          sort={sort ?? '-createdAt'}
          onSort={(next) => change({ sort: next })}
          onOpen={(scan) => void navigate({ to: '/discovery/scans/$id', params: { id: scan.id } })}
          empty={
            <Empty title="No scan matches">A scan asks every address of its targets who is there.</Empty>
          }
        />
      </Body>
    </>
  );
}
