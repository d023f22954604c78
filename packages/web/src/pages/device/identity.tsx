import type { DeviceDetail, DeviceExplanation } from '@rollcall/shared/api/inventory';
import { useQuery } from '@tanstack/react-query';
import { apiQuery } from '../../api.ts';
import { Loaded } from '../../components/feedback/index.ts';
import { Entry, Panel } from '../../components/page/index.ts';
import {
  DeviceLink,
  EventLink,
  Fact,
  Facts,
  fieldName,
  Tag,
  Time,
  valueAsText,
} from '../../components/show/index.ts';
import { type Column, ShortTable, timeColumn } from '../../components/table/index.ts';

type Evidence = DeviceExplanation['evidence'][number];

const STRENGTH: Record<Evidence['strength'], string> = {
  strong: 'strong: one is enough, unless others contradict',
  supporting: 'supporting: counts with others',
  decision: 'decided by a person',
};

const COLUMNS: readonly Column<Evidence>[] = [
  { id: 'kind', title: 'Evidence', width: 'minmax(110px, 0.6fr)', narrow: true },
  { id: 'value', title: 'Value', width: 'minmax(160px, 1.4fr)', narrow: true, mono: true },
  { id: 'strength', title: 'Weight', width: 'minmax(150px, 1.1fr)', value: (one) => STRENGTH[one.strength] },
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
      <Panel
        title="Evidence"
        note="what recognises this device; contradictions must be outweighed by strong evidence"
      >
        <ShortTable
          label="Evidence"
          items={evidence}
          columns={COLUMNS}
          rowKey={(one) => `${one.kind} ${one.value}`}
          empty={<p className="none">Only its address identifies this device.</p>}
        />
      </Panel>
      <div className="columns">
        <div className="stack">
          {conflicts.length > 0 && (
            <Panel title="Contradictions" note="these devices were not merged because of them">
              {conflicts.map((conflict) => (
                <Entry key={conflict.eventId} end={<Time at={conflict.at} />}>
                  <EventLink id={conflict.eventId} className="plain">
                    {conflict.message}
                  </EventLink>
                </Entry>
              ))}
            </Panel>
          )}
          <Panel title="Manual decisions" note="remembered by later scans">
            {decisions.length === 0 && <p className="none">Nobody has merged or split this device.</p>}
            {decisions.map((decision) => (
              <Entry key={decision.id} start={<Tag>{decision.verb}</Tag>} end={<Time at={decision.at} />}>
                {decision.verb === 'merge' ? 'with ' : 'from '}
                <DeviceLink id={decision.otherId}>{decision.other ?? 'a device that is gone'}</DeviceLink>
                <span className="quiet">
                  {' '}
                  by {decision.by ?? 'somebody'}
                  {decision.undoneAt !== null && ', undone since'}
                </span>
              </Entry>
            ))}
          </Panel>
        </div>
        <div className="stack">
          <Panel title="Classification" note="field, and the rule that filled it">
            <Facts>
              <Fact name="name">{overrides.name && `${overrides.name} (set by hand)`}</Fact>
              <Fact name="class">{overrides.class && `${overrides.class} (set by hand)`}</Fact>
              {Object.entries(classification).map(([field, rule]) => (
                <Fact key={field} name={fieldName(field)}>
                  {valueAsText(rule)}
                </Fact>
              ))}
            </Facts>
            {Object.keys(classification).length === 0 && !overrides.class && (
              <p className="none">No rule matches: the device reported too little about itself.</p>
            )}
          </Panel>
          <Panel title="What was read">
            <Facts>
              {facts.map(({ group, seenAt, complete }) => (
                <Fact key={group} name={fieldName(group)}>
                  <Time at={seenAt} /> {!complete && <span className="quiet">incomplete</span>}
                </Fact>
              ))}
            </Facts>
          </Panel>
        </div>
      </div>
    </>
  );
}
