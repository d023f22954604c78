import { SegmentedControl } from '@mantine/core';
import type { MaintenanceTimes, MaintenanceWindow } from '@rollcall/shared/api/maintenance';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useRefresh } from '../../action.ts';
import { ask, call } from '../../api.ts';
import { ChoiceField, FormDialog, Group, LinesField, Pair, TextField } from '../../components/form.tsx';
import { CronField, ZONE_HERE, ZoneField } from '../../components/recurrence.tsx';
import { ago, duration, fromWallClock, toWallClock } from '../../components/time.tsx';
import { usePreferences } from '../../preferences.ts';
import { useSiteChoices } from '../../sites.ts';
import { type Covered, coveredBy, isNamed, ScopeFields, scopeOf } from './scope-fields.tsx';

/** Times as they are typed: on the clock on the wall of the window's zone. */
interface Typed {
  kind: MaintenanceTimes['kind'];
  from: string;
  until: string;
  cron: string;
  minutes: string;
  last: string;
}

const HOUR = 3_600;
/** The next full hour that leaves time to get ready, for two hours. */
function usualTimes(timezone: string): Typed {
  const from = Math.ceil((Date.now() / 1000 + HOUR / 4) / HOUR) * HOUR;
  return {
    kind: 'once',
    from: toWallClock(from, timezone),
    until: toWallClock(from + 2 * HOUR, timezone),
    cron: '0 2 * * 0',
    minutes: '120',
    last: '',
  };
}

function typedTimes({ times, timezone }: MaintenanceWindow): Typed {
  const usual = usualTimes(timezone);
  if (times.kind === 'once')
    return {
      ...usual,
      kind: 'once',
      from: toWallClock(times.from, timezone),
      until: toWallClock(times.until, timezone),
    };
  return {
    ...usual,
    kind: 'repeat',
    cron: times.cron,
    minutes: String(times.minutes),
    last: times.until === null ? '' : toWallClock(times.until, timezone),
  };
}

function timesOf(typed: Typed, timezone: string): MaintenanceTimes {
  if (typed.kind === 'once')
    return {
      kind: 'once',
      from: fromWallClock(typed.from, timezone),
      until: fromWallClock(typed.until, timezone),
    };
  return {
    kind: 'repeat',
    cron: typed.cron,
    minutes: Number(typed.minutes),
    until: typed.last ? fromWallClock(typed.last, timezone) : null,
  };
}

/** Plans maintenance, or changes what was planned. */
export function WindowForm({
  window,
  site: givenSite,
  device,
  onClose,
}: {
  window?: MaintenanceWindow;
  site?: string | undefined;
  /** To begin with. */
  device?: string | undefined;
  onClose: () => void;
}) {
  const sites = useSiteChoices();
  const preferred = usePreferences().zone;
  const refresh = useRefresh();
  const first = useQuery({
    ...ask('devices.get', { params: { id: device ?? '' } }),
    enabled: device !== undefined,
  });
  const [name, setName] = useState(window?.name ?? '');
  const [note, setNote] = useState(window?.note ?? '');
  const [chosenSite, setSite] = useState(window?.siteId ?? givenSite);
  const site =
    chosenSite ?? first.data?.data.siteId ?? (!device && sites.length === 1 ? (sites[0]?.value ?? '') : '');
  const [timezone, setTimezone] = useState(
    window?.timezone ?? (preferred === 'local' ? ZONE_HERE : preferred),
  );
  const [typed, setTyped] = useState(() => (window ? typedTimes(window) : usualTimes(timezone)));
  const [covered, setCovered] = useState<Covered>(() =>
    coveredBy(window?.scope ?? (device ? { deviceIds: [device] } : {})),
  );
  const set = (change: Partial<Typed>) => setTyped({ ...typed, ...change });
  const save = async () => {
    const body = { name, note, timezone, scope: scopeOf(covered), times: timesOf(typed, timezone) };
    if (window) await call('maintenance.update', { params: { id: window.id }, body });
    else await call('maintenance.create', { body: { ...body, siteId: site } });
    refresh('maintenance', 'events', 'cases', 'summary');
  };
  return (
    <FormDialog
      title={window ? `Maintenance ${window.name}` : 'Plan maintenance'}
      opened
      onClose={onClose}
      onSubmit={save}
      submit={window ? 'Save' : 'Plan it'}
      ready={site !== '' && isNamed(covered)}
      size={600}
    >
      <Pair>
        <TextField
          path="name"
          label="Name"
          placeholder="Core upgrade"
          required
          value={name}
          onChange={setName}
          data-autofocus
        />
        {window ? (
          <TextField path="site" label="Site" disabled value={window.site} onChange={setSite} />
        ) : (
          <ChoiceField
            path="siteId"
            label="Site"
            placeholder="Choose one"
            choices={sites}
            value={site}
            onChange={(id) => {
              setSite(id);
              // Devices are of one site.
              setCovered({ ...covered, deviceIds: [] });
            }}
          />
        )}
      </Pair>
      <Group label="When">
        <SegmentedControl
          aria-label="How often"
          data={[
            { value: 'once', label: 'Once' },
            { value: 'repeat', label: 'Again and again' },
          ]}
          value={typed.kind}
          onChange={(kind) => set({ kind: kind as Typed['kind'] })}
        />
        {typed.kind === 'once' ? (
          <Pair>
            <TextField
              path="times.from"
              label="Begins"
              type="datetime-local"
              required
              value={typed.from}
              onChange={(from) => set({ from })}
            />
            <TextField
              path="times.until"
              label="Ends"
              type="datetime-local"
              required
              value={typed.until}
              onChange={(until) => set({ until })}
            />
          </Pair>
        ) : (
          <Pair>
            <CronField path="cron" label="Begins" value={typed.cron} onChange={(cron) => set({ cron })} />
            <TextField
              path="times.minutes"
              label="Lasts, minutes"
              description={duration(Number(typed.minutes) * 60)}
              type="number"
              min={1}
              required
              value={typed.minutes}
              onChange={(minutes) => set({ minutes })}
            />
          </Pair>
        )}
        <Pair>
          <ZoneField
            path="timezone"
            description="Of all times here"
            value={timezone}
            onChange={setTimezone}
          />
          {typed.kind === 'once' ? (
            <p className="quiet">{spanInWords(typed, timezone)}</p>
          ) : (
            <TextField
              path="times.until"
              label="None begins after"
              description="Empty: for ever"
              type="datetime-local"
              value={typed.last}
              onChange={(last) => set({ last })}
            />
          )}
        </Pair>
      </Group>
      <ScopeFields site={site} covered={covered} onChange={setCovered} />
      <LinesField
        path="note"
        label="Note"
        placeholder="What is done, by whom, ticket"
        value={note}
        onChange={setNote}
      />
    </FormDialog>
  );
}

/** `begins in 2 h, lasts 4 h`. */
function spanInWords({ from, until }: Typed, timezone: string): string {
  if (!from || !until) return '';
  const begins = fromWallClock(from, timezone);
  const lasts = fromWallClock(until, timezone) - begins;
  if (lasts <= 0) return 'It ends before it begins.';
  const now = Date.now();
  return `${begins * 1000 > now ? 'begins' : 'began'} ${ago(begins, now)}, lasts ${duration(lasts)}`;
}
