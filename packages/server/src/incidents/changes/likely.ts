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
const PLACE = { port: 1, root: 0.9, neighbour: 0.6 } as const;

/** What is to be said of a change; null: it is none that a case could come from. */
function judge(change: Nearby, { begunAt, devices, interfaces }: Subject): Verdict | null {
  const age = begunAt - change.at;
  if (age < 0 || age > LOOKED_BACK_MS || change.deviceId === null) return null;
  const configured = change.trapOid !== null && CONFIGURED.has(change.trapOid);
  const [weight, why] = configured
    ? [1, 'configuration changed']
    : change.kind === 'interface.changed' && change.fields.some((field) => FORWARDING.has(field))
      ? OF_FORWARDING
      : (WEIGHTS[change.kind] ?? [undefined, '']);
  if (weight === undefined) return null;
  const onPort = change.interfaceId !== null && interfaces.has(change.interfaceId);
  const place = onPort ? 'port' : devices.has(change.deviceId) ? 'root' : 'neighbour';
  const words = change.fields.length > 0 && change.fields.every((field) => WORDS.has(field));
  // Half of it goes with time: what happened just before is likelier than what happened an hour ago.
  const recency = 1 - age / LOOKED_BACK_MS / 2;
  const likelihood = Math.round(100 * (words ? OF_WORDS : weight) * PLACE[place] * recency);
  const name = change.device ?? 'the device';
  const where = {
    port: `on ${change.interface ?? 'the port'} of ${name}, which the case is about`,
    root: `on ${name}, which the case is about`,
    neighbour: `on ${name}, which has a link to it`,
  }[place];
  const minutes = Math.round(age / 60_000);
  const reasons = [words ? 'only names or descriptions changed' : why, where];
  return {
    place,
    likelihood,
    reasons: [...reasons, minutes === 0 ? 'less than a minute before' : `${minutes} min before`],
  };
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
