/** The last lines of a test run: what was skipped, what would run it, and how many tests passed, failed and were skipped. */
import type { UserConsoleLog } from 'vitest';
import type { Reporter, TestModule } from 'vitest/node';

/** What a test file prints by `skipped()`. */
const LINE = /^SKIPPED: (.*)$/gm;

export default class ClosingReporter implements Reporter {
  readonly #reasons = new Set<string>();

  onUserConsoleLog(log: UserConsoleLog): void {
    for (const [, reason] of log.content.matchAll(LINE)) if (reason) this.#reasons.add(reason);
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    const counts = { passed: 0, failed: 0, skipped: 0, pending: 0 };
    for (const module of modules)
      for (const test of module.children.allTests()) counts[test.result().state] += 1;
    if (!process.env.TEST_DATABASE_URL)
      this.#reasons.add(
        'PostgreSQL: the embedded database stood in. TEST_DATABASE_URL=postgres://… or `npm run test:all` tries both',
      );
    for (const reason of [...this.#reasons].sort()) process.stdout.write(`skipped  ${reason}\n`);
    const skipped = counts.skipped + counts.pending;
    process.stdout.write(`${counts.passed} passed, ${counts.failed} failed, ${skipped} skipped\n`);
  }
}
