/** Which case an event belongs to. Pure: events and cases in, placements with their reasons out. */
import { LATE_ROOT_MS } from '../conditions/condition.ts';

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
  /** Its port leads to a device that the case says is down, or is the other end of the cable that it is about. */
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

export interface Placement {
  eventId: string;
  /** Null: no case. */
  caseId: string | null;
  reason: Reason;
  /** Its device was not in the case before. */
  newDevice?: boolean;
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
/** A case whose root was recognised after the case was opened. */
export interface Rerooted {
  id: string;
  rootDeviceId: string;
  title: string;
}
export interface Grouped {
  placements: Placement[];
  created: NewCase[];
  rerooted: Rerooted[];
  /** Cases that proved to be one: case → the case that it goes into. */
  merged: ReadonlyMap<string, string>;
}

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
  outage: Outage;
  /** Device that explains incoming events → the case that its being down is in; null: no event says that yet. */
  roots: ReadonlyMap<string, string | null>;
  grouping: Grouping;
  newId: () => string;
}

interface Candidate {
  id: string;
  rootDeviceId: string | null;
  deviceIds: Set<string>;
  downIds: Set<string>;
  rootWasDown: boolean;
  siteLevel: boolean;
  begunAt: number;
  taken: boolean;
  resolvedAt: number | null;
  /** Where its ports lead; null: it is about more than ports. */
  farEnds: ReadonlySet<string> | null;
}

/** Places events in the order of their time, roots first, so that what they explain finds their case. */
export function group(incoming: readonly Incoming[], world: World): Grouped {
  const cases = new Cases(world);
  const order = [...incoming].sort(
    (a, b) =>
      Number(a.rootId !== null) - Number(b.rootId !== null) ||
      Number(b.opens) - Number(a.opens) ||
      a.at - b.at,
  );
  for (const event of order) cases.take(event);
  return cases.grouped();
}

/** The cases of a site while events are placed among them. */
class Cases {
  private readonly world: World;
  private readonly candidates: Candidate[];
  private readonly created: NewCase[] = [];
  private readonly placements: Placement[] = [];
  private readonly rerooted: Rerooted[] = [];
  private readonly merged = new Map<string, string>();
  /** Device that explains events → its case; see `World.roots`. */
  private readonly roots: Map<string, string | null>;
  /** Case → when the outage of the site set in that it is about. */
  private readonly outages: Map<string, number>;
  private readonly waiting: Map<string, readonly string[]>;

  constructor(world: World) {
    this.world = world;
    this.candidates = world.cases.map((c) => ({
      ...c,
      deviceIds: new Set(c.deviceIds),
      downIds: new Set(c.downIds),
      farEnds: world.farEnds.get(c.id) ?? null,
    }));
    this.roots = new Map(world.roots);
    this.outages = new Map(world.outage.cases);
    this.waiting = new Map(world.waiting);
  }

  take(event: Incoming): void {
    const { deviceId, opens } = event;
    const root = event.rootId === null ? undefined : this.roots.get(event.rootId);
    const found = root === null ? null : this.find(event, root);
    const others = this.waiting.get(deviceId ?? '') ?? [];
    if (root === null) this.leave(event, 'awaits-root');
    else if (found) this.join(event, found.case, found.reason);
    else if (opens && others.length + 1 >= this.world.grouping.minimum) this.open(event, others);
    else {
      if (opens) this.waiting.set(deviceId ?? '', [...others, event.eventId]);
      // It has an event now, in no case: nothing behind it waits for that.
      if (event.down && deviceId !== null) this.roots.delete(deviceId);
      this.leave(event, opens ? 'too-few' : 'joins-only');
    }
  }

  grouped(): Grouped {
    return {
      placements: this.placements.map((p) => ({ ...p, caseId: p.caseId && this.last(p.caseId) })),
      created: this.created,
      rerooted: this.rerooted.filter(({ id }) => !this.merged.has(id)),
      merged: new Map([...this.merged].map(([id, into]) => [id, this.last(into)])),
    };
  }

  private find(event: Incoming, root: string | undefined): { case: Candidate; reason: Reason } | null {
    const outage = this.candidates.find((c) => this.isSameOutage(event, c));
    if (outage) return { case: outage, reason: 'outage' };
    const behind = root && this.candidates.find(({ id }) => id === this.last(root));
    if (behind) return { case: behind, reason: 'root' };
    return match(event, this.candidates, this.world, this.isPartOfOutage(event));
  }

  private join(event: Incoming, into: Candidate, reason: Reason): void {
    const { deviceId } = event;
    const newDevice = deviceId !== null && !into.deviceIds.has(deviceId);
    if (deviceId !== null) into.deviceIds.add(deviceId);
    if (event.down && deviceId !== null) into.downIds.add(deviceId);
    into.rootWasDown ||= event.down && deviceId === into.rootDeviceId;
    this.place(event, into.id, reason, newDevice);
    this.absorb(event, into);
    const far = this.world.farEnds.get(event.eventId);
    into.farEnds = far && into.farEnds ? new Set([...into.farEnds, ...far]) : null;
  }

  private open(event: Incoming, others: readonly string[]): void {
    const { deviceId, at } = event;
    const id = this.world.newId();
    const rootDeviceId = event.rootId ?? deviceId;
    const waiting = [...others, ...(this.world.joiners.get(deviceId ?? '-') ?? [])];
    this.created.push({ id, rootDeviceId, begunAt: at, title: event.message, waiting });
    this.waiting.delete(deviceId ?? '');
    const opened: Candidate = {
      id,
      rootDeviceId,
      deviceIds: new Set(deviceId === null ? [] : [deviceId]),
      downIds: new Set(event.down && deviceId !== null ? [deviceId] : []),
      rootWasDown: event.down && rootDeviceId === deviceId,
      siteLevel: deviceId === null,
      begunAt: at,
      taken: false,
      resolvedAt: null,
      farEnds: this.world.farEnds.get(event.eventId) ?? null,
    };
    this.candidates.push(opened);
    this.place(event, id, 'new', true);
    this.absorb(event, opened);
  }

  private leave({ eventId }: Incoming, reason: Reason): void {
    this.placements.push({ eventId, caseId: null, reason });
  }

  private place(event: Incoming, caseId: string, reason: Reason, newDevice: boolean): void {
    this.placements.push({ eventId: event.eventId, caseId, reason, newDevice });
    if (this.isPartOfOutage(event) && !this.outages.has(caseId)) this.outages.set(caseId, event.at);
    if (event.down && event.deviceId !== null) this.roots.set(event.deviceId, caseId);
    // What it explains may have been found before it was.
    for (const eventId of this.world.suppressed.get(event.deviceId ?? '') ?? [])
      this.placements.push({ eventId, caseId, reason: 'root' });
  }

  /** Cases that were opened for what an event explains are about that event: they go into its own. */
  private absorb(event: Incoming, own: Candidate): void {
    const { deviceId, message, rootId, formerCaseId } = event;
    if (deviceId === null) return;
    if (explains(event, own, this.world) || this.leadsOutage(event, own)) {
      own.rootDeviceId = deviceId;
      own.rootWasDown = event.down;
      this.rerooted.push({ id: own.id, rootDeviceId: deviceId, title: message });
    }
    // It was raised for its own sake before it proved to lie behind another one. A case of earlier trouble keeps that.
    const proved = (c: Candidate) =>
      rootId !== null &&
      c.id === formerCaseId &&
      c.rootDeviceId === deviceId &&
      isNear(event, c, LATE_ROOT_MS);
    const isPart = (c: Candidate) =>
      explains(event, c, this.world) ||
      proved(c) ||
      (this.isSameOutage(event, c) && isNear(event, c, LATE_ROOT_MS));
    for (const other of this.candidates.filter(isPart)) {
      if (other === own || other.taken || other.resolvedAt !== null) continue;
      for (const id of other.deviceIds) own.deviceIds.add(id);
      for (const id of other.downIds) own.downIds.add(id);
      this.candidates.splice(this.candidates.indexOf(other), 1);
      this.merged.set(other.id, own.id);
    }
  }

  private isPartOfOutage({ down, deviceId }: Incoming): boolean {
    return down && this.world.outage.devices.has(deviceId ?? '');
  }

  /** The case was opened for a device that nothing lies behind: where all is silent, that is hardly why. */
  private leadsOutage(event: Incoming, own: Candidate): boolean {
    const { roots } = this.world.outage;
    return (
      event.rootId === null &&
      this.isSameOutage(event, own) &&
      roots.has(event.deviceId ?? '') &&
      !roots.has(own.rootDeviceId ?? '')
    );
  }

  private isSameOutage(event: Incoming, { id }: Candidate): boolean {
    const at = this.outages.get(id);
    return at !== undefined && this.isPartOfOutage(event) && Math.abs(event.at - at) <= LATE_ROOT_MS;
  }

  /** The case that a case went into at last; itself. */
  private last(id: string): string {
    const into = this.merged.get(id);
    return into === undefined ? id : this.last(into);
  }
}

/** What set in before a case was resolved, and is told later, is no less of it. */
const isOpenFor = ({ at }: Incoming, { resolvedAt }: Candidate): boolean =>
  resolvedAt === null || at <= resolvedAt;

const isNear = (event: Incoming, { begunAt }: Candidate, withinMs: number): boolean =>
  Math.abs(event.at - begunAt) <= withinMs;

/**
 * Whether a case was opened for a device, or a port, that is down only because the event's device is. What else the device
 * had before has another cause: its agent hung while it was reached.
 */
const explains = (event: Incoming, c: Candidate, world: World): boolean =>
  event.deviceId !== null &&
  event.rootId === null &&
  c.rootDeviceId !== null &&
  isOpenFor(event, c) &&
  ((c.rootWasDown && world.causes.get(c.rootDeviceId) === event.deviceId) || leadsTo(event, c)) &&
  isNear(event, c, LATE_ROOT_MS);

/** Whether a case is about ports that lead to the device that is down, and nowhere else. */
const leadsTo = ({ down, deviceId }: Incoming, { farEnds }: Candidate): boolean =>
  down && farEnds !== null && farEnds.size === 1 && farEnds.has(deviceId ?? '');

function match(
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
  const farIsDown = (c: Candidate) => far !== undefined && [...c.downIds].some((id) => far.has(id));
  const rules: [Reason, (c: Candidate) => boolean][] = [
    ['recurrence', (c) => c.id === event.formerCaseId && isOpen(c)],
    ['root', (c) => rootId !== null && isOpen(c) && (c.rootDeviceId === rootId || c.downIds.has(rootId))],
    ['far-end', (c) => isOpen(c) && (farIsDown(c) || (sameCable(c) && isNear(event, c, LATE_ROOT_MS)))],
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
