/** Credentials as collectors get them: opened at the last moment, only for a job or a watch of their own site. */

import { AddressSpace } from '@rollcall/shared/address-space';
import { formatAddress } from '@rollcall/shared/ip';
import type { ProfileSettings } from '@rollcall/shared/profile';
import { type Span, type WireCredential, wireCredential } from '@rollcall/shared/protocol';
import type { Logger } from 'pino';
import { z } from 'zod';
import type { Credential } from '../generated/prisma/client.ts';
import type { Database } from '../platform/db/db.ts';
import { type Keyring, SealBroken } from '../platform/keys/keyring.ts';
import type { JobCredentials } from '../ports.ts';

/** What is sealed. */
export const secrets = z.union([
  z.strictObject({ community: z.string() }),
  z.strictObject({ authKey: z.string().optional(), privKey: z.string().optional() }),
]);
export type Secrets = z.infer<typeof secrets>;
/** What stands beside it in the clear. */
const facts = z.object({
  user: z.string().optional(),
  authProtocol: z.string().optional(),
  privProtocol: z.string().optional(),
  contextName: z.string().optional(),
});

/** The order in which credentials are tried and shown. */
export const TRIED = 'position, lower(name), id';

/** Most credentials that one job is given. */
const MOST = 64;
/** Most addresses with a known credential told with one job. */
const KNOWN_MOST = 2048;

const place = (id: string) => ({ table: 'credentials', row: id });

export interface Sealed {
  id: string;
  sealed: Uint8Array;
  keyId: string;
}

/** Seals and opens what a row holds. */
export const vault = (keyring: Keyring) => ({
  open: ({ id, keyId, sealed }: Sealed): Secrets =>
    secrets.parse(JSON.parse(keyring.open(place(id), keyId, sealed))),
  /** Sealed bytes, key id, and the fingerprint that follows from them. */
  seal: (id: string, plain: Secrets): { sealed: Buffer<ArrayBuffer>; keyId: string; fingerprint: string } => {
    const text = JSON.stringify(plain);
    return { ...keyring.seal(place(id), text), fingerprint: keyring.fingerprint(text) };
  },
});

export function createCredentials({ db, log, keyring }: { db: Database; log: Logger; keyring: Keyring }) {
  const { open } = vault(keyring);

  const wire = (row: Credential): WireCredential =>
    wireCredential.parse({ id: row.id, version: row.version, ...facts.parse(row.facts), ...open(row) });

  /** Opens what opens; what does not is left out and said, since one damaged row must not stop a sweep. */
  const wired = (rows: readonly Credential[]): WireCredential[] =>
    rows.flatMap((row) => {
      try {
        return [wire(row)];
      } catch (error) {
        const reason = error instanceof SealBroken ? error.message : 'its content is not what was written';
        log.error({ credential: row.id, reason }, 'a credential could not be opened and is left out');
        return [];
      }
    });

  /** Credentials of a site in the order they are tried, `most` of them; `ids` narrows them to those named. */
  const ofSite = async (
    siteId: string,
    ids: readonly string[] | null = null,
    most = MOST,
  ): Promise<WireCredential[]> => {
    const rows = await db.query<{ id: string }>(
      `SELECT id FROM credentials WHERE (all_sites OR $1::uuid = ANY(site_ids)) AND ($2::uuid[] IS NULL OR id = ANY($2))
       ORDER BY ${TRIED} LIMIT ${most}`,
      [siteId, ids],
    );
    const order = rows.map(({ id }) => id);
    const found = await db.prisma.credential.findMany({ where: { id: { in: order } } });
    const byId = new Map(found.map((row) => [row.id, row]));
    return wired(order.flatMap((id) => byId.get(id) ?? []));
  };

  /** Address → credential that worked there last time. */
  const knownAt = async (siteId: string, spans: readonly Span[], ids: readonly string[]) => {
    const ranges = AddressSpace.ofSpans(spans).ranges.map(({ family, first, last }) => ({
      first: formatAddress({ family, value: first }),
      last: formatAddress({ family, value: last }),
    }));
    const rows = await db.query<{ address: string; credential_id: string }>(
      `SELECT DISTINCT ON (a.address) host(a.address) AS address, d.credential_id
       FROM jsonb_to_recordset($2::jsonb) AS r(first inet, last inet)
       JOIN device_addresses a ON a.site_id = $1::uuid AND a.address BETWEEN r.first AND r.last
       JOIN devices d ON d.site_id = a.site_id AND d.id = a.device_id
       JOIN sightings v ON v.site_id = d.site_id AND v.device_id = d.id
       WHERE d.credential_id = ANY($3::uuid[]) ORDER BY a.address, v.last_seen DESC LIMIT ${KNOWN_MOST}`,
      [siteId, JSON.stringify(ranges), ids],
    );
    return Object.fromEntries(rows.map(({ address, credential_id }) => [address, credential_id]));
  };

  return {
    ofSite,

    /** What a job needs: nothing where no agent is asked. */
    forJob: async (job: {
      siteId: string;
      spans: readonly Span[];
      settings: Pick<ProfileSettings, 'snmp'>;
    }): Promise<JobCredentials> => {
      if (!job.settings.snmp) return { credentials: [], known: {} };
      const credentials = await ofSite(job.siteId);
      const ids = credentials.map(({ id }) => id);
      return { credentials, known: await knownAt(job.siteId, job.spans, ids) };
    },
  };
}
