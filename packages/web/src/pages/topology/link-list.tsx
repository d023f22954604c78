import type { Topology } from '@rollcall/shared/api/interfaces';
import { useMemo } from 'react';
import { useSiteName } from '../../choices.ts';
import { Empty } from '../../components/feedback/index.ts';
import { DeviceLink, DeviceStatus } from '../../components/show/index.ts';
import { type Column, itemsSource, timeColumn, VirtualTable } from '../../components/table/index.ts';
import { bitrate } from '../../format.ts';
import { type LoadOf, loadText } from './link-load.ts';
import { type Row, rowsOf } from './link-rows.ts';
import { NoLinks } from './no-links.tsx';

const end = (node: Row['a'], name: string) =>
  node ? <DeviceLink id={node.id}>{name}</DeviceLink> : <span className="quiet">{name}</span>;

interface LinkListProps {
  topology: Topology;
  loadOf: LoadOf;
  found: ReadonlySet<string> | undefined;
  onPick: (id: string) => void;
}

/** What the map shows, as text: links that are down first. */
export function LinkList({ topology, loadOf, found, onPick }: LinkListProps) {
  const siteName = useSiteName();
  const rows = useMemo(() => rowsOf(topology, loadOf), [topology, loadOf]);
  const shown = useMemo(
    () => (found ? rows.filter((row) => [row.a?.id, row.b?.id].some((id) => id && found.has(id))) : rows),
    [rows, found],
  );
  const columns = useMemo<Column<Row>[]>(
    () => [
      {
        id: 'status',
        title: 'Link',
        width: '86px',
        narrow: true,
        cell: (row) => <DeviceStatus status={row.status} />,
      },
      {
        id: 'a',
        title: 'From',
        width: 'minmax(130px, 1fr)',
        narrow: true,
        value: (row) => row.a?.name,
        cell: (row) => end(row.a, row.a?.name ?? ''),
      },
      { id: 'aPort', title: 'Port', width: 'minmax(80px, 0.6fr)' },
      {
        id: 'b',
        title: 'To',
        width: 'minmax(130px, 1fr)',
        narrow: true,
        value: (row) => row.bName,
        cell: (row) => end(row.b, row.bName),
      },
      { id: 'bPort', title: 'Port', width: 'minmax(80px, 0.6fr)' },
      {
        id: 'site',
        title: 'Site',
        width: 'minmax(80px, 0.5fr)',
        value: (row) => row.a && siteName(row.a.siteId),
      },
      {
        id: 'speed',
        title: 'Speed',
        width: '84px',
        numeric: true,
        value: (row) => row.speedBps,
        cell: (row) => (row.speedBps === null ? '' : bitrate(row.speedBps)),
      },
      {
        id: 'load',
        title: 'Load',
        width: '56px',
        numeric: true,
        value: (row) => row.load,
        cell: (row) => (row.load === undefined ? '' : loadText(row.load)),
      },
      { id: 'by', title: 'Learnt from', width: '90px', value: (row) => row.protocols },
      timeColumn({ id: 'seen', title: 'Last seen', at: (row) => row.lastSeen }),
    ],
    [siteName],
  );
  return (
    <VirtualTable
      label="Links"
      source={itemsSource('links', shown)}
      columns={columns}
      onOpen={(row) => row.a && onPick(row.a.id)}
      rowKey={(row) => row.key}
      empty={found ? <Empty title="No link matches">Clear the search to see all links.</Empty> : <NoLinks />}
    />
  );
}
