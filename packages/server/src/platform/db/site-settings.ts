/** What a site says of itself, with the defaults of what it leaves open. */
import { MONITOR_FOUND, SITE_DEFAULTS, type SiteSettings, siteSettings } from '@rollcall/shared/api/sites';
import { z } from 'zod';
import type { Sql } from './sql.ts';

export type SettledSettings = SiteSettings & {
  [Key in keyof typeof SITE_DEFAULTS]: NonNullable<SiteSettings[Key]>;
} & { monitorFound: (typeof MONITOR_FOUND)[number] };

/**
 * `stored`: the column `settings` of a site. Each by itself: what another version wrote and this one does not know or take
 * leaves that default alone.
 */
export function settingsOf(stored: unknown): SettledSettings {
  const own = ownSettings(stored);
  // JSON has no undefined: what is absent is no key, and leaves the default.
  return { ...SITE_DEFAULTS, monitorFound: MONITOR_FOUND[0], ...own } as SettledSettings;
}

const anything = z.record(z.string(), z.unknown()).catch({});

/** What the site itself says. */
export function ownSettings(stored: unknown): SiteSettings {
  const members = Object.entries(anything.parse(stored));
  const known = members.flatMap(([key, value]) => {
    const read = siteSettings.safeParse({ [key]: value });
    return read.success ? [read.data] : [];
  });
  return Object.assign({}, ...known);
}

export async function readSiteSettings(sql: Sql, siteId: string): Promise<SettledSettings> {
  const [site] = await sql.query<{ settings: unknown }>(
    'SELECT settings FROM sites WHERE id = $1::uuid',
    [siteId],
    'kept',
  );
  return settingsOf(site?.settings);
}
