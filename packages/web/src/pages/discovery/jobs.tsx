import type { ScanDetail, ScanJob } from '@rollcall/shared/api/scans';
import { Empty } from '../../components/feedback/index.ts';
import { Panel } from '../../components/page/index.ts';
import { CollectorLink, JobStatus, Progress } from '../../components/show/index.ts';
import { type Column, ShortTable } from '../../components/table/index.ts';
import { count } from '../../format.ts';
import classes from './discovery.module.css';

const COLUMNS: readonly Column<ScanJob>[] = [
  { id: 'cidr', title: 'Addresses', width: 'minmax(140px, 1fr)', narrow: true, mono: true },
  {
    id: 'status',
    title: 'Status',
    width: '100px',
    narrow: true,
    cell: (job) => <JobStatus status={job.status} />,
  },
  {
    id: 'progress',
    title: 'Progress',
    width: 'minmax(110px, 1fr)',
    narrow: true,
    cell: (job) => <Progress done={job.progress} of={1} label={`Progress of ${job.cidr}`} />,
  },
  { id: 'count', title: 'Size', width: '64px', numeric: true, value: (job) => count(job.addresses) },
  {
    id: 'collector',
    title: 'Collector',
    width: 'minmax(90px, 0.6fr)',
    cell: (job) =>
      job.collectorId && (
        <CollectorLink id={job.collectorId} className="plain">
          {job.collector}
        </CollectorLink>
      ),
  },
  { id: 'attempt', title: 'Attempt', width: '56px', numeric: true, value: (job) => job.attempt || '' },
  { id: 'reason', title: 'Why', width: 'minmax(140px, 1.4fr)', value: (job) => job.statusReason },
];

export function Jobs({ scan }: { scan: ScanDetail }) {
  return (
    <>
      {scan.errors.length > 0 && (
        <Panel title="What went wrong">
          {scan.errors.map((error) => (
            <p key={`${error.jobId} ${error.message}`} className={classes.warning}>
              {error.cidr && <span className="mono">{error.cidr}</span>}
              {error.message}
            </p>
          ))}
        </Panel>
      )}
      <Panel title="Jobs" note="parts of the scan, each done by one collector">
        <ShortTable
          label="Jobs"
          items={scan.jobs}
          columns={COLUMNS}
          empty={<Empty title="The scan has no jobs yet" />}
        />
      </Panel>
    </>
  );
}
