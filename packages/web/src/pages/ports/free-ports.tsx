import type { FreePort } from '@rollcall/shared/api/free-ports';
import { FREE_DAYS } from '@rollcall/shared/api/free-ports';
import { DEVICE_CLASSES } from '@rollcall/shared/model';
import { Link } from '@tanstack/react-router';
import { useSiteChoices } from '../../choices.ts';
import { Empty } from '../../components/feedback/index.ts';
import { choicesOf, Filters } from '../../components/filter/index.ts';
import { ExportMenu } from '../../components/list/index.ts';
import { Body, Page } from '../../components/page/index.ts';
import { DeviceClassLabel, DeviceLink, LinkStatus } from '../../components/show/index.ts';
import { type Column, timeColumn, usePagedList, VirtualTable } from '../../components/table/index.ts';
import { bitrate, plural } from '../../format.ts';
import { useUrlState } from '../../url-state.ts';

const CLASSES = choicesOf(DEVICE_CLASSES, (name) => <DeviceClassLabel class={name} />);
const UNUSED = [30, FREE_DAYS, 180, 365].map((days) => ({
  value: String(days),
  label: plural(days, 'day'),
}));

/** How it is known that a port was not used. */
const REASONS: Record<FreePort['reason'], string> = {
  wentDown: 'went down',
  unchanged: 'no change since',
  neverUp: 'never seen up',
};

const COLUMNS: readonly Column<FreePort>[] = [
  {
    id: 'device',
    title: 'Device',
    width: 'minmax(130px, 1.2fr)',
    sort: 'device',
    narrow: true,
    cell: (one) => <DeviceLink id={one.deviceId}>{one.device}</DeviceLink>,
  },
  {
    id: 'port',
    title: 'Port',
    width: 'minmax(110px, 1fr)',
    narrow: true,
    cell: (one) => (
      <Link
        to="/devices/$id"
        params={{ id: one.deviceId }}
        search={{ tab: 'performance', interface: one.id }}
        className="plain"
      >
        {one.port}
      </Link>
    ),
  },
  {
    id: 'speed',
    title: 'Speed',
    width: '84px',
    sort: 'speedBps',
    numeric: true,
    value: (one) => one.speedBps,
    cell: (one) => (one.speedBps === null ? '' : bitrate(one.speedBps)),
  },
  {
    id: 'state',
    title: 'State',
    width: '136px',
    value: (one) => (one.adminStatus === 'down' ? 'disabled' : one.operStatus),
    cell: (one) => <LinkStatus admin={one.adminStatus} oper={one.operStatus} />,
  },
  timeColumn({
    id: 'unusedSince',
    title: 'Not used since',
    width: '110px',
    sort: 'unusedSince',
    narrow: true,
    at: (one) => one.unusedSince,
  }),
  {
    id: 'reason',
    title: 'Evidence',
    width: '120px',
    value: (one) => REASONS[one.reason],
  },
  timeColumn({ id: 'readAt', title: 'Last read', width: '90px', at: (one) => one.readAt }),
  { id: 'alias', title: 'Alias', width: 'minmax(100px, 1fr)' },
  { id: 'site', title: 'Site', width: 'minmax(80px, 0.6fr)' },
];

/** Ports of all devices that had no link for long. */
export function FreePorts() {
  const { search, change } = useUrlState('/free-ports');
  const shown = { ...search, unusedDays: search.unusedDays ?? String(FREE_DAYS) };
  const sites = useSiteChoices();
  const source = usePagedList('interfaces.free', shown);
  return (
    <Page
      title="Free ports"
      count={source.total}
      fill
      actions={<ExportMenu id="interfaces.free" query={shown} columns={COLUMNS} name="free ports" />}
    >
      <Filters
        search={search}
        change={change}
        filters={[
          { key: 'search', label: 'Search', placeholder: 'Device, port, alias', width: 220 },
          { key: 'unusedDays', label: 'Not used for', choices: UNUSED, standard: String(FREE_DAYS) },
          { key: 'site', label: 'Site', choices: sites },
          { key: 'class', label: 'Class', choices: CLASSES, many: true },
        ]}
      />
      <Body>
        <VirtualTable
          label="Free ports"
          source={source}
          columns={COLUMNS}
          sort={search.sort ?? 'device'}
          onSort={(sort) => change({ sort })}
          empty={
            <Empty title="No port is free">
              Listed are ports that had no link for {plural(Number(shown.unusedDays), 'day')} and were read
              within two weeks. Ports that are known for a shorter time are not.
            </Empty>
          }
        />
      </Body>
    </Page>
  );
}
