/**
 * Which of the columns that MIBs know an agent has: learnt by asking what comes next, so that an agent without any costs
 * a few requests.
 */
import { compareOid } from '@rollcall/shared/oid';
import type { Session } from '@rollcall/snmp/engine/session';
import type { Varbind } from '@rollcall/snmp/message/pdu';

/** Columns asked for in one request. */
const ATONCE = 12;
/** Requests that learning may cost. */
const REQUESTS = 400;

const isEnd = ({ type }: Varbind): boolean =>
  type === 'endOfMibView' || type === 'noSuchObject' || type === 'noSuchInstance';

/**
 * Those of the columns that the agent has, in their order. `complete` is false where it did not answer, or not within
 * `until` (monotonic milliseconds).
 */
export async function presentColumns(
  session: Session,
  columns: readonly string[],
  until: number,
): Promise<{ present: string[]; complete: boolean }> {
  const sorted = [...new Set(columns)].sort(compareOid);
  const atOnce = session.credential.version === 'v1' ? 1 : ATONCE;
  const size = Math.ceil(sorted.length / atOnce);
  let runs: Run[] = [];
  for (let from = 0; from < sorted.length; from += size)
    runs.push({ at: from, end: Math.min(sorted.length, from + size) });
  const present: string[] = [];
  for (let requests = 0; runs.length > 0; requests++) {
    if (requests >= REQUESTS || session.engine.clock.monotonic() >= until)
      return { present, complete: false };
    const answer = await session.getNext(runs.map(({ at }) => sorted[at] as string));
    if (!answer.ok) {
      // SNMPv1 has no other word for the end.
      const refused = answer.code === 'no-such-name' ? runs[(answer.index ?? 1) - 1] : undefined;
      if (!refused) return { present, complete: false };
      refused.at = refused.end;
    } else {
      for (const [i, run] of runs.entries()) advance(run, sorted, answer.varbinds[i], present);
    }
    runs = runs.filter(({ at, end }) => at < end);
  }
  return { present: present.sort(compareOid), complete: true };
}

/** A part of the sorted columns, and how far it is known. */
interface Run {
  at: number;
  end: number;
}

function advance(run: Run, sorted: readonly string[], next: Varbind | undefined, present: string[]): void {
  const asked = sorted[run.at] as string;
  if (!next || isEnd(next) || compareOid(next.oid, asked) <= 0) {
    run.at = run.end;
    return;
  }
  if (next.oid.startsWith(`${asked}.`)) present.push(asked);
  run.at += 1;
  // All before the object that came next are absent, but for the column that it is of.
  while (run.at < run.end && compareOid(sorted[run.at] as string, next.oid) <= 0) {
    const column = sorted[run.at] as string;
    if (next.oid.startsWith(`${column}.`)) break;
    run.at += 1;
  }
}

const ENTERPRISES = '1.3.6.1.4.1';

/** Numbers of enterprises that the agent has objects of, at most `most`. */
export async function enterprisesOf(session: Session, most: number): Promise<string[]> {
  const found: string[] = [];
  let after = ENTERPRISES;
  while (found.length < most) {
    const answer = await session.getNext([after]);
    const next = answer.ok ? answer.varbinds[0] : undefined;
    if (!next || isEnd(next) || !next.oid.startsWith(`${ENTERPRISES}.`) || compareOid(next.oid, after) <= 0)
      break;
    const enterprise = next.oid.split('.')[6] as string;
    found.push(enterprise);
    after = `${ENTERPRISES}.${Number(enterprise) + 1}`;
  }
  return found;
}
