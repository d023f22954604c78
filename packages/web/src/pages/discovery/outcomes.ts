import { OUTCOMES, type Outcome, type OutcomeCode } from '@rollcall/shared/model';

/** How an outcome looks in the map: its colour, and the share of the row's height that it fills. */
interface OutcomeLook {
  code: OutcomeCode;
  outcome: Outcome;
  /** In words. */
  label: string;
  /** What it means and what may be done. */
  meaning: string;
  colour: string;
  height: number;
}

const LOOKS: Record<OutcomeCode, [label: string, meaning: string, colour: string, height: number]> = {
  s: ['read by SNMP', 'Answered, and said what it is.', '--out-snmp', 1],
  i: ['answers ping', 'Alive; SNMP was not asked.', '--out-icmp', 0.7],
  '=': ['another address', 'A device that was read already under another address.', '--out-alias', 0.7],
  a: [
    'SNMP refused',
    'Answers, but takes none of the site’s credentials: add the right one.',
    '--out-auth',
    1,
  ],
  t: [
    'SNMP silent',
    'Alive, but its SNMP agent does not answer: switched off, filtered, or a wrong community.',
    '--out-timeout',
    1,
  ],
  b: [
    'cut short',
    'A limit of the profile ended it: time, rows, or refused credentials. The rest was left out.',
    '--out-budget',
    1,
  ],
  e: ['error', 'What it sent could not be used.', '--out-error', 1],
  _: ['silent', 'Nobody answered.', '--out-silent', 0.28],
  x: ['left out', 'Excluded by the targets, the profile or the site.', '--out-excluded', 0.12],
  '.': ['not yet', 'It has not been probed yet.', '--out-pending', 1],
};

export const OUTCOME_LOOKS: readonly OutcomeLook[] = (Object.keys(LOOKS) as OutcomeCode[]).map((code) => {
  const [label, meaning, colour, height] = LOOKS[code];
  return { code, outcome: OUTCOMES[code], label, meaning, colour, height };
});

const byOutcome = new Map(OUTCOME_LOOKS.map((look) => [look.outcome, look]));
export const lookOf = (outcome: Outcome): OutcomeLook | undefined => byOutcome.get(outcome);
