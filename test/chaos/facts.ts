/**
 * What a source observes, as a function of its number alone, and how each observation is known again in the database:
 *
 * - trap: one event of its own, which counts up should it be stored twice
 * - device: a new location each time, so the device's changes are a chain that no repetition and no hole fits into
 * - host: a device of its own, seen once or twice
 * - sample: a minute of the source's first device, with a sensor
 * - poison: not an observation, or not storable: a dead letter
 *
 * Every one carries its source and number in what is stored, so that it can be told from whom it truly came. Sources of
 * different sites use the same addresses and hardware addresses on purpose.
 */
import { createHash } from 'node:crypto';
import type {
  DeviceObservation,
  HostObservation,
  Observation,
  TrapObservation,
} from '@rollcall/shared/observation';
import type { Samples } from '@rollcall/shared/samples';
import type { Entry } from './ledger.ts';

export type FactKind = 'trap' | 'device' | 'host' | 'sample' | 'poison';

/** Which source: `index` over all, `place` within its site. */
export interface SourceName {
  index: number;
  place: number;
}

/** RFC 5612: the enterprise number for documentation. */
export const TRAP_OID = '1.3.6.1.4.1.32473';
const DEVICES = 50;
const ROUND = 20;
const POISON_EVERY = 2000;
/** Seldom, as in truth: a batch of them costs a transaction of its own, however few they are. */
const SAMPLE_EVERY = 100;

const digest = (value: unknown): string =>
  createHash('sha256').update(JSON.stringify(value)).digest('base64url');
export const hashOfText = (text: string): string => createHash('sha256').update(text).digest('base64url');

const uuid = (text: string): string => {
  const hex = createHash('sha256').update(text).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
};

/** Texts as devices send them: short, long, of all scripts, with everything that quotes and escapes. */
const TEXTS = [
  'up',
  'Überlastung\t«5»',
  "'; DROP TABLE events; --",
  '温度が高い 🌡️',
  '"\\u0041\\"',
  'e\u0301\r\n',
];
const textOf = (n: number): string =>
  `${TEXTS[n % TEXTS.length]}${n % 97 === 0 ? 'x'.repeat(4000) : ''}${n % 13 === 0 ? ' … '.repeat(20) : ''}`;

export interface Fact extends Entry {
  kind: FactKind;
  observation: Observation;
}

/** The device of a source that is measured, as the server knows it, and the end of an interval that no other one has. */
export interface Measured {
  deviceId: string;
  at: number;
}

export function factOf(source: SourceName, n: number, at: number, measured?: Measured): Fact {
  if (n % POISON_EVERY === POISON_EVERY - 1) return poison(source, n, at, '\u0000');
  if (n % POISON_EVERY === POISON_EVERY / 2 - 1) return poison(source, n, at, null);
  const place = n % ROUND;
  if (place === 0) return device(source, n, at);
  if (n % SAMPLE_EVERY === 7 && measured) return sample(n, measured);
  if (place < 8) return trap(source, n, at);
  return place < 18 ? host(source, n, n, 0, at) : host(source, n, n - 10, 1, at);
}

function trap(source: SourceName, n: number, at: number): Fact {
  const observation: TrapObservation = {
    kind: 'trap',
    at,
    address: `198.51.100.${1 + (n % 250)}`,
    snmpVersion: 'v2c',
    trapOid: `${TRAP_OID}.${source.index}.${n}`,
    varbinds: [
      { oid: '1.3.6.1.2.1.1.5.0', type: 'OctetString', value: textOf(n) },
      { oid: '1.3.6.1.2.1.2.2.1.1.7', type: 'Integer', value: String(n) },
    ],
  };
  const { trapOid: key, address, varbinds } = observation;
  return { n, kind: 'trap', key, hash: trapHash(address, varbinds), observation };
}
export const trapHash = (address: string, varbinds: TrapObservation['varbinds']): string =>
  digest([address, varbinds.map(({ oid, type, value }) => [oid, type, value])]);

function host(source: SourceName, n: number, which: number, version: number, at: number): Fact {
  const mac = macOf(0x02, source, which);
  const hostname = `h${which}v${version}.c${source.index}.chaos`;
  const rttMs = (which % 1000) / 8;
  const observation: HostObservation = {
    kind: 'host',
    at,
    address: addressOf(source, which),
    rttMs,
    snmp: 'silent',
    mac,
    hostname,
  };
  return {
    n,
    kind: 'host',
    key: `${which}#${version}`,
    hash: hostHash({ address: observation.address, mac, rttMs }),
    observation,
  };
}
export const hostHash = (host: { address: string; mac: string; rttMs: number }): string =>
  digest([host.address, host.mac, host.rttMs]);

/** IPv4 for every other one, IPv6 else; the same in every site. */
const addressOf = ({ place }: SourceName, which: number): string =>
  which % 2 === 0
    ? `10.${place * 16 + ((which >> 16) & 15)}.${(which >> 8) & 255}.${which & 255}`
    : `2001:db8:${(place + 1).toString(16)}::${((which >> 16) + 1).toString(16)}:${(which & 0xffff || 1).toString(16)}`;

const macOf = (first: number, { place }: SourceName, which: number): string =>
  [first, place, which >>> 24, which >> 16, which >> 8, which]
    .map((byte) => (byte & 255).toString(16).padStart(2, '0'))
    .join(':');

function device(source: SourceName, n: number, at: number): Fact {
  const round = n / ROUND;
  const which = round % DEVICES;
  const version = Math.floor(round / DEVICES);
  const serial = `CHAOS${source.index}X${which}`;
  const observation: DeviceObservation = {
    kind: 'device',
    at,
    walk: uuid(`walk ${source.index} ${n}`),
    address: `192.168.${source.place}.${which + 1}`,
    snmpVersion: 'v2c',
    system: {
      sysName: `d${which}.c${source.index}.chaos`,
      sysDescr: 'Chaos switch',
      sysObjectId: `${TRAP_OID}.9.${which}`,
      sysLocation: locationOf(version, n),
    },
    addresses: [`192.168.${source.place}.${which + 1}`],
    macs: [macOf(0x06, source, which)],
    chassis: [{ index: 1, class: 'chassis', serial, model: 'CHAOS-48' }],
    vendor: {},
  };
  return {
    n,
    kind: 'device',
    key: `${which}#${version}`,
    hash: hashOfText(locationOf(version, n)),
    observation,
  };
}
const locationOf = (version: number, n: number): string => `v${version} ${TEXTS[n % 4]}`;

/** Name of the device that a source measures. */
export const measuredName = ({ index }: SourceName): string => `d0.c${index}.chaos`;

/** Its number is the pings that were sent: known again in a row, a chunk and a series alike. */
function sample(n: number, { deviceId, at }: Measured): Fact {
  const value = 20 + (n % 200) / 10;
  const ping = { sent: n, lost: 0, minMs: 1, avgMs: 1 + (n % 1000) / 8, maxMs: 200 };
  const sensors = [{ key: `${TRAP_OID}.1.1`, kind: 'temperature' as const, name: 'Inlet', value }];
  const observation: Samples = { kind: 'samples', at, deviceId, overMs: OVER_MS, ping, sensors };
  return {
    n,
    kind: 'sample',
    key: String(n),
    hash: sampleHash({ overMs: OVER_MS, avgMs: ping.avgMs, sensor: value }),
    observation,
  };
}
const OVER_MS = 60_000;
export const sampleHash = (one: { overMs: number; avgMs: number | null; sensor: number | null }): string =>
  digest([one.overMs, one.avgMs, one.sensor]);

/** Not valid (an address that is none), or valid and not storable (jsonb holds no NUL). */
function poison(source: SourceName, n: number, at: number, nul: string | null): Fact {
  const { observation } = trap(source, n, at);
  const spoilt =
    nul === null
      ? { ...observation, address: `nowhere ${n}` }
      : { ...observation, varbinds: [{ oid: '1.3', type: 'OctetString', value: `a${nul}b` }] };
  return {
    n,
    kind: 'poison',
    key: `${TRAP_OID}.${source.index}.${n}`,
    hash: hashOfText(JSON.stringify(spoilt)),
    observation: spoilt as Observation,
  };
}
