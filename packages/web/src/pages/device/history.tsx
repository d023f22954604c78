import { Button } from '@mantine/core';
import type { DeviceDetail } from '@rollcall/shared/api/inventory';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { apiQuery } from '../../api.ts';
import { Loaded } from '../../components/feedback/index.ts';
import { Panel } from '../../components/page/index.ts';
import { ChangedLine, duration, Severity, Time } from '../../components/show/index.ts';
import { plural } from '../../format.ts';
import classes from './device.module.css';

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
            {data.map((entry) => (
              <li key={`${entry.eventId} ${entry.at}`} className={classes.moment}>
                <Time at={entry.at} />
                <Severity code={entry.severity} />
                <div>
                  <p>
                    {entry.message}
                    {entry.count > 1 && (
                      <span className="quiet"> · {plural(entry.count, 'time')}, last </span>
                    )}
                    {entry.count > 1 && <Time at={entry.lastAt} />}
                    {entry.closeReason === 'cleared' && entry.closedAt !== null && (
                      <span className="quiet"> · over after {duration(entry.closedAt - entry.at)}</span>
                    )}
                  </p>
                  <ChangedLine before={entry.before} after={entry.after} />
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
