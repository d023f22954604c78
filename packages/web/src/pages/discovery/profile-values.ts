import { BUILT_IN_PROFILES, FACT_GROUPS, type ProfileSettings } from '@rollcall/shared/profile';
import { splitWords } from '../../search.ts';

const STANDARD: ProfileSettings = BUILT_IN_PROFILES.standard;

export const ICMP_NUMBERS = { tries: 'Tries', timeoutMs: 'Time-out, ms' } as const;
export const SNMP_NUMBERS = {
  tries: 'Tries',
  timeoutMs: 'Time-out, ms',
  perDevice: 'Requests in flight to one device',
  deviceBudgetMs: 'Time per device, at most, ms',
  rows: 'Rows per table, at most',
  attempts: 'Authentication failures per host and day',
} as const;

/** Settings as a form has them: numbers as they are typed, and what is switched off remembered. */
export interface ProfileValues {
  ping: boolean;
  read: boolean;
  icmp: Record<keyof typeof ICMP_NUMBERS, string>;
  snmp: Record<keyof typeof SNMP_NUMBERS | 'port', string> & { ask: 'all' | 'alive'; groups: string[] };
  rate: string;
  ratePerNet: string;
  follow: string;
  exclude: string;
  dns: boolean;
}

const convert = <Key extends string, From, To>(
  keys: Readonly<Record<Key, unknown>>,
  values: Readonly<Record<NoInfer<Key>, From>>,
  to: (value: From) => To,
) => Object.fromEntries((Object.keys(keys) as Key[]).map((key) => [key, to(values[key])])) as Record<Key, To>;

/** What is no number is sent all the same: the server says what is wrong with it. */
const number = (text: string): number => (text.trim() === '' ? Number.NaN : Number(text));
const rate = (text: string): number | 'max' => (text.trim() === 'max' ? 'max' : number(text));

export function profileValues(settings: ProfileSettings = STANDARD): ProfileValues {
  const icmp = settings.icmp ?? (STANDARD.icmp as NonNullable<ProfileSettings['icmp']>);
  const snmp = settings.snmp ?? (STANDARD.snmp as NonNullable<ProfileSettings['snmp']>);
  return {
    ping: settings.icmp !== null,
    read: settings.snmp !== null,
    icmp: convert(ICMP_NUMBERS, icmp, String),
    snmp: {
      ...convert(SNMP_NUMBERS, snmp, String),
      port: String(snmp.port ?? ''),
      ask: snmp.ask,
      groups: snmp.groups,
    },
    rate: String(settings.rate),
    ratePerNet: String(settings.ratePerNet),
    follow: String(settings.follow),
    exclude: settings.exclude.join('\n'),
    dns: settings.dns,
  };
}

export function profileSettings({ ping, read, icmp, snmp, dns, ...texts }: ProfileValues): ProfileSettings {
  return {
    icmp: ping ? convert(ICMP_NUMBERS, icmp, number) : null,
    snmp: read
      ? {
          ...convert(SNMP_NUMBERS, snmp, number),
          port: snmp.port === '' ? null : Number(snmp.port),
          ask: snmp.ask,
          groups: FACT_GROUPS.filter((group) => snmp.groups.includes(group)),
        }
      : null,
    rate: rate(texts.rate),
    ratePerNet: rate(texts.ratePerNet),
    dns,
    follow: number(texts.follow),
    exclude: splitWords(texts.exclude),
  };
}
