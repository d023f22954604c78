import { defineConfig } from 'vitest/config';
import { corpus } from './scripts/corpus/folder.mjs';

// Packages are tested from their sources: the `source` condition of their exports.
const conditions = ['source'];

/** Before tests that run programs as processes: those are compiled. */
const COMPILED = ['./test/build.ts'];

/** A suite by the name of its command: `npm test` is `fast`, the others are `npm run test:NAME`. */
const suite = (name: string, include: string[], globalSetup: string[] = []) => ({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    name,
    include,
    globalSetup,
    pool: 'forks' as const,
    // Far above what any takes alone: on a busy machine a test may be slow, it may not hang.
    testTimeout: 90_000,
    env: { ROLLCALL_CORPUS: corpus },
    hookTimeout: 180_000,
    expect: { poll: { timeout: 20_000 } },
  },
});

export default defineConfig({
  test: {
    maxWorkers: 2,
    reporters: ['default', './test/closing-reporter.ts'],
    projects: [
      suite('fast', ['packages/*/src/**/*.test.{ts,tsx}', 'test/*.test.ts', 'test/api/*.test.ts']),
      suite('system', ['test/system/*.test.ts'], COMPILED),
      suite('web', ['test/web/*.test.ts'], COMPILED),
      suite('chaos', ['test/chaos/*.test.ts'], COMPILED),
    ],
  },
});
