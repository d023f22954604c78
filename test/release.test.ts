/** What a release decides before it writes: scripts/release-plan.mjs. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const at = (path: string) => new URL(`../${path}`, import.meta.url);
const { versionProblem, rollChangelog, withVersion } = (await import(
  at('scripts/release-plan.mjs').href
)) as {
  versionProblem(version: string, current: string, released: string[]): string | undefined;
  rollChangelog(text: string, version: string, date: string): { text: string; notes: string };
  withVersion(text: string, version: string): string;
};

describe('the version of a release', () => {
  it.each([
    ['0.1.0', '0.1.0', [], undefined],
    ['0.2.0', '0.1.0', ['0.1.0'], undefined],
    ['0.10.0', '0.9.0', ['0.1.0', '0.9.0', 'x'], undefined],
    ['0.1.0', '0.1.0', ['0.1.0'], /not higher than 0\.1\.0/],
    ['0.9.1', '0.9.0', ['0.10.0', '0.9.0'], /not higher than 0\.10\.0/],
    ['0.0.9', '0.1.0', [], /lower than 0\.1\.0/],
    ['1.0', '0.1.0', [], /MAJOR\.MINOR\.PATCH/],
    ['v1.0.0', '0.1.0', [], /MAJOR\.MINOR\.PATCH/],
    ['1.0.0-rc.1', '0.1.0', [], /MAJOR\.MINOR\.PATCH/],
    ['1.00.0', '0.1.0', [], /MAJOR\.MINOR\.PATCH/],
  ] as const)('%s after %s, released %j', (version, current, released, problem) => {
    const said = versionProblem(version, current, [...released]);
    if (problem) expect(said).toMatch(problem);
    else expect(said).toBeUndefined();
  });
});

describe('the changelog', () => {
  const head = '# Changelog\n\nTags: CHANGE.\n\n';

  it('puts the unreleased part under the version, and a new empty part above; the rest stays', () => {
    const before = `${head}## Unreleased\n\n- FEATURE: one.\n\n### More\n\n- two\n\n## 0.1.0 (2026-01-02)\n\n- old\n`;
    const rolled = rollChangelog(before, '0.2.0', '2026-03-04');
    expect(rolled.notes).toBe('- FEATURE: one.\n\n### More\n\n- two');
    expect(rolled.text).toBe(
      `${head}## Unreleased\n\n## 0.2.0 (2026-03-04)\n\n- FEATURE: one.\n\n### More\n\n- two\n\n## 0.1.0 (2026-01-02)\n\n- old\n`,
    );
    expect(() => rollChangelog(rolled.text, '0.3.0', '2026-03-05')).toThrow(/nothing to release/);
  });

  it('refuses one without an unreleased part', () => {
    expect(() => rollChangelog(`${head}## 0.1.0\n\n- old\n`, '0.2.0', '2026-03-04')).toThrow(/no part/);
  });

  it('of the project can be rolled', () => {
    // Right after a release its unreleased part is empty.
    const text = readFileSync(at('CHANGELOG.md'), 'utf8').replace('## Unreleased\n', '$&\n- CHANGE: one.\n');
    const { notes, text: rolled } = rollChangelog(text, '99.0.0', '2026-03-04');
    expect(rolled).toContain(`## 99.0.0 (2026-03-04)\n\n${notes}`);
    expect(rolled.length - text.length).toBe('## 99.0.0 (2026-03-04)\n\n'.length);
  });
});

it('changes the version of a package and nothing else', () => {
  const text = readFileSync(at('package.json'), 'utf8');
  const changed = withVersion(text, '99.0.0');
  expect(JSON.parse(changed)).toEqual({ ...JSON.parse(text), version: '99.0.0' });
  expect(changed.split('\n')).toHaveLength(text.split('\n').length);
});
