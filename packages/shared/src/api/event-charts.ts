/** What was measured around the moment that an event tells of: kept with the event, for as long as that. */
import { z } from 'zod';
import { CHART_POINTS } from '../event-charts.ts';
import { metricName } from './measurements.ts';
import { time } from './members.ts';
import { idParams, type Operation } from './operation.ts';

const series = z.strictObject({
  metric: metricName,
  unit: z.string().meta({ example: '%' }),
  values: z.array(z.number().nullable()).max(CHART_POINTS),
});

export const eventChart = z
  .strictObject({
    from: time,
    to: time,
    /** Seconds of one value. */
    step: z.int().min(1),
    /** What was exceeded, in the unit of the series; null: it is no value of them. */
    limit: z.number().nullable(),
    /** One value per step from `from` on; null where nothing was measured. */
    series: z.array(series),
  })
  .meta({ id: 'EventChart' });
export type EventChart = z.infer<typeof eventChart>;

export const eventChartOperations = {
  'events.chart': {
    method: 'GET',
    path: '/api/events/{id}/chart',
    tag: 'Events',
    summary: 'What was measured around an event',
    description:
      '40 values before it and 20 after, kept with the event after the measurements are forgotten. Without series where its kind is about no value.',
    access: 'viewer',
    params: idParams,
    data: eventChart,
    envelope: 'item',
  },
} as const satisfies Record<string, Operation>;
