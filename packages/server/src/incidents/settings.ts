/** What a site says about its events and cases. */
import { readSiteSettings } from '../platform/db/site-settings.ts';
import type { Sql } from '../platform/db/sql.ts';
import type { Grouping } from './correlation/match.ts';
import { type EventCode, kindOf } from './kinds/kinds.ts';

export interface IncidentSettings {
  grouping: Grouping;
  holdMs: (code: EventCode) => number;
  /** What lies behind a device that came back has this long to come back as well. */
  recoveryMs: number;
  /** An agent that answers was read within this time. */
  readingMs: number;
  /** A device that answers ping is found down within this time. */
  pingingMs: number;
}

/** A reading that gets no answer is tried again so long until the agent is called silent. */
const RETRIES_MS = 20_000;
/** Pings that get no answer are repeated, and the agent is asked, for so long until the device is called down. */
const OPINION_MS = 25_000;

export async function readSettings(sql: Sql, siteId: string): Promise<IncidentSettings> {
  const settings = await readSiteSettings(sql, siteId);
  const held: Readonly<Record<string, number | undefined>> = settings.holdSeconds ?? {};
  return {
    grouping: {
      windowMs: settings.caseWindowSeconds * 1000,
      minimum: settings.caseMinimumEvents,
      reopenMs: settings.caseReopenSeconds * 1000,
    },
    recoveryMs: settings.recoverySeconds * 1000,
    readingMs: settings.watchSnmpSeconds * 1000 + RETRIES_MS,
    pingingMs: settings.watchIcmpSeconds * 1000 + OPINION_MS,
    holdMs: (code) => {
      const seconds = held[code];
      return seconds === undefined ? (kindOf(code).holdMs ?? 0) : seconds * 1000;
    },
  };
}
