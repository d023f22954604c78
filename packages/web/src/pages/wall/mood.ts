/** The colour of a wall: red and amber for what nobody has acknowledged. Pure. */
import type { Summary } from '@rollcall/shared/api/service';
import { Severity } from '@rollcall/shared/model';

export type Mood = 'bad' | 'warn' | 'ok' | 'unknown';

export interface State {
  mood: Mood;
  /** Open events from warning up: nobody has acknowledged them. */
  open: number;
}

export function stateOf({
  devices,
  events,
}: {
  devices: Pick<Summary['devices'], 'monitored'>;
  events: Pick<Summary['events'], 'bySeverity'>;
}): State {
  const openUntil = (severity: number) =>
    events.bySeverity.reduce((sum, one) => sum + (one.severity <= severity ? one.open : 0), 0);
  const open = openUntil(Severity.warning);
  if (openUntil(Severity.major) > 0) return { mood: 'bad', open };
  if (open > 0) return { mood: 'warn', open };
  return { mood: devices.monitored > 0 ? 'ok' : 'unknown', open };
}
