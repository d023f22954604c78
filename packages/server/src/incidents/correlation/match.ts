/** The rules by which an event belongs to a case. Pure. */
import { LATE_ROOT_MS } from '../conditions/condition.ts';

/** The ends of a session are known as down so far apart: each is read for itself every five minutes, after its hold time. */
const SESSION_MS = 600_000;

/** An event that was just raised and may belong to a case. */
export interface Incoming {
  eventId: string;
  /** When it set in, Unix milliseconds. */
  at: number;
  message: string;
  deviceId: string | null;
  /** The device that is down and explains it. */
  rootId: string | null;
  /** The case that the same trouble was in last. */
  formerCaseId: string | null;
  /** Whether it may open a case, or only join one. */
  opens: boolean;
  /** It says that a device is down: others may be down because of it. */
  down: boolean;
  /** The port that it is about. */
  interfaceId: string | null;
  /** Address at the far end of the routing session that it says is down. */
  peer: string | null;
}

/** A case that is not closed. */
export interface OpenCase {
  id: string;
  rootDeviceId: string | null;
  /** Devices of its events, as far as they matter to the incoming ones. */
  deviceIds: ReadonlySet<string>;
  /** Those of them that it says are down, for their own sake. */
  downIds: ReadonlySet<string>;
  /** It says, or said, that the device that it is about is down. */
  rootWasDown: boolean;
  /** All of its events are of the site itself. */
  siteLevel: boolean;
  /** When the first of its events set in. */
  begunAt: number;
  /** Somebody works on it: it is not merged away. */
  taken: boolean;
  /** When it was resolved, Unix milliseconds; null: it is not. */
  resolvedAt: number | null;
}

export interface Grouping {
  /** Trouble that is known to have one place only by its time shares a case within this time of the case's first. */
  windowMs: number;
  /** Open events of one device, or of the site, until a case is made of them. */
  minimum: number;
  /** A resolved case takes trouble back for this long; afterwards it is a new one. */
  reopenMs: number;
}

export type Reason =
  /** The same trouble came back. */
  | 'recurrence'
  /** Its root is the case's. */
  | 'root'
  /** Its port leads to a device that the case says is down; it is the other end of its cable, or of one of its sessions. */
  | 'far-end'
  /** It explains the root of the case, or is at the far end of the port that the case is about. */
  | 'cause'
  /** Nothing of the site is up, and the case is about that. */
  | 'outage'
  /** Other trouble of the device that the case is about, at about the same time. */
  | 'device'
  /** Its device went down at about the same time as one beside it. */
  | 'link'
  /** Neither has a device: it is the site. */
  | 'site'
  | 'new'
  /** Fewer open events than the site wants for a case. */
  | 'too-few'
  /** What explains it has no event yet, and takes it in then. */
  | 'awaits-root'
  /** It opens none by itself. */
  | 'joins-only';

/** No watched device of the site is up: the site is down, whatever links are known. */
export interface Outage {
  /** Those that are down; none while one is up. */
  devices: ReadonlySet<string>;
  /** Cases that it is in by now → when it set in. */
  cases: ReadonlyMap<string, number>;
  /** Devices that others of it lie behind. */
  roots: ReadonlySet<string>;
}

export interface World {
  cases: readonly OpenCase[];
  /** Device → devices it is linked to. */
  links: ReadonlyMap<string, ReadonlySet<string>>;
  /** Open events without a case, by device id; '' stands for the site. */
  waiting: ReadonlyMap<string, readonly string[]>;
  /** Open events without a case that open none themselves, by device id: what just happened before its trouble. */
  joiners: ReadonlyMap<string, readonly string[]>;
  /** Open events without a case, by the device that explains them. */
  suppressed: ReadonlyMap<string, readonly string[]>;
  /** Device that is down → the device that explains it, as far as it matters to the incoming ones. */
  causes: ReadonlyMap<string, string>;
  /** Case that is about ports alone, or incoming event of a port → the devices at their far ends, as far as known. */
  farEnds: ReadonlyMap<string, ReadonlySet<string>>;
  /** Case, or incoming event of a session that is down → whose it is: pairs of devices, the same for both ends. */
  sessions: ReadonlyMap<string, ReadonlySet<string>>;
  outage: Outage;
  /** Device that explains incoming events → the case that its being down is in; null: no event says that yet. */
  roots: ReadonlyMap<string, string | null>;
  grouping: Grouping;
  newId: () => string;
}

/** A case while events are placed. */
export interface Candidate extends OpenCase {
  deviceIds: Set<string>;
  downIds: Set<string>;
  sessions: Set<string>;
  /** Where its ports lead; null: it is about more than ports. */
  farEnds: ReadonlySet<string> | null;
}

/** What set in before a case was resolved, and is told later, is no less of it. */
const isOpenFor = ({ at }: Incoming, { resolvedAt }: Candidate): boolean =>
  resolvedAt === null || at <= resolvedAt;

export const isNear = (event: Incoming, { begunAt }: Candidate, withinMs: number): boolean =>
  Math.abs(event.at - begunAt) <= withinMs;

/**
 * Whether a case was opened for a device, or a port, that is down only because the event's device is. What else the device
 * had before has another cause: its agent hung while it was reached.
 */
export const explains = (event: Incoming, c: Candidate, world: World): boolean =>
  event.deviceId !== null &&
  event.rootId === null &&
  c.rootDeviceId !== null &&
  isOpenFor(event, c) &&
  ((c.rootWasDown && world.causes.get(c.rootDeviceId) === event.deviceId) || leadsTo(event, c)) &&
  isNear(event, c, LATE_ROOT_MS);

/** Whether a case is about ports that lead to the device that is down, and nowhere else. */
const leadsTo = ({ down, deviceId }: Incoming, { farEnds }: Candidate): boolean =>
  down && farEnds !== null && farEnds.size === 1 && farEnds.has(deviceId ?? '');

/** The case of an event among some, and why; null: none of them. */
export function match(
  event: Incoming,
  candidates: readonly Candidate[],
  world: World,
  partOfOutage: boolean,
): { case: Candidate; reason: Reason } | null {
  const { deviceId, rootId } = event;
  const near = deviceId === null ? undefined : world.links.get(deviceId);
  const far = world.farEnds.get(event.eventId);
  const isOpen = (c: Candidate) => isOpenFor(event, c);
  // A window that starts with the case and then locks: a case does not grow for ever by things that happen nearby.
  const together = (c: Candidate) => isOpen(c) && isNear(event, c, world.grouping.windowMs);
  const sameCable = (c: Candidate) =>
    c.farEnds?.has(deviceId ?? '') === true && [...c.deviceIds].some((id) => far?.has(id));
  const own = [...(world.sessions.get(event.eventId) ?? [])];
  const sameSession = (c: Candidate) => own.some((pair) => c.sessions.has(pair));
  const farIsDown = (c: Candidate) => far !== undefined && [...c.downIds].some((id) => far.has(id));
  const rules: [Reason, (c: Candidate) => boolean][] = [
    ['recurrence', (c) => c.id === event.formerCaseId && isOpen(c)],
    ['root', (c) => rootId !== null && isOpen(c) && (c.rootDeviceId === rootId || c.downIds.has(rootId))],
    [
      'far-end',
      (c) =>
        isOpen(c) &&
        (farIsDown(c) ||
          (sameSession(c) && isNear(event, c, SESSION_MS)) ||
          (sameCable(c) && isNear(event, c, LATE_ROOT_MS))),
    ],
    // One that is resolved takes back what it was about, unless that has another cause now, and nothing that only came
    // with it.
    ['recurrence', (c) => c.id === event.formerCaseId && c.rootDeviceId === deviceId],
    ['cause', (c) => explains(event, c, world)],
    [
      'device',
      (c) =>
        deviceId !== null &&
        (event.opens
          ? c.rootDeviceId === deviceId && together(c)
          : // What only joins says more about trouble, also soon after it.
            (c.rootDeviceId === deviceId || c.deviceIds.has(deviceId)) &&
            (c.resolvedAt === null || event.at - c.resolvedAt <= LATE_ROOT_MS)),
    ],
    ['link', (c) => event.down && together(c) && [...c.downIds].some((id) => near?.has(id))],
    ['site', (c) => deviceId === null && c.siteLevel && together(c)],
  ];
  for (const [reason, fits] of rules) {
    // The power of a site is no more of what one of its devices had before.
    if (partOfOutage && (reason === 'device' || reason === 'link')) continue;
    // Of those that prove to be one, people know the oldest.
    const found = reason === 'cause' ? candidates.find(fits) : candidates.findLast(fits);
    if (found) return { case: found, reason };
  }
  return null;
}
