import type { DeviceDetail, DeviceExplanation } from '@rollcall/shared/api/inventory';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { apiQuery } from '../../api.ts';
import { Loaded } from '../../components/feedback/index.ts';
import { Panel } from '../../components/page/index.ts';
import { DeviceLink, Facts, Tag, Time, valueAsText } from '../../components/show/index.ts';
import { type Column, ShortTable, timeColumn } from '../../components/table/index.ts';
import classes from './device.module.css';

type Evidence = DeviceExplanation['evidence'][number];

const STRENGTH: Record<Evidence['strength'], string> = {
  strong: 'strong: enough alone',
  supporting: 'supporting: counts with others',
  decision: 'decided by a person',
};

const COLUMNS: readonly Column<Evidence>[] = [
  { id: 'kind', title: 'Evidence', width: 'minmax(110px, 0.6fr)', narrow: true },
  { id: 'value', title: 'Value', width: 'minmax(160px, 1.4fr)', narrow: true, mono: true },
  { id: 'strength', title: 'Weight', width: 'minmax(150px, 0.8fr)', value: (one) => STRENGTH[one.strength] },
  timeColumn({ id: 'first', title: 'First seen', at: (one) => one.firstSeen }),
  timeColumn({ id: 'last', title: 'Last seen', at: (one) => one.lastSeen }),
];

/** Why observations of these addresses are one device, and why it is classified so. */
export function Identity({ device }: { device: DeviceDetail }) {
  const explained = useQuery(apiQuery('devices.explain', { params: { id: device.id } }));
  return <Loaded query={explained}>{({ data }) => <Explained explanation={data} />}</Loaded>;
}

function Explained({ explanation }: { explanation: DeviceExplanation }) {
  const { evidence, decisions, conflicts, classification, overrides, facts } = explanation;
  return (
    <>
      <Panel title="Evidence" note="whoever shows one of the strong ones is this device">
        <ShortTable
          label="Evidence"
          items={evidence}
          columns={COLUMNS}
          rowKey={(one) => `${one.kind} ${one.value}`}
          empty={<p className={classes.quiet}>Nothing but its address makes it this device.</p>}
        />
      </Panel>
      <div className={classes.grid}>
        <div className="stack">
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
        <div className="stack">
          <Panel title="Classification" note="field, and the rule that filled it">
            <Facts
              facts={[
                ...(overrides.name ? [['name', `${overrides.name} (set by hand)`] as const] : []),
                ...(overrides.class ? [['class', `${overrides.class} (set by hand)`] as const] : []),
                ...Object.entries(classification).map(([field, rule]) => [field, valueAsText(rule)] as const),
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
