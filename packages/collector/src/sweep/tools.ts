/** What all sweeps of a process share: the ways out to the network, opened when first needed. */
import type { Clock } from '@rollcall/shared/clock';
import type { SnmpEngine } from '@rollcall/snmp/engine/engine';
import { type Chosen, chooseEcho } from '../icmp/choose.ts';
import type { EngineName } from '../platform/engines.ts';
import { OnLink } from './on-link.ts';
import { Routers } from './routers.ts';
import type { SweepTools } from './task.ts';

/** The part of a sweep's tools that does not depend on the job. */
export type SharedTools = Omit<SweepTools, 'pace' | 'attempts'>;

export interface Network {
  tools: SharedTools;
  /** Which ICMP engines this host allows, and why not others. */
  chosen: Chosen;
  close(): Promise<void>;
}

/** Finds the ICMP engines of this host. Sockets are opened by the sweeps that need them. */
export async function openNetwork(clock: Clock, engines: readonly EngineName[]): Promise<Network> {
  const chosen = await chooseEcho(engines);
  const onLink = new OnLink(clock);
  const routers = new Routers(clock, (router) => onLink.isSilent(router));
  let snmp: Promise<SnmpEngine> | null = null;
  let nameOf: SharedTools['nameOf'] | null = null;
  const tools: SharedTools = {
    clock,
    echo: chosen.open,
    snmp: () => {
      snmp ??= import('@rollcall/snmp/engine/engine').then(({ SnmpEngine }) => SnmpEngine.open({ clock }));
      snmp.catch(() => {
        snmp = null; // The next sweep tries again.
      });
      return snmp;
    },
    inventory: async (subject) => (await import('../walk/inventory.ts')).takeInventory(subject),
    macOf: (address) => onLink.macOf(address),
    routerSilentTowards: (address) => routers.silentTowards(address),
    nameOf: async (address) => {
      nameOf ??= (await import('./names.ts')).reverseDns();
      return nameOf(address);
    },
  };
  return {
    tools,
    chosen,
    close: async () => {
      await (await snmp?.catch(() => null))?.close();
    },
  };
}
