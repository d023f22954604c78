import { PAGE_SIZE_MOST } from '@rollcall/shared/api/operation';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { apiQuery, type Request } from '../../api.ts';
import { Empty, ProblemView } from '../../components/feedback/index.ts';
import { Body } from '../../components/page/index.ts';
import { DeviceLink, fieldName, memberText, Value } from '../../components/show/index.ts';
import { type Column, itemsSource, VirtualTable } from '../../components/table/index.ts';
import { count, plural } from '../../format.ts';
import { type Difference, differencesOf } from './net.ts';

const textOf = ({ presence, fields }: Difference): string =>
  [
    presence ?? '',
    ...fields.map(
      ({ name, before, after }) =>
        `${fieldName(name)} ${memberText(name, before, 'UTC')} → ${memberText(name, after, 'UTC')}`,
    ),
  ]
    .filter(Boolean)
    .join(', ');

const COLUMNS: readonly Column<Difference>[] = [
  {
    id: 'device',
    title: 'Device',
    width: 'minmax(100px, 0.6fr)',
    narrow: true,
    cell: (one) => (one.deviceId ? <DeviceLink id={one.deviceId}>{one.device}</DeviceLink> : one.device),
  },
  { id: 'interface', title: 'Interface', width: 'minmax(84px, 0.5fr)', narrow: true },
  {
    id: 'fields',
    title: 'First moment → second moment',
    width: 'minmax(200px, 2.2fr)',
    narrow: true,
    value: textOf,
    cell: (one) => (
      <>
        {one.presence && <b>{one.presence}</b>}
        {one.fields.map(({ name, before, after }, i) => (
          <span key={name}>
            {(i > 0 || one.presence) && ', '}
            {fieldName(name)}{' '}
            <span className="quiet">
              <Value name={name} value={before} /> →
            </span>{' '}
            <Value name={name} value={after} />
          </span>
        ))}
      </>
    ),
  },
  { id: 'changes', title: 'Changes', width: '70px', numeric: true },
  { id: 'site', title: 'Site', width: 'minmax(76px, 0.4fr)' },
];

/** What differs between the two ends of a time. */
export function Compare({ query }: { query: NonNullable<Request<'changes.list'>['query']> }) {
  const read = useQuery({
    ...apiQuery('changes.list', { query: { ...query, pageSize: PAGE_SIZE_MOST } }),
    placeholderData: keepPreviousData,
  });
  const differences = useMemo(() => differencesOf(read.data?.data ?? []), [read.data]);
  if (read.error) return <ProblemView error={read.error} retry={() => void read.refetch()} />;
  const total = read.data?.totalCount ?? 0;
  return (
    <>
      {total > PAGE_SIZE_MOST && (
        <p role="status">
          Only the last {count(PAGE_SIZE_MOST)} of {plural(total, 'change')} are compared: choose a shorter
          time.
        </p>
      )}
      <Body>
        <VirtualTable
          label="What differs"
          source={itemsSource(`compare ${differences.length}`, differences)}
          columns={COLUMNS}
          empty={
            <Empty title="Nothing differs">
              Between the two moments: the last 24 hours, where no others are chosen. What changed and was put
              back is left out.
            </Empty>
          }
        />
      </Body>
    </>
  );
}
