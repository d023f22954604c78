/** Values as agents tell them, without what says nothing: placeholders, labels in front, marks behind. Pure. */
const NOTHING =
  /^(n\/?a|none|null|nil|unknown|unspecified|undefined|not (available|applicable|specified|set|defined|supported)|default|empty|<private>|private|redacted|-+|\.+|\?+|0+|x+|\*+|no ?such.*|tbd|string|sys ?(name|descr|description)|0x.*)$/i;

const tidy = (text: string | null | undefined, nothing = NOTHING): string | null => {
  const one = (text ?? '')
    .replace(/\\x[0-9a-f]{2}/gi, ' ')
    .replace(/\s+/g, ' ')
    .replace(/^["'\s]+|["'\s]+$/g, '')
    .trim();
  return one === '' || nothing.test(one) ? null : one;
};

/** A part number with the description of the part: the description names the model (JL661A Aruba 6300M 48G). */
const PART_NUMBER = /^(?:J[A-Z]?\d{3,4}[A-Z]|[A-Z]\d[A-Z]\d\d[A-Z])\s+(?:Aruba\s+|HPE?\s+)?(?=[\w-]*\d)/;

export function cleanModel(text: string | null | undefined): string | null {
  const one =
    tidy(text)
      ?.replace(PART_NUMBER, '')
      .replace(/(?<=^.*\s\S.*)\s+(?:Swch|Switch)$/i, '')
      .replace(/[,;:]+$/, '')
      .slice(0, 100) ?? null;
  return one !== null && one.length > 1 ? one : null;
}

export function cleanVersion(text: string | null | undefined): string | null {
  const one = tidy(text)
    ?.replace(
      /^(?:(?:software|firmware|system)\s+)?(?:version|ver|release|rel|revision|rev|sw|fw)\b[\s.:=_-]*(?=[\w.]*\d)/i,
      '',
    )
    .replace(/[,;:]+$/, '')
    .trim()
    .slice(0, 100);
  return one && /\d/.test(one) ? one : null;
}

/** Zeros and the like are what some devices say; identity leaves them out (`placeholderSerial`). */
const NO_SERIAL =
  /^(n\/?a|none|null|nil|unknown|undefined|not (available|applicable|specified|set|defined|supported)|default|empty|<private>|private|-+|\.+|\?+|no ?such.*|0x.*)$/i;

export function cleanSerial(text: string | null | undefined): string | null {
  const one = tidy(text, NO_SERIAL)
    ?.replace(/^(?:s\/?n|serial(?: number| no\.?)?)[\s.:#=-]+(?=\w)/i, '')
    .slice(0, 64);
  return one !== undefined && one.length >= 3 ? one : null;
}

export const cleanName = (text: string | null | undefined): string | null => tidy(text)?.slice(0, 80) ?? null;
