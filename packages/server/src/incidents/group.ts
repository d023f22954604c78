/** Which case an event belongs to. Pure: events and cases in, placements with their reasons out. */

/** An event that was just raised and may belong to a case. */
export interface Incoming {
  eventId: string;
  /** When it set in, Unix milliseconds. */
  at: number;
  message: string;
  deviceId: string | null;
  /** The device that explains it. */
  rootId: string | null;
  /** The case that the same trouble was in last. */
  formerCaseId: string | null;
  /** Whether it may open a case, or only join one. */
  opens: boolean;
}

/** A case that is not closed. */
export interface OpenCase {
  id: string;
  rootDeviceId: string | null;
  /** Devices of its events, as far as they matter to the incoming ones. */
  deviceIds: ReadonlySet<string>;
  /** All of its events are of the site itself. */
  siteLevel: boolean;
  /** When the first of its events set in. */
  begunAt: number;
}

export interface Grouping {
  /** Events on linked devices or of the site share a case when they come within this time of its first. */
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
  | 'device'
  /** Its device is linked to one of the case. */
  | 'link'
  /** Neither has a device: it is the site. */
  | 'site'
  | 'new'
  /** Fewer open events than the site wants for a case. */
  | 'too-few'
  /** It opens none by itself. */
  | 'joins-only';

export interface Placement {
  eventId: string;
  /** Null: no case. */
  caseId: string | null;
  reason: Reason;
}
export interface NewCase {
  id: string;
  rootDeviceId: string | null;
  /** When its event set in, Unix milliseconds. */
  begunAt: number;
  title: string;
  /** Events that waited for the case to be worth it, besides the one that made it. */
  waiting: readonly string[];
}
export interface Grouped {
  placements: Placement[];
  created: NewCase[];
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
  shadows: ReadonlyMap<string, readonly string[]>;
  grouping: Grouping;
  newId: () => string;
}

interface Candidate {
  id: string;
  rootDeviceId: string | null;
  deviceIds: Set<string>;
  siteLevel: boolean;
  begunAt: number;
}

/** Places events in the order of their time, roots first, so that what they explain finds their case. */
export function group(incoming: readonly Incoming[], world: World): Grouped {
  const candidates: Candidate[] = world.cases.map((c) => ({ ...c, deviceIds: new Set(c.deviceIds) }));
  const created: NewCase[] = [];
  const placements: Placement[] = [];
  const place = (event: Incoming, caseId: string, reason: Reason) => {
    placements.push({ eventId: event.eventId, caseId, reason });
    // What it explains may have been found before it was.
    for (const eventId of world.shadows.get(event.deviceId ?? '') ?? [])
      placements.push({ eventId, caseId, reason: 'root' });
  };
  const waiting = new Map([...world.waiting].map(([subject, ids]) => [subject, [...ids]]));
  const order = [...incoming].sort(
    (a, b) =>
      Number(a.rootId !== null) - Number(b.rootId !== null) ||
      Number(b.opens) - Number(a.opens) ||
      a.at - b.at,
  );
  for (const event of order) {
    const found = match(event, candidates, world);
    if (found) {
      if (event.deviceId !== null) found.case.deviceIds.add(event.deviceId);
      place(event, found.case.id, found.reason);
      continue;
    }
    const subject = event.deviceId ?? '';
    const others = waiting.get(subject) ?? [];
    if (!event.opens || others.length + 1 < world.grouping.minimum) {
      if (event.opens) waiting.set(subject, [...others, event.eventId]);
      placements.push({
        eventId: event.eventId,
        caseId: null,
        reason: event.opens ? 'too-few' : 'joins-only',
      });
      continue;
    }
    const rootDeviceId = event.rootId ?? event.deviceId;
    const id = world.newId();
    created.push({
      id,
      rootDeviceId,
      begunAt: event.at,
      title: event.message,
      waiting: [...others, ...(world.joiners.get(event.deviceId ?? '-') ?? [])],
    });
    waiting.delete(subject);
    candidates.push({
      id,
      rootDeviceId,
      deviceIds: new Set(event.deviceId === null ? [] : [event.deviceId]),
      siteLevel: event.deviceId === null,
      begunAt: event.at,
    });
    place(event, id, 'new');
  }
  return { placements, created };
}

function match(
  event: Incoming,
  candidates: readonly Candidate[],
  { links, grouping }: World,
): { case: Candidate; reason: Reason } | null {
  // A window that starts with the case and then locks: a case does not grow for ever by things that happen nearby.
  const inWindow = (c: Candidate) => Math.abs(event.at - c.begunAt) <= grouping.windowMs;
  const { deviceId, rootId } = event;
  const near = deviceId === null ? undefined : links.get(deviceId);
  const rules: [Reason, (c: Candidate) => boolean][] = [
    ['recurrence', (c) => c.id === event.formerCaseId],
    ['root', (c) => rootId !== null && (c.rootDeviceId === rootId || c.deviceIds.has(rootId))],
    ['device', (c) => deviceId !== null && (c.rootDeviceId === deviceId || c.deviceIds.has(deviceId))],
    ['link', (c) => near !== undefined && inWindow(c) && [...c.deviceIds].some((id) => near.has(id))],
    ['site', (c) => deviceId === null && c.siteLevel && inWindow(c)],
  ];
  for (const [reason, fits] of rules) {
    const found = candidates.findLast(fits);
    if (found) return { case: found, reason };
  }
  return null;
}
