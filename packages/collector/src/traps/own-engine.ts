/**
 * Our own SNMP engine, to which informs are addressed: an id that stays, and a count of starts that only grows, so that
 * a message of before a restart is never taken for a new one (RFC 3414 section 2.2). No secret.
 */
import { createHash } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '@rollcall/shared/clock';
import type { UsmUser } from '@rollcall/snmp/message/keys';
import { AuthoritativeEngine } from '@rollcall/snmp/message/usm';
import { z } from 'zod';

const FILE = 'snmp-engine.json';
const MOST_BOOTS = 0x7fff_fffe;
const stored = z.object({ boots: z.int().min(0).max(MOST_BOOTS) });

/** net-snmp's scheme of RFC 3411 ids: the format octet of "administratively assigned octets", then ours. */
const PREFIX = Buffer.from('80000000', 'hex');
const OCTETS = 5;

export interface OwnEngine {
  readonly id: Buffer;
  /** The engine with these users; the same until they change. */
  with(users: readonly UsmUser[]): AuthoritativeEngine;
}

/** Counts a start and answers the engine. Without a writable file it takes the time for the count, which grows too. */
export function openOwnEngine(folder: string, collector: string, clock: Clock): OwnEngine {
  const digest = createHash('sha256').update(`rollcall snmp engine ${collector}`).digest();
  const id = Buffer.concat([PREFIX, Buffer.of(OCTETS), digest.subarray(0, 12)]);
  const boots = countStart(folder, Math.floor(clock.now() / 1000));
  const since = clock.monotonic();
  const seconds = () => Math.floor((clock.monotonic() - since) / 1000);
  let known: { key: string; engine: AuthoritativeEngine } | null = null;
  return {
    id,
    with: (users) => {
      const key = users
        .map(({ name, authProtocol, privProtocol }) => `${name} ${authProtocol} ${privProtocol}`)
        .join();
      if (known?.key !== key) known = { key, engine: new AuthoritativeEngine({ id, boots, seconds, users }) };
      return known.engine;
    },
  };
}

function countStart(folder: string, otherwise: number): number {
  const file = join(folder, FILE);
  let before = 0;
  try {
    before = stored.parse(JSON.parse(readFileSync(file, 'utf8'))).boots;
  } catch (error) {
    // A file that cannot be read: the count must not fall back, so the time stands in for it.
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') before = otherwise;
  }
  const boots = Math.min(before + 1, MOST_BOOTS);
  try {
    writeFileSync(`${file}.new`, JSON.stringify({ boots }), { mode: 0o600 });
    renameSync(`${file}.new`, file);
    return boots;
  } catch {
    return Math.min(Math.max(boots, otherwise), MOST_BOOTS);
  }
}
