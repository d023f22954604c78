import { defineConfig } from 'vitest/config';
import { corpus } from './scripts/corpus/folder.mjs';

// Packages are tested from their sources: the `source` condition of their exports.
const conditions = ['source'];

/** A suite by the name of its command: `npm test` is `fast` and `fast-web`, the others are `npm run test:NAME`. */
const suite = (name: string, include: string[], more = {}) => ({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    name,
    include,
    pool: 'forks' as const,
    // Far above what any takes alone: on a busy machine a test may be slow, it may not hang.
    testTimeout: 90_000,
    env: { ROLLCALL_CORPUS: corpus },
    hookTimeout: 180_000,
    expect: { poll: { timeout: 20_000 } },
    ...more,
  },
});

/** One process for many files: loading all modules for each file anew took longer than the tests of most. */
const together = { isolate: false };

/** Before tests that run programs as processes: those are compiled. */
const compiled = { ...together, globalSetup: ['./test/build.ts'] };

export default defineConfig({
  test: {
    maxWorkers: 2,
    reporters: ['default', './test/closing-reporter.ts'],
    projects: [
      suite('fast', ['packages/!(web)/src/**/*.test.ts', 'test/*.test.ts', 'test/api/*.test.ts'], together),
      // Each in a process of its own: they make a window for themselves, and others then take Node for a browser.
      suite('fast-web', ['packages/web/src/**/*.test.{ts,tsx}']),
      // Those of the fast suite that store in what an administrator may partition by site, or ask for it.
      suite(
        'partitioned',
        [
          'packages/server/src/{ingest,incidents,catalog}/**/*.test.ts',
          'packages/server/src/platform/db/backup.test.ts',
          'packages/server/src/{backlog,service/retention}.test.ts',
        ],
        together,
      ),
      suite('system', ['test/system/*.test.ts'], compiled),
      suite('web', ['test/web/*.test.ts'], { ...compiled, testTimeout: 300_000, hookTimeout: 300_000 }),
      suite('realnet', ['test/realnet/*.test.ts'], compiled),
      // One fault after the other, in installations that keep both cores busy by themselves.
      suite('chaos', ['test/chaos/*.test.ts'], { ...compiled, testTimeout: 600_000, hookTimeout: 600_000 }),
    ],
  },
});
