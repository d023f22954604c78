/** The extra OIDs that the rules ask for: where vendors keep model, serial number and version. */
import type { Ruleset } from '@rollcall/shared/protocol';
import type { Session } from '@rollcall/snmp/engine/session';
import type { Varbind } from '@rollcall/snmp/message/pdu';
import { sampleTexts } from './sample.ts';
import { textOrHex } from './text.ts';

/** OIDs in one request. */
const BATCH = 16;
/** OIDs read of one device, whatever the rules say. */
const MOST = 128;

/** OIDs for an agent: those of every prefix that its sysObjectID lies under; an empty prefix is for all. */
export function extraOids(sysObjectId: string | undefined, extra: Ruleset['extra']): string[] {
  const oids = extra.filter(({ prefix }) => appliesTo(prefix, sysObjectId)).flatMap((rule) => rule.oids);
  return [...new Set(oids)].slice(0, MOST);
}

const appliesTo = (prefix: string, sysObjectId: string | undefined): boolean =>
  prefix === '' || sysObjectId === prefix || (sysObjectId?.startsWith(`${prefix}.`) ?? false);

/**
 * OID → text. A rule may name an instance, or a column or object without its instance: then the first instance under
 * it is read, and reported under the OID that the rule named.
 */
export async function vendorFacts(
  session: Session,
  sysObjectId: string | undefined,
  extra: Ruleset['extra'],
): Promise<Record<string, string>> {
  const facts: Record<string, string> = {};
  const oids = extraOids(sysObjectId, extra);
  for (let i = 0; i < oids.length; i += BATCH) {
    const asked = oids.slice(i, i + BATCH);
    const exact = await session.get(asked);
    if (!exact.ok) break;
    const absent = asked.filter((oid, n) => !keep(facts, oid, exact.varbinds[n]));
    if (absent.length === 0) continue;
    await firstRows(
      session,
      absent.filter((oid) => !oid.endsWith('.0')),
      facts,
    );
  }
  const sample = Math.max(
    0,
    ...extra.filter(({ prefix }) => appliesTo(prefix, sysObjectId)).map((rule) => rule.sample ?? 0),
  );
  return sample > 0 ? { ...(await sampleTexts(session, sysObjectId, sample)), ...facts } : facts;
}

/** The first row of each column. SNMPv1 refuses the whole question when one column is the last object of the agent. */
async function firstRows(
  session: Session,
  columns: readonly string[],
  facts: Record<string, string>,
): Promise<void> {
  const atOnce = session.credential.version === 'v1' ? 1 : BATCH;
  for (let i = 0; i < columns.length; i += atOnce) {
    const asked = columns.slice(i, i + atOnce);
    const next = await session.getNext(asked);
    if (!next.ok) continue;
    for (const [n, oid] of asked.entries()) {
      const first = next.varbinds[n];
      if (first?.oid.startsWith(`${oid}.`)) keep(facts, oid, first);
    }
  }
}

function keep(facts: Record<string, string>, oid: string, varbind: Varbind | undefined): boolean {
  const text = varbind && valueText(varbind);
  if (text === undefined) return false;
  facts[oid] = text;
  return true;
}

function valueText(varbind: Varbind): string | undefined {
  switch (varbind.type) {
    case 'octets':
    case 'opaque':
      return varbind.value.length === 0 ? undefined : textOrHex(varbind.value);
    case 'integer':
    case 'counter32':
    case 'gauge32':
    case 'timeticks':
    case 'counter64':
      return varbind.value.toString();
    case 'oid':
    case 'ipaddress':
      return varbind.value;
    default:
      return undefined;
  }
}
