/** The colour of a wall: red and amber for what nobody has acknowledged, calm for trouble that somebody works on. Pure. */
import type { Summary } from '@rollcall/shared/api/service';
import { Severity } from '@rollcall/shared/model';

export type Mood = 'bad' | 'warn' | 'acknowledged' | 'ok' | 'unknown';

export interface State {
  mood: Mood;
  /** Events from warning up that nobody has acknowledged, and those that somebody has. */
  open: number;
  acknowledged: number;
}

export function stateOf({
  devices,
  events,
}: {
  devices: Pick<Summary['devices'], 'monitored'>;
  events: Pick<Summary['events'], 'bySeverity'>;
}): State {
  const until = (severity: number, of: 'open' | 'acknowledged') =>
    events.bySeverity.reduce((sum, one) => sum + (one.severity <= severity ? one[of] : 0), 0);
  const open = until(Severity.warning, 'open');
  const acknowledged = until(Severity.warning, 'acknowledged');
  const mood = () => {
    if (until(Severity.major, 'open') > 0) return 'bad';
    if (open > 0) return 'warn';
    if (acknowledged > 0) return 'acknowledged';
    return devices.monitored > 0 ? 'ok' : 'unknown';
  };
  return { mood: mood(), open, acknowledged };
}
