/** Which case an event belongs to. Pure: events and cases in, placements with their reasons out. */
import { LATE_ROOT_MS } from '../conditions/condition.ts';
import { type Candidate, explains, type Incoming, isNear, match, type Reason, type World } from './match.ts';

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
      sessions: new Set(world.sessions.get(c.id)),
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
    for (const pair of this.world.sessions.get(event.eventId) ?? []) into.sessions.add(pair);
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
      sessions: new Set([event.eventId, ...others].flatMap((of) => [...(this.world.sessions.get(of) ?? [])])),
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
