/** The kinds of events as a table for the documentation, out of the data that decides. */
import { nameOfCode, Severity } from '@rollcall/shared/model';
import { type EventCode, isClosedAtOnce, KINDS, kindOf } from './kinds.ts';

/** 20 s, 5 min, 7 d. */
function span(ms: number | undefined): string {
  if (!ms) return '–';
  const units: [string, number][] = [
    ['d', 86_400_000],
    ['h', 3_600_000],
    ['min', 60_000],
  ];
  const [unit, size] = units.find(([, each]) => ms % each === 0) ?? ['s', 1_000];
  return `${ms / size} ${unit}`;
}

const CASES = { opens: 'opens one', joins: 'joins one', none: 'none' } as const;
const code = (names: readonly string[]): string => names.map((name) => `\`${name}\``).join(', ') || '–';

const ends = (name: EventCode): string => {
  const after = span(kindOf(name).expiresMs);
  return isClosedAtOnce(name) ? 'at once' : `by itself after ${after}`;
};

/** Markdown. */
export function kindsTable(): string {
  const rows = (Object.keys(KINDS) as EventCode[]).map((name) => {
    const kind = kindOf(name);
    const suppressed = [
      ...(kind.suppressedBy ?? []),
      ...(kind.explainable ? ['a device before it that is down'] : []),
    ];
    return [
      `\`${name}\``,
      nameOfCode(Severity, kind.severity),
      kind.about,
      code(Object.keys(kind.opens)),
      kind.clears ? code(Object.keys(kind.clears)) : ends(name),
      span(kind.holdMs),
      suppressed.join(', ') || '–',
      CASES[kind.cases],
    ];
  });
  const head = [
    'kind',
    'severity',
    'what it means',
    'opened by',
    'cleared by',
    'held',
    'suppressed by',
    'case',
  ];
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
