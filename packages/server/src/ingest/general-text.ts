/** Words of free text: which of them is a model, a version, a serial number. Pure patterns, tried in order. */
import { compareOid } from '@rollcall/shared/snmp/oid';

/** A version: digits with dots, brackets, letters between (12.2(55)SE12, 15.1X53-D59.4, V200R003C01, RA.16.02.0012). */
const VERSION = String.raw`[A-Za-z]{0,4}[._-]?\d[\w.+~-]*(?:\([\w.,/-]+\)[\w.]*)*`;

const labelled = (words: string): RegExp =>
  new RegExp(
    String.raw`(?<!hard\s?ware |hw |boot |rom |bootrom |kernel |loader |protocol |snmp |u-boot )\b(?:${words})\b[\s.:=#_]*(?:v(?:er(?:sion)?)?\b[\s.:]*)?(${VERSION})`,
    'i',
  );

/** The labels that mean the running software, the clearest first. */
const VERSION_LABELS = [
  labelled(
    'software version|sw version|firmware version|fw version|system version|os version|soft(?:ware)? ver|firmware ver|app(?:lication)? ver(?:sion)?',
  ),
  labelled('version|vers|ver'),
  labelled('firmware|fw|software|sw'),
  labelled('release|rel|revision|rev'),
];

const MAC = /^[0-9a-f]{2}([:.-][0-9a-f]{2}){5}$/i;
const ADDRESS = /^\d{1,3}(\.\d{1,3}){3}$/;
const DATE = /^(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}|\d{1,2}:\d{2}(:\d{2})?.*)$/;

export function versionIn(text: string): string | null {
  const linux = /^Linux \S+ (\d+\.\d+\S*)/.exec(text);
  for (const label of VERSION_LABELS) {
    const found = label.exec(text)?.[1];
    if (found && /\d/.test(found) && !DATE.test(found)) return trimmed(found);
  }
  if (linux) return linux[1] ?? null;
  const v = /(?:^|[\s(,;:_-])(v\d+(?:[._]\d+)+[\w.()+-]*)/i.exec(text)?.[1];
  if (v) return trimmed(v);
  const dotted = [...text.matchAll(/(?<![\w.:/-])(\d+(?:\.\d+){2,}[\w.()+-]*)/g)].map(
    (match) => match[1] ?? '',
  );
  const plain = dotted.find((each) => !ADDRESS.test(each) || /^\d\./.test(each));
  return plain ? trimmed(plain) : null;
}

const trimmed = (version: string): string => {
  const cut = version.replace(/[.,;:_-]+$/, '');
  return cut.endsWith(')') && !cut.includes('(') ? cut.slice(0, -1) : cut;
};

const MODEL_LABEL =
  /\b(?:hardware model|device model|product(?: name)?|model(?: name| number| no\.?)?|prod|mn|pn|mdl|pid)\b\s*[:=]\s*"?([^,;)"\n]{2,60}?)\s*(?=[,;)"\n]|\b(?:version|software|firmware|rating|sn|s\/n|serial|hr|md)\b|$)/i;

/** Tokens with letters and digits that are no model. */
const NO_MODEL =
  /^(v?\d+(\.\d+)+\S*|\d+(\/\d+)+\S*|\d+-?port\S*|802\.\S+|x86(_64)?|i[3-6]86|amd64|armv\d\S*|aarch64|mips\S*|ppc\S*|ipv[46]|snmpv\d\S*|l[23]\+?|\d+g(be?|ig)?|\d+(gbps|mbps|gb|mb|hz|mhz|ghz|kva|va|kw|w|a|v|vac|vdc)|\d+base\S*|10\/100\S*|rfc\d+|sha\d*|md5|utf-?8|\(c\)\d*|20\d\d\S*|19\d\d\S*|#\d+\S*|\d+(st|nd|rd|th)|smp|c0|0x\S*|\d{1,2}:\d\d\S*|\d+x\d+g\S*|\d+u|mp\d|h\.?26\d|g\.?7\d\d)$/i;

/** Words of a short sysDescr that say what kind of thing it is, not which. */
const KIND_ONLY =
  /^(?:the|a|an|snmp|agent|card|device|system|switch|router|gateway|server|managed|ethernet|gigabit|fast|industrial|smart|network|management|controller|unit|module|software|hardware|firmware|description|descr|sys|web|adapter|interface|platform|product|products|company|node|access|control|power|wireless|bridge|link|radio|microwave|for|and|of|by|with|ip|lan|web\/snmp|linux|embedded|host|local|test|private|unknown|<private>|\W*)$/i;

/**
 * The model in sysDescr: what a label names, what it "runs on", else the first word of letters and digits that is
 * neither version nor date nor speed; a short text without any such word is the model itself.
 */
export function modelIn(text: string, vendor: string | null): string | null {
  if (text === '' || /^(Linux|FreeBSD|OpenBSD|NetBSD|Darwin|SunOS|AIX|HP-UX|Windows)\b/i.test(text))
    return null;
  const label = MODEL_LABEL.exec(text)?.[1] ?? /\brunning on an? (.+?)\.?$/i.exec(text)?.[1];
  if (label && /\w/.test(label)) return withoutVendor(label, vendor);
  const first = text.split(/[\n\r]/)[0] ?? '';
  const words = first.split(/[\s,;|]+/).map((word) => word.replace(/^[("'[<]+|[)"'\]>.:]+$/g, ''));
  const at = words.findIndex((word) => isModel(word));
  if (at >= 0 && at < 12) {
    const word = words[at] ?? '';
    const before = words[at - 1] ?? '';
    const joins = /^\d/.test(word) || (word.length <= 4 && /^[A-Z]/.test(before));
    return withoutVendor(
      joins && before && !KIND_ONLY.test(before) && /^[A-Za-z]/.test(before) ? `${before} ${word}` : word,
      vendor,
    );
  }
  const number = words.findIndex(
    (word, i) => i > 0 && /^\d{3,5}[A-Za-z]{0,3}$/.test(word) && !/^(19|20)\d\d$/.test(word),
  );
  if (number > 0 && number < 6 && /^[A-Za-z]{2}/.test(words[number - 1] ?? '')) {
    return withoutVendor(`${words[number - 1]} ${words[number]}`, vendor);
  }
  const meaning = words.filter((word) => word && !KIND_ONLY.test(word));
  if (first.length <= 40 && words.length <= 5 && meaning.length > 0 && !/[@=]/.test(first)) {
    const named = withoutVendor(first, vendor);
    return named && !KIND_ONLY.test(named) ? named : null;
  }
  return null;
}

const isModel = (word: string): boolean =>
  word.length >= 3 &&
  word.length <= 40 &&
  /[A-Za-z]/.test(word) &&
  /\d/.test(word) &&
  /^[\w(][\w.()/+-]*$/.test(word) &&
  !NO_MODEL.test(word) &&
  !MAC.test(word) &&
  !/^(v|ver|version|rev|r|rel|build|hw|sw|fw|sn|cpu)[.:]?\d[\d._]*\w?$/i.test(word) &&
  !/[._]\d+[._]\d+/.test(word);

function withoutVendor(text: string, vendor: string | null): string | null {
  let rest = text.trim();
  if (vendor && rest.toLowerCase().startsWith(`${vendor.toLowerCase()} `))
    rest = rest.slice(vendor.length + 1).trim();
  return rest === '' ? null : rest;
}

const SERIAL_LABEL =
  /(?:\bs\/?n|\bserial(?:[ _-]?(?:number|no|num|nr))?)\b\.?[\s:=#]*(?:is\s)?([A-Za-z0-9][A-Za-z0-9/_-]{3,30})\b/i;

export function serialIn(text: string): string | null {
  const found = SERIAL_LABEL.exec(text)?.[1];
  return found && /\d/.test(found) ? found : null;
}

/** A name that ends in OS is nearly always the operating system's own. */
export function osIn(text: string): string | null {
  return (
    /\b((?:[A-Z][A-Za-z]{0,12}|[A-Z]{2,8}|i|e)OS(?:-[A-Z]{1,3})?|[A-Z][a-z]+ ?OS)\b/.exec(text)?.[1] ?? null
  );
}

interface Sampled {
  model: string | null;
  version: string | null;
  serial: string | null;
}

/** Objects below an enterprise, in the order of their OIDs; texts only. */
function sample(facts: Readonly<Record<string, string>>, enterprise: number | null): string[] {
  const prefix = enterprise === null ? '1.3.6.1.4.1.' : `1.3.6.1.4.1.${enterprise}.`;
  return Object.entries(facts)
    .filter(([oid, text]) => oid.startsWith(prefix) && text.length >= 3 && text.length <= 100)
    .sort(([a], [b]) => compareOid(a, b))
    .map(([, text]) => text.replace(/\s+/g, ' ').trim());
}

const WHOLE_VERSION =
  /^(?:(?:version|ver|release|rel|rev|fw|sw|firmware|software)[\s.:_-]*)?(?:v\.?\s?)?(\d+(?:\.\d+){1,5}[\w.()+-]*(?: ?(?:build|rel|rev|release|patch|b|r)[ .:-]?[\w.-]+)*|[a-z]{1,3}\d+(?:[._]\d+)+[\w.()-]*|V\d+R\d+\w*)$/i;

/** Which of the vendor's own values look like version, serial number and model; the first of each. */
export function sampledFields(
  facts: Readonly<Record<string, string>>,
  enterprise: number | null,
  sysDescr: string,
  sysName: string,
): Sampled {
  const texts = sample(facts, enterprise);
  const out: Sampled = { model: null, version: null, serial: null };
  for (const text of texts) {
    if (MAC.test(text) || ADDRESS.test(text) || DATE.test(text) || text === sysName || /^0x/.test(text))
      continue;
    if (/^1\.3\.6\.1\./.test(text) || /^-?\d{1,5}(\.\d{1,2})?$/.test(text)) continue;
    if (WHOLE_VERSION.test(text)) {
      const better = out.version === null || (dots(text) >= 2 && dots(out.version) < 2);
      if (better) out.version = text;
    } else if (isSerial(text)) out.serial ??= text;
    else if (isModelText(text, sysDescr)) out.model ??= text;
  }
  return out;
}

const dots = (text: string): number => text.split('.').length - 1;

/** One word of 6 to 24 letters and digits, half digits at least: no model has that many. */
const isSerial = (text: string): boolean => {
  if (!/^[A-Z0-9][A-Z0-9/-]{5,23}$/i.test(text) || /^(.)\1*$/.test(text)) return false;
  const digits = text.replace(/\D/g, '').length;
  return (
    digits >= 5 && digits * 2 >= text.replace(/[/-]/g, '').length && (/[A-Z]/i.test(text) || digits >= 8)
  );
};

const isModelText = (text: string, sysDescr: string): boolean =>
  text.length <= 40 &&
  /[A-Za-z]{2}/.test(text) &&
  text.split(' ').length <= 4 &&
  !/[@=?:]|https?|\.(com|net|org|bin|img|xml|cfg)\b/i.test(text) &&
  (/\d/.test(text) || sysDescr.includes(text)) &&
  /[A-Za-z]/.test(text[0] ?? '') &&
  !NO_MODEL.test(text);
