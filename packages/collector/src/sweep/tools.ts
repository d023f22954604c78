/** What all sweeps of a process share: the ways out to the network, opened when first needed. */
import type { Clock } from '@rollcall/shared/clock';
import type { SnmpEngine } from '@rollcall/snmp/engine/engine';
import type { Logger } from 'pino';
import { type Chosen, chooseEcho } from '../icmp/choose.ts';
import type { EngineName } from '../platform/engines.ts';
import type { AddressNames, NameOf } from './names.ts';
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
export async function openNetwork(
  clock: Clock,
  engines: readonly EngineName[],
  log?: Pick<Logger, 'warn'>,
): Promise<Network> {
  const chosen = await chooseEcho(engines);
  const onLink = new OnLink(clock);
  const routers = new Routers(clock, (router) => onLink.isSilent(router));
  let snmp: Promise<SnmpEngine> | null = null;
  let naming: Promise<{ nameOf: NameOf; names: AddressNames }> | null = null;
  const closing = new AbortController();
  const openNames = () => {
    naming ??= import('./names.ts').then(({ reverseDns, AddressNames, TRIES }) => {
      const { signal } = closing;
      const nameOf = reverseDns({ signal, tries: TRIES });
      return { nameOf: reverseDns({ signal }), names: new AddressNames({ clock, log, nameOf }) };
    });
    return naming;
  };
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
    nameOf: async (address) => (await openNames()).nameOf(address),
    names: async () => (await openNames()).names,
  };
  return {
    tools,
    chosen,
    close: async () => {
      (await naming)?.names.close();
      closing.abort();
      await (await snmp?.catch(() => null))?.close();
    },
  };
}
