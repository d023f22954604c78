import type { EventChart as Kept } from '@rollcall/shared/api/event-charts';
import type { Event } from '@rollcall/shared/api/incidents';
import type { MetricName } from '@rollcall/shared/api/measurements';
import { CHART_POINTS_BEFORE, EVENT_CHARTS } from '@rollcall/shared/event-charts';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { apiQuery } from '../../api.ts';
import { Chart, hasValues, type Line } from '../../components/chart/index.ts';
import { Panel } from '../../components/page/index.ts';

/** Whether an event is about a value that was measured; a flapping one is about what flaps. */
export const isCharted = ({ kind, details }: Event): boolean =>
  String(kind === 'flapping' ? details.of : kind) in EVENT_CHARTS;

/** What was measured around an event, kept with it; nothing where its kind is about no value. */
export function EventChart({ event, title = 'Around the event' }: { event: Event; title?: string }) {
  const hasChart = isCharted(event);
  const query = useQuery({
    ...apiQuery('events.chart', { params: { id: event.id } }),
    enabled: hasChart,
  });
  if (!hasChart || !query.data) return null;
  return <Drawn chart={query.data.data} event={event} title={title} />;
}

function Drawn({ chart, event, title }: { chart: Kept; event: Event; title: string }) {
  const { lines, times } = useMemo(() => drawn(chart), [chart]);
  const marks = useMemo(
    () => [{ at: event.firstSeen, colour: `--sev-${event.severity}` }],
    [event.firstSeen, event.severity],
  );
  return (
    <Panel title={title}>
      {hasValues(lines) ? (
        <Chart title={title} unit={chart.series[0]?.unit ?? ''} {...{ times, lines, marks }} />
      ) : (
        <p className="none">
          Nothing was measured in the {CHART_POINTS_BEFORE} intervals before it, nor after.
        </p>
      )}
    </Panel>
  );
}

const LOOKS: Partial<Record<MetricName, Pick<Line, 'label' | 'colour' | 'isMirrored'>>> = {
  inUtilisation: { label: 'In', colour: '--chart-1' },
  outUtilisation: { label: 'Out', colour: '--chart-2' },
  inErrors: { label: 'Errors in', colour: '--chart-1' },
  outErrors: { label: 'Errors out', colour: '--chart-2' },
  inDiscards: { label: 'Discards in', colour: '--chart-3' },
  outDiscards: { label: 'Discards out', colour: '--fill-bad' },
  inPackets: { label: 'In', colour: '--chart-1' },
  outPackets: { label: 'Out', colour: '--chart-2' },
  loss: { label: 'Pings without an answer', colour: '--fill-bad' },
  rtt: { label: 'Mean', colour: '--chart-1' },
  rttMax: { label: 'Longest', colour: '--chart-3' },
};

/** Lines of the series, and of what was exceeded. */
function drawn({ from, step, limit, series }: Kept): { lines: Line[]; times: number[] } {
  const times = Array.from({ length: series[0]?.values.length ?? 0 }, (_, i) => from + (i + 0.5) * step);
  const measured = series.map(({ metric, values }): Line => {
    const look = LOOKS[metric] ?? { label: 'Value', colour: '--chart-1' };
    return { ...look, values, p95: null };
  });
  if (limit === null || !hasValues(measured)) return { lines: measured, times };
  const exceeded = { label: 'Limit', colour: '--sev-2', values: times.map(() => limit), p95: null };
  return { lines: [...measured, exceeded], times };
}
