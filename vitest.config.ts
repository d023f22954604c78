import { defineConfig } from 'vitest/config';

// Packages are tested from their sources: the `source` condition of their exports.
export default defineConfig({
  resolve: { conditions: ['source'] },
  ssr: { resolve: { conditions: ['source'] } },
  test: {
    include: ['packages/*/src/**/*.test.{ts,tsx}', 'test/**/*.test.ts'],
    pool: 'forks',
    maxWorkers: 2,
    // Far above what any takes alone: on a busy machine a test may be slow, it may not hang.
    testTimeout: 90_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 20_000 } },
  },
});
