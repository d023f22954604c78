/**
 * Which device is this? Pure: an observation's fingerprint and the devices that hold any of its evidence go in; the
 * device, the reason, and what must be remembered come out.
 *
 * Each piece of evidence agrees, contradicts, or says nothing. One strong agreement (engine id, chassis serial, base MAC, own address
 * table) that nothing contradicts is the same device; against contradictions (engine id, serial, MACs, maker) strong
 * agreements must be more. Else it is a conflict: nothing is merged, the evidence is remembered as shared, and from then
 * on it says nothing. Without strong evidence the same MACs, or the same address with nothing against it, are enough. Agents
 * that ran at the same time and began at different ones are of two devices, whatever else agrees: a copy has all that its
 * original has. A person's decision wins over all.
 */
import { isSameBoot } from '../tables/merge.ts';
import { claims, type EvidenceKey, type Fingerprint, keyText, vendorEnterprise } from './fingerprint.ts';

/** From when to when an agent ran, as far as it is known, Unix milliseconds. */
export interface Run {
  bootedAt: number;
  readAt: number;
}

/** A device that holds some evidence of the observation, as it is known. */
export interface Candidate {
  deviceId: string;
  print: Fingerprint;
  /** Unix milliseconds; the older record survives when two prove to be one. */
  firstSeen: number;
  lastSeen: number;
  /** Its own address table names the address that answered. */
  lists: boolean;
  /** Addresses it was reached on, that its MAC is known at. */
  addressCount: number;
  /** Of its agent, as long as it was heard; null: it does not say. */
  run: Run | null;
}

export interface Known {
  candidates: readonly Candidate[];
  /** `keyText` of evidence → device that holds it. */
  holders: ReadonlyMap<string, string>;
  /** Device pairs that a person split: `a|b` in both orders. */
  apart: ReadonlySet<string>;
}

export type Reason =
  | 'manual'
  | 'engine-id'
  | 'serial'
  | 'chassis-mac'
  | 'own-address'
  | 'macs'
  | 'address'
  | 'replaced'
  | 'new';

export interface Decision {
  /** Null: a new device. */
  deviceId: string | null;
  reason: Reason;
  /** What agreed and what differed, for people. */
  because: string;
  /** Records that are the same device and go into it. */
  absorb: { deviceId: string; reason: Reason }[];
  /** Strong agreement, contradicted: merged nothing. */
  conflicts: { deviceId: string; key: EvidenceKey; reason: string }[];
}

type Verdict = 'agree' | 'differ' | undefined;
interface Comparison {
  engine: Verdict;
  serial: Verdict;
  chassis: Verdict;
  table: Verdict;
  macs: Verdict;
  name: Verdict;
  type: Verdict;
  maker: Verdict;
  run: Verdict;
  /** The candidate was last reached on this very address. */
  place: boolean;
}

/** A host's MAC stands for at most so many addresses; above it is a router that answers ARP for others. */
const ADDRESSES_PER_MAC = 8;
/** ARP and the agent may name different MACs of one device; within this time at one address they are one. */
const SAME_MOMENT_MS = 600_000;

/** @param run of the agent that was read, if it says. */
export function identify(print: Fingerprint, at: number, known: Known, run: Run | null = null): Decision {
  const byPerson = decidedByPerson(print, known);
  if (byPerson)
    return {
      deviceId: byPerson,
      reason: 'manual',
      because: 'decided by a person',
      absorb: [],
      conflicts: [],
    };

  const judged = known.candidates.map((candidate) => ({
    candidate,
    ...judge({ print, run, at }, candidate, known),
  }));
  const agent = agentElsewhere(print, known);
  if (agent)
    return {
      deviceId: agent,
      reason: 'own-address',
      because: `its agent answers here as at ${print.aliasOf}, and lists this address`,
      // The record of an address that answered before its agent was read.
      absorb: judged
        .filter((j) => j.verdict === 'same' && !j.candidate.print.snmp)
        .map((j) => ({ deviceId: j.candidate.deviceId, reason: j.reason })),
      conflicts: [],
    };
  const same = judged.filter((j) => j.verdict === 'same').sort(byStrength);
  const place = judged.filter((j) => j.verdict === 'place').sort(byStrength);
  const winner = same[0] ?? place[0];
  const conflicts = judged
    .filter((j) => j.verdict === 'conflict' && j.candidate !== winner?.candidate)
    .flatMap((j) => j.shared.map((key) => ({ deviceId: j.candidate.deviceId, key, reason: j.because })));
  if (!winner)
    return { deviceId: null, reason: 'new', because: 'no known device agrees', absorb: [], conflicts };
  const absorb = same
    .filter((j) => j !== winner && mayMerge(winner.candidate, j.candidate, known))
    .map((j) => ({ deviceId: j.candidate.deviceId, reason: j.reason }));
  return {
    deviceId: winner.candidate.deviceId,
    reason: winner.reason,
    because: winner.because,
    absorb,
    conflicts,
  };
}

/** The device whose agent the collector recognised at this address: it holds it from now on. */
function agentElsewhere({ address, aliasOf }: Fingerprint, known: Known): string | undefined {
  if (!aliasOf || aliasOf === address) return undefined;
  const holder = known.holders.get(keyText({ kind: 'address', value: aliasOf }));
  return known.candidates.find(({ deviceId, print }) => deviceId === holder && print.snmp)?.deviceId;
}

/** Evidence bound by hand; the address says most exactly what the person meant. */
function decidedByPerson(print: Fingerprint, known: Known): string | undefined {
  for (const key of claims(print)) {
    const holder = known.holders.get(keyText({ kind: 'manual', value: keyText(key) }));
    if (holder) return holder;
  }
  return undefined;
}

interface Judgement {
  verdict: 'same' | 'place' | 'conflict' | 'other';
  reason: Reason;
  because: string;
  strength: number;
  /** Strong evidence that agreed although the devices differ. */
  shared: EvidenceKey[];
}

const byStrength = (
  a: Judgement & { candidate: Candidate },
  b: Judgement & { candidate: Candidate },
): number =>
  b.strength - a.strength ||
  a.candidate.firstSeen - b.candidate.firstSeen ||
  (a.candidate.deviceId < b.candidate.deviceId ? -1 : 1);

interface Read {
  print: Fingerprint;
  run: Run | null;
  at: number;
}

function judge({ print, run, at }: Read, candidate: Candidate, known: Known): Judgement {
  const c = compare({ print, run }, candidate, known);
  const agreed = namesOf(c, 'agree');
  const differed = namesOf(c, 'differ');
  const because = [
    agreed.length > 0 ? `same ${agreed.join(', ')}` : '',
    c.place ? 'same address' : '',
    differed.length > 0 ? `different ${differed.join(', ')}` : '',
  ]
    .filter(Boolean)
    .join('; ');
  const verdict = print.snmp && candidate.print.snmp ? betweenAgents(c) : withHost(print, candidate, c, at);
  return {
    ...verdict,
    because,
    strength:
      (verdict.verdict === 'same' ? 100 : 0) + agreed.length * 10 - differed.length + (c.place ? 5 : 0),
    shared: verdict.verdict === 'conflict' ? sharedKeys(print, c) : [],
  };
}

type Outcome = Pick<Judgement, 'verdict' | 'reason'>;
const outcome = (verdict: Outcome['verdict'], reason: Reason): Outcome => ({ verdict, reason });

/** Both were read by SNMP. */
function betweenAgents(c: Comparison): Outcome {
  const strong: [Reason, Verdict][] = [
    ['engine-id', c.engine],
    ['serial', c.serial],
    ['chassis-mac', c.chassis],
    ['own-address', c.table],
  ];
  const agreeing = strong.filter(([, verdict]) => verdict === 'agree').map(([reason]) => reason);
  const against = [c.engine, c.serial, c.macs, c.maker].filter((verdict) => verdict === 'differ').length;
  const differing = [c.name, c.type, c.table, c.chassis].filter((verdict) => verdict === 'differ').length;
  const [reason] = agreeing;
  if (c.run === 'differ')
    return outcome(reason && reason !== 'own-address' ? 'conflict' : 'other', reason ?? 'new');
  if (reason) {
    const votes = agreeing.length + (c.macs === 'agree' ? 1 : 0);
    // Two devices each list their own address and not the other's: one engine id alone is a factory default then.
    const alone = votes === 1 && (differing >= 2 || (reason === 'engine-id' && c.table === 'differ'));
    const addressOnly = votes === 1 && reason === 'own-address' && c.name === 'differ';
    if (against === 0 && !(alone && !c.place) && !addressOnly) return outcome('same', reason);
    if (votes > against && against > 0) return outcome('same', reason);
    if (c.place && c.name === 'agree') return outcome('place', 'replaced');
    return outcome(addressOnly || reason === 'own-address' ? 'other' : 'conflict', reason);
  }
  if (c.macs === 'agree' && against === 0 && (c.place || c.name !== 'differ')) return outcome('same', 'macs');
  if (!c.place) return outcome('other', 'new');
  if (against > 0) return c.name === 'agree' ? outcome('place', 'replaced') : outcome('other', 'new');
  return c.name === 'differ' && c.type === 'differ' ? outcome('other', 'new') : outcome('place', 'address');
}

/** At least one side is a host of which only address, MAC and name are known. */
function withHost(print: Fingerprint, candidate: Candidate, c: Comparison, at: number): Outcome {
  const known = candidate.print;
  // Other MACs of an agent's list are unknown above its bound.
  const differ = c.macs === 'differ' && known.macs.length < 256 && print.macs.length < 256;
  if (c.place) {
    const moment = print.snmp !== known.snmp && Math.abs(at - candidate.lastSeen) < SAME_MOMENT_MS;
    if (differ) return moment ? outcome('place', 'address') : outcome('other', 'new');
    return outcome('same', 'address');
  }
  if (differ) return outcome('other', 'new');
  if (print.snmp && print.addresses.includes(known.address)) return outcome('same', 'own-address');
  if (known.snmp && candidate.lists) return outcome('same', 'own-address');
  if (c.macs !== 'agree') return outcome('other', 'new');
  return candidate.addressCount >= ADDRESSES_PER_MAC && !known.snmp
    ? outcome('other', 'new')
    : outcome('same', 'macs');
}

function compare({ print, run }: Omit<Read, 'at'>, candidate: Candidate, known: Known): Comparison {
  const other = candidate.print;
  const single = (kind: EvidenceKey['kind']) => !isShared(print, kind, known);
  const table = tables(print, candidate);
  const makers = [vendorEnterprise(print.sysObjectId), vendorEnterprise(other.sysObjectId)] as const;
  return {
    engine: single('engine-id') ? equal(print.engineId, other.engineId) : undefined,
    serial: single('serial') ? oneMain(print.serials, other.serials) : undefined,
    chassis: meet(print.chassis, other.chassis),
    table,
    macs: print.snmp && other.snmp ? mostly(print.macs, other.macs) : within(print, other),
    name: single('sys-name') ? equal(print.sysName?.toLowerCase(), other.sysName?.toLowerCase()) : undefined,
    type: equal(print.sysObjectId, other.sysObjectId),
    maker: makers[0] !== null && makers[1] !== null && makers[0] !== makers[1] ? 'differ' : undefined,
    run: ranBeside({ print, run }, candidate, table) ? 'differ' : undefined,
    place: known.holders.get(keyText({ kind: 'address', value: print.address })) === candidate.deviceId,
  };
}

/**
 * Whether both ran at one time, and each began at its own. A device may have several agents: that they are its own is told by
 * the addresses that they list. At the address where it is managed, what was read elsewhere may be the other one.
 */
function ranBeside({ print, run: a }: Omit<Read, 'at'>, candidate: Candidate, table: Verdict): boolean {
  const { run: b } = candidate;
  if (!a || !b || table === 'agree' || print.address === candidate.print.address) return false;
  const [first, last] = a.bootedAt <= b.bootedAt ? [a, b] : [b, a];
  return (
    last.bootedAt < first.readAt &&
    last.bootedAt < last.readAt &&
    !isSameBoot(first.bootedAt, last.bootedAt, last.readAt)
  );
}

const isShared = (print: Fingerprint, kind: EvidenceKey['kind'], known: Known): boolean =>
  claims(print).some(
    (key) => key.kind === kind && known.holders.has(keyText({ kind: 'shared', value: keyText(key) })),
  );

const equal = (a: string | null | undefined, b: string | null | undefined): Verdict =>
  a && b ? (a === b ? 'agree' : 'differ') : undefined;

const meet = (a: readonly string[], b: readonly string[]): Verdict =>
  a.length === 0 || b.length === 0 ? undefined : a.some((x) => b.includes(x)) ? 'agree' : 'differ';

/** The main serial of one is among the other's: members of a stack come and go, masters change. */
const oneMain = (a: readonly string[], b: readonly string[]): Verdict => {
  const [mainA, mainB] = [a[0], b[0]];
  if (mainA === undefined || mainB === undefined) return undefined;
  return a.includes(mainB) || b.includes(mainA) ? 'agree' : 'differ';
};

/** More than half of the smaller set in common, or nothing at all; between those it says nothing. */
const mostly = (a: readonly string[], b: readonly string[]): Verdict => {
  if (a.length === 0 || b.length === 0) return undefined;
  const set = new Set(b);
  const common = a.filter((x) => set.has(x)).length;
  if (common === 0) return 'differ';
  return common * 2 > Math.min(a.length, b.length) ? 'agree' : undefined;
};

/** The MAC of a host among all of the other's. */
const within = (a: Fingerprint, b: Fingerprint): Verdict =>
  meet([...a.macs, ...a.chassis], [...b.macs, ...b.chassis]);

/**
 * Whether two address tables speak of one device. A device asked twice lists the same, or part of it; a pair that shares
 * addresses has one of its own on either side.
 */
function tables(print: Fingerprint, { print: other, lists }: Candidate): Verdict {
  if (print.addresses.length === 0 || other.addresses.length === 0) return undefined;
  const mine = new Set(print.addresses);
  const theirs = new Set(other.addresses);
  const common = other.addresses.filter((address) => mine.has(address)).length;
  if (common < mine.size && common < theirs.size) {
    const ownHere = mine.has(print.address) && !theirs.has(print.address);
    const ownThere = theirs.has(other.address) && !mine.has(other.address);
    return ownHere && ownThere ? 'differ' : undefined;
  }
  const here = lists || theirs.has(print.address);
  return here || common * 2 > Math.max(mine.size, theirs.size) ? 'agree' : undefined;
}

const NAMES: [keyof Comparison, string][] = [
  ['engine', 'engine id'],
  ['serial', 'serial'],
  ['chassis', 'base MAC'],
  ['table', 'own addresses'],
  ['macs', 'MACs'],
  ['name', 'sysName'],
  ['type', 'sysObjectID'],
  ['maker', 'manufacturer'],
  ['run', 'time of start'],
];
const namesOf = (c: Comparison, verdict: Verdict): string[] =>
  NAMES.filter(([key]) => c[key] === verdict).map(([, name]) => name);

/** The strong claims that agreed. */
const sharedKeys = (print: Fingerprint, c: Comparison): EvidenceKey[] =>
  claims(print).filter(
    ({ kind }) =>
      (kind === 'engine-id' && c.engine === 'agree') ||
      (kind === 'serial' && c.serial === 'agree') ||
      (kind === 'chassis-mac' && c.chassis === 'agree'),
  );

/** Two records become one only if they do not contradict each other and no person split them. */
function mayMerge(winner: Candidate, other: Candidate, known: Known): boolean {
  if (known.apart.has(`${winner.deviceId}|${other.deviceId}`)) return false;
  if (!winner.print.snmp || !other.print.snmp) return true;
  const nobody: Known = { candidates: [], holders: new Map(), apart: new Set() };
  const c = compare(winner, other, nobody);
  return [c.engine, c.serial, c.macs, c.maker, c.run].every((verdict) => verdict !== 'differ');
}
