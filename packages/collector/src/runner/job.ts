/** One job in progress: what it asks for, checked; its sweep; its record. */
import { AddressSpace } from '@rollcall/shared/address-space';
import { formatAddress } from '@rollcall/shared/ip';
import { JOB_ADDRESSES } from '@rollcall/shared/model';
import type { Assignment, Ruleset } from '@rollcall/shared/protocol';
import { parseTargets } from '@rollcall/shared/targets';
import type { SnmpCredential } from '@rollcall/snmp/engine/credential';
import { Bits } from '../icmp/bits.ts';
import type { Scope } from '../sweep/scope.ts';
import type { SweepTask } from '../sweep/task.ts';

/** A job as it will be swept. */
export interface Order {
  task: SweepTask;
  /** Addresses that are left alone: index → why, for the first of each run; they get their outcome at once. */
  refused: { index: number; reason: string | undefined }[];
  /** Addresses finished before. */
  before: number;
}

export type Ordered = { ok: true; order: Order } | { ok: false; reason: string };

/** Checks an assignment against the bounds of this collector. Pure. */
export function orderOf(
  assignment: Assignment,
  scope: Scope,
  credentials: readonly SnmpCredential[],
  extra: Ruleset['extra'],
): Ordered {
  const total = assignment.spans.reduce((sum, { count }) => sum + count, 0);
  if (total > JOB_ADDRESSES)
    return { ok: false, reason: `${total} addresses; a job has ${JOB_ADDRESSES} at most` };
  const space = spaceOf(assignment);
  if (!space || space.size === 0) return { ok: false, reason: 'its addresses cannot be read' };

  const done = bitmap(assignment.done, space.size);
  const outside = scope.refuse(space);
  if (outside.count === space.size) {
    return { ok: false, reason: [...outside.reasons.values()][0] ?? 'nothing that may be swept' };
  }
  const excluded = excludedBy(assignment.profile.exclude, space);
  const refused: Order['refused'] = [];
  let before = 0;
  for (let index = 0; index < space.size; index += 1) {
    if (done.has(index)) before += 1;
    else if (outside.bits.has(index)) refused.push({ index, reason: outside.reasons.get(index) });
    else if (excluded?.has(index)) refused.push({ index, reason: undefined });
  }
  const left = new Bits(space.size);
  for (const { index } of refused) left.set(index);
  return {
    ok: true,
    order: {
      before,
      refused,
      task: {
        space,
        skip: (index) => done.has(index) || left.has(index),
        profile: assignment.profile,
        credentials,
        known: (address) => assignment.known?.[address],
        extra,
        job: assignment.job,
      },
    },
  };
}

function spaceOf({ spans }: Assignment): AddressSpace | null {
  try {
    return AddressSpace.ofSpans(spans);
  } catch {
    return null;
  }
}

/** Lowest index in the lowest bit of the first byte. */
function bitmap(base64: string | undefined, size: number): Bits {
  const bits = new Bits(size);
  const bytes = Buffer.from(base64 ?? '', 'base64');
  for (let index = 0; index < Math.min(size, bytes.length * 8); index += 1) {
    if ((bytes[index >> 3] ?? 0) & (1 << (index & 7))) bits.set(index);
  }
  return bits;
}

/** The profile's exclusions, which the server has taken out already, unless it is an odd one. */
function excludedBy(exclude: readonly string[], space: AddressSpace): Bits | null {
  if (exclude.length === 0) return null;
  const text = space.ranges
    .map(
      ({ family, first, last }) =>
        `${formatAddress({ family, value: first })}-${formatAddress({ family, value: last })}`,
    )
    .join(' ');
  const kept = parseTargets(text, { exclude, allowLoopback: true, allowSpecial: true });
  const bits = new Bits(space.size);
  for (let index = 0; index < space.size; index += 1) {
    const address = space.addressAt(index);
    if (!kept.ok || !kept.targets.ranges.some((range) => range.contains(address))) bits.set(index);
  }
  return bits;
}
