/** Plays the outages of a seed to the product and reads every event and case as the one on call would. */
import { PROTOCOL_WATCHES } from '@rollcall/shared/protocol';
import type { Change } from '../../changes.ts';
import type { Scene } from '../incident-scene.ts';
import { addCollector, insert, SEEN } from '../rows.ts';
import { type Fault, faultsOf, type Truth, truthAt } from './faults.ts';
import { Monitored } from './monitored.ts';
import { type Box, type Cable, type Network, networkOf } from './network.ts';
import { type Seen, Watcher } from './watcher.ts';

/** Promised from the fault to its event, and from the return to its end, seconds. */
const PROMISED = 45;
/** From one ping to the next, seconds: who returned since is not heard yet. */
const PING = 20;
/** From one reading of ports to the end of the next, seconds. */
const READING = 64;

export interface Figures {
  outages: number;
  /** Root outages of which somebody must be told, and those whose case names the root. */
  expected: number;
  named: number;
  /** Devices told as down that only lie behind something. */
  behind: number;
  /** Events about what was fine when they were raised. */
  recovery: number;
  /** Causes with one case, and with several. */
  oneCase: number;
  severalCases: number;
  /** Cases with more than one cause. */
  mixed: number;
  /** Told later than promised although ping sees it; cleared later than promised. */
  late: number;
  lateClear: number;
  /** Later than promised because only SNMP readings, a minute apart, see it. */
  lateBySnmp: number;
  /** Events or cases left open at the end. */
  stuck: number;
}
export const NONE: Figures = {
  outages: 0,
  expected: 0,
  named: 0,
  behind: 0,
  recovery: 0,
  oneCase: 0,
  severalCases: 0,
  mixed: 0,
  late: 0,
  lateClear: 0,
  lateBySnmp: 0,
  stuck: 0,
};
export const sum = (a: Figures, b: Figures): Figures =>
  Object.fromEntries(
    (Object.keys(a) as (keyof Figures)[]).map((key) => [key, a[key] + b[key]]),
  ) as unknown as Figures;

interface Told {
  id: string;
  kind: string;
  device: string;
  port: Cable | null;
  caseId: string | null;
  /** Seconds of the story. */
  raised: number;
  closed: number | null;
  since: number;
  /** When it happened last. */
  last: number;
  message: string;
}
interface Case {
  id: string;
  title: string;
  status: number;
  root: string | null;
}

export interface Judged {
  figures: Figures;
  /** One line for each thing that is not as it must be. */
  wrong: string[];
  story: string[];
}

/** Kinds that wake somebody. */
const ALARMS = ['device.down', 'snmp.unreachable', 'snmp.auth-failed', 'interface.down', 'flapping'];

export class Story {
  readonly network: Network;
  readonly faults: Fault[];
  readonly #end: number;
  readonly #watcher: Watcher;
  readonly #scene: Scene;
  readonly #monitored: Monitored;
  readonly #boxes: ReadonlyMap<string, Box>;
  /** Interface id by box and cable. */
  readonly #ports = new Map<string, string>();
  #start = 0;
  #collector = '';
  /** By second: boxes that could be heard. */
  readonly #heard: Set<string>[] = [];
  readonly #portsUp: Set<string>[] = [];

  constructor(seed: number, scene: Scene) {
    this.network = networkOf(seed);
    const { faults, end } = faultsOf(seed, this.network);
    this.faults = faults;
    this.#end = end;
    this.#watcher = new Watcher(seed, this.network, faults);
    this.#scene = scene;
    this.#monitored = new Monitored(scene);
    this.#boxes = new Map(this.network.boxes.map((box) => [box.name, box]));
  }

  async play(): Promise<Judged> {
    await this.#store();
    this.#start = this.#scene.now;
    await this.#settle(0);
    let due = 0;
    for (let at = 0; at < this.#end; at++) {
      this.#scene.now = this.#start + at * 1000;
      const seen = this.#watcher.tick(at);
      if (seen.length > 0) await this.#tell(seen);
      if (at % 2 === 0 && (seen.length > 0 || at >= due)) {
        await this.#scene.recorder.evaluateDue();
        due = await this.#nextDue();
      } else if (seen.length > 0) due = at;
      const { boxes, cables } = this.network;
      this.#heard.push(new Set(boxes.flatMap(({ name }) => (this.#watcher.answers(name, at) ? [name] : []))));
      this.#portsUp.push(
        new Set(
          cables.flatMap((cable) =>
            [cable.a, cable.b].flatMap((box) =>
              this.#watcher.portUp(box, cable) ? [portKey(box, cable)] : [],
            ),
          ),
        ),
      );
    }
    return this.#judge(await this.#told(), await this.#cases());
  }

  /** The site as discovery left it. */
  async #store(): Promise<void> {
    const { db, site, devices } = this.#scene;
    const { boxes, cables, collector } = this.network;
    await this.#scene.network(boxes.map(({ name }) => name));
    const id = (name: string) => devices.get(name) ?? '';
    const at = { site_id: site, first_seen: SEEN, last_seen: SEEN };
    await insert(
      db,
      'device_addresses',
      boxes.flatMap(({ name, addresses, snmp }) =>
        addresses.map((text) => {
          const [address, length] = text.split('/');
          return {
            ...at,
            device_id: id(name),
            address,
            prefix_length: snmp ? Number(length) : null,
            origin: snmp ? 'table' : 'scan',
          };
        }),
      ),
    );
    for (const { name, addresses, ping, snmp } of boxes) {
      await db.query(
        'UPDATE devices SET address = $2::inet, icmp_reachable = $3, snmp_reachable = $4 WHERE id = $1',
        [id(name), addresses[0]?.split('/')[0], ping, snmp],
      );
      this.#monitored.add(name, { ping, snmp });
    }
    const ports = cables.flatMap((cable, i) =>
      [cable.a, cable.b].flatMap((box) => {
        const portId = this.#boxes.get(box)?.snmp
          ? `00000000-0000-7000-8000-${site.slice(-6)}${(i * 2 + Number(box === cable.b)).toString(16).padStart(6, '0')}`
          : null;
        if (portId) this.#ports.set(portKey(box, cable), portId);
        return portId ? [{ ...at, id: portId, device_id: id(box), if_index: i + 1, name: `p${i + 1}` }] : [];
      }),
    );
    await insert(db, 'interfaces', ports);
    const roles = new Map(boxes.map(({ name, role }) => [name, role]));
    await insert(
      db,
      'neighbours',
      cables.flatMap((cable, i) =>
        cable.known
          ? [[cable.a, cable.b] as const, [cable.b, cable.a] as const].flatMap(([from, to]) =>
              // Hosts are found by the forwarding table of their switch.
              roles.get(from) === 'host'
                ? []
                : {
                    ...at,
                    device_id: id(from),
                    remote_device_id: id(to),
                    protocol: 'lldp',
                    key: `${i}`,
                    if_index: i + 1,
                    remote_if_index: roles.get(to) === 'host' ? null : i + 1,
                    addresses: [],
                  },
            )
          : [],
      ),
    );
    this.#collector = await addCollector(db, site, 'c');
    await db.query(
      `UPDATE collectors SET instance = 'here', connected_at = now(), protocol = $3, addresses = $2::inet[]
       WHERE id = $1`,
      [this.#collector, [collector], PROTOCOL_WATCHES],
    );
  }

  /** When the product has something to decide. */
  async #nextDue(): Promise<number> {
    const [row] = await this.#scene.db.query<{ at: Date | null }>(
      'SELECT min(due_at) AS at FROM conditions WHERE site_id = $1',
      [this.#scene.site],
    );
    return row?.at ? (row.at.getTime() - this.#start) / 1000 : Number.POSITIVE_INFINITY;
  }

  async #tell(seen: readonly Seen[]): Promise<void> {
    const { now } = this.#scene;
    const changes: Change[] = [];
    for (const each of seen) {
      if ('settled' in each) {
        await this.#settle(each.settled);
        continue;
      }
      const about = this.#scene.about(each.box);
      if ('rebooted' in each)
        changes.push({
          ...about,
          kind: 'device.restarted',
          before: { bootedAt: 0 },
          after: { bootedAt: now },
        });
      else if ('port' in each) {
        const interfaceId = this.#ports.get(portKey(each.box, each.port)) ?? '';
        const [before, after] = each.up ? [2, 1] : [1, 2];
        const change = this.#scene.state(each.box, interfaceId, before, after);
        changes.push({ ...change, ifName: `p${this.network.cables.indexOf(each.port) + 1}` } as Change);
      } else changes.push(...(await this.#monitored.report(each.box, each.report)));
    }
    const byCollector = (change: Change) => ({ ...change, collectorId: this.#collector }) as Change;
    if (changes.length > 0) await this.#scene.tell(...changes.map(byCollector));
  }

  async #settle(second: number): Promise<void> {
    await this.#scene.db.query(
      `INSERT INTO collector_streams (collector_id, epoch, stream, through, settled_until) VALUES ($1, $1, 'event', 0, $2)
       ON CONFLICT (collector_id, epoch, stream) DO UPDATE SET settled_until = EXCLUDED.settled_until`,
      [this.#collector, new Date(this.#start + second * 1000)],
    );
  }

  async #told(): Promise<Told[]> {
    const { db, site, devices } = this.#scene;
    const rows = await db.query<{
      id: string;
      kind: string;
      deviceId: string | null;
      interfaceId: string | null;
      caseId: string | null;
      closedAt: Date | null;
      firstSeen: Date;
      timestamp: Date;
      message: string;
    }>(
      `SELECT id, kind, device_id AS "deviceId", interface_id AS "interfaceId", case_id AS "caseId",
         closed_at AS "closedAt", first_seen AS "firstSeen", timestamp, message FROM events WHERE site_id = $1 ORDER BY id`,
      [site],
    );
    const names = new Map([...devices].map(([name, id]) => [id, name]));
    const cables = new Map(
      [...this.#ports].map(([key, id]) => [
        id,
        this.network.cables.find((cable) => [cable.a, cable.b].some((box) => portKey(box, cable) === key)),
      ]),
    );
    const second = (at: Date) => (at.getTime() - this.#start) / 1000;
    return rows.map(({ id, deviceId, interfaceId, closedAt, firstSeen, timestamp, ...row }) => ({
      ...row,
      id,
      device: names.get(deviceId ?? '') ?? '-',
      port: cables.get(interfaceId ?? '') ?? null,
      // Ids carry the moment of their making.
      raised: (Number.parseInt(id.replace('-', '').slice(0, 12), 16) - this.#start) / 1000,
      closed: closedAt && second(closedAt),
      since: second(firstSeen),
      last: second(timestamp),
    }));
  }

  async #cases(): Promise<Case[]> {
    const { db, site, devices } = this.#scene;
    const names = new Map([...devices].map(([name, id]) => [id, name]));
    const rows = await db.query<{ id: string; title: string; status: number; root: string | null }>(
      `SELECT id, title, status, root_device_id AS root FROM cases WHERE site_id = $1 ORDER BY number`,
      [site],
    );
    return rows.map((row) => ({ ...row, root: names.get(row.root ?? '') ?? null }));
  }

  /** Boxes that are silent though a box beside them is heard: where an outage begins, as far as anybody can see. */
  #heads({ dead, reached }: Truth): Set<string> {
    const near = (name: string) =>
      this.network.cables.flatMap(({ a, b }) => (a === name ? [b] : b === name ? [a] : []));
    const beside = (name: string) => near(name).some((far) => reached.has(far));
    const { boxes, entry } = this.network;
    return new Set(
      boxes.flatMap(({ name }) =>
        !reached.has(name) && (name === entry || beside(name) || (dead.has(name) && !reached.size))
          ? [name]
          : [],
      ),
    );
  }

  /** Whether discovery knows enough to tell what a box lies behind. */
  #knowable(name: string): boolean {
    const own = this.network.cables.filter(({ a, b }) => a === name || b === name);
    return own.every(({ known }) => known);
  }

  /** What is wrong, as far as anybody can see: a box without power looks as one that is cut off. */
  #causeOf(fault: Fault): string {
    const heads = this.#heads(truthAt(this.network, [fault], fault.spans[0]?.[0] ?? 0));
    return [...heads].join(' ') || fault.what;
  }

  /** Faults that alone explain an event. */
  #explaining(told: Told): Fault[] {
    const { kind, device, since, raised } = told;
    // An agent that was not heard between two outages is silent because of the one that lasts when it is told.
    const lasting = this.faults.filter(
      ({ agents, spans }) =>
        agents.includes(device) && spans.some(([from, to]) => raised >= from && raised < to),
    );
    // One that hung while its box was not reached is not known to have done so before the box returned without it.
    const before = this.faults.filter((fault) =>
      lasting.some(({ spans: [first] }) => {
        const [from, to] = fault.spans.find(([a, b]) => first && a <= first[0] && first[0] < b) ?? [];
        return (
          from !== undefined && to !== undefined && !truthAt(this.network, [fault], from).reached.has(device)
        );
      }),
    );
    if (kind.startsWith('snmp') && lasting.length > 0) return [...new Set([...lasting, ...before])];
    // What lies behind a root by now does so because of what lasts, whatever it was silent of before.
    const hiding = this.faults.filter(
      (fault) =>
        fault.spans.some(([from, to]) => raised >= from && raised < to) &&
        !truthAt(this.network, [fault], raised).reached.has(device),
    );
    if (kind === 'device.unreachable' && hiding.length > 0) return hiding;
    // A reboot is also of what last took the power, however long something else hid the box afterwards.
    const unpowered = this.faults.findLast(
      ({ dead, spans }) => dead.includes(device) && spans.some(([from]) => from <= since),
    );
    return this.faults.filter((fault) => {
      if (kind === 'device.rebooted' && fault === unpowered) return true;
      const [first] = fault.spans;
      const last = fault.spans.at(-1);
      // Observed a while after it began, until everything had time to return.
      if (!first || !last || told.since < first[0] || told.since > last[1] + 180) return false;
      return fault.spans.some(([from, to]) => {
        if (told.since < from || told.since > to + 180) return false;
        const truth = truthAt(this.network, [fault], Math.min(told.since, to - 1));
        if (told.port) {
          const { dead, cut } = truth;
          return cut.has(told.port) || dead.has(told.port.a) || dead.has(told.port.b);
        }
        if (told.kind.startsWith('snmp'))
          return truth.agents.has(told.device) || !truth.reached.has(told.device);
        return !truth.reached.has(told.device) || truth.agents.has(told.device);
      });
    });
  }

  #judge(told: readonly Told[], cases: readonly Case[]): Judged {
    const figures = { ...NONE, outages: this.faults.length };
    const wrong: string[] = [];
    const say = (key: keyof Figures, line: string) => {
      figures[key] += 1;
      wrong.push(`${key}: ${line}`);
    };
    const show = (e: Told) => `t=${e.raised} ${e.kind} ${e.message} (since ${e.since})`;
    const alarms = told.filter(({ kind }) => ALARMS.includes(kind));
    const caused = new Map(told.map((each) => [each.id, this.#explaining(each)]));
    for (const each of alarms) {
      const slow = this.#boxes.get(each.device)?.ping === false;
      // Its agent was silent for some time when that was found.
      const silentFrom = each.since - (slow ? READING : 0);
      const wasDead = this.faults.some(
        ({ dead, spans }) =>
          dead.includes(each.device) && spans.some(([from, to]) => from <= each.since && to > silentFrom),
      );
      if (each.port) {
        const key = portKey(each.device, each.port);
        // Of a port that came up, nobody knows before its next reading.
        const up = this.#portsUp.slice(Math.max(0, each.raised - READING), each.raised + 1);
        if (up.every((ports) => ports.has(key))) say('recovery', show(each));
      } else if (
        each.kind === 'device.down' ||
        (each.kind === 'flapping' && each.message.endsWith('does not answer'))
      ) {
        // Who returned within one ping is not heard yet.
        const still = [each.raised - PING, each.raised].map((at) =>
          truthAt(this.network, this.faults, Math.max(0, at)),
        );
        // That it came and went is said when it came.
        const lately = this.#heard.slice(Math.max(0, each.raised - (slow ? READING : PING)), each.raised + 1);
        const fine = lately.every((heard) => heard.has(each.device));
        if (fine && each.kind !== 'flapping') say('recovery', show(each));
        else if (
          !fine &&
          !wasDead &&
          !still.some((then) => this.#heads(then).has(each.device)) &&
          this.#knowable(each.device)
        )
          say('behind', show(each));
      } else if ((caused.get(each.id) ?? []).every(({ agents }) => !agents.includes(each.device)))
        say('recovery', show(each));
      // What flaps is quiet for ten minutes first.
      if (each.closed === null && each.kind !== 'flapping') say('stuck', show(each));
    }
    const open = new Set(alarms.flatMap(({ kind, caseId }) => (kind === 'flapping' ? caseId : [])));
    for (const { id, status, title } of cases)
      if (status < 2 && !open.has(id)) say('stuck', `case ${title} is open`);
    this.#judgeTimes(alarms, say);
    this.#judgeRoots(alarms, cases, figures, wrong);
    this.#judgeCases(told, cases, caused, figures, wrong);
    const story = [
      `${this.network.shape}, ${this.network.boxes.length} boxes`,
      ...this.faults.map(
        ({ what, kind, spans, dead }) => `${kind} ${what} ${JSON.stringify(spans)} dead ${dead.join(' ')}`,
      ),
      ...told.map(
        (e) =>
          `${show(e)} closed ${e.closed} case ${cases.findIndex(({ id }) => id === e.caseId)} of ${(caused.get(e.id) ?? []).map(({ what }) => what).join(' + ')}`,
      ),
      ...cases.map((c, i) => `case ${i}: ${c.title} root ${c.root} status ${c.status}`),
    ];
    return { figures, wrong, story };
  }

  /** From the return of a box, or of a port, to the end of its event. */
  #judgeTimes(alarms: readonly Told[], say: (key: keyof Figures, line: string) => void): void {
    for (const each of alarms) {
      if (each.kind !== 'device.down' || each.closed === null) continue;
      let back = Math.floor(each.closed);
      while (back > 0 && this.#heard[back - 1]?.has(each.device)) back--;
      if (each.closed - back <= PROMISED) continue;
      const slow = this.#boxes.get(each.device)?.ping === false;
      say(slow ? 'lateBySnmp' : 'lateClear', `${each.device} is back at ${back}, cleared at ${each.closed}`);
    }
  }

  #judgeRoots(alarms: readonly Told[], cases: readonly Case[], figures: Figures, wrong: string[]): void {
    for (const fault of this.faults) {
      const [[from, to] = [0, 0]] = fault.spans;
      const own = truthAt(this.network, [fault], from);
      const before = truthAt(
        this.network,
        this.faults.filter((other) => other !== fault),
        from,
      );
      const heads = [...this.#heads(own)].filter((name) => before.reached.has(name));
      // Another outage hides it, wholly or in part.
      const alone = this.faults.every(
        (other) => other === fault || other.spans.every(([a, b]) => b + 120 < from || a > to + 60),
      );
      const slow = heads.every((name) => this.#seldomKnown(name));
      if (!alone || heads.length === 0 || (slow && to - from < 2 * READING)) continue;
      figures.expected += 1;
      // What is told to come and go counts further times.
      const told = ({ kind, raised, since, last }: Told) =>
        kind === 'flapping' && raised < from
          ? last >= from && last <= (fault.spans.at(-1)?.[1] ?? to) + 5
          : raised >= from && raised <= to + 5 && since >= from;
      const named = alarms.filter(
        (each) => told(each) && heads.includes(each.device) && each.kind !== 'interface.down',
      );
      const rooted = named.filter(({ caseId }) =>
        cases.some((c) => c.id === caseId && c.root !== null && heads.includes(c.root)),
      );
      if (rooted.length > 0) figures.named += 1;
      else wrong.push(`not named: ${fault.what} at ${from}, heads ${heads.join(' ')}`);
      const first = named[0] && Math.max(named[0].raised, from);
      if (first === undefined || first - from <= PROMISED) continue;
      figures[slow ? 'lateBySnmp' : 'late'] += 1;
      if (!slow) wrong.push(`late: ${fault.what} at ${from} told at ${first}`);
    }
  }

  /** An agent that alone is asked, once a minute, may miss a short outage: of its box, and of what only it is beside. */
  #seldomKnown(name: string): boolean {
    const bySnmp = (box: string) => this.#boxes.get(box)?.ping === false;
    const near = this.network.cables.flatMap(({ a, b }) => (a === name ? [b] : b === name ? [a] : []));
    return bySnmp(name) || near.every(bySnmp);
  }

  #judgeCases(
    told: readonly Told[],
    cases: readonly Case[],
    caused: ReadonlyMap<string, readonly Fault[]>,
    figures: Figures,
    wrong: string[],
  ): void {
    const title = (id: string) => cases.find((c) => c.id === id)?.title ?? id;
    const byFault = new Map<Fault, Set<string>>();
    const byCase = new Map<string, Set<string>>();
    for (const { id, caseId, device } of told) {
      const [fault, ...others] = caused.get(id) ?? [];
      if (caseId === null || !fault || others.length > 0) continue;
      // A host whose switch nobody knows stands alone.
      if (!this.#knowable(device) && fault.dead.join() !== device) continue;
      byFault.set(fault, (byFault.get(fault) ?? new Set()).add(caseId));
      byCase.set(caseId, (byCase.get(caseId) ?? new Set()).add(this.#causeOf(fault)));
    }
    for (const [{ what }, ids] of byFault) {
      figures[ids.size === 1 ? 'oneCase' : 'severalCases'] += 1;
      if (ids.size > 1) wrong.push(`severalCases: ${what}: ${[...ids].map(title).join(' | ')}`);
    }
    for (const [id, causes] of byCase) {
      if (causes.size < 2) continue;
      figures.mixed += 1;
      wrong.push(`mixed: ${title(id)}: ${[...causes].join(' | ')}`);
    }
  }
}

const portKey = (box: string, cable: Cable): string => `${box}>${cable.a}-${cable.b}`;
