/** What subscribers are told. Pure. */

import type { Notice } from '@rollcall/shared/api/notices';
import { nameOfCode, Severity } from '@rollcall/shared/model';

/** The body of a webhook; the other channels write theirs from it. */
export type Payload = Notice;

export const VERBS: Record<Payload['type'], string> = {
  'case.opened': 'opened',
  'case.changed': 'changed',
  'case.reopened': 'reopened',
  'case.resolved': 'resolved',
  test: 'test',
};

/** No longer than so many units of UTF-16; no half of a character at its end, which other languages refuse. */
export const cutTo = (text: string, most: number): string =>
  text.length <= most ? text : text.slice(0, most).replace(/[\uD800-\uDBFF]$/, '');

/** One header field: no line breaks, no more than a mail program shows. */
export const headerLine = (text: string): string => cutTo(text.replace(/\p{Cc}+/gu, ' '), 200);

/** One line: where, which case, what became of it, how bad. */
export const summaryOf = ({ type, data: { case: it, site } }: Payload): string =>
  type === 'test'
    ? 'Rollcall: a test'
    : `[${headerLine(site.name)}] #${it.number} ${VERBS[type]}: ${headerLine(it.title)} (${nameOfCode(Severity, it.severity)})`;
