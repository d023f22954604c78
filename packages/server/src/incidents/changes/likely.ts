/** Which of the changes before a case may have caused it. Pure. */
import type { LikelyChange } from '@rollcall/shared/api/changes';

/** How long before a case began changes are looked at, milliseconds. */
export const LOOKED_BACK_MS = 3_600_000;
/** Changes that are told. */
const TOLD = 20;

/** A change near a case. */
export interface Nearby {
  kind: string;
  /** Unix milliseconds. */
  at: number;
  deviceId: string | null;
  device: string | null;
  interfaceId: string | null;
  interface: string | null;
  /** Of a trap. */
  trapOid: string | null;
  /** Names of the fields that differ. */
  fields: readonly string[];
}

/** What a case is about. */
export interface Subject {
  begunAt: number;
  /** Its root, or the devices of its events where it has none. */
  devices: ReadonlySet<string>;
  interfaces: ReadonlySet<string>;
  /** Device → its ports that lead to one of them, and of themselves those that lead away, as far as they are known. */
  links: ReadonlyMap<string, ReadonlySet<string>>;
}

export type Verdict = Pick<LikelyChange, 'place' | 'likelihood' | 'reasons'>;

/** Traps by which makers tell that somebody changed the configuration. */
const CONFIGURED = new Set([
  // CISCO-CONFIG-MAN-MIB ciscoConfigManEvent and ccmCLIRunningConfigChanged.
  '1.3.6.1.4.1.9.9.43.2.0.1',
  '1.3.6.1.4.1.9.9.43.2.0.2',
  // JUNIPER-CFGMGMT-MIB jnxCmCfgChange.
  '1.3.6.1.4.1.2636.4.5.0.1',
  // HH3C-CONFIG-MAN-MIB hh3cCfgManEventlog.
  '1.3.6.1.4.1.25506.2.4.2.1',
  // HUAWEI-CONFIG-MAN-MIB hwCfgManEventlog.
  '1.3.6.1.4.1.2011.6.10.2.1',
]);
export const CONFIGURED_TRAPS: readonly string[] = [...CONFIGURED];

/** How often trouble follows a change of a kind: 0 to 1, by judgement, not by measurement. */
const WEIGHTS: Readonly<Record<string, readonly [weight: number, why: string]>> = {
  'device.swapped': [1, 'hardware replaced'],
  'device.upgraded': [0.95, 'OS version changed'],
  'interface.shut': [0.95, 'port shut down or enabled'],
  'address.conflict': [0.9, 'address conflict'],
  'device.renumbered': [0.85, 'management address changed'],
  'interface.removed': [0.85, 'interface removed'],
  'device.rebooted': [0.8, 'reboot'],
  'interface.speed': [0.75, 'speed changed'],
  'interface.duplex': [0.75, 'duplex changed'],
  'address.moved': [0.7, 'address moved'],
  'neighbour.changed': [0.7, 'neighbour changed'],
  'device.addresses': [0.7, 'addresses changed'],
  'device.vlans': [0.7, 'VLANs changed'],
  'device.hardware': [0.6, 'hardware parts changed'],
  'device.moved': [0.65, 'moved to another port'],
  'interface.changed': [0.5, 'interface settings changed'],
  'interface.added': [0.4, 'interface added'],
  'device.gone': [0.4, 'device gone'],
  'device.changed': [0.3, 'device details changed'],
  'device.new': [0.25, 'new device'],
  // Told only at the port that the case is about.
  'endpoint.moved': [0.45, 'endpoint moved there'],
  'endpoint.added': [0.35, 'endpoint appeared'],
};
/** Settings of an interface that decide where its frames go. */
const FORWARDING = new Set(['vlan', 'taggedVlans', 'aggregate', 'mtu']);
const OF_FORWARDING = [0.7, 'VLANs, aggregate or MTU of an interface changed'] as const;
/** Fields that people write for people: trouble seldom follows. */
const WORDS = new Set(['alias', 'description', 'location', 'contact', 'vendor', 'class', 'model']);
const OF_WORDS = 0.1;
const PLACE = { port: 1, root: 0.9, link: 0.9, neighbour: 0.6 } as const;
/** A port that leads elsewhere seldom harms the device behind another one. */
const OF_OTHER_PORTS = 0.4;
/** Most trouble shows within minutes of the change: after this time a change counts half. */
const HALF_MS = 20 * 60_000;

type Where = { place: LikelyChange['place']; weight: number; where: string };

/** How near the case a change was. */
function placeOf(change: Nearby, deviceId: string, { devices, interfaces, links }: Subject): Where {
  const { interfaceId } = change;
  const name = change.device ?? 'the device';
  const port = `${change.interface ?? 'a port'} of ${name}`;
  const found = (place: Where['place'], where: string) => ({ place, weight: PLACE[place], where });
  if (interfaceId !== null && interfaces.has(interfaceId))
    return found('port', `on ${port}, which the case is about`);
  const ends = links.get(deviceId);
  const aside = interfaceId !== null && ends !== undefined && !ends.has(interfaceId);
  if (interfaceId !== null && ends && !aside)
    return found('link', `on ${port}, a link of the affected device`);
  const where = devices.has(deviceId)
    ? found('root', `on ${name}, which the case is about`)
    : found('neighbour', `on ${name}, which has a link to it`);
  if (!aside) return where;
  return { ...where, weight: where.weight * OF_OTHER_PORTS, where: `on another port, ${port}` };
}

/** How often trouble follows such a change, and what it is called; null: never. */
function kindOf({ kind, fields, trapOid }: Nearby): readonly [weight: number, why: string] | null {
  if (trapOid !== null && CONFIGURED.has(trapOid)) return [1, 'configuration changed'];
  const words = fields.length > 0 && fields.every((field) => WORDS.has(field));
  if (words && kind in WEIGHTS) return [OF_WORDS, 'only names or descriptions changed'];
  if (kind === 'interface.changed' && fields.some((field) => FORWARDING.has(field))) return OF_FORWARDING;
  return WEIGHTS[kind] ?? null;
}

/** What is to be said of a change; null: it is none that a case could come from. */
function judge(change: Nearby, subject: Subject): Verdict | null {
  const age = subject.begunAt - change.at;
  const kind = kindOf(change);
  if (age < 0 || age > LOOKED_BACK_MS || change.deviceId === null || kind === null) return null;
  const { place, weight, where } = placeOf(change, change.deviceId, subject);
  const likelihood = Math.round((100 * kind[0] * weight) / (1 + age / HALF_MS));
  const minutes = Math.round(age / 60_000);
  const ago = minutes === 0 ? 'less than a minute before' : `${minutes} min before`;
  return { place, likelihood, reasons: [kind[1], where, ago] };
}

/** The changes that may have led to a case, the likeliest first. */
export function likelyChanges<Change extends Nearby>(
  changes: readonly Change[],
  subject: Subject,
): (readonly [Change, Verdict])[] {
  return changes
    .flatMap((change) => {
      const verdict = judge(change, subject);
      return verdict ? [[change, verdict] as const] : [];
    })
    .sort(([a, x], [b, y]) => y.likelihood - x.likelihood || b.at - a.at)
    .slice(0, TOLD);
}
