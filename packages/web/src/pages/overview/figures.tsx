import { Group } from '@mantine/core';
import type { Summary } from '@rollcall/shared/api/service';
import { Link, type LinkProps } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Bar, HealthStatus, SEVERITIES, Severity } from '../../components/show/index.ts';
import { count, plural } from '../../format.ts';
import classes from './overview.module.css';

export const healthParts = (devices: { up: number; down: number; unknown: number }) => [
  { label: 'down', count: devices.down, colour: 'var(--fill-bad)' },
  { label: 'up', count: devices.up, colour: 'var(--fill-ok)' },
  { label: 'unknown', count: devices.unknown, colour: 'var(--fill-idle)' },
];

/** Devices were found and none is monitored. */
export const isUnmonitored = ({ devices }: Summary): boolean => devices.total > 0 && devices.monitored === 0;

type ListLink = Pick<LinkProps, 'to' | 'search'>;

/** What matters at a glance, in one line. */
export function Figures({ summary, site }: { summary: Summary; site: string | undefined }) {
  const { devices, events, cases, collectors, scans } = summary;
  const here = site ? { site } : {};
  return (
    <section className={`panel ${classes.figures}`} aria-label="Figures">
      <Figure
        title="Devices"
        place={{ to: '/devices', search: here }}
        figure={devices.total}
        note={`${count(devices.monitored)} monitored`}
        legend={
          isUnmonitored(summary)
            ? []
            : [
                ...healthParts(devices).map(({ label, count: number }) => (
                  <Link key={label} to="/devices" search={{ ...here, status: label }} className="plain">
                    {count(number)} {label}
                  </Link>
                )),
                ...unhealthy(summary, here),
              ]
        }
      >
        {isUnmonitored(summary) ? (
          // What a scan saw once says nothing about now.
          <Link to="/devices" search={{ ...here, monitor: '0' }}>
            Monitoring is off for {plural(devices.total, 'device')}: turn it on
          </Link>
        ) : (
          <Bar parts={healthParts(devices)} />
        )}
      </Figure>
      <Figure
        title="Open events"
        place={{ to: '/events', search: { ...here, Status: '0' } }}
        legend={[`${count(events.acknowledged)} acknowledged`]}
      >
        <div className={classes.severities}>
          {SEVERITIES.map(({ code }) => {
            const open = events.bySeverity.find((one) => one.severity === code)?.open ?? 0;
            return (
              <Link
                key={code}
                to="/events"
                search={{ ...here, Status: '0', Severity: String(code), sort: 'severity' }}
                className={classes.severity}
                data-none={open === 0 || undefined}
              >
                <b>{count(open)}</b>
                <Severity code={code} />
              </Link>
            );
          })}
        </div>
      </Figure>
      <Figure
        title="Cases"
        place={{ to: '/cases', search: here }}
        figure={cases.open + cases.investigating}
        legend={[
          `${count(cases.open)} open`,
          `${count(cases.investigating)} investigating`,
          `${count(cases.resolved)} resolved`,
        ]}
      />
      <Figure
        title="Collectors"
        place={{ to: '/collectors', search: here }}
        figure={collectors.online}
        note="online"
        legend={[
          `${count(collectors.offline)} offline`,
          ...(collectors.quarantined > 0 ? [`${count(collectors.quarantined)} quarantined`] : []),
        ]}
      />
      <Figure
        title="Scans"
        place={{ to: '/discovery', search: here }}
        figure={scans.running}
        note="running"
        legend={[`${count(scans.queued)} queued`]}
      />
    </section>
  );
}

/** Devices that are up and say that something is wrong with them. */
const unhealthy = ({ health }: Summary, here: { site?: string }): ReactNode[] =>
  (['critical', 'warning'] as const)
    .filter((word) => health[word] > 0)
    .map((word) => (
      <Link key={word} to="/devices" search={{ ...here, health: word }} className="plain">
        <HealthStatus health={word} short /> {count(health[word])} with {word} health
      </Link>
    ));

interface FigureProps {
  title: string;
  /** Where what is counted is listed. */
  place: ListLink;
  figure?: number;
  note?: string;
  legend: readonly ReactNode[];
  children?: ReactNode;
}

function Figure({ title, place, figure, note, legend, children }: FigureProps) {
  return (
    <div className={classes.figure}>
      <h2>
        <Link {...place}>{title}</Link>
      </h2>
      {figure !== undefined && (
        <span className={classes.big}>
          <Link {...place}>{count(figure)}</Link>
          {note && <small>{note}</small>}
        </span>
      )}
      {children}
      <Group gap="2px 14px" fz="xs" c="dimmed">
        {legend.map((words, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a fixed row of words
          <span key={i}>{words}</span>
        ))}
      </Group>
    </div>
  );
}
