import { defineConfig } from 'vitest/config';

// Packages are tested from their sources: the `source` condition of their exports.
const conditions = ['source'];

/** A suite by the name of its command: `npm test` is `fast`, the others are `npm run test:NAME`. */
const suite = (name: string, include: string[], more = {}) => ({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    name,
    include,
    pool: 'forks' as const,
    // Far above what any takes alone: on a busy machine a test may be slow, it may not hang.
    testTimeout: 90_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 20_000 } },
    ...more,
  },
});

/** One process for many files: loading all modules for each file anew took longer than the tests of most. */
const together = { isolate: false };

export default defineConfig({
  test: {
    maxWorkers: 2,
    reporters: ['default', './test/closing-reporter.ts'],
    projects: [
      suite('fast', ['packages/*/src/**/*.test.{ts,tsx}', 'test/*.test.ts', 'test/api/*.test.ts'], together),
      // Those of the fast suite that store in what an administrator may partition by site, or ask for it.
      suite(
        'partitioned',
        [
          'packages/server/src/{ingest,incidents,inventory}/**/*.test.ts',
          'packages/server/src/kernel/backup.test.ts',
        ],
        together,
      ),
      suite('system', ['test/system/*.test.ts']),
      suite('web', ['test/web/*.test.ts']),
      suite('chaos', ['test/chaos/*.test.ts']),
    ],
  },
});
