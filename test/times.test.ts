/** How scripts/times.mjs finds times in sources; `npm run gen -- --check` holds the table in docs/architecture.md to it. */
import { expect, it } from 'vitest';

const { timesIn, spoken } = (await import(new URL('../scripts/times.mjs', import.meta.url).href)) as {
  timesIn(path: string, text: string): { name: string; what: string; setting?: string; values: unknown }[];
  spoken(ms: number): string;
};

it('reads constants, groups and settings with what their comments say', () => {
  const text = `
const HOUR = 3_600_000;
/** Kept for
 *  so long. */
export const KEPT_MS = 2 * HOUR;
// Waits of a server.
const WAITS_SECONDS = [1, 30];
/** Of a request. */
const LIMITS: Limits = { headMs: 10, bodyMs: 20_000, most: 5 };
/** No time at all. */
const MOST = 10;
/** Defaults. @setting site */
const DEFAULTS = {
  /** Between two pings. */
  pingSeconds: 15,
  port: 161,
};
/** Of a file. @setting collector */
export const settings = z.strictObject({
  megabytes: z.int().default(5),
  outbox: z
    .strictObject({
      /** How many days it is kept. */
      days: z.number().min(0.01).default(30),
    })
    .prefault({}),
});
`;
  expect(timesIn('x.ts', text)).toEqual([
    { path: 'x.ts', name: 'KEPT_MS', what: 'Kept for so long.', values: [['', 7_200_000]] },
    {
      path: 'x.ts',
      name: 'WAITS_SECONDS',
      what: 'Waits of a server.',
      values: [
        ['', 1000],
        ['', 30_000],
      ],
    },
    {
      path: 'x.ts',
      name: 'LIMITS',
      what: 'Of a request.',
      values: [
        ['head', 10],
        ['body', 20_000],
      ],
    },
    {
      path: 'x.ts',
      name: 'DEFAULTS.pingSeconds',
      what: 'Between two pings.',
      values: [['', 15_000]],
      setting: 'site `pingSeconds`',
    },
    {
      path: 'x.ts',
      name: 'settings.outbox.days',
      what: 'How many days it is kept.',
      values: [['', 30 * 86_400_000]],
      setting: 'collector `outbox.days`',
    },
  ]);
});

it('refuses a time that nothing explains', () => {
  expect(() => timesIn('x.ts', '/** Of a. */\nconst A_MS = 1;\nconst B_MS = 2;\n')).toThrow(
    /x\.ts: B_MS is a time/,
  );
});

it.each([
  [0, '0'],
  [250, '250 ms'],
  [1_500, '1.5 s'],
  [90_000, '90 s'],
  [600_000, '10 min'],
  [43_200_000, '12 h'],
  [86_400_000, '1 d'],
  [2 ** 32 * 10, '497.1 d'],
])('says %d ms as %s', (ms, text) => {
  expect(spoken(ms)).toBe(text);
});
