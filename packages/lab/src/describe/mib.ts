/** All that a described box answers: its own MIB and one for each further context. */
import type { Device } from '../device.ts';
import { Mib } from '../mib.ts';
import { asValue } from '../value.ts';
import { bridge, dhcpSnooping, vtp } from './bridge.ts';
import { cdp } from './cdp.ts';
import { entity } from './entity.ts';
import { health } from './health.ts';
import { interfaces } from './interfaces.ts';
import { ip } from './ip.ts';
import { lldp } from './lldp.ts';
import { Sheet } from './sheet.ts';
import { system } from './system.ts';
import { vrfs, vrfsOf } from './vrf.ts';

/** Context name → MIB; the default context is the empty name. */
export type Contexts = ReadonlyMap<string, Mib>;

/**
 * Contexts of a box: one per VLAN (named by its number) when it keeps a bridge instance for each, one per VRF (named
 * after it) with that VRF's addresses.
 * @param startedAt local time at which `uptime` began, seconds: traffic follows the hour of the day
 */
export function describe(device: Device, uptime: () => number, startedAt = 0): Contexts {
  const contexts = new Map([['', mibOf(device, uptime, startedAt)]]);
  if (device.features.includes('vlan-contexts')) {
    for (const { id } of device.vlans) {
      const sheet = new Sheet();
      system(sheet, device);
      bridge(sheet, device, id);
      contexts.set(String(id), new Mib(sheet.entries, { uptime }));
    }
  }
  for (const vrf of vrfsOf(device)) {
    const sheet = new Sheet();
    system(sheet, device);
    ip(sheet, device, vrf);
    contexts.set(vrf, new Mib(sheet.entries, { uptime }));
  }
  return contexts;
}

function mibOf(device: Device, uptime: () => number, startedAt: number): Mib {
  const sheet = new Sheet();
  system(sheet, device);
  interfaces(sheet, device, startedAt);
  ip(sheet, device);
  if (device.features.includes('entity')) entity(sheet, device);
  health(sheet, device, startedAt);
  lldp(sheet, device);
  cdp(sheet, device);
  bridge(sheet, device);
  vtp(sheet, device);
  dhcpSnooping(sheet, device);
  vrfs(sheet, device);
  for (const [name, value] of Object.entries(device.objects)) sheet.put(name, asValue(value));
  return new Mib(sheet.entries, { uptime });
}
