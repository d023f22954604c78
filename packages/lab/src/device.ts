/** A box of the lab as plain facts. `describe/` makes the MIB of it; change the facts and the MIB follows. */
import type { AUTH_PROTOCOLS, DeviceClass, PRIV_PROTOCOLS } from '@rollcall/shared/model';
import type { Plain } from './value.ts';

/** How an agent may be asked. An agent of `v2c` answers v1 as well, as real ones do; one of `v1` knows nothing else. */
export type Access =
  | { version: 'v1' | 'v2c'; community: string }
  | {
      version: 'v3';
      user: string;
      authProtocol: (typeof AUTH_PROTOCOLS)[number];
      authKey?: string;
      privProtocol: (typeof PRIV_PROTOCOLS)[number];
      privKey?: string;
    };

/** What a box can talk about beyond the system group and its interfaces. */
export type Feature =
  | 'lldp'
  | 'lldp-v2'
  /** Sends LLDP, but its agent shows nothing of it. */
  | 'lldp-sender'
  | 'cdp'
  | 'bridge'
  | 'q-bridge'
  /** Forwarding table and STP per VLAN by `community@vlan`, the Cisco way. */
  | 'vlan-contexts'
  | 'dhcp-snooping'
  | 'entity'
  | 'arp'
  | 'ip-address-table'
  | 'high-speed'
  | 'engine-id';

/** What is odd about the traffic of a port, in one direction. */
export interface Load {
  /** Carried all the time, bit/s, but for 3 %. */
  full?: number;
  /** Packets with errors, a share of all. */
  errors?: number;
  /** Times at which it was filled, one after the other. */
  bursts?: Burst[];
}

/** From and until when, local time in seconds; without an end it lasts. */
export interface Burst {
  from: number;
  to?: number;
}

export interface Port {
  ifIndex: number;
  name: string;
  descr: string;
  alias: string;
  /** IANA ifType. */
  type: number;
  /** bit/s. */
  speed: number;
  mtu: number;
  /** Colon form; empty for interfaces without a hardware address. */
  mac: string;
  admin: 'up' | 'down';
  oper: 'up' | 'down' | 'lower-layer-down';
  /** Port VLAN. */
  vlan: number;
  trunk: boolean;
  /** dot1dBasePort, for ports that bridge. */
  bridgePort?: number;
  /** ifIndex of the aggregate it is a member of. */
  lag?: number;
  /** The other end of its cable. */
  peer?: { device: string; port: Port };
  load?: { in?: Load; out?: Load };
}

export interface Address {
  address: string;
  prefixLength: number;
  ifIndex: number;
  /** VRF it lives in: shown only in that context. */
  vrf?: string;
  /** False: the agent answers there but does not list it (NAT, a hidden management address, a shared address). */
  listed?: boolean;
  /** False: listed, but not one of the lab's addresses (a 10.0.0.0/8 or IPv6 address on the box). */
  reachable?: boolean;
}

/** A row of entPhysicalTable. */
export interface Entity {
  index: number;
  /** entPhysicalClass number (RFC 6933): 3 chassis, 6 powerSupply, 7 fan, 9 module, 10 port, 11 stack. */
  class: number;
  parent: number;
  position: number;
  name: string;
  description: string;
  model?: string;
  serial?: string;
  manufacturer?: string;
  hardware?: string;
  firmware?: string;
  software?: string;
  vendorType?: string;
  fru?: boolean;
  /** ifIndex that this port entity stands for. */
  ifIndex?: number;
}

/** What one end of a link learns about the other. */
export interface Neighbour {
  protocol: 'lldp' | 'cdp';
  ifIndex: number;
  remote: Device;
  remotePort: Port;
}

export interface ArpEntry {
  ifIndex: number;
  address: string;
  mac: string;
}

export interface FdbEntry {
  mac: string;
  ifIndex: number;
  vlan: number;
}

/** What DHCP snooping saw a station get at a port. */
export interface Binding extends FdbEntry {
  address: string;
  /** As the station calls itself. */
  hostname: string;
}

export interface Device {
  /** The name in the truth list. */
  name: string;
  class: DeviceClass;
  vendor: string | null;
  model: string | null;
  os: string | null;
  osVersion: string | null;
  serial: string | null;
  sysName: string;
  sysDescr: string;
  sysObjectId: string;
  sysLocation: string;
  sysContact: string;
  sysServices: number;
  /** Lower-case hex. */
  engineId: string;
  engineBoots: number;
  /** Seconds it had been up when the lab started. */
  upBefore: number;
  /** Chassis (base) hardware address. */
  mac: string;
  features: Feature[];
  /** How LLDP names a port, and what numbers lldpLocPortNum counts. */
  lldp: { portId: 'name' | 'mac' | 'index'; portNumber: 'ifIndex' | 'bridgePort' };
  ports: Port[];
  addresses: Address[];
  entities: Entity[];
  vlans: { id: number; name: string }[];
  neighbours: Neighbour[];
  arp: ArpEntry[];
  fdb: FdbEntry[];
  bindings: Binding[];
  /** Further objects: vendor MIBs. */
  objects: Record<string, Plain>;
  /** What fails in it: its first power supply; the disk of this name is full. */
  unwell?: { supply?: true; disk?: string };
  /** Null: answers ICMP only. */
  access: Access | null;
}

/** The addresses where the lab answers for it, in the order of its description. */
export const reachable = (device: Device): string[] =>
  device.addresses.filter((a) => a.reachable !== false).map((a) => a.address);

export const portNamed = (device: Device, name: string): Port => {
  const port = device.ports.find((p) => p.name === name || p.descr === name);
  if (!port) throw new Error(`${device.name} has no port ${name}`);
  return port;
};
