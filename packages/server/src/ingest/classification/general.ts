/**
 * What can be said of a device that no rule knows: from standard MIBs, from the words of sysDescr, and from a sample of
 * the vendor's own objects. Everything here is a pattern over all devices, never one device.
 */
import type { EntityRow } from '@rollcall/shared/observation';
import { vendorEnterprise } from '../identity/fingerprint.ts';
import type { Catalogue } from './catalogue.ts';
import { cleanModel, cleanName, cleanSerial, cleanVersion } from './clean.ts';
import { organisation, publishedProduct, tradeOf } from './enterprises.ts';
import type { DeviceFacts } from './facts.ts';
import { type Guess, modelIn, osIn, sampledFields, serialIn, versionIn } from './general-text.ts';

/** Values of the vendor's own subtree that collectors read, in its order: nearly always product, version and serial. */
export const SAMPLED = 64;

const IP_FORWARDING = '1.3.6.1.2.1.4.1.0';
const BRIDGE_PORTS = '1.3.6.1.2.1.17.1.2.0';
/** BRIDGE-MIB (RFC 4188) dot1dStpDesignatedRoot, dot1dBasePortIfIndex; Q-BRIDGE-MIB (RFC 4363) dot1qVlanStaticName: what bridges serve. */
const OF_BRIDGES = ['1.3.6.1.2.1.17.2.5.0', '1.3.6.1.2.1.17.1.4.1.2', '1.3.6.1.2.1.17.7.1.4.3.1.1'];
/** UPS-MIB (RFC 1628) upsIdent. */
const UPS = {
  maker: '1.3.6.1.2.1.33.1.1.1.0',
  model: '1.3.6.1.2.1.33.1.1.2.0',
  version: '1.3.6.1.2.1.33.1.1.3.0',
  agent: '1.3.6.1.2.1.33.1.1.4.0',
};
/** Printer-MIB (RFC 3805) prtGeneralSerialNumber; hrDeviceDescr (RFC 2790) of the first device names a printer
 * where hrDeviceType says that it is one. */
const PRINTER = {
  serial: '1.3.6.1.2.1.43.5.1.1.17.1',
  name: '1.3.6.1.2.1.43.5.1.1.16.1',
  device: '1.3.6.1.2.1.25.3.2.1.3.1',
  kind: '1.3.6.1.2.1.25.3.2.1.2.1',
};
/** hrDevicePrinter of hrDeviceType (RFC 2790). */
const HR_PRINTER = '1.3.6.1.2.1.25.3.1.5';
/** Computers list the printers that they print on. */
const COMPUTER = /\b(?:Windows|Linux|SunOS|\w+BSD|Darwin|AIX|HP-UX)\b/i;
const isPrinter = ({ vendor, system }: DeviceFacts): boolean =>
  vendor[PRINTER.serial] !== undefined ||
  vendor[PRINTER.name] !== undefined ||
  (vendor[PRINTER.kind]?.replace(/^\./, '') === HR_PRINTER && !COMPUTER.test(system.sysDescr ?? ''));
/** LLDP-EXT-MED-MIB lldpXMedLocalData: hardware, firmware, software, serial, maker, model. */
const MED = '1.0.8802.1.1.2.1.5.4795.1.2';
const LLDP_LOC_SYS_DESC = '1.0.8802.1.1.2.1.3.4.0';
/** lldpLocSysCapEnabled: BITS, of which bridge is the third and router the fifth. */
const LLDP_LOC_SYS_CAP = '1.0.8802.1.1.2.1.3.6.0';
const LLDP_BRIDGE = 0x20;
const LLDP_ROUTER = 0x08;
/** OSPF-MIB (RFC 4750) ospfAdminStat; BGP4-MIB (RFC 4273) bgpLocalAs. */
const OSPF_ENABLED = '1.3.6.1.2.1.14.1.2.0';
const BGP_LOCAL_AS = '1.3.6.1.2.1.15.2.0';
/** RMON2-MIB (RFC 4502) probeSoftwareRev. */
const PROBE_SOFTWARE = '1.3.6.1.2.1.16.19.2.0';
const PROBE_HARDWARE = '1.3.6.1.2.1.16.19.3.0';
/** DOCS-CABLE-DEVICE-MIB (RFC 4639). */
const DOCSIS = { serial: '1.3.6.1.2.1.69.1.1.4.0', version: '1.3.6.1.2.1.69.1.3.5.0' };

/** Read of every agent. */
export const GENERAL_OIDS: readonly string[] = [
  IP_FORWARDING,
  BRIDGE_PORTS,
  ...OF_BRIDGES,
  ...Object.values(UPS),
  ...Object.values(PRINTER),
  ...[2, 3, 4, 5, 6, 7].map((n) => `${MED}.${n}.0`),
  LLDP_LOC_SYS_DESC,
  LLDP_LOC_SYS_CAP,
  OSPF_ENABLED,
  BGP_LOCAL_AS,
  PROBE_SOFTWARE,
  PROBE_HARDWARE,
  ...Object.values(DOCSIS),
];

/** What may say a field; it is looked for only where nothing before it did. */
type Offer = (
  field: 'vendor' | 'os' | 'osVersion' | 'model' | 'serial' | 'class',
  by: string,
  find: () => string | null | undefined,
) => void;

/** Rows that speak of the whole device, the best first: chassis before what merely has no parent, with words before without. */
export function wholeDevices(rows: readonly EntityRow[]): EntityRow[] {
  const rank = (row: EntityRow) =>
    (row.class === 'chassis' ? 0 : row.class === 'stack' ? 4 : 2) + (row.model || row.serial ? 0 : 1);
  return [...rows].sort((a, b) => rank(a) - rank(b));
}

/** Fills what the rules left open. */
export function complete(
  facts: DeviceFacts,
  offer: Offer,
  known: { vendor: string | null; model: string | null; catalogue: Catalogue },
): void {
  const { system, vendor } = facts;
  const text = system.sysDescr?.trim() ?? '';
  const version = once(() => versionIn(text));
  const model = once(() => modelIn(text, known.vendor));
  const sample = once(() =>
    sampledFields(vendor, vendorEnterprise(system.sysObjectId), text, system.sysName ?? ''),
  );
  const stated = (
    role: 'model' | 'version' | 'serial',
    sure: boolean,
    clean: (text: string) => string | null,
  ) => {
    const texts = known.catalogue.named(role, vendor).flatMap((each) => {
      const text = each.sure === sure ? clean(each.text) : null;
      return text === null ? [] : [text];
    });
    // Of several that may be the model, the one with a number is: the others say what kind of thing it is.
    return (role === 'model' && texts.find((text) => /\d/.test(text))) || (texts[0] ?? null);
  };
  const only = (guess: Guess | null, sure: boolean) => (guess?.sure === sure ? guess.text : null);
  offer('osVersion', 'sysDescr', () => cleanVersion(only(version(), true)));
  fromEntity(facts.chassis.filter(isChassis), offer);
  fromStandardMibs(facts, offer);
  offer('model', 'catalogue', () => stated('model', true, ownModel));
  offer('osVersion', 'catalogue', () => stated('version', true, ownVersion));
  offer('serial', 'catalogue', () => stated('serial', true, cleanSerial));
  fromEntity(
    facts.chassis.filter((row) => !isChassis(row)),
    offer,
  );
  fromFirmware(facts.chassis, offer);
  offer('model', 'sysDescr', () => cleanModel(only(model(), true)));
  offer('model', 'catalogue', () => stated('model', false, ownModel));
  offer('model', 'product', () => known.catalogue.product(system.sysObjectId?.replace(/^\./, '') ?? ''));
  offer('model', 'sample', () => cleanModel(only(sample().model, true)));
  offer('model', 'published', () =>
    cleanModel(system.sysObjectId ? publishedModel(system.sysObjectId, known.vendor) : null),
  );
  offer('model', 'sysDescr', () => cleanModel(only(model(), false)));
  offer('model', 'sample', () => cleanModel(only(sample().model, false)));
  offer('serial', 'sysDescr', () => cleanSerial(serialIn(text)));
  offer('osVersion', 'catalogue', () => stated('version', false, ownVersion));
  offer('serial', 'catalogue', () => stated('serial', false, cleanSerial));
  offer('osVersion', 'sample', () => cleanVersion(only(sample().version, true)));
  offer('osVersion', 'sysDescr', () => cleanVersion(only(version(), false)));
  offer('osVersion', 'sample', () => cleanVersion(only(sample().version, false)));
  offer('serial', 'sample', () => cleanSerial(sample().serial));
  offer('os', 'sysDescr', () => osIn(text, known.vendor));
}

const isChassis = (row: EntityRow): boolean => row.class === 'chassis';

/** Looks when first asked. */
function once<T>(find: () => T): () => T {
  let found: { value: T } | undefined;
  return () => {
    found ??= { value: find() };
    return found.value;
  };
}

/** Numbers that name a whole product line say nothing of the model: one arc below the enterprise, or the agent's own. */
const NO_PRODUCT =
  /^1\.3\.6\.1\.4\.1\.(\d+(\.\d+)?|8072\..*|311\..*|14988\..*|318\..*|705\..*|890\.1\.15|41112\..*)$/;

/** What makers published about a sysObjectID, without the maker's own name. */
export function publishedModel(sysObjectId: string, vendor: string | null): string | null {
  if (NO_PRODUCT.test(sysObjectId.replace(/^\./, ''))) return null;
  const model = publishedProduct(sysObjectId)?.model ?? null;
  const named = [vendor, vendor?.split(' ')[0]].find(
    (name) => name && model?.toLowerCase().startsWith(`${name.toLowerCase()} `),
  );
  return named ? (model?.slice(named.length + 1) ?? null) : model;
}

/** Category words of the published list → class. */
const CATEGORIES: Record<string, string> = {
  Router: 'router',
  Switch: 'switch',
  'Layer 3 Switch': 'switch',
  Firewall: 'firewall',
  'Load Balancer': 'load-balancer',
  'Access Point': 'wireless',
  Wireless: 'wireless',
  WirelessLANController: 'wireless',
  'Wireless LAN Controller': 'wireless',
  Printer: 'printer',
  UPS: 'ups',
  PDU: 'pdu',
  Storage: 'storage',
  'Self-contained NAS': 'storage',
  'WAN Accelerator': 'router',
};

function fromEntity(rows: readonly EntityRow[], offer: Offer): void {
  for (const row of wholeDevices(rows)) {
    offer('vendor', 'entity-mib', () => cleanName(row.manufacturer));
    offer('model', 'entity-mib', () => (ORDER_NUMBER.test(row.model ?? '') ? described(row) : null));
    offer('model', 'entity-mib', () => ownModel(row.model));
    offer('serial', 'entity-mib', () => cleanSerial(row.serial));
    offer('osVersion', 'entity-mib', () => cleanVersion(row.softwareRevision));
  }
}

/** Numbers that a maker's things are ordered by (HPE, Ericsson): the description beside says what it is. */
const ORDER_NUMBER = /^(?:J[A-Z]?\d{3,4}[A-Z]|[A-Z]\d[A-Z]\d\d[A-Z]|[A-Z]{2,4} ?\d{3} ?\d{2,4}\/\S+)$/;

/** A short description with a number in it. */
function described({ description, name }: EntityRow): string | null {
  const text = [description, name].find((each) => each && /\d/.test(each) && /[A-Za-z]{2}/.test(each));
  return text && text.length <= 60 ? ownModel(text) : null;
}

function fromFirmware(rows: readonly EntityRow[], offer: Offer): void {
  for (const row of wholeDevices(rows).slice(0, 4)) {
    offer('osVersion', 'entity-mib firmware', () => cleanVersion(row.firmwareRevision));
  }
}

/** Where ENTITY-MIB or the maker's own wants the model, some agents give the number of a part, a version or the kind of thing. */
const NO_ENTITY_MODEL =
  /^(\d{3}-\d{4,}(-\d+)*|\d+(\.\d+)+|chassis|module|system|switch|router|card|board|unit)$/i;
const ownModel = (text: string | undefined | null): string | null =>
  cleanModel(NO_ENTITY_MODEL.test(text?.trim() ?? '') ? null : text);

/** A maker's own object may hold a sentence with the version in it. */
const ownVersion = (text: string): string | null =>
  cleanVersion((text.split(' ').length > 3 && (versionIn(text)?.text ?? DOTTED.exec(text)?.[0])) || text);
const DOTTED = /\b[A-Z]{0,3}\d+\.\d[\w.]*/;

function fromStandardMibs(facts: DeviceFacts, offer: Offer): void {
  const v = facts.vendor;
  offer('vendor', 'ups-mib', () => cleanName(v[UPS.maker]));
  offer('model', 'ups-mib', () => cleanModel(v[UPS.model]));
  offer('osVersion', 'ups-mib', () => cleanVersion(v[UPS.agent] || v[UPS.version]));
  offer('serial', 'printer-mib', () => cleanSerial(v[PRINTER.serial]));
  if (isPrinter(facts)) {
    offer('model', 'host-resources-mib', () => cleanModel(v[PRINTER.device]?.split(/[;,]/)[0]));
  }
  offer('model', 'lldp-med', () => cleanModel(v[`${MED}.7.0`]));
  offer('serial', 'lldp-med', () => cleanSerial(v[`${MED}.5.0`]));
  offer('osVersion', 'lldp-med', () => cleanVersion(v[`${MED}.4.0`]));
  offer('vendor', 'lldp-med', () => cleanName(v[`${MED}.6.0`]));
  offer('osVersion', 'rmon2-mib', () => cleanVersion(v[PROBE_SOFTWARE]));
  offer('serial', 'docsis-mib', () => cleanSerial(v[DOCSIS.serial]));
  offer('osVersion', 'docsis-mib', () => cleanVersion(v[DOCSIS.version]));
}

/** Words that name a kind of device, the more telling first. */
const CLASS_WORDS: [RegExp, string][] = [
  [/\b(firewall|utm|ngfw|vpn gateway|security gateway|security appliance)\b/i, 'firewall'],
  [/\b(load.?balancer|application delivery|adc)\b/i, 'load-balancer'],
  [/\b(rack pdu|pdu|power distribution|power strip|outlet|transfer switch|ats)\b/i, 'pdu'],
  [/\b(ups|uninterruptible|rectifier|battery|inverter|power ?system|power supply)\b/i, 'ups'],
  [
    /\b(printer|laserjet|officejet|mfp|multifunction|imagerunner|bizhub|print server|copier|plotter|label)\b/i,
    'printer',
  ],
  [/\b(camera|nvr|dvr|video (server|encoder)|surveillance)\b/i, 'camera'],
  [/\b(ip ?phone|voip|sip|telephone|conference|videoconferenc\w*|pbx)\b/i, 'phone'],
  [
    /\b(access point|wireless|wlan|wi-?fi|radio|microwave|wlc|outdoor unit|subscriber|base ?station|vsat|ptp|ptmp|mesh)\b/i,
    'wireless',
  ],
  [/\b(nas|storage|san|tape|disk array|filer|raid|backup)\b(?!:)/i, 'storage'],
  [
    /\b(temperature|humidity|environment\w*|sensor\w*|thermometer|thermograph|climate|cooling|air conditioner|monitoring unit)\b/i,
    'sensor',
  ],
  [/\b(hypervisor|esxi|vmware|proxmox|xenserver)\b/i, 'hypervisor'],
  [/\b(layer ?3 switch|routing switch|switch|bridge|hub)\b/i, 'switch'],
  [
    /\b(router|gateway|cpe|modem|olt|gpon|epon|dslam|cmts|multiplexer|mux|edfa|optical|sdh|dwdm|transponder)\b/i,
    'router',
  ],
  [
    /\b(server|poweredge|proliant|primergy|workstation|linux|windows|freebsd|openbsd|netbsd|solaris|aix|hp-ux)\b/i,
    'server',
  ],
];

/** Servers do everything: their words come last. */
const THINGS = CLASS_WORDS.filter(([, name]) => name !== 'server');

/** Class where no rule says it: by standard MIBs, words, the vendor, what it forwards. */
export function classHints(
  facts: DeviceFacts,
  model: string | null,
  { maker, usual, how }: { maker: number | null; usual: string | undefined; how: string },
  offer: (by: string, find: () => string | undefined) => void,
): void {
  const { system, vendor } = facts;
  const descr = system.sysDescr ?? '';
  const when = (holds: boolean, by: string, name: string) => offer(by, () => (holds ? name : undefined));
  const named = (words: readonly (readonly [RegExp, string])[], texts: readonly string[]) =>
    words.find(([pattern]) => texts.some((text) => pattern.test(text)))?.[1];
  when(vendor[UPS.maker] !== undefined || vendor[UPS.model] !== undefined, 'ups-mib', 'ups');
  when(isPrinter(facts), 'printer-mib', 'printer');
  offer('sysDescr', () => named(THINGS, [descr]));
  const oid = system.sysObjectId?.replace(/^\./, '') ?? '';
  offer('published', () =>
    NO_PRODUCT.test(oid) ? undefined : CATEGORIES[publishedProduct(oid)?.category ?? ''],
  );
  offer(how, () => usual);
  offer('model', () =>
    named(THINGS, [
      model ?? '',
      vendor[LLDP_LOC_SYS_DESC] ?? '',
      ...facts.chassis.flatMap((row) => row.description ?? []),
    ]),
  );
  when(Number(vendor[BRIDGE_PORTS] ?? 0) > 2, 'bridge-mib', 'switch');
  // What it does weighs more than the words that follow: a router with Linux on it calls itself Linux.
  when(vendor[OSPF_ENABLED] === '1' || Number(vendor[BGP_LOCAL_AS] ?? 0) > 0, 'routing-mib', 'router');
  offer('lldp', () => classOfCapabilities(vendor[LLDP_LOC_SYS_CAP]));
  offer('organisation', () => (maker === null ? undefined : tradeOf(organisation(maker) ?? '')));
  offer('sysDescr', () => named(CLASS_WORDS, [descr]));
  when(
    OF_BRIDGES.some((oid) => vendor[oid] !== undefined),
    'bridge-mib',
    'switch',
  );
  when(vendor[IP_FORWARDING] === '1', 'ip-mib', 'router');
  const serves = (layer: number) => (Number(system.sysServices) & layer) > 0;
  when(serves(4), 'sysServices', 'router');
  when(serves(2), 'sysServices', 'switch');
  when(serves(64), 'sysServices', 'server');
  // Few but network equipment tell their hardware this way, and the others have said by now what they are.
  when(facts.chassis.some(isChassis), 'entity-mib', 'switch');
}

/**
 * By what it tells its neighbours. One that does both is no answer: a switch that routes, or a server with containers.
 * @param text the first octet, as text or as hex
 */
function classOfCapabilities(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const octet = text.startsWith('0x') ? Number.parseInt(text.slice(2, 4), 16) : text.charCodeAt(0);
  const [bridge, router] = [(octet & LLDP_BRIDGE) > 0, (octet & LLDP_ROUTER) > 0];
  if (bridge === router) return undefined;
  return bridge ? 'switch' : 'router';
}

/** What people call hosts by: `sw-3`, `printer12`, `esx04.example.org`. */
const HOSTNAMES: [RegExp, string][] = [
  [/^(?:[a-z]+[-_])?(?:sw|switch|access|dist|tor)[-_]?\d/i, 'switch'],
  [/^(?:[a-z]+[-_])?(?:rtr|router|gw|gateway)[-_]?\d*\b/i, 'router'],
  [/^(?:[a-z]+[-_])?(?:fw|firewall)[-_]?\d*\b/i, 'firewall'],
  [/^(?:[a-z]+[-_])?(?:ap|wap|wlan)[-_]?\d/i, 'wireless'],
  [/^(?:[a-z]+[-_])?(?:prn|printer|mfp|npi[0-9a-f]{6})/i, 'printer'],
  [/^(?:[a-z]+[-_])?(?:ups)[-_]?\d*\b/i, 'ups'],
  [/^(?:[a-z]+[-_])?(?:pdu)[-_]?\d*\b/i, 'pdu'],
  [/^(?:[a-z]+[-_])?(?:cam|camera|ipcam|nvr)[-_]?\d*\b/i, 'camera'],
  [/^(?:[a-z]+[-_])?(?:esx|esxi|pve|hyperv|kvm)[-_]?\d/i, 'hypervisor'],
  [/^(?:[a-z]+[-_])?(?:nas|san|storage)[-_]?\d*\b/i, 'storage'],
  [/^(?:[a-z]+[-_])?(?:phone|sip|voip)[-_]?\d/i, 'phone'],
  [/^(?:[a-z]+[-_])?(?:srv|server|web|mail|dns|ns|db|dc)[-_]?\d*\b/i, 'server'],
  [/^(?:[a-z]+[-_])?(?:pc|ws|desktop|laptop|nb)[-_]?[0-9a-z]*\d/i, 'workstation'],
];

export const classOfHostname = (name: string): string | null =>
  HOSTNAMES.find(([pattern]) => pattern.test(name))?.[1] ?? null;
