/** What subscribers are told, as JSON and as a mail. Pure. */

import type { NoticeType } from '@rollcall/shared/api/deliveries';
import type { Case } from '@rollcall/shared/api/incidents';
import { CaseStatus, nameOfCode, Severity } from '@rollcall/shared/model';

/** The worst live events that a message lists. */
export const EVENTS_MOST = 10;

export interface EventLine {
  id: string;
  kind: string;
  severity: number;
  message: string;
  /** Unix seconds. */
  firstSeen: number;
}

/** The body of a webhook; also what a mail is written from. */
export interface Payload {
  type: NoticeType | 'test';
  /** When it came about, Unix seconds. */
  timestamp: number;
  data: {
    case: Pick<
      Case,
      | 'id'
      | 'number'
      | 'siteId'
      | 'title'
      | 'status'
      | 'severity'
      | 'priority'
      | 'assignee'
      | 'tags'
      | 'eventCount'
      | 'openEventCount'
      | 'rootDeviceId'
      | 'createdAt'
      | 'resolvedAt'
    >;
    site: { id: string; name: string };
    /** The worst of its live events, at most ten. */
    events: EventLine[];
    /** Where people read it; absent where the server does not know its address. */
    url?: string;
  };
}

const VERBS: Record<Payload['type'], string> = {
  'case.opened': 'opened',
  'case.changed': 'changed',
  'case.reopened': 'reopened',
  'case.resolved': 'resolved',
  test: 'test',
};

/** One header field: no line breaks, no more than a mail program shows. */
const oneLine = (text: string): string => text.replace(/\p{Cc}+/gu, ' ').slice(0, 200);

export interface Mail {
  subject: string;
  text: string;
  /** All mails of a case are one thread: RFC 5322 References. */
  thread: string;
}

/** One line: where, which case, what became of it, how bad. */
export const summaryOf = ({ type, data: { case: it, site } }: Payload): string =>
  type === 'test'
    ? 'Rollcall: a test'
    : `[${oneLine(site.name)}] #${it.number} ${VERBS[type]}: ${oneLine(it.title)} (${nameOfCode(Severity, it.severity)})`;

export function mailOf(payload: Payload): Mail {
  const { type, data } = payload;
  const { case: it, site, events, url } = data;
  const severity = nameOfCode(Severity, it.severity);
  const subject = summaryOf(payload);
  const lines = [
    type === 'test' ? 'This is a test. Mail from Rollcall arrives.' : it.title,
    '',
    `Case      #${it.number}, ${nameOfCode(CaseStatus, it.status)}`,
    `Site      ${site.name}`,
    `Severity  ${severity}, priority ${it.priority}`,
    `Assignee  ${it.assignee ?? 'nobody'}`,
    `Events    ${it.eventCount}, ${it.openEventCount} of them not closed`,
    ...(events.length > 0 ? ['', ...events.map((event) => `  - ${event.message}`)] : []),
    ...(it.openEventCount > events.length && events.length > 0
      ? [`  and ${it.openEventCount - events.length} more`]
      : []),
    ...(url ? ['', url] : []),
  ];
  return { subject, text: `${lines.join('\n')}\n`, thread: `<case-${it.id}@rollcall>` };
}
