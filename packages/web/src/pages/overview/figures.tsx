import type { Summary } from '@rollcall/shared/api/service';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Bar } from '../../components/bar.tsx';
import { SEVERITIES, Severity } from '../../components/mark.tsx';
import classes from './overview.module.css';

const shown = (count: number): string => count.toLocaleString('en');

export const healthParts = (devices: { up: number; down: number; unknown: number }) => [
  { label: 'down', count: devices.down, colour: 'var(--fill-bad)' },
  { label: 'up', count: devices.up, colour: 'var(--fill-ok)' },
  { label: 'unknown', count: devices.unknown, colour: 'var(--fill-idle)' },
];

/** What matters at a glance, in one line. */
export function Figures({ summary, site }: { summary: Summary; site: string | undefined }) {
  const { devices, events, cases, collectors, scans } = summary;
  const here = site ? { site } : {};
  return (
    <section className={`panel ${classes.figures}`} aria-label="Figures">
      <Figure
        title={
          <Link to="/devices" search={here}>
            Devices
          </Link>
        }
      >
        <span className={classes.big}>
          <Link to="/devices" search={here}>
            {shown(devices.total)}
          </Link>
          <small>{shown(devices.monitored)} watched</small>
        </span>
        <Bar parts={healthParts(devices)} />
        <span className={classes.legend}>
          {healthParts(devices).map(({ label, count }) => (
            <span key={label}>
              {shown(count)} {label}
            </span>
          ))}
        </span>
      </Figure>
      <Figure
        title={
          <Link to="/events" search={{ ...here, Status: '0' }}>
            Open events
          </Link>
        }
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
                <b>{shown(open)}</b>
                <Severity code={code} />
              </Link>
            );
          })}
        </div>
        <span className={classes.legend}>{shown(events.acknowledged)} acknowledged</span>
      </Figure>
      <Figure
        title={
          <Link to="/cases" search={here}>
            Cases
          </Link>
        }
      >
        <span className={classes.big}>
          <Link to="/cases" search={here}>
            {shown(cases.open + cases.investigating)}
          </Link>
        </span>
        <span className={classes.legend}>
          <span>{shown(cases.open)} open</span>
          <span>{shown(cases.investigating)} investigated</span>
          <span>{shown(cases.resolved)} resolved</span>
        </span>
      </Figure>
      <Figure
        title={
          <Link to="/collectors" search={here}>
            Collectors
          </Link>
        }
      >
        <span className={classes.big}>
          <Link to="/collectors" search={here}>
            {shown(collectors.online)}
          </Link>
          <small>online</small>
        </span>
        <span className={classes.legend}>
          <span>{shown(collectors.offline)} offline</span>
          {collectors.quarantined > 0 && <span>{shown(collectors.quarantined)} quarantined</span>}
        </span>
      </Figure>
      <Figure
        title={
          <Link to="/discovery" search={here}>
            Scans
          </Link>
        }
      >
        <span className={classes.big}>
          <Link to="/discovery" search={here}>
            {shown(scans.running)}
          </Link>
          <small>running</small>
        </span>
        <span className={classes.legend}>{shown(scans.queued)} queued</span>
      </Figure>
    </section>
  );
}

function Figure({ title, children }: { title: ReactNode; children: ReactNode }) {
  return (
    <div className={classes.figure}>
      <h2>{title}</h2>
      {children}
    </div>
  );
}
