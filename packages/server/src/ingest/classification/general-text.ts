/** Words of free text: which of them is a model, a version, a serial number. Pure patterns, tried in order. */
import { compareOid } from '@rollcall/shared/oid';

/** What was found, and whether a label or an unmistakable form says so. */
export interface Guess {
  text: string;
  sure: boolean;
}
const sure = (text: string | null | undefined): Guess | null => (text ? { text, sure: true } : null);
const unsure = (text: string | null | undefined): Guess | null => (text ? { text, sure: false } : null);

/** A version: digits with dots, brackets, letters between (12.2(55)SE12, 15.1X53-D59.4, V200R003C01, RA.16.02.0012). */
const VERSION = String.raw`[A-Za-z]{0,4}[._-]?\d[\w.+~-]*(?:\([\w.,/-]+\)[\w.]*)*(?: ?build[- ]?\w+)?`;

/** Words before a label that make it something else's. */
const OTHERS =
  '(?<!(?:hard\\s?ware|hw|boot|rom|bootrom|kernel|loader|protocol|snmp|u-boot|board)[\\s:_-]{1,2})';
const labelled = (words: string, before = OTHERS): RegExp =>
  new RegExp(
    String.raw`${before}\b(?:${words})\b[\s.:=_]*(?:[A-Z][A-Za-z]*OS,\s?)?(?:v(?:er(?:s(?:ion)?)?)?\b[\s.:]*)?(${VERSION})`,
    'i',
  );

/** The labels that mean the running software, the clearest first. */
const VERSION_LABELS = [
  // SW_REV is how DOCSIS has modems tell it in sysDescr (DOCS-CABLE-DEVICE-MIB of RFC 4639).
  labelled('(?:application )?software version|soft(?:ware)? ver(?:sion)?|sw[ _]ver(?:sion)?|sw_rev'),
  labelled('firmware version|fw ver(?:sion)?|firmware ver|system version|os version'),
  labelled('software|sw|app ver'),
  labelled('version|vers|ver'),
  labelled('firmware|fw'),
  // An operating system is named beside its kernel's version: its own stands behind its name.
  labelled(String.raw`(?!ecos)[a-z]{0,8}os(?:-[a-z]{1,3})?(?:-(?=v\d))?|nos`, ''),
  labelled('release|rel|revision|rev'),
];

const MAC = /^[0-9a-f]{2}([:.-][0-9a-f]{2}){5}$/i;
const ADDRESS = /^\d{1,3}(\.\d{1,3}){3}$/;
/** Masks, private and public addresses; four small numbers are a version, for few keep addresses below 26 as text. */
const isAddress = (text: string): boolean => {
  if (!ADDRESS.test(text)) return false;
  const [first, second] = text.split('.').map(Number) as [number, number];
  return first === 0 || first === 10 || first > 25 || second > 99;
};
const DATE =
  /^((19|20)\d\d[-/.]\d{1,2}[-/.]\d{1,2}.*|\d{1,2}[-/]\d{1,2}[-/]\d{2,4}|\d{1,2}\.\d{1,2}\.(19|20)\d\d|\d{1,2}:\d{2}(:\d{2})?.*|(19|20)\d{6})$/;

/** Behind the name of a system that many makers' machines run. */
const OF_SYSTEM = /\b(?:ESXi?|OpenVMS|NetWare|pfSense|OneFS(?: \S+)?) (V?\d+(?:\.\d+)+\S*)/i;

/** The version in sysDescr. The kernel of a uname text is the last choice: it is rarely the product's version. */
export function versionIn(text: string): Guess | null {
  const kernel = /^Linux \S+ (\d+\.\d+\S*)/.exec(text)?.[1];
  for (const label of VERSION_LABELS) {
    const found = trimmed(label.exec(text)?.[1] ?? '');
    if (/\d/.test(found) && !DATE.test(found) && found !== kernel && !WORD.test(found)) return sure(found);
  }
  // The kernel of these is the system itself.
  const system = OF_SYSTEM.exec(text)?.[1];
  if (system) return sure(trimmed(system));
  const uname = /^(?:OpenBSD|NetBSD|DragonFly|FreeBSD|HP-UX|SunOS|Darwin) \S+ ((?:[A-Z]\.)?\d\S*)/.exec(
    text,
  )?.[1];
  if (uname) return sure(uname);
  if (kernel) return unsure(kernel);
  const v = /(?:^|[\s(,;:_-])(v\d+(?:[._]\d+)+[\w.()+-]*)/i.exec(text)?.[1];
  if (v) return sure(trimmed(v));
  const dotted =
    /(?<![\w.:/@-])(?<!\bip )((?:[A-Z]{1,3}\.)?\d+(?:\.\d+){2,}[\w.()+-]*|[A-Z]{1,3}\.\d+(?:\.\d+)+)/.exec(
      text,
    )?.[1];
  return unsure(dotted && trimmed(dotted));
}

/** A model behind a word that is no label there: two letters at least, and no dot (RouterOS RB760iGS). */
const WORD = /^(?!(?:rev|rel|ver)\b)[a-z]{2,4}\d[^.]*$/i;

const trimmed = (version: string): string => {
  const cut = version.replace(/^[.,;:_-]+|[.,;:_-]+$/g, '');
  return cut.endsWith(')') && !cut.includes('(') ? cut.slice(0, -1) : cut;
};

const MODEL_LABEL =
  /\b(?:hardware model|device model|product(?: name)?|model(?: name| number| no\.?)?|prod|mn|pn|mdl|pid)\b\s*[:=]\s*"?([^,;)>"\n]{2,60}?)\s*(?=[,;)>"\n]|\b(?:version|software|firmware|rating|sn|s\/n|serial|hr|md|af1|mn)\b|$)/i;

/** Tokens with letters and digits that are no model. */
const NO_MODEL =
  /^(v?\d+(\.\d+)+\S*|\d+(\/\d+)+\S*|\d+-?port\S*|802\.\S+|x86(_64)?|i[3-9]86|amd64|armv\d\S*|aarch64|mips\S*|ppc\S*|ipv[46]|snmpv\d\S*|l[23]\+?|\d+g(be?|ig)?|\d+(gbps|mbps|gb|mb|hz|mhz|ghz|kva|va|kw|w|a|v|vac|vdc)|\d+g?base\S*|10\/100\S*|rfc\d+|sha\d*|md5|utf-?8|\(c\)\d*|20\d\d\S*|19\d\d\S*|#\d+\S*|\d+(st|nd|rd|th)|smp|c0|0x\S*|\d{1,2}:\d\d\S*|\d+x\d+g\S*|\d+u|mp\d|h\.?26\d|g\.?7\d\d|dvb\S*|\w+\.bin|\S*x86\S*|\S*[_-]v\d\S*|\d+-(?:mode|slot|bay|outlet|phase)\S*|family|jd\d+|(eth|wlan|lan|wan|lo|br|ge|fe|te|vlan)-?\d\S*)$/i;

/** Words of a short sysDescr that say what kind of thing it is, not which. */
const KIND_ONLY =
  /^(?:the|a|an|snmp|agent|card|device|systems?|switch|switched|router|gateway|server|managed|ethernet|gigabit|fast|industrial|smart|network|networks|management|controller|unit|module|software|hardware|firmware|description|descr|sys|web|adapter|interface|platform|products?|company|node|access|control|power|wireless|bridge|link|radio|microwave|for|and|of|by|with|to|ip|lan|web\/snmp|linux|embedded|host|local|test|private|unknown|pdu|ups|inc|<[^>]*>|\W*)$/i;

/** Makers whose names have digits. */
const MAKER_WORD = /^(3com|h3c|force10|a10|pica8|6wind|8devices|2n|4rf|o2micro|net2edge)$/i;

/** Words behind which a number is no model. */
const VERSION_WORD =
  /^(release|rel|version|ver|revision|rev|build|patch|software|firmware|hardware|hw|sw|fw|rom|bootrom|sn|s\/n|serial|no|number|nr|copyright|\(c\)|system)$/i;

/**
 * The model in sysDescr: what a label names, what it "runs on", else the first word of letters and digits that is
 * neither version nor date nor speed. A short text without any such word may be the model itself.
 */
export function modelIn(words: string, vendor: string | null): Guess | null {
  // Some agents quote the whole text.
  const text = words.replace(/^[\\"'\s]+|[\\"'\s]+$/g, '');
  if (
    text === '' ||
    /^(Linux|FreeBSD|OpenBSD|NetBSD|Darwin|SunOS|AIX|HP-UX|Windows|Hardware:)\b|\bFamily \d+ Model \d/i.test(
      text,
    )
  )
    return null;
  const label =
    MODEL_LABEL.exec(text)?.[1] ??
    /\brunning on an? (.+?)\.?$/i.exec(text)?.[1] ??
    /\bmodel #?([A-Z][\w/-]*\d[\w/-]*)/i.exec(text)?.[1];
  if (label && /\w/.test(label) && !/\.(?:bin|img|swi)$/i.test(label))
    return sure(withoutVendor(label, vendor));
  const first = text.split(/[\n\r]/)[0] ?? '';
  const each = first.split(/[\s,;|]+/).map((word) => word.replace(/^[("'[<]+|[)"'\]>.:]+$/g, ''));
  const at = each.findIndex((word, i) => isModel(word) && !VERSION_WORD.test(each[i - 1] ?? ''));
  if (at >= 0 && at < 12) return sure(withoutVendor(joined(each, at), vendor));
  const number = each.findIndex(
    (word, i) =>
      i > 0 &&
      /^\d{3,5}[A-Za-z]{0,3}$/.test(word) &&
      !/^(19|20)\d\d$/.test(word) &&
      !VERSION_WORD.test(each[i - 1] ?? ''),
  );
  if (number > 0 && number < 6 && /^[A-Za-z]{2}/.test(each[number - 1] ?? '')) {
    return sure(withoutVendor(`${each[number - 1]} ${each[number]}`, vendor));
  }
  const segment = (first.split(/[,;(]| - /)[0] ?? '').replace(/\s+v?\d+(\.\d+)+.*$/i, '').trim();
  const parts = segment.split(/\s+/);
  const meaning = parts.filter((word) => !KIND_ONLY.test(word));
  if (segment.length > 40 || parts.length > 6 || meaning.length === 0) return null;
  if (/[@=<>]|\bsoftware\b/i.test(segment)) return null;
  if (VERSION_WORD.test(parts[0] ?? '') || parts.some((part) => MAC.test(part))) return null;
  const named = withoutVendor(segment, vendor);
  // A name with a number is one of a product line's (Room Alert 4E).
  if (named && /\s\d{1,2}[A-Z]{0,2}$/.test(named) && named.split(/\s+/).length <= 4) return sure(named);
  return named && !KIND_ONLY.test(named) && named.toLowerCase() !== vendor?.toLowerCase()
    ? unsure(named)
    : null;
}

/** A word with the one before it, where it is only the number of a name (`Room Alert 12E`). */
function joined(words: readonly string[], at: number): string {
  const word = words[at] ?? '';
  const before = words[at - 1] ?? '';
  const number = /^\d/.test(word) || (word.length <= 4 && /^[A-Z]/.test(before));
  return number && /^[A-Za-z]/.test(before) && !KIND_ONLY.test(before) ? `${before} ${word}` : word;
}

const isModel = (word: string): boolean =>
  word.length >= 3 &&
  word.length <= 40 &&
  /[A-Za-z]/.test(word) &&
  /\d/.test(word) &&
  /^[\w(][\w.()/+-]*$/.test(word) &&
  !NO_MODEL.test(word) &&
  !MAKER_WORD.test(word) &&
  !MAC.test(word) &&
  !/^(ver|version|rev|rel|build|hw|sw|fw|sn|cpu)[.:]?\d[\d._]*\w?$|^[vr][.:]?\d+([._]\d+)+\w*$|^[vr]\d{1,2}$/i.test(
    word,
  ) &&
  !/[._]\d+[._]\d+/.test(word) &&
  !/^[A-Za-z]+OS-/.test(word);

function withoutVendor(text: string, vendor: string | null): string | null {
  let rest = text.trim();
  if (vendor && rest.toLowerCase().startsWith(`${vendor.toLowerCase()} `))
    rest = rest.slice(vendor.length).trim();
  return rest === '' ? null : rest;
}

const SERIAL_LABEL =
  /(?:\bs\/?n|\bserial(?:[ _-]?(?:number|no|num|nr))?)\b\.?[\s:=#]*(?:is\s)?([A-Za-z0-9][A-Za-z0-9/_-]{3,30})\b/i;

export function serialIn(text: string): string | null {
  const found = SERIAL_LABEL.exec(text)?.[1];
  return found && /\d/.test(found) ? found : null;
}

/** Names of operating systems in the forms that makers write them in, the more telling first, and what a name lacks there. */
const OS_NAMES: readonly (readonly [RegExp, lacks?: string])[] = [
  // A variant is a system of its own: IOS XR, IOS-XE.
  [/\b([A-Z]{0,2}OS[ -]X[A-Z])\b/],
  [/\b([A-Z][A-Za-z]{1,12}-OS)\b/],
  [/\b((?:[A-Z][A-Za-z]{0,12}|[A-Z]{2,8}|i|e)OS(?:-[A-Z]{2,3})?)\b/],
  [/\b((?:[A-Z][a-z]+ )?[A-Z][A-Za-z]+ OS)\b/],
  [
    /\b(?!(?:Real|Time|Base|Host|Core|Embedded|The|Networks|Internetwork)\b)([A-Z]\w+) Operating System\b/,
    ' OS',
  ],
  [/\b([A-Z]\w+) Platform Software\b/],
  [/\b(?!Soft|Hard|Firm|Free|Share|Middle)([A-Z][a-z]+Ware(?: Plus)?)\b/],
  [/\b(?!(?:Embedded|The|On|Running)\b)([A-Z][a-z]+[ -][Ll]inux)\b/],
  // Systems that are called otherwise and run on what many makers build.
  [/\b(Windows)(?= (?:NT|Version|Server|Embedded|CE|XP|\d))/],
  [/\b(ESXi?|OpenVMS|OneFS|IRIX|Tru64|ULTRIX|pfSense|m0n0wall|DragonFly|(?:Open|Net|Free)BSD)\b/],
];

/** The name that sysDescr gives the operating system, without the maker's own. */
export function osIn(text: string, vendor: string | null): string | null {
  for (const [name, lacks = ''] of OS_NAMES) {
    const found = name.exec(text)?.[1];
    if (found) return withoutVendor(`${found}${lacks}`, vendor);
  }
  return null;
}

export interface Sampled {
  model: Guess | null;
  version: Guess | null;
  serial: string | null;
}

interface SampleText {
  text: string;
  /** Position in the subtree: what stands first is about the device. */
  at: number;
}

/** Objects below an enterprise, in the order of their OIDs. */
function sample(facts: Readonly<Record<string, string>>, enterprise: number | null): SampleText[] {
  const prefix = enterprise === null ? '1.3.6.1.4.1.' : `1.3.6.1.4.1.${enterprise}.`;
  return Object.entries(facts)
    .filter(([oid, text]) => oid.startsWith(prefix) && text.length >= 3 && text.length <= 100)
    .sort(([a], [b]) => compareOid(a, b))
    .map(([, text], at) => ({ text: text.replace(/\s+/g, ' ').trim(), at }))
    .filter(({ text }) => !MAC.test(text) && !DATE.test(text) && !/^(0x|1\.3\.6\.1\.|https?:|\/)/.test(text));
}

/** Which of the vendor's own values look like version, serial number and model: the best of each, else the first. */
export function sampledFields(
  facts: Readonly<Record<string, string>>,
  enterprise: number | null,
  sysDescr: string,
  sysName: string,
): Sampled {
  const texts = sample(facts, enterprise).filter(({ text }) => text !== sysName && !isAddress(text));
  const best = <T>(rank: (each: SampleText) => number, make: (text: string, rank: number) => T): T | null => {
    let found: { text: string; rank: number } | undefined;
    for (const each of texts) {
      const value = rank(each);
      if (value > (found?.rank ?? 0)) found = { text: each.text, rank: value };
    }
    return found ? make(found.text, found.rank) : null;
  };
  return {
    model: best(
      (each) => modelRank(each, sysDescr),
      (text, rank) => ({ text, sure: rank >= 3 }),
    ),
    version: best(versionRank, (text, rank) => ({ text: versionAlone(text), sure: rank >= 3 })),
    serial: best(
      (each) => serialRank(each, sysDescr),
      (text) => text,
    ),
  };
}

/** The version out of a text of several words. */
const versionAlone = (text: string): string =>
  (text.split(' ').length > 3 && /\bv(\d+(?:\.\d+)+\S*)/i.exec(text)?.[1]) || text;

const UNIT = /\d\s*(v|a|w|kw|va|kva|hz|dbm?|°?c|%|mv|ma|vac|vdc|rpm|e-?\d+)$/i;

function versionRank({ text, at }: SampleText): number {
  if (text.length > 60 || UNIT.test(text) || /[@/\\]/.test(text)) return 0;
  if (/^v?\d+(\.\d+){2,5}[\w. ()+-]*$/i.test(text)) return 4;
  if (/^(?:version|ver|release|rel|rev|fw|sw|firmware|software)?[\s.:_-]*v\.?\s?\d+([._]\d+)+/i.test(text))
    return 4;
  if (/\bV\d+R\d+\w*/.test(text)) return 4;
  if (/(?:^|[^a-z])v\d+([._]\d+)+|\d+build[ ._-]?\d+|\bbuild[ ._-]?\d+/i.test(text)) return 3;
  if (/^\S*\d+\.\d+\.\d+\S*$/.test(text) && /[A-Za-z_-]/.test(text)) return 3;
  if (/^\d{1,3}\.\d{1,4}[a-z]?\d?$/i.test(text)) return at < 6 ? 1 : 0;
  return 0;
}

/** One word of 6 to 24 letters and digits, half digits at least: few models have that many. */
function serialRank({ text }: SampleText, sysDescr: string): number {
  if (!/^[A-Z0-9][A-Z0-9/-]{5,23}$/i.test(text) || /^(.)\1*$/.test(text) || sysDescr.includes(text)) return 0;
  if (/^V\d+R\d+/i.test(text)) return 0;
  const digits = text.replace(/\D/g, '').length;
  const letters = text.length - digits - text.replace(/[^/-]/g, '').length;
  if (digits < 5 || digits < letters || (letters === 0 && digits < 8)) return 0;
  const head = text.slice(0, 4).toLowerCase();
  if (/[/-]/.test(text) && sysDescr.toLowerCase().includes(head)) return 0;
  return /[/-]/.test(text) ? 1 : 3;
}

/** What measurements, parts and settings are called. */
const NO_NAME =
  /\b(temp\w*|fan|volt\w*|sensor|input|output|planar|outlet|bank|phase|cpu|slot|port|module|routing|engine|default|admin|public|private|local|none|ok|normal|active|enabled|disabled|up|down|yes|no|true|false|on|off|unknown|interface|status|desc\w*|location|contact|vlan|group|user|test\w*|rack|server room|psu|psm|power supply|ac|dc)\b/i;

function modelRank({ text, at }: SampleText, sysDescr: string): number {
  if (text.length > 40 || !/[A-Za-z]{2}/.test(text) || text.split(' ').length > 4) return 0;
  if (
    /[@=?:,%°*\\]|https?|\.(com|net|org|bin|img|xml|cfg|local)\b|\d\.\d+\.\d/i.test(text) ||
    NO_NAME.test(text)
  )
    return 0;
  if (!/^[A-Za-z]/.test(text) || NO_MODEL.test(text) || UNIT.test(text)) return 0;
  if (versionRank({ text, at }) > 0) return 0;
  const named = sysDescr.toLowerCase().includes(text.toLowerCase());
  const digits = /\d/.test(text);
  if (digits && serialRank({ text, at }, '') >= 3) return 0;
  if (!digits && !named) return at < 3 && text.length >= 4 ? 1 : 0;
  const word = /^[A-Za-z]+[-_]?[A-Za-z]*\d[\w/+-]*$/.test(text);
  return (word ? 3 : 2) + (at < 12 ? 1 : 0) + (named ? 1 : 0);
}
