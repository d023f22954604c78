import { Box, Stack } from '@mantine/core';
import type { ScanAddress, ScanDetail } from '@rollcall/shared/api/scans';
import { ALIVE_CODES } from '@rollcall/shared/model';
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { Empty } from '../../components/feedback/index.ts';
import { SearchBox } from '../../components/filter/index.ts';
import { type Column, usePagedList, VirtualTable } from '../../components/table/index.ts';
import classes from './discovery.module.css';
import { lookOf } from './outcomes.ts';

export interface Shown {
  outcome?: string | undefined;
  address?: string | undefined;
}

interface ScanAddressesProps {
  scan: ScanDetail;
  outcome: string | undefined;
  address: string | undefined;
  onShow: (next: Shown, replace?: boolean) => void;
}

/** What became of each address, and why. */
export function ScanAddresses({ scan, outcome, address, onShow }: ScanAddressesProps) {
  const source = usePagedList('scans.addresses', { outcome, address }, { scanId: scan.id });
  const columns = useMemo(() => columnsOf(scan), [scan]);
  return (
    <Stack gap={0} h="100%">
      <Box px={10} py={8}>
        <SearchBox
          label="Address or CIDR"
          width={220}
          main
          value={address ?? ''}
          onChange={(text) => onShow({ address: text || undefined }, true)}
        />
      </Box>
      <Box flex={1} mih={0}>
        <VirtualTable
          label="Addresses"
          source={source}
          columns={columns}
          rowKey={(one) => one.address}
          empty={<Empty title="No address matches" />}
        />
      </Box>
    </Stack>
  );
}

function columnsOf(scan: ScanDetail): Column<ScanAddress>[] {
  const jobs = new Map(scan.jobs.map((job) => [job.id, job]));
  return [
    {
      id: 'address',
      title: 'Address',
      width: 'minmax(130px, 0.5fr)',
      narrow: true,
      mono: true,
      value: (one) => one.address,
      cell: (one) =>
        ALIVE_CODES.includes(one.code) ? (
          <Link to="/devices" search={{ Address: one.address, site: scan.siteId }}>
            {one.address}
          </Link>
        ) : (
          one.address
        ),
    },
    {
      id: 'outcome',
      title: 'Outcome',
      width: '140px',
      narrow: true,
      cell: (one) => {
        const look = lookOf(one.outcome);
        return (
          <span className="iconed">
            <span className={classes.swatch} style={{ background: `var(${look?.colour})` }} aria-hidden />
            {look?.label ?? one.outcome}
          </span>
        );
      },
    },
    {
      id: 'why',
      title: 'Why',
      width: 'minmax(200px, 2fr)',
      value: (one) => one.note,
      cell: (one) => one.note ?? <span className="quiet">{lookOf(one.outcome)?.meaning}</span>,
    },
    {
      id: 'collector',
      title: 'Collector',
      width: '110px',
      value: (one) => (one.jobId === null ? '' : jobs.get(one.jobId)?.collector) ?? '',
    },
  ];
}
