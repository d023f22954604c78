/** Facts of registries: who owns an enterprise number, what a published sysObjectID is, who makes a hardware address. */
import { createRequire } from 'node:module';
import type { DeviceClass } from '@rollcall/shared/model';

// CommonJS and JSON, both large: read when first needed.
const load = createRequire(import.meta.url);
let registry:
  | {
      getOrg(number: number): string | undefined;
      getDeviceInfo(oid: string): { vendor?: string; category?: string; model?: string };
    }
  | undefined;
const numbers = () => {
  registry ??= load('snmp-sysobjectid') as NonNullable<typeof registry>;
  return registry;
};

/** Legal forms at the end of a registered name say nothing of the vendor. */
const LEGAL =
  /[\s,]+(?:inc(?:orporated)?|corp(?:oration)?|co|company|ltd|limited|llc|l\.l\.c|gmbh|mbh|& ?co\.? ?kg|kg|ag|s\.?a\.?(?:r\.?l\.?|s\.?)?|s\.?p\.?a\.?|s\.?r\.?[lo]\.?|sp\. ?z ?o\.? ?o|spol|b\.?v\.?|n\.?v\.?|a\.?b\.?|a\/?s|oy|oyj|plc|pte|pty|k\.?k|a\.?g|d\.?o\.?o|kft|ooo|jsc|zao|sdn\.? ?bhd|ltda|e\.?k)\.?$/i;

/** Name of the organisation that IANA registered an enterprise number for, without its legal form. */
export function organisation(enterprise: number): string | null {
  // What stands in brackets is an earlier name or an address.
  let name = (numbers().getOrg(enterprise) ?? '')
    .replace(/\s*\(.*$/, '')
    .replace(/[®™]/g, '')
    .trim();
  for (
    let shorter = name.replace(LEGAL, '');
    shorter !== name && shorter.length > 1;
    shorter = name.replace(LEGAL, '')
  ) {
    name = shorter.replace(/[,.\s]+$/, '');
  }
  return name === '' || /^(unassigned|reserved|none)/i.test(name) ? null : name;
}

/** What the name of an organisation says of the things it makes, the more telling first. */
const TRADES: [RegExp, DeviceClass][] = [
  [/\b(wireless|wi-?fi|radio|microwave|antennas?|satellite)\b/i, 'wireless'],
  [/\b(ups|power|energy|batter(?:y|ies)|rectifiers?|electric supply)\b/i, 'ups'],
  [/\b(storage|nas|disks?|tape|raid)\b/i, 'storage'],
  [/\b(security|firewall|vpn)\b/i, 'firewall'],
  [/\b(print(?:er|ers|ing)?|imaging|copiers?)\b/i, 'printer'],
  [/\b(cameras?|surveillance|cctv)\b/i, 'camera'],
  [/\b(voice|voip|telephon(?:y|e|es|ics)|audio|conferenc\w+)\b/i, 'phone'],
  [/\b(sensors?|sensing|environment\w*|climate|thermo\w*|cooling|klimatechnik)\b/i, 'sensor'],
  [/\b(computers?|servers?|workstations?)\b/i, 'server'],
  [
    /\b(\w*networks?|networking|\w*tele(?:com\w*|k\w+)|communications?|\w*optic(?:s|al|on)?|photonics?|lightwave|broadband|internet\w*|datacom\w*|datentechnik|access|ethernet)\b/i,
    'router',
  ],
];

export const tradeOf = (organisationName: string): DeviceClass | undefined =>
  TRADES.find(([words]) => words.test(organisationName))?.[1];

/** What makers publish about a sysObjectID; null where nobody did. */
export function publishedProduct(sysObjectId: string): { model: string; category: string } | null {
  const { model, category } = numbers().getDeviceInfo(sysObjectId.replace(/^\./, ''));
  // Some entries are not of a maker but of somebody's own machine.
  return model && !/^Linux /.test(model) ? { model, category: category ?? '' } : null;
}

let makers: Record<string, string> | undefined;

/** Who registered the prefix of a hardware address (IEEE MA-L, MA-M, MA-S); null for local addresses and unknown prefixes. */
export function macMaker(mac: string): string | null {
  if (Number.parseInt(mac.slice(1, 2), 16) & 2) return null;
  makers ??= load('oui-data') as Record<string, string>;
  const hex = mac.replaceAll(':', '').toUpperCase();
  for (const length of [9, 7, 6]) {
    const maker = makers[hex.slice(0, length)]?.split('\n')[0];
    if (maker) return maker.replace(LEGAL, '').replace(/[,.\s]+$/, '');
  }
  return null;
}
