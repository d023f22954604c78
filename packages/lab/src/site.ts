/** A described site: its boxes, its cables, and what is true of it. */
import type { DeviceClass } from '@rollcall/shared/model';
import { type Access, type Device, reachable } from './device.ts';
import { type Link, learn, plug, plugStations, type Station } from './network.ts';
import { type Box, makeDevice } from './product.ts';
import { coverOf } from './targets.ts';

/** An entry of an ordered credential list: `Access` with a name for people. */
export type Credential = { name: string } & Access;

interface SiteDescription {
  name: string;
  boxes: Box[];
  links: Link[];
  /** What else is plugged in, and answers nobody. */
  stations?: Station[];
  /** In the order in which a scanner should try them. */
  credentials: Credential[];
  /** VLAN of an address's network; VLAN 1 for all by default. */
  vlanOf?: (address: string) => number;
}

export interface Site {
  name: string;
  devices: Device[];
  credentials: Credential[];
  /** Brings neighbours, forwarding and ARP tables up to date after a change of devices. */
  learn(): void;
}

/** One box as a scanner should find it. */
interface DeviceTruth {
  name: string;
  /** What can be known of it: `unknown` where nothing but ICMP answers. */
  class: DeviceClass;
  vendor: string | null;
  model: string | null;
  os: string | null;
  osVersion: string | null;
  serial: string | null;
  /** Inside the targets, in order. */
  addresses: string[];
  /** Rows of ifTable; 0 without SNMP. */
  interfaces: number;
  snmp: 'v1' | 'v2c' | 'v3' | null;
}

export interface SiteTruth {
  site: string;
  /** Covers exactly the addresses of all devices, in the notation of a scan's `targets`. */
  targets: string;
  credentials: Credential[];
  devices: DeviceTruth[];
}

/** Makes the boxes and plugs the cables. Each call makes a site of its own, to be changed freely. */
export function makeSite(description: SiteDescription): Site {
  const vlanOf = description.vlanOf ?? (() => 1);
  const { name, links, stations = [], credentials } = description;
  const devices = description.boxes.map(makeDevice);
  plug(devices, links, vlanOf);
  plugStations(devices, stations, vlanOf);
  const site: Site = { name, devices, credentials, learn: () => learn(devices, { links, stations }, vlanOf) };
  site.learn();
  return site;
}

/** What is true of the site as it stands now. */
export const truthOf = (site: Site): SiteTruth => ({
  site: site.name,
  targets: coverOf(site.devices.flatMap(reachable)),
  credentials: site.credentials,
  devices: site.devices.map(deviceTruth),
});

const deviceTruth = (device: Device): DeviceTruth => {
  const { name, vendor, model, os, osVersion, serial } = device;
  const known = device.access ? { vendor, model, os, osVersion, serial } : unknown;
  return {
    name,
    class: device.access ? device.class : 'unknown',
    ...known,
    addresses: reachable(device),
    interfaces: device.access ? device.ports.length : 0,
    snmp: device.access?.version ?? null,
  };
};

const unknown = { vendor: null, model: null, os: null, osVersion: null, serial: null };
