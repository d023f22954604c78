/**
 * A sample of what a vendor puts first into its own subtree: nearly always product, version and serial number. It lets
 * the server say something of devices that no rule knows.
 */
import { compareOid, isUnder } from '@rollcall/shared/oid';
import type { Session } from '@rollcall/snmp/engine/session';
import type { Varbind } from '@rollcall/snmp/message/pdu';
import { textOf } from './text.ts';

const ENTERPRISES = '1.3.6.1.4.1';
/** Agents that run on anybody's hardware; the vendor's own objects lie beside theirs. */
const GENERIC = new Set([2021, 8072]);
/** Subtrees looked for where the agent's own says nothing. */
const MOST_ENTERPRISES = 6;
/** Objects in one request: a row of long texts still fits a datagram. */
const REPETITIONS = 16;
/** Requests for one subtree. */
const REQUESTS = 24;
/** Rows of a column that are read. */
const ROWS = 6;
const LONGEST = 200;

/**
 * OID → text of the first `most` printable texts below the agent's enterprise. Of an agent that anybody's hardware runs
 * also the first object of each other enterprise, be it a number: it shows the vendor of the hardware.
 */
export async function sampleTexts(
  session: Session,
  sysObjectId: string | undefined,
  most: number,
): Promise<Record<string, string>> {
  const texts: Record<string, string> = {};
  const own = Number(/^1\.3\.6\.1\.4\.1\.(\d+)/.exec(sysObjectId ?? '')?.[1] ?? Number.NaN);
  if (!Number.isNaN(own) && !GENERIC.has(own)) await read(session, `${ENTERPRISES}.${own}`, most, texts);
  if (Object.keys(texts).length > 0) return texts;
  for (const { enterprise, first } of await enterprises(session)) {
    await read(session, `${ENTERPRISES}.${enterprise}`, Math.ceil(most / 2), texts);
    texts[first.oid] ??= typeof first.value === 'number' ? String(first.value) : '';
  }
  return texts;
}

/** Enterprises that the agent has objects of, without those of the agent's software. */
async function enterprises(session: Session): Promise<{ enterprise: number; first: Varbind }[]> {
  const found: { enterprise: number; first: Varbind }[] = [];
  let after = ENTERPRISES;
  for (let asked = 0; asked < MOST_ENTERPRISES + GENERIC.size; asked++) {
    const answer = await session.getNext([after]);
    const next = answer.ok ? answer.varbinds[0] : undefined;
    if (!next || isEnd(next) || !isUnder(next.oid, ENTERPRISES) || compareOid(next.oid, after) <= 0) break;
    const enterprise = Number(next.oid.split('.')[6]);
    if (!GENERIC.has(enterprise)) found.push({ enterprise, first: next });
    after = `${ENTERPRISES}.${enterprise + 1}`;
  }
  return found.slice(0, MOST_ENTERPRISES);
}

/**
 * Reads texts in the order of their OIDs. Of a column only the first rows are taken: what describes the device is often
 * behind long tables.
 */
async function read(
  session: Session,
  root: string,
  most: number,
  texts: Record<string, string>,
): Promise<void> {
  const bulk = session.credential.version !== 'v1';
  let last = root;
  let kept = 0;
  for (let requests = bulk ? REQUESTS : REQUESTS * REPETITIONS; requests > 0 && kept < most; requests--) {
    const answer = bulk ? await session.getBulk([last], REPETITIONS) : await session.getNext([last]);
    if (!answer.ok || answer.varbinds.length === 0) return;
    const column = new Column();
    for (const varbind of answer.varbinds) {
      if (isEnd(varbind) || !isUnder(varbind.oid, root) || compareOid(varbind.oid, last) <= 0) return;
      last = varbind.oid;
      if (column.add(varbind.oid) > ROWS) {
        last = column.behind();
        break;
      }
      const text = kept < most ? printable(varbind) : undefined;
      if (text === undefined) continue;
      texts[varbind.oid] = text;
      kept += 1;
    }
  }
}

/** Objects in a row whose OIDs differ in the last arc only: the rows of a column, but not the scalars of a group. */
class Column {
  #parent = '';
  #rows = 0;

  /** How many rows of the column of this object were there so far, itself included. */
  add(oid: string): number {
    const parent = oid.slice(0, oid.lastIndexOf('.'));
    this.#rows = parent === this.#parent ? this.#rows + 1 : 1;
    this.#parent = parent;
    return this.#rows;
  }

  /** What to ask from, to get what follows the column. */
  behind(): string {
    const at = this.#parent.lastIndexOf('.');
    return `${this.#parent.slice(0, at)}.${Number(this.#parent.slice(at + 1)) + 1}`;
  }
}

const isEnd = ({ type }: Varbind): boolean =>
  type === 'endOfMibView' || type === 'noSuchObject' || type === 'noSuchInstance';

function printable(varbind: Varbind): string | undefined {
  if (varbind.type !== 'octets' || varbind.value.length < 2) return undefined;
  const text = textOf(varbind.value);
  const clean = text.trim() !== '' && !/\\x[0-9a-f]{2}|\ufffd/.test(text);
  return clean ? text.slice(0, LONGEST) : undefined;
}
