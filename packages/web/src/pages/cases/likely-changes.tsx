import { Button } from '@mantine/core';
import type { CaseDetail } from '@rollcall/shared/api/incidents';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { apiQuery } from '../../api.ts';
import { Loaded } from '../../components/feedback/index.ts';
import { Panel } from '../../components/page/index.ts';
import { ChangeLink, ChangeText, Time } from '../../components/show/index.ts';
import classes from './cases.module.css';

/** Changes that are shown at first. */
const FIRST = 3;

/** What changed in the hour before the case began: the likeliest cause first, with reasons. */
export function LikelyChanges({ one }: { one: CaseDetail }) {
  const [all, setAll] = useState(false);
  const found = useQuery(apiQuery('cases.changes', { params: { id: one.id } }));
  return (
    <Loaded query={found}>
      {({ data }) =>
        data.length > 0 && (
          <Panel
            title="Likely changes"
            note="in the hour before it began, the likeliest cause first"
            end={
              data.length > FIRST && (
                <Button variant="subtle" size="compact-xs" onClick={() => setAll(!all)}>
                  {all ? 'Show the likeliest' : `Show all ${data.length}`}
                </Button>
              )
            }
          >
            <ol className={classes.changes}>
              {data.slice(0, all ? undefined : FIRST).map((change) => (
                <li key={change.id} className={classes.change}>
                  <Time at={change.at} />
                  <div>
                    <ChangeLink change={change} className="plain">
                      <ChangeText change={change} />
                    </ChangeLink>
                    <p className="quiet">{change.reasons.join(' · ')}</p>
                  </div>
                </li>
              ))}
            </ol>
          </Panel>
        )
      }
    </Loaded>
  );
}
