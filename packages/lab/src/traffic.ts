/**
 * What flows through a port, as a pure function of port and time: a working day with a lunch break and a quiet night, so
 * that counters move as in a real network. What goes out of one end of a cable comes in at the other.
 */
import type { Device, Load, Port } from './device.ts';
import { digest } from './seed.ts';

export type Direction = 'in' | 'out';

/** What was counted in one direction since the box started. */
export interface Carried {
  octets: bigint;
  unicast: bigint;
  multicast: bigint;
  broadcast: bigint;
  errors: bigint;
  discards: bigint;
}

const DAY = 86_400;
/** Octets of a packet, on average. */
const PACKET = 720;
/** Waves: period in seconds, height as a share of the peak, second of their crest. What remains is never negative. */
const WORKING_DAY = {
  mean: 0.5,
  waves: [
    [DAY, 0.36, 13 * 3600],
    [DAY / 2, 0.05, 10 * 3600],
    [613, 0.03, 0],
    [97, 0.02, 0],
  ],
} as const;
const FULL = {
  mean: 0.97,
  waves: [
    [613, 0.01, 0],
    [97, 0.005, 0],
  ],
} as const;

interface Flow {
  /** Names it: every flow has crests of its own. */
  name: string;
  /** bit/s of its highest moment, and of the link. */
  peak: number;
  speed: number;
  load: Load;
}

/**
 * Everything carried in one direction until `uptime` seconds after the lab started.
 * @param startedAt local time at which it started, seconds
 */
export function carried(
  device: Device,
  port: Port,
  direction: Direction,
  startedAt: number,
  uptime: number,
): Carried {
  const flow = flowOf(device, port, direction);
  const octets = port.oper === 'up' ? octetsOf(flow, device, startedAt, uptime) : 0n;
  const packets = octets / BigInt(PACKET);
  const share = (part: number) => (packets * BigInt(Math.round(part * 1e6))) / 1_000_000n;
  const [multicast, broadcast] = [share(0.012), share(0.005)];
  return {
    octets,
    unicast: packets - multicast - broadcast,
    multicast,
    broadcast,
    errors: share(flow.load.errors ?? 0),
    discards: share(flow.load.full ? 0.0008 : 0),
  };
}

/** Share of a link that a burst fills. */
const BURST = 0.97;

/** A flow has one sender: what comes in over a cable is what its other end sends. */
function flowOf(device: Device, port: Port, direction: Direction): Flow {
  const { peer } = port;
  if (direction === 'out')
    return flowFrom(device.name, port, peer?.port, { ...peer?.port.load?.in, ...port.load?.out });
  if (peer) return flowFrom(peer.device, peer.port, port, { ...port.load?.in, ...peer.port.load?.out });
  return flowFrom(`${device.name} from`, port, undefined, port.load?.in ?? {});
}

function flowFrom(sender: string, port: Port, to: Port | undefined, load: Load): Flow {
  const name = `${sender} ${port.name}`;
  // Between switches and routers flows what many send, at an edge port what one does.
  const share = port.trunk ? 60 + digest(name, 340) : 3 + digest(name, 80);
  const speed = Math.min(port.speed, to?.speed ?? port.speed);
  return { name, peak: (speed * share) / 1000, speed, load };
}

/** Octets until then; a burst has its own in the place of those that would have been. */
function octetsOf(flow: Flow, device: Device, startedAt: number, uptime: number): bigint {
  let octets = usualOctets(flow, device, startedAt, uptime);
  for (const { from, to = Number.POSITIVE_INFINITY } of flow.load.bursts ?? []) {
    const [begin, end] = [from, to].map((time) => Math.min(Math.max(0, time - startedAt), uptime)) as [
      number,
      number,
    ];
    const usual = (until: number) => usualOctets(flow, device, startedAt, until);
    octets += BigInt(Math.floor(((end - begin) * BURST * flow.speed) / 8)) - (usual(end) - usual(begin));
  }
  return octets;
}

/** Before the lab started as much as on an average day, so that the numbers are those of an old box. */
function usualOctets({ name, peak, load }: Flow, device: Device, startedAt: number, uptime: number): bigint {
  const shape = load.full ? FULL : WORKING_DAY;
  const perSecond = (load.full ?? peak) / 8;
  const before = BigInt(Math.floor(device.upBefore)) * BigInt(Math.floor(perSecond * shape.mean));
  const shift = digest(`${name} crest`, 3600) - 1800;
  let seconds = shape.mean * uptime;
  for (const [period, height, crest] of shape.waves) {
    const turn = (2 * Math.PI) / period;
    const from = turn * (startedAt - crest - shift);
    seconds += (height / turn) * (Math.sin(from + turn * uptime) - Math.sin(from));
  }
  return before + BigInt(Math.floor(perSecond * Math.max(0, seconds)));
}
