import type { DeviceDetail, DeviceExplanation } from '@rollcall/shared/api/inventory';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { ask } from '../../api.ts';
import { valueText } from '../../components/changed.tsx';
import { DeviceLink } from '../../components/device.tsx';
import { Facts } from '../../components/facts.tsx';
import { Tag } from '../../components/mark.tsx';
import { Panel } from '../../components/page.tsx';
import { ProblemView } from '../../components/problem.tsx';
import { type Column, List } from '../../components/rows.tsx';
import { Time } from '../../components/time.tsx';
import classes from './device.module.css';

type Evidence = DeviceExplanation['evidence'][number];

const STRENGTH: Record<Evidence['strength'], string> = {
  strong: 'strong: enough alone',
  supporting: 'supporting: counts with others',
  decision: 'decided by a person',
};

const COLUMNS: readonly Column<Evidence>[] = [
  { id: 'kind', title: 'Evidence', width: 'minmax(110px, 0.6fr)', narrow: true, value: (one) => one.kind },
  {
    id: 'value',
    title: 'Value',
    width: 'minmax(160px, 1.4fr)',
    narrow: true,
    value: (one) => one.value,
    cell: (one) => <span className="mono">{one.value}</span>,
  },
  { id: 'strength', title: 'Weight', width: 'minmax(150px, 0.8fr)', value: (one) => STRENGTH[one.strength] },
  {
    id: 'first',
    title: 'First seen',
    width: '94px',
    value: (one) => one.firstSeen,
    cell: (one) => <Time at={one.firstSeen} />,
  },
  {
    id: 'last',
    title: 'Last seen',
    width: '94px',
    value: (one) => one.lastSeen,
    cell: (one) => <Time at={one.lastSeen} />,
  },
];

/** Why observations of these addresses are one device, and why it is classified so. */
export function Identity({ device }: { device: DeviceDetail }) {
  const explained = useQuery(ask('devices.explain', { params: { id: device.id } }));
  if (explained.error && !explained.data)
    return <ProblemView error={explained.error} retry={() => void explained.refetch()} />;
  if (!explained.data) return null;
  const { evidence, decisions, conflicts, classification, overrides, facts } = explained.data.data;
  return (
    <>
      <Panel title="Evidence" note="whoever shows one of the strong ones is this device">
        <List
          label="Evidence"
          items={evidence}
          columns={COLUMNS}
          rowKey={(one) => `${one.kind} ${one.value}`}
          empty={<p className={classes.quiet}>Nothing but its address makes it this device.</p>}
        />
      </Panel>
      <div className={classes.grid}>
        <div className={classes.column}>
          {conflicts.length > 0 && (
            <Panel title="Contradictions" note="nothing was merged because of them">
              {conflicts.map((conflict) => (
                <div key={conflict.eventId} className={classes.entry}>
                  <Link to="/events" search={{ event: conflict.eventId }} className="plain">
                    {conflict.message}
                  </Link>
                  <span />
                  <Time at={conflict.at} />
                </div>
              ))}
            </Panel>
          )}
          <Panel title="Decisions of people" note="remembered by later scans">
            {decisions.length === 0 && (
              <p className={classes.quiet}>Nobody has merged or split this device.</p>
            )}
            {decisions.map((decision) => (
              <div key={decision.id} className={classes.entry}>
                <Tag>{decision.verb}</Tag>
                <span>
                  {decision.verb === 'merge' ? 'with ' : 'from '}
                  <DeviceLink id={decision.otherId}>{decision.other ?? 'a device that is gone'}</DeviceLink>
                  <span className="quiet">
                    {' '}
                    by {decision.by ?? 'somebody'}
                    {decision.undoneAt !== null && ', undone since'}
                  </span>
                </span>
                <Time at={decision.at} />
              </div>
            ))}
          </Panel>
        </div>
        <div className={classes.column}>
          <Panel title="Classification" note="field, and the rule that filled it">
            <Facts
              facts={[
                ...(overrides.name ? [['name', `${overrides.name} (set by hand)`] as const] : []),
                ...(overrides.class ? [['class', `${overrides.class} (set by hand)`] as const] : []),
                ...Object.entries(classification).map(([field, rule]) => [field, valueText(rule)] as const),
              ]}
            />
            {Object.keys(classification).length === 0 && !overrides.class && (
              <p className={classes.quiet}>No rule fits: it said too little about itself.</p>
            )}
          </Panel>
          <Panel title="What was read">
            <Facts
              facts={facts.map(({ group, seenAt, complete }) => [
                group,
                <span key={group}>
                  <Time at={seenAt} /> {!complete && <span className="quiet">not whole</span>}
                </span>,
              ])}
            />
          </Panel>
        </div>
      </div>
    </>
  );
}
