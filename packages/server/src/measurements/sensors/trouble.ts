/** Which events a sensor makes. Pure. */
import { canonicalAddress } from '@rollcall/shared/ip';
import type { SensorReading } from '@rollcall/shared/sensors';
import type { Change, SensorTrouble } from '../../changes.ts';
import { ON_BATTERY_REASON } from './judge.ts';
import type { JudgedSensor } from './store.ts';

/** What is wrong with a sensor that is judged so; null: nothing. */
export function troubleOf({ reading, health, reason }: JudgedSensor): SensorTrouble | null {
  if (health === 'ok' || health === 'unknown') return null;
  if (reading.component === 'session') return 'session.down';
  if (reason === ON_BATTERY_REASON) return 'power.on-battery';
  if (reading.kind === 'storage') return 'storage.full';
  if (reading.kind === 'memory') return 'memory.full';
  if (reading.kind === 'processor') return 'processor.busy';
  if (health === 'warning') return 'sensor.warning';
  return reading.kind === 'state' ? 'hardware.failed' : 'sensor.critical';
}

/** Columns whose index begins with the IPv4 address of the far end: bgpPeerState (RFC 4273), ospfNbrState (RFC 4750). */
const PEERS = ['1.3.6.1.2.1.15.3.1.2.', '1.3.6.1.2.1.14.10.1.6.'];

/** The address of the far end of a session; null where neither its OID nor its name has one. */
export function peerOf({ key, name }: SensorReading): string | null {
  const column = PEERS.find((prefix) => key.startsWith(prefix));
  if (column) return canonicalAddress(key.slice(column.length).split('.').slice(0, 4).join('.'));
  return (
    name
      .split(/[\s,()[\]]+/)
      .map(canonicalAddress)
      .find((address) => address !== null) ?? null
  );
}

/** Whom changes are about. */
type About = Pick<
  Extract<Change, { kind: 'sensor.unhealthy' }>,
  'siteId' | 'collectorId' | 'deviceId' | 'deviceName' | 'address' | 'monitor'
>;

/**
 * What is to be told of the sensors of one device: trouble that is not present yet, and the end of what is.
 * @param present kinds of trouble that are present, by sensor
 */
export function sensorChanges(
  about: About,
  { judged, gone, at }: { judged: readonly JudgedSensor[]; gone: readonly string[]; at: number },
  present: (sensorId: string) => ReadonlySet<SensorTrouble>,
): Change[] {
  const changes = judged.flatMap((one): Change[] => {
    const of = troubleOf(one);
    const now = present(one.id);
    if (of === null)
      return now.size === 0
        ? []
        : [{ ...about, kind: 'sensor.healthy', at: one.at, before: {}, after: { sensorId: one.id } }];
    if (now.has(of) && now.size === 1) return [];
    const { name, kind, component = 'other', value = null } = one.reading;
    return [
      {
        ...about,
        ...{ kind: 'sensor.unhealthy', at: one.at, before: {} },
        after: {
          ...{ of, sensorId: one.id, name, kind, component, value, reason: one.reason },
          ...(of === 'session.down' ? { peer: peerOf(one.reading) } : {}),
        },
      },
    ];
  });
  const ended = gone.filter((id) => present(id).size > 0);
  return [
    ...changes,
    ...ended.map(
      (sensorId): Change => ({ ...about, kind: 'sensor.healthy', at, before: {}, after: { sensorId } }),
    ),
  ];
}
