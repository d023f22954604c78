/**
 * One device read whole: a `device` observation with all that identity needs, then `rows` observations per table.
 * Facts only; what the device is, the server decides.
 */
import {
  type AddressRow,
  type ArpRow,
  type DeviceObservation,
  type EntityRow,
  type FdbRow,
  type InterfaceRow,
  OBSERVATION_BYTES,
  type RowsObservation,
  type SystemGroup,
  type TableName,
} from '@rollcall/shared/observation';
import type { FactGroup, ProfileSettings } from '@rollcall/shared/profile';
import type { Ruleset } from '@rollcall/shared/protocol';
import { uuidv7 } from '@rollcall/shared/uuid';
import type { RawSystem } from '@rollcall/snmp/discover';
import type { SnmpCredential } from '@rollcall/snmp/engine/credential';
import { Session } from '@rollcall/snmp/engine/session';
import type { Varbind } from '@rollcall/snmp/message/pdu';
import { type WalkBudget, type WalkedTable, walkTable } from '@rollcall/snmp/walk';
import { addressColumns, addressesOf } from './addresses.ts';
import { ARP_COLUMNS, arpOf, CONTEXT_FDB_COLUMNS, FDB_COLUMNS, fdbOf } from './bridge.ts';
import { BINDING_COLUMNS, withHostNames } from './dhcp-snooping.ts';
import { chassisOf, ENTITY_COLUMNS, entitiesOf } from './entities.ts';
import { IF_NUMBER, INTERFACE_COLUMNS, interfacesOf, PORT_NAME_COLUMNS } from './interfaces.ts';
import { LLDP_LOCAL, localChassisId } from './lldp.ts';
import { neighbourColumns, neighboursOf } from './neighbours.ts';
import { inParts } from './parts.ts';
import { PORT_STATE_COLUMNS, type PortState, withPortStates } from './port-states.ts';
import { RawTexts } from './raw.ts';
import { isUnicastMac, macOf, textOf } from './text.ts';
import { vendorFacts } from './vendor.ts';
import { isReservedVlan, vlanColumns, vlansOf } from './vlans.ts';
import { contentOf, insideContext, inVrfColumns, vrfColumns, vrfsOf } from './vrfs.ts';

export interface Subject {
  session: Session;
  system: RawSystem;
  /** When the system group was read, milliseconds of the session's monotonic clock; undefined: now. */
  systemAt?: number;
  rttMs?: number | null;
  /** Scan job whose facts these are. */
  job?: string;
  /** The monitored device whose tables these are. */
  deviceId?: string;
  settings: NonNullable<ProfileSettings['snmp']>;
  /** Extra OIDs by sysObjectID prefix. */
  extra: Ruleset['extra'];
  /** Wall time, milliseconds: when facts were seen. */
  now: () => number;
  /** Begins to look up the names of addresses. @returns the rows with the names that are known when it is called */
  names?: ((rows: readonly ArpRow[]) => () => ArpRow[]) | undefined;
}

export type DeviceFact = DeviceObservation | RowsObservation;

/** Octets of answers that one device may cost: a chassis with 3,000 interfaces and its tables takes 5 MB. */
const DEVICE_BYTES = 64 * 1024 * 1024;
/** Contexts of single VLANs read for their forwarding tables. */
const VLAN_CONTEXTS = 64;
/** VRFs that are entered. */
const VRF_CONTEXTS = 32;
/** Contexts in a row that did not answer, after which no more are asked. */
const SILENT_CONTEXTS = 2;

const SNMP_ENGINE_ID = '1.3.6.1.6.3.10.2.1.1.0';
const BRIDGE = '1.3.6.1.2.1.17';
const IP = '1.3.6.1.2.1.4';
const DOT1D_BASE_BRIDGE_ADDRESS = `${BRIDGE}.1.1.0`;
const SCALARS = [
  IF_NUMBER,
  SNMP_ENGINE_ID,
  DOT1D_BASE_BRIDGE_ADDRESS,
  LLDP_LOCAL.v1.subtype,
  LLDP_LOCAL.v1.id,
  LLDP_LOCAL.v2.subtype,
  LLDP_LOCAL.v2.id,
];

/** Reads the groups that the settings name. A table that fails is reported as failed and hides no other. */
export async function takeInventory(subject: Subject): Promise<DeviceFact[]> {
  return new Inventory(subject).take();
}

/** Reads who is beside a bridge or router, what it has learnt, in which VLANs, and what it does with `ports`, by ifIndex. */
export async function readTables(
  subject: Subject,
  ports: readonly number[],
): Promise<{ rows: RowsObservation[]; states: PortState[] }> {
  const inventory = new Inventory(subject);
  const rows = (await inventory.neighbours()).concat(await inventory.tables());
  return { rows, states: await inventory.portStates(ports.map((ifIndex) => ({ ifIndex }))) };
}

/** Those that tell an agent from others: every box that offers a service has its anycast address. */
const ofItsOwn = (rows: readonly AddressRow[]): string[] =>
  rows.filter(({ type }) => type !== 'anycast').map(({ address }) => address);

class Inventory {
  readonly #subject: Subject;
  readonly #session: Session;
  readonly #walk = uuidv7();
  readonly #budget: WalkBudget;
  readonly #failed: Record<string, string> = {};
  readonly #raw = new RawTexts();

  constructor(subject: Subject) {
    const { session, settings } = subject;
    this.#subject = subject;
    this.#session = session;
    this.#budget = {
      rows: settings.rows,
      bytes: DEVICE_BYTES,
      until: session.engine.clock.monotonic() + settings.deviceBudgetMs,
    };
  }

  async take(): Promise<DeviceFact[]> {
    const { settings, system } = this.#subject;
    const wants = (group: FactGroup) => settings.groups.includes(group);
    this.#raw.system(system);
    const scalars = await this.#scalars();
    const ifNumber = scalars.get(IF_NUMBER);
    const expect =
      typeof ifNumber?.value === 'number' && ifNumber.value > 0 ? { expect: ifNumber.value } : {};

    const facts: DeviceFact[] = [];
    let interfaces: InterfaceRow[] = [];
    let entities: EntityRow[] = [];
    let addresses: AddressRow[] = [];
    if (wants('interfaces')) {
      const walked = await this.#walkColumns(INTERFACE_COLUMNS, expect);
      interfaces = interfacesOf(walked);
      if (wants('neighbours') || wants('vlans')) interfaces = await this.portStates(interfaces);
      facts.push(...this.#rows('interfaces', interfaces, walked));
    }
    if (wants('addresses')) {
      const walked = await this.#walkColumns(addressColumns(system.sysObjectId));
      addresses = addressesOf(walked);
      facts.push(...this.#rows('addresses', addresses, walked));
    }
    if (wants('entities')) {
      const walked = await this.#walkColumns(ENTITY_COLUMNS);
      entities = entitiesOf(walked);
      facts.push(...this.#rows('entities', entities, walked));
    }
    facts.push(...(await this.neighbours(interfaces)));
    facts.push(...(await this.tables()));
    const shown = new Set(addresses.map(({ address }) => address));
    if (wants('vrfs')) facts.push(...(await this.#vrfs(shown)));
    const vendor = await vendorFacts(this.#session, system.sysObjectId, this.#subject.extra);
    return [this.#device(scalars, interfaces, entities, ofItsOwn(addresses), vendor), ...facts];
  }

  /**
   * Who is at the other ends of its cables, as far as that is wanted. Without `interfaces` the names of its ports are read, if there is
   * anybody; a report by another name than the last would be another neighbour, so without all names it says nothing.
   */
  async neighbours(interfaces?: readonly InterfaceRow[]): Promise<RowsObservation[]> {
    const { settings, system } = this.#subject;
    if (!settings.groups.includes('neighbours')) return [];
    const walked = await this.#walkColumns(neighbourColumns(system.sysObjectId));
    if (interfaces || neighboursOf(walked, []).length === 0)
      return this.#rows('neighbours', neighboursOf(walked, interfaces ?? []), walked);
    const names = await this.#walkColumns(PORT_NAME_COLUMNS);
    if (!names.complete) return this.#rows('neighbours', [], names);
    return this.#rows('neighbours', neighboursOf(walked, interfacesOf(names)), walked);
  }

  /** Ports with what bridges do with them. */
  async portStates<Port extends PortState>(ports: readonly Port[]): Promise<Port[]> {
    return ports.length === 0 ? [] : withPortStates(ports, await this.#walkColumns(PORT_STATE_COLUMNS));
  }

  /** ARP, VLANs and the forwarding table, as far as they are wanted; ARP last: its names are looked up meanwhile. */
  async tables(): Promise<RowsObservation[]> {
    const wants = (group: FactGroup) => this.#subject.settings.groups.includes(group);
    const facts: RowsObservation[] = [];
    const arp = wants('arp') ? await this.#walkColumns(ARP_COLUMNS) : null;
    const addresses = arp ? arpOf(arp) : [];
    const named = this.#subject.names?.(addresses);
    let vlans: number[] = [];
    if (wants('vlans')) {
      const walked = await this.#walkColumns(vlanColumns(this.#subject.system.sysObjectId));
      const rows = vlansOf(walked);
      vlans = rows.map((row) => row.vlan);
      facts.push(...this.#rows('vlans', rows, walked));
    }
    if (wants('fdb')) facts.push(...(await this.#forwarding(vlans)));
    if (arp) facts.push(...this.#rows('arp', named?.() ?? addresses, arp));
    return facts;
  }

  async #scalars(): Promise<Map<string, Varbind>> {
    const answer = await this.#session.get(SCALARS);
    return new Map(answer.ok ? answer.varbinds.map((varbind) => [varbind.oid, varbind]) : []);
  }

  async #walkColumns(
    columns: readonly string[],
    options: { expect?: number } = {},
    session = this.#session,
  ): Promise<WalkedTable> {
    const walked = await walkTable(session, columns, {
      budget: this.#budget,
      parallel: this.#subject.settings.perDevice,
      ...options,
    });
    this.#raw.table(walked, columns);
    return walked;
  }

  /** The forwarding table; of a bridge that keeps one per VLAN also those, each in its own context. */
  async #forwarding(vlans: readonly number[]): Promise<RowsObservation[]> {
    const whole = await this.#walkColumns(FDB_COLUMNS);
    const found = fdbOf(whole);
    const inVlans: FdbRow[] = [];
    let complete: Pick<WalkedTable, 'complete' | 'reason'> = whole;
    if (this.#isCisco() && !found.some((row) => row.vlan !== undefined)) {
      let silent = 0;
      for (const vlan of vlans.filter((each) => !isReservedVlan(each)).slice(0, VLAN_CONTEXTS)) {
        const session = this.#with(this.#inVlan(vlan));
        silent = (await answers(session, BRIDGE)) ? 0 : silent + 1;
        if (silent >= SILENT_CONTEXTS) break;
        if (silent > 0) continue;
        const walked = await this.#walkColumns(CONTEXT_FDB_COLUMNS, {}, session);
        inVlans.push(...fdbOf(walked, vlan, whole));
        if (!walked.complete) complete = walked;
      }
    }
    // The table without a context is that of the default VLAN once more.
    const placed = new Set(inVlans.map(({ mac, bridgePort }) => `${mac} ${bridgePort}`));
    const others = found.filter(({ mac, bridgePort }) => !placed.has(`${mac} ${bridgePort}`));
    const rows = [...others, ...inVlans];
    if (rows.length === 0 || !this.#isCisco()) return this.#rows('fdb', rows, complete);
    // Bindings that were not read to their end leave stations without names and say nothing of them.
    const bindings = await this.#walkColumns(BINDING_COLUMNS);
    return this.#rows('fdb', withHostNames(rows, bindings), complete, { hostnames: bindings.complete });
  }

  #isCisco(): boolean {
    return this.#subject.system.sysObjectId?.startsWith('1.3.6.1.4.1.9.') ?? false;
  }

  /** Cisco's way: community `name@vlan` in v1/v2c, context `vlan-N` in v3. */
  #inVlan(vlan: number): SnmpCredential {
    const { credential } = this.#session;
    return credential.version === 'v3'
      ? { ...credential, contextName: `vlan-${vlan}` }
      : { ...credential, community: credential.community.with((name) => `${name}@${vlan}`) };
  }

  #with(credential: SnmpCredential): Session {
    const { engine, target, options } = this.#session;
    return new Session(engine, target, credential, { ...options, tries: 2 });
  }

  /** The VRFs, and of those that a context reaches what they show in it. `outside`: addresses shown without one. */
  async #vrfs(outside: ReadonlySet<string>): Promise<RowsObservation[]> {
    const { sysObjectId } = this.#subject.system;
    const walked = await this.#walkColumns(vrfColumns(sysObjectId));
    const rows = vrfsOf(walked, sysObjectId);
    let silent = 0;
    for (const row of rows.filter(({ context }) => context !== undefined).slice(0, VRF_CONTEXTS)) {
      const inside = insideContext(this.#session.credential, row.context as string, sysObjectId);
      if (!inside || silent >= SILENT_CONTEXTS) break;
      const session = this.#with(inside);
      silent = (await answers(session, IP)) ? 0 : silent + 1;
      if (silent > 0) continue;
      const content = contentOf(await this.#walkColumns(inVrfColumns(sysObjectId), {}, session), outside);
      if (!content) break;
      Object.assign(row, content);
    }
    return this.#rows('vrfs', rows, walked);
  }

  #device(
    scalars: ReadonlyMap<string, Varbind>,
    interfaces: readonly InterfaceRow[],
    entities: readonly EntityRow[],
    addresses: readonly string[],
    vendor: Record<string, string>,
  ): DeviceObservation {
    const { session, rttMs, job, now, system, systemAt } = this.#subject;
    const sinceMs = systemAt === undefined ? 0 : session.engine.clock.monotonic() - systemAt;
    const macs = interfaces
      .map((row) => row.physAddress)
      .filter((mac): mac is string => mac !== undefined && mac.length === 17 && isUnicastMac(mac));
    const engineId = octets(scalars.get(SNMP_ENGINE_ID))?.subarray(0, 32).toString('hex');
    const bridge = octets(scalars.get(DOT1D_BASE_BRIDGE_ADDRESS));
    const bridgeMac = bridge && macOf(bridge);
    const lldp = chassisScalar(scalars, LLDP_LOCAL.v1) ?? chassisScalar(scalars, LLDP_LOCAL.v2);
    return {
      kind: 'device',
      ...(job ? { job } : {}),
      at: now(),
      walk: this.#walk,
      address: session.target.address,
      ...(rttMs === undefined ? {} : { rttMs }),
      snmpVersion: session.credential.version,
      credentialId: session.credential.id,
      system: systemOf(system, sinceMs),
      ...(engineId ? { engineId } : {}),
      addresses: addresses.slice(0, 1024),
      macs: [...new Set(macs)].slice(0, 256),
      ...(bridgeMac && isUnicastMac(bridgeMac) ? { bridgeMac } : {}),
      ...(lldp ? { lldpChassisId: lldp } : {}),
      chassis: chassisOf(entities),
      vendor,
      ...(Object.keys(this.#raw.kept).length > 0 ? { raw: this.#raw.kept } : {}),
      ...(Object.keys(this.#failed).length > 0 ? { failed: this.#failed } : {}),
    };
  }

  /** Parts of one table, each under OBSERVATION_BYTES; the last one says whether the walk saw all of it. */
  #rows(
    table: TableName,
    rows: readonly object[],
    { complete, reason }: { complete: boolean; reason?: string },
    { hostnames = false } = {},
  ): RowsObservation[] {
    const { job, deviceId, now, session } = this.#subject;
    if (!complete && rows.length === 0) this.#failed[table] = reason ?? 'not read';
    const parts = partsOf(rows);
    return parts.map((part, i) => {
      const last = i === parts.length - 1;
      return {
        kind: 'rows',
        ...(job ? { job } : {}),
        at: now(),
        walk: this.#walk,
        address: session.target.address,
        ...(deviceId ? { deviceId } : {}),
        table,
        part: i,
        last,
        ...(last ? { complete, ...(reason ? { reason } : {}) } : {}),
        ...(hostnames ? { hostnames } : {}),
        rows: part,
      } as RowsObservation;
    });
  }
}

/** Of the rows of one observation; there is room for the members beside them. */
const PART = { bytesMost: OBSERVATION_BYTES - 2048, itemsMost: 5000 };
export const partsOf = (rows: readonly object[]): object[][] => inParts(rows, PART);

/** An agent without contexts ignores them one by one; each would cost all the silent requests that a walk allows. */
async function answers(session: Session, root: string): Promise<boolean> {
  const first = await session.getNext([root]);
  return first.ok || first.code === 'no-such-name';
}

const octets = (varbind: Varbind | undefined): Buffer | undefined =>
  varbind?.type === 'octets' && varbind.value.length > 0 ? varbind.value : undefined;

function chassisScalar(
  scalars: ReadonlyMap<string, Varbind>,
  oids: { subtype: string; id: string },
): string | undefined {
  const subtype = scalars.get(oids.subtype);
  return localChassisId(
    typeof subtype?.value === 'number' ? subtype.value : undefined,
    octets(scalars.get(oids.id)),
  );
}

/**
 * The system group as text, so many milliseconds after it was read; members the agent does not have stay absent. Uptime and the time of
 * an observation give the start of the device: a walk and its turn take minutes.
 */
export function systemOf(raw: RawSystem, sinceMs = 0): SystemGroup {
  const text = (value: Buffer | undefined) => (value === undefined ? undefined : textOf(value));
  const group: Record<string, unknown> = {
    sysDescr: text(raw.sysDescr),
    sysObjectId: raw.sysObjectId,
    sysName: text(raw.sysName),
    sysLocation: text(raw.sysLocation),
    sysContact: text(raw.sysContact),
    sysServices: raw.sysServices,
    sysUpTime: raw.sysUpTime === undefined ? undefined : (raw.sysUpTime + Math.round(sinceMs / 10)) % 2 ** 32,
  };
  return Object.fromEntries(Object.entries(group).filter(([, value]) => value !== undefined)) as SystemGroup;
}
