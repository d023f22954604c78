/** Products as data, and how one box is made of a product, a name and its addresses. */
import type { DeviceClass } from '@rollcall/shared/model';
import type { Access, Address, Device, Entity, Feature, Port } from './device.ts';
import { makePorts, type PortGroup } from './ports.ts';
import { digest, fillPattern, macPlus } from './seed.ts';
import type { Plain } from './value.ts';

/** A row of entPhysicalTable; `{m}` in the name repeats it for each stack member. Rows refer to parents by key. */
export interface EntityTemplate {
  key: string;
  class: 'chassis' | 'stack' | 'module' | 'power' | 'fan' | 'container';
  parent?: string;
  name: string;
  description: string;
  model?: string;
  /** A pattern of its own, or `own`: the serial number of the box (of the member in a stack). */
  serial?: string;
  manufacturer?: string;
  software?: string;
  firmware?: string;
  hardware?: string;
  vendorType?: string;
  fru?: boolean;
}

/** In texts `{name} {model} {version} {serial} {mac}` stand for the box's own. */
export interface Product {
  class: DeviceClass;
  vendor: string | null;
  model: string | null;
  os: string | null;
  version: string | null;
  sysObjectId: string;
  sysDescr: string;
  /** sysServices: 2 bridge, 4 router, 64 + 8 host (RFC 3418). */
  services: number;
  /** First three octets of its hardware addresses, registered to the maker. */
  oui: string;
  /** `#` a digit, `@` a letter or digit; absent: the box reports no serial number. */
  serial?: string;
  ports: PortGroup[];
  features: Feature[];
  entities?: EntityTemplate[];
  lldp?: Partial<Device['lldp']>;
  objects?: Record<string, Plain>;
}

export interface Box {
  name: string;
  product: Product;
  /**
   * By port, `address/length` with the words `unlisted`, `elsewhere` or `vrf=NAME` behind it. Ports that the product
   * does not have are made (`Vlan10`, `Loopback0`, `Port-channel1` …). Addresses outside 127.0.0.0/8 are on the box but
   * not in the lab.
   */
  addresses: Record<string, string | string[]>;
  access: Access | null;
  location?: string;
  /** Stack members, 1 by default. */
  members?: number;
  vlans?: Record<number, string>;
  /** Aggregates by name, with the names of their members. */
  lags?: Record<string, string[]>;
  /** Ports whose traffic is odd, by name. */
  loads?: Record<string, NonNullable<Port['load']>>;
  /** Facts that differ from what the product says. */
  but?: Partial<Device>;
}

const ENTITY_CLASS = { chassis: 3, container: 5, power: 6, fan: 7, module: 9, stack: 11 } as const;
/** Private enterprise number of Net-SNMP, whose engine ids of other makers' boxes look alike. */
const NET_SNMP = 8072;

/** Makes the box. Everything a description leaves open follows from its name, so every run has the same site. */
export function makeDevice(box: Box): Device {
  const { product, name } = box;
  const mac = box.but?.mac ?? macPlus(`${product.oui}:00:00:00`, digest(name, 1 << 16) << 8);
  const serial = box.but?.serial !== undefined ? box.but.serial : serialOf(product, name);
  const version = box.but?.osVersion ?? product.version;
  const facts = { name: box.but?.sysName ?? name, model: product.model, version, serial, mac };
  const fill = <T extends Plain>(value: T) =>
    typeof value === 'string' ? fillTemplate(value, facts) : value;
  const ports = makePorts(product.ports, {
    name,
    mac,
    members: box.members ?? 1,
    bridges: product.features.includes('bridge'),
    extra: Object.keys(box.addresses),
    lags: box.lags ?? {},
  });
  for (const port of ports) {
    const load = box.loads?.[port.name];
    if (load) port.load = load;
  }
  return {
    name,
    class: product.class,
    vendor: product.vendor,
    model: product.model,
    os: product.os,
    osVersion: version,
    serial,
    sysName: name,
    sysDescr: fillTemplate(product.sysDescr, facts),
    sysObjectId: product.sysObjectId,
    sysLocation: box.location ?? '',
    sysContact: 'Network Operations <noc@example.net>',
    sysServices: product.services,
    engineId: engineIdOf(product.sysObjectId, mac),
    engineBoots: 1 + digest(`${name} boots`, 40),
    upBefore: 3_600 + digest(`${name} up`, 300 * 86_400),
    mac,
    features: product.features,
    lldp: { portId: 'name', portNumber: 'ifIndex', ...product.lldp },
    ports,
    addresses: makeAddresses(box, ports),
    entities: makeEntities(box, serial, facts),
    vlans: Object.entries({ 1: 'default', ...box.vlans }).map(([id, label]) => ({
      id: Number(id),
      name: label,
    })),
    neighbours: [],
    arp: [],
    fdb: [],
    bindings: [],
    objects: Object.fromEntries(
      Object.entries(product.objects ?? {}).map(([oid, value]) => [oid, fill(value)] as const),
    ),
    access: box.access,
    ...box.but,
  };
}

const serialOf = (product: Product, name: string): string | null =>
  product.serial ? fillPattern(product.serial, name) : null;

/** RFC 3411 section 5, SnmpEngineID: enterprise number with the first bit set, format 3, hardware address. */
export function engineIdOf(sysObjectId: string, mac: string): string {
  const enterprise = Number(/^1\.3\.6\.1\.4\.1\.(\d+)/.exec(sysObjectId)?.[1] ?? NET_SNMP);
  return `${((enterprise | 0x8000_0000) >>> 0).toString(16)}03${mac.replaceAll(':', '')}`;
}

type Facts = {
  name: string;
  model: string | null;
  version: string | null;
  serial: string | null;
  mac: string;
};

const fillTemplate = (template: string, facts: Facts): string =>
  template.replace(/\{(name|model|version|serial|mac)\}/g, (_, key: keyof Facts) => facts[key] ?? '');

function makeAddresses(box: Box, ports: Port[]): Address[] {
  return Object.entries(box.addresses).flatMap(([port, list]) => {
    const ifIndex = ports.find((p) => p.name === port)?.ifIndex ?? 0;
    return [list].flat().map((entry) => parseAddress(entry, ifIndex));
  });
}

function parseAddress(entry: string, ifIndex: number): Address {
  const [cidr = '', ...words] = entry.split(' ');
  const [address = '', length = '32'] = cidr.split('/');
  const vrf = words.find((w) => w.startsWith('vrf='))?.slice(4);
  const inLab = address.startsWith('127.') && address !== '127.0.0.1' && !words.includes('elsewhere');
  return {
    address,
    prefixLength: Number(length),
    ifIndex,
    ...(vrf === undefined ? {} : { vrf }),
    ...(words.includes('unlisted') ? { listed: false } : {}),
    ...(inLab ? {} : { reachable: false }),
  };
}

function makeEntities(box: Box, serial: string | null, facts: Facts): Entity[] {
  const entities: Entity[] = [];
  const indexOf = new Map<string, number>();
  const members = box.members ?? 1;
  for (const template of box.product.entities ?? []) {
    if (template.class === 'stack' && members === 1) continue;
    const perMember = template.name.includes('{m}');
    for (let member = 1; member <= (perMember ? members : 1); member++) {
      const fill = (text: string) => fillTemplate(text.replaceAll('{m}', String(member)), facts);
      const index = perMember ? member * 1000 + indexOf.size + 1 : indexOf.size + 1;
      const parent = template.parent ?? '';
      const entity: Entity = {
        index,
        class: ENTITY_CLASS[template.class],
        parent: indexOf.get(`${parent}${member}`) ?? indexOf.get(parent) ?? 0,
        position: perMember ? member : 1,
        name: fill(template.name),
        description: fill(template.description),
      };
      if (template.serial) entity.serial = memberSerial(template, box, serial, member);
      for (const field of [
        'model',
        'manufacturer',
        'software',
        'firmware',
        'hardware',
        'vendorType',
      ] as const) {
        const value = template[field];
        if (value !== undefined) entity[field] = fill(value);
      }
      if (template.fru !== undefined) entity.fru = template.fru;
      entities.push(entity);
      indexOf.set(perMember ? `${template.key}${member}` : template.key, index);
    }
  }
  return entities;
}

function memberSerial(template: EntityTemplate, box: Box, serial: string | null, member: number): string {
  if (template.serial !== 'own')
    return fillPattern(template.serial ?? '', `${box.name} ${template.key} ${member}`);
  if (member === 1) return serial ?? '';
  return fillPattern(box.product.serial ?? '', `${box.name} member ${member}`);
}
