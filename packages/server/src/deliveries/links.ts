/**
 * Links by which anyone who has them acknowledges one case, without signing in. A link holds subscription, case and end of
 * its life under a MAC by the server's key; the number of times that the links of the subscription were revoked is under
 * the MAC, too. It is in the fragment of an address, which browsers send to no server and write in no log, and opening it
 * changes nothing: mail scanners open links.
 */
import type { CaseLink } from '@rollcall/shared/api/case-links';
import { CaseStatus, EventStatus } from '@rollcall/shared/model';
import type { Database } from '../platform/db/db.ts';
import type { Handlers } from '../platform/http/handler.ts';
import type { Keyring } from '../platform/keys/keyring.ts';
import { Problem } from '../platform/problem.ts';
import type { Payload } from './channels/message.ts';
import type { DeliveryDeps } from './deps.ts';

/** A link acknowledges for so long after what it tells of. */
const LINK_MS = 7 * 24 * 3600_000;
const PURPOSE = 'case link';
const UUID = 16;
/** Subscription, case, end. */
const CLAIM = 2 * UUID + 4;

interface Claim {
  subscription: string;
  caseId: string;
  /** Unix seconds. */
  until: number;
}

const bytesOf = (uuid: string): Buffer => Buffer.from(uuid.replaceAll('-', ''), 'hex');
const uuidOf = (bytes: Buffer): string =>
  bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
const numberOf = (number: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(number);
  return bytes;
};
const signed = (claim: Buffer, version: number): Buffer => Buffer.concat([claim, numberOf(version)]);

/** What comes after `#`. */
export function makeLink(keyring: Keyring, { subscription, caseId, until }: Claim, version: number): string {
  const claim = Buffer.concat([bytesOf(subscription), bytesOf(caseId), numberOf(until)]);
  return Buffer.concat([claim, keyring.sign(PURPOSE, signed(claim, version))]).toString('base64url');
}

/** Whether a case `c` has something to acknowledge: it is open, or an event came to it since somebody began. */
export const ACKNOWLEDGEABLE = `(c.status = ${CaseStatus.open} OR c.status = ${CaseStatus.investigating} AND EXISTS (
  SELECT 1 FROM events e WHERE e.site_id = c.site_id AND e.case_id = c.id AND e.status = ${EventStatus.open}))`;

/** A notice to one subscription. */
interface Addressed {
  subscription: string;
  /** Its case has something to acknowledge now. */
  acknowledgeable: boolean;
  acknowledge: boolean;
  linkVersion: number;
  payload: Payload;
}

/** A notice with its link, where it is to have one: there is something to acknowledge, and the server knows its address. */
export function withLink({ keyring, publicUrl }: DeliveryDeps, addressed: Addressed): Payload {
  const { subscription, acknowledge, acknowledgeable, linkVersion, payload } = addressed;
  const { type, timestamp, data } = payload;
  const over = type === 'test' || data.case.status >= CaseStatus.resolved;
  if (publicUrl === undefined || !acknowledge || !acknowledgeable || over) return payload;
  const claim = { subscription, caseId: data.case.id, until: timestamp + LINK_MS / 1000 };
  const acknowledgeUrl = `${publicUrl}/acknowledge#${makeLink(keyring, claim, linkVersion)}`;
  return { ...payload, data: { ...data, acknowledgeUrl } };
}

interface Linked extends CaseLink {
  caseId: string;
  siteId: string;
}

/** @throws Problem the same for every link that is of no use, so that nothing is learnt by trying. */
async function open(db: Database, keyring: Keyring, link: string, now: number): Promise<Linked> {
  const bytes = Buffer.from(link, 'base64url');
  const [claim, mac] = [bytes.subarray(0, CLAIM), bytes.subarray(CLAIM)];
  const useless = new Problem(
    'not_found',
    'this link has ended or was revoked: open the case in Rollcall instead',
  );
  if (claim.length < CLAIM || claim.readUInt32BE(2 * UUID) * 1000 <= now) throw useless;
  const [row] = await db.query<Linked & { linkVersion: number }>(
    `SELECT c.id AS "caseId", c.site_id AS "siteId", c.number, c.title, c.status, c.severity, i.name AS site,
       ${ACKNOWLEDGEABLE} AS acknowledgeable,
       s.name AS subscription, s.link_version AS "linkVersion"
     FROM subscriptions s JOIN cases c ON c.id = $2::uuid JOIN sites i ON i.id = c.site_id
     WHERE s.id = $1::uuid AND s.enabled AND s.acknowledge AND (s.all_sites OR c.site_id = ANY(s.site_ids))`,
    [uuidOf(claim.subarray(0, UUID)), uuidOf(claim.subarray(UUID, 2 * UUID))],
  );
  if (!row || !keyring.isSigned(PURPOSE, signed(claim, row.linkVersion), mac)) throw useless;
  const { linkVersion: _, ...linked } = row;
  return linked;
}

export function linkHandlers({
  db,
  clock,
  keyring,
  acknowledgeCase,
}: DeliveryDeps): Handlers<'caseLinks.read' | 'caseLinks.acknowledge'> {
  const shown = ({ caseId: _c, siteId: _s, ...data }: Linked) => ({ data });
  return {
    'caseLinks.read': async ({ body }) => shown(await open(db, keyring, body.link, clock.now())),
    'caseLinks.acknowledge': async ({ body, address }) => {
      const linked = await open(db, keyring, body.link, clock.now());
      const { caseId, siteId, subscription } = linked;
      const by = { name: `a link of ${subscription}`, siteId, address, detail: { subscription } };
      await acknowledgeCase(caseId, by);
      return shown(await open(db, keyring, body.link, clock.now()));
    },
  };
}
