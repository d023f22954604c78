/**
 * Events of what lies behind another device, in no case because that was not told yet. Mostly it is told soon and takes
 * them in; where it came back, or proved to lie behind another one itself, they are placed behind that one.
 */
import type { Sql } from '../../platform/db/sql.ts';
import type { Silence } from '../conditions/condition.ts';
import type { Loaded } from '../conditions/store.ts';
import type { Incoming } from './group.ts';

/** Those of some conditions that were looked at again, with what explains them now. */
export async function stillWaiting(
  sql: Sql,
  siteId: string,
  due: readonly Loaded[],
  silences: ReadonlyMap<string, Silence>,
): Promise<Incoming[]> {
  const waiting = due.flatMap(({ key, live, condition }): Incoming[] => {
    const silence = silences.get(key);
    if (condition.state !== 'suppressed' || condition.eventId === null || !live) return [];
    if (silence?.by !== 'path') return [];
    return [
      {
        eventId: condition.eventId,
        at: condition.since,
        message: condition.opening.message,
        deviceId: condition.opening.deviceId,
        rootId: silence.root.id,
        formerCaseId: condition.caseId,
        opens: false,
        down: false,
        interfaceId: null,
      },
    ];
  });
  if (waiting.length === 0) return [];
  const rows = await sql.query<{ id: string }>(
    `SELECT id FROM events WHERE site_id = $1::uuid AND id = ANY($2::uuid[]) AND case_id IS NULL
       AND maintenance_until IS NULL`,
    [siteId, waiting.map(({ eventId }) => eventId)],
  );
  const placeless = new Set(rows.map(({ id }) => id));
  return waiting.filter(({ eventId }) => placeless.has(eventId));
}
