/** Which interface of a device a neighbour means: agents name one port in many ways. Pure. */

/** An interface as links need it. */
export interface LinkPort {
  ifIndex: number;
  name: string;
  description: string | null;
  alias: string | null;
  macAddress: string | null;
  type: number | null;
  operStatus: number | null;
}

/** What a neighbour says of the far port. */
export interface PortWords {
  id: string | null;
  description: string | null;
}

/** Short and long forms that CDP, LLDP and IF-MIB use for one port → one of them. */
const FORMS: Record<string, string> = {
  e: 'eth',
  et: 'eth',
  eth: 'eth',
  ethernet: 'eth',
  fa: 'fa',
  fas: 'fa',
  fastethernet: 'fa',
  gi: 'gi',
  gig: 'gi',
  gigabitethernet: 'gi',
  te: 'te',
  ten: 'te',
  tengige: 'te',
  tengigabitethernet: 'te',
  'ten-gigabitethernet': 'te',
  xgigabitethernet: 'te',
  twe: 'twe',
  twentyfivegige: 'twe',
  fo: 'fo',
  fortygige: 'fo',
  fortygigabitethernet: 'fo',
  hu: 'hu',
  hundredgige: 'hu',
  hundredgigabitethernet: 'hu',
  po: 'po',
  'port-channel': 'po',
  'bridge-aggregation': 'bagg',
  bagg: 'bagg',
  vl: 'vlan',
  vlan: 'vlan',
  'vlan-interface': 'vlan',
  lo: 'lo',
  loopback: 'lo',
  se: 'se',
  serial: 'se',
};

const formOf = (text: string): string => {
  const [, word = '', rest = ''] = /^([a-z-]*?)-?(\d.*)?$/.exec(text.toLowerCase().replace(/\s+/g, '')) ?? [];
  return rest === '' ? text.toLowerCase().trim() : `${FORMS[word] ?? word}${rest}`;
};

const sameForm = (a: string | null, b: string): boolean => a !== null && a !== '' && formOf(a) === formOf(b);
const withoutUnit = (text: string): string => text.replace(/\.0$/, '');
const MAC = /^[0-9a-f]{2}(:[0-9a-f]{2}){5}$/;

/** IANA ethernetCsmacd: where several interfaces share a hardware address, the cable is in this one. */
const ETHERNET = 6;
const UP = 1;

/** The one interface that fits best, null where none or several do. */
export function findPort(ports: readonly LinkPort[], { id, description }: PortWords): number | null {
  const tests: ((port: LinkPort) => boolean)[] = [];
  if (id) {
    if (MAC.test(id)) return portOfMac(ports, id);
    tests.push(
      (port) => port.name === id,
      (port) => port.description === id,
      (port) => sameForm(port.name, id) || sameForm(port.description, id),
      (port) => withoutUnit(port.name) === withoutUnit(id),
    );
  }
  if (description) {
    tests.push(
      (port) => port.name === description || port.description === description,
      (port) => sameForm(port.name, description) || sameForm(port.description, description),
    );
  }
  if (id) {
    tests.push((port) => port.alias === id);
    if (/^\d{1,10}$/.test(id) && !description) tests.push((port) => port.ifIndex === Number(id));
  }
  if (description) tests.push((port) => port.alias === description);
  for (const test of tests) {
    const found = ports.filter(test);
    if (found.length > 0) return only(found);
  }
  return null;
}

/** The interface that sends from a hardware address. */
export const portOfMac = (ports: readonly LinkPort[], mac: string): number | null =>
  only(ports.filter((port) => port.macAddress === mac));

function only(found: readonly LinkPort[]): number | null {
  const narrower = [
    found,
    found.filter((port) => port.type === ETHERNET),
    found.filter((port) => port.type === ETHERNET && port.operStatus === UP),
  ];
  return narrower.find((list) => list.length === 1)?.[0]?.ifIndex ?? null;
}
