import { Button, Group, Select } from '@mantine/core';
import { FAULT_KINDS, type FaultKind, type Lab, type LabFault } from '@rollcall/shared/api/lab';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { apiQuery } from '../../api.ts';
import { ActionButton } from '../../components/controls/index.ts';
import { Empty, Loaded } from '../../components/feedback/index.ts';
import { EntriesPanel, Entry, Page, Panel } from '../../components/page/index.ts';
import { CaseLink, CaseStatus, EventLink, eventText, Severity, Time } from '../../components/show/index.ts';
import { plural } from '../../format.ts';
import { useAction } from '../../use-action.ts';
import { KINDS, type Next } from './kinds.tsx';
import classes from './lab.module.css';

/** A fault that ends by itself is gone from the list soon after. */
const LOOK_MS = 3_000;

/** The lab of the demonstration: breaks its simulated network, and shows what Rollcall says of it. */
export function LabPage() {
  const query = useQuery({ ...apiQuery('lab.get', {}), refetchInterval: LOOK_MS });
  return (
    <Page title="Break something">
      <Loaded query={query}>{({ data }) => (data ? <LabPanels lab={data} /> : <NoLab />)}</Loaded>
    </Page>
  );
}

const NoLab = () => (
  <Empty title="There is nothing to break here">
    Only the demonstration has a simulated network. Start it with npm start.
  </Empty>
);

const LabPanels = ({ lab }: { lab: Lab }) => (
  <div className="columns">
    <div className="stack">
      <Panel title="Break" note="in the simulated network of the demonstration">
        {FAULT_KINDS.map((kind) => (
          <Breaker key={kind} kind={kind} lab={lab} />
        ))}
      </Panel>
      <p className={classes.note}>
        The network is simulated on loopback addresses of this machine. There the system itself answers pings
        of every address, so the collector of the demonstration drops the answers of devices that are off or
        cut off. A ping by hand is still answered; an SNMP request is not.
      </p>
    </div>
    <div className="stack">
      <Broken lab={lab} />
      <Cases />
      <Events />
    </div>
  </div>
);

function Breaker({ kind, lab }: { kind: FaultKind; lab: Lab }) {
  const { title, what, icon: Icon } = KINDS[kind];
  const broken = new Set(lab.faults.filter((fault) => fault.kind === kind).map(({ target }) => target));
  const free = lab.targets[kind].filter((target) => !broken.has(target));
  const [wanted, setWanted] = useState<string | null>(null);
  const target = free.includes(wanted ?? '') ? wanted : (free[0] ?? null);
  const { run, pending } = useAction('lab.break', { failed: 'Not done' });
  return (
    <section className={classes.breaker} aria-label={title}>
      <Icon size={18} stroke={1.6} aria-hidden />
      <div className={classes.words}>
        <h3>{title}</h3>
        <p>{what}</p>
      </div>
      <Group gap={6} wrap="nowrap" className={classes.act}>
        <Select
          aria-label={`What: ${title}`}
          data={free.map((value) => ({ value, label: nameOf(value) }))}
          value={target}
          onChange={setWanted}
          allowDeselect={false}
          disabled={target === null}
          placeholder="every task done"
        />
        <Button
          variant="default"
          disabled={target === null}
          loading={pending}
          onClick={() => target !== null && void run({ body: { kind, target } })}
        >
          Break<span className="hidden">: {title}</span>
        </Button>
      </Group>
    </section>
  );
}

/** `access-6:49` as people say it. */
const nameOf = (target: string): string => target.replace(':', ' port ');
const deviceOf = (target: string): string => target.split(':')[0] ?? target;

function Broken({ lab }: { lab: Lab }) {
  const { faults, silent } = lab;
  return (
    <Panel
      title="Broken now"
      {...(silent.length > 0 && { note: plural(silent.length, 'address is silent', 'addresses are silent') })}
    >
      {faults.length === 0 && (
        <p className="none">Nothing is broken. Choose something to break on this page.</p>
      )}
      {faults.map((fault) => (
        <Fault key={fault.id} fault={fault} />
      ))}
    </Panel>
  );
}

function Fault({ fault: { id, kind, target, at, restores } }: { fault: LabFault }) {
  const { done, icon: Icon, next } = KINDS[kind];
  return (
    <Entry
      start={<Icon size={15} stroke={1.6} aria-hidden />}
      end={
        <>
          <Time at={at} />
          {!restores && (
            <ActionButton id="lab.repair" request={{ params: { id } }} done="Put back" failed="Not put back">
              Put back
            </ActionButton>
          )}
        </>
      }
      under={<LookNext links={next(deviceOf(target))} />}
    >
      {nameOf(target)} {done}
    </Entry>
  );
}

const LookNext = ({ links }: { links: readonly Next[] }) => (
  <>
    <span className={classes.next}>
      Look at{' '}
      {links.map(({ label, link }, i) => (
        <span key={label}>
          {i > 0 && ' · '}
          <Link {...link}>{label}</Link>
        </span>
      ))}
    </span>
  </>
);

function Cases() {
  const query = { status: '0,1,2', sort: '-updatedAt', pageSize: 5 } as const;
  return (
    <EntriesPanel
      title="Cases"
      note="last changed first"
      query={useQuery(apiQuery('cases.list', { query }))}
      empty="No case yet. It takes up to a minute from a fault to its case."
      end={<Link to="/cases">All</Link>}
    >
      {(one) => (
        <Entry
          key={one.id}
          start={<Severity code={one.severity} word={false} />}
          end={<CaseStatus status={one.status} />}
          under={
            <>
              <span>{plural(one.eventCount, 'event')}</span>
              <Time at={one.updatedAt} />
            </>
          }
        >
          <CaseLink id={one.id} className="plain">
            #{one.number} {one.title}
          </CaseLink>
        </Entry>
      )}
    </EntriesPanel>
  );
}

function Events() {
  const query = { Severity: '4', pageSize: 8 } as const;
  return (
    <EntriesPanel
      title="What Rollcall says"
      note="events, newest first"
      query={useQuery(apiQuery('events.list', { query }))}
      empty="Nothing yet."
      end={<Link to="/events">All</Link>}
    >
      {(event) => (
        <Entry
          key={event.id}
          start={<Severity code={event.severity} word={false} />}
          end={<Time at={event.timestamp} />}
        >
          <EventLink id={event.id} className="plain" title={eventText(event)}>
            {eventText(event)}
          </EventLink>
        </Entry>
      )}
    </EntriesPanel>
  );
}
