import { Button } from '@mantine/core';
import type { DeviceDetail } from '@rollcall/shared/api/inventory';
import { IconCircleCheck } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { apiQuery } from '../../api.ts';
import { Loaded } from '../../components/feedback/index.ts';
import { Panel } from '../../components/page/index.ts';
import { ChangeText, duration, Severity, StatusLabel, Time } from '../../components/show/index.ts';
import { plural } from '../../format.ts';
import classes from './device.module.css';
import { type Moment, momentsOf } from './moments.ts';

const STEP = 100;

/** What happened to the device, newest first. */
export function History({ device }: { device: DeviceDetail }) {
  const [pageSize, setPageSize] = useState(STEP);
  const history = useQuery({
    ...apiQuery('devices.history', { params: { id: device.id }, query: { pageSize } }),
    placeholderData: (previous) => previous,
  });
  return (
    <Loaded query={history}>
      {({ data, totalCount }) => (
        <Panel title="History" note={`${plural(totalCount, 'entry', 'entries')}, newest first`}>
          <ol className={`timeline ${classes.timeline}`}>
            {momentsOf(data).map((moment) => (
              <li key={`${moment.entry.eventId} ${moment.lasted}`} className={classes.moment}>
                <Time at={moment.at} />
                <MomentMark {...moment} />
                <div>
                  <MomentText {...moment} />
                  {moment.lasted === undefined && <Repeated entry={moment.entry} />}
                </div>
              </li>
            ))}
          </ol>
          {data.length < totalCount && pageSize < 1_000 && (
            <div className={classes.more}>
              <Button variant="subtle" onClick={() => setPageSize(Math.min(1_000, pageSize + STEP * 3))}>
                Older
              </Button>
            </div>
          )}
        </Panel>
      )}
    </Loaded>
  );
}

/** How bad it was, or that it is over. */
export const MomentMark = ({ entry, lasted, word = true }: Moment & { word?: boolean }) =>
  lasted === undefined ? (
    <Severity code={entry.severity} word={word} />
  ) : (
    <StatusLabel tone="ok" icon={IconCircleCheck} word={word}>
      cleared
    </StatusLabel>
  );

export const MomentText = ({ entry, lasted }: Moment) => (
  <>
    <ChangeText change={entry} />
    {lasted !== undefined && <span className="quiet"> · over after {duration(lasted)}</span>}
  </>
);

const Repeated = ({ entry: { count, lastAt } }: Pick<Moment, 'entry'>) =>
  count > 1 && (
    <span className="quiet">
      {' '}
      · {plural(count, 'time')}, last <Time at={lastAt} />
    </span>
  );
