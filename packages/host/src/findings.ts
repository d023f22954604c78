/** What a `doctor` command finds: one form and one wording for all programs. */

export interface Finding {
  check: string;
  /** `warning`: it works, and should be seen to. `failed`: it cannot work. */
  state: 'ok' | 'warning' | 'failed';
  found: string;
  remedy?: string;
}

/** A finding without its check. */
export type Result = Omit<Finding, 'check'>;
export const ok = (found: string): Result => ({ state: 'ok', found });
export const warning = (found: string, remedy: string): Result => ({ state: 'warning', found, remedy });
export const failed = (found: string, remedy: string): Result => ({ state: 'failed', found, remedy });

const STATE_WIDTH = 9;
const CHECK_WIDTH = 16;

/** Whether nothing stands in the way. */
export const isWell = (findings: readonly Finding[]): boolean =>
  findings.every(({ state }) => state !== 'failed');

/** A line for each check with its remedy below it, and one that sums up. */
export function describeFindings(findings: readonly Finding[]): string {
  const lines = findings.map(({ check, state, found, remedy }) => {
    const line = `${state.padEnd(STATE_WIDTH)}${check.padEnd(CHECK_WIDTH)}${found}`;
    return remedy ? `${line}\n${' '.repeat(STATE_WIDTH + CHECK_WIDTH)}→ ${remedy}` : line;
  });
  return [...lines, '', verdictOn(findings)].join('\n');
}

function verdictOn(findings: readonly Finding[]): string {
  const count = (state: Finding['state']) => findings.filter((finding) => finding.state === state).length;
  const [failed, warnings] = [count('failed'), count('warning')];
  if (failed + warnings === 0) return 'All is well.';
  const seen = `${warnings} ${warnings === 1 ? 'warning' : 'warnings'}`;
  return failed === 0
    ? `It works; ${seen}: the arrows say what to do.`
    : `${failed} failed, ${seen}: the arrows say what to do.`;
}
