/** What an observation claims for its device: evidence is taken, shared or told as a conflict. No database, no clock. */
import { byAddress } from '@rollcall/shared/ip';
import type { Change } from '../../changes.ts';
import { aboutDevice, current, type Tracked, type World } from '../world.ts';
import { claims, type EvidenceKey, type Fingerprint, keyText } from './fingerprint.ts';
import type { Decision } from './identify.ts';

/**
 * What is to be told once the observation is merged: before that the device has no name and may still be managed elsewhere.
 */
export type Later = () => Change;

/** Conflicts are told once: from then on the evidence is shared and says nothing. */
export function report(
  world: World,
  decision: Decision,
  device: Tracked,
  at: number,
  collectorId: string,
): Later[] {
  return decision.conflicts.flatMap((conflict): Later[] => {
    const mark: EvidenceKey = { kind: 'shared', value: keyText(conflict.key) };
    if (world.holders.has(keyText(mark))) return [];
    setHolder(world, mark, conflict.deviceId, at);
    const other = world.devices.get(current(world, conflict.deviceId));
    const told = (): Change => ({
      ...aboutDevice(device, at, collectorId),
      kind: 'identity.conflict',
      before: {
        deviceId: conflict.deviceId,
        deviceName: other?.row.name ?? '',
        address: other?.row.address ?? null,
      },
      after: { evidence: conflict.key.kind, value: conflict.key.value, reason: conflict.reason },
    });
    return [told];
  });
}

/** Evidence is written again only to move "last seen" coarsely. */
const EVIDENCE_GRAIN_MS = 24 * 3600_000;

function setHolder(world: World, key: EvidenceKey, deviceId: string, at: number): void {
  const text = keyText(key);
  if (world.holders.get(text) === deviceId && at - (world.evidenceSeen.get(text) ?? 0) < EVIDENCE_GRAIN_MS)
    return;
  world.holders.set(text, deviceId);
  world.evidenceSeen.set(text, at);
  world.claimed.set(text, { ...key, deviceId, at });
}

export function claim(world: World, device: Tracked, print: Fingerprint, at: number): Later[] {
  const later: Later[] = [];
  for (const key of claims(print)) {
    const shared: EvidenceKey = { kind: 'shared', value: keyText(key) };
    if (world.holders.has(keyText(shared))) continue;
    const holder = world.holders.get(keyText(key));
    if (holder === undefined || holder === device.row.id || !saysStill(world, holder, key))
      setHolder(world, key, device.row.id, at);
    else if (key.kind === 'address') later.push(...takeAddress(world, device, holder, key, at));
    // Two devices with one value: it tells nothing from now on.
    else setHolder(world, shared, holder, at);
  }
  device.addresses.add(print.address);
  return later;
}

/** Whether the holder of evidence still shows it: hardware that was replaced may be in use elsewhere. */
function saysStill(world: World, holder: string, key: EvidenceKey): boolean {
  if (key.kind === 'address') return true;
  const print = world.devices.get(current(world, holder))?.print;
  return !print || claims(print).some((each) => keyText(each) === keyText(key));
}

/** The address answers as another device now (DHCP, a virtual address, a replaced device). */
function takeAddress(world: World, device: Tracked, holder: string, key: EvidenceKey, at: number): Later[] {
  const old = world.devices.get(holder);
  setHolder(world, key, device.row.id, at);
  world.left.push({ deviceId: holder, address: key.value });
  if (!old) return [];
  old.addresses.delete(key.value);
  const before = { deviceId: holder, deviceName: old.row.name };
  const both = (old.print?.addresses ?? []).filter((address) => device.print?.addresses.includes(address));
  // What the old one said before the new one had it proves nothing: it may have given it away.
  const since = world.listing.get(key.value)?.get(device.row.id) ?? Number.POSITIVE_INFINITY;
  const contested = both.length === 1 && both[0] === key.value && (old.row.mergedAt ?? 0) >= since;
  const told = (): Change => {
    const about = aboutDevice(device, at, device.seen.collectorId);
    const { id, name } = device.row;
    const reason = `${old.row.name} and ${name || 'a new device'} both list ${key.value} as their own`;
    return contested
      ? { ...about, kind: 'address.conflict', before, after: { address: key.value, reason } }
      : {
          ...about,
          kind: 'address.moved',
          before,
          after: { deviceId: id, deviceName: name, address: key.value },
        };
  };
  if (old.row.address === key.value) {
    const [next] = [...old.addresses].sort(byAddress);
    // Its next walk is merged as a whole, even if it says what it said: its address stands in more than its row.
    const { device: _, ...received } = old.row.received;
    if (next) old.row = { ...old.row, address: next, received };
  }
  return [told];
}
