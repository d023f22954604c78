/**
 * What somebody sees who runs `npm start` for the first time: from the lines in the terminal to the first case with a root
 * cause, and then to one of their own making.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { browserSuite, openBrowser, picture, settled, signIn, visit } from './browser.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** A whole demonstration with its first scan, on a busy machine. */
const START_MS = 300_000;
/** What a person does may take so long in all; what is waited for until the network has been watched is not in it. */
const PERSON_MS = 180_000;
const CASE_MS = 420_000;
const DAY_S = 86_400;

browserSuite('the first minute', () => {
  const folder = mkdtempSync(join(tmpdir(), 'rollcall-first-'));
  let demonstration: ChildProcess;
  let browser: Browser;
  let said = '';

  beforeAll(async () => {
    demonstration = spawn(process.execPath, ['scripts/start.mjs'], {
      cwd: ROOT,
      env: { ...process.env, PORT: '0', ROLLCALL_DATA: folder, DATABASE_URL: '' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ready = new Promise<void>((resolve, reject) => {
      demonstration.stdout?.setEncoding('utf8').on('data', (text: string) => {
        said += text;
        if (said.includes('Ctrl-C ends everything')) resolve();
      });
      demonstration.once('exit', (code) =>
        reject(new Error(`the demonstration ended with ${code}: ${said}`)),
      );
    });
    [browser] = await Promise.all([openBrowser(), ready]);
  }, START_MS);

  afterAll(async () => {
    await browser?.close();
    const ended = new Promise((resolve) => demonstration.once('exit', resolve));
    demonstration.kill('SIGTERM');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  }, 30_000);

  it(
    'from the terminal to a case with a root cause, and to one of their own',
    async () => {
      const { url, user, password } = JSON.parse(readFileSync(join(folder, 'demo.json'), 'utf8'));
      for (const path of ['/cases', '/topology', '/lab']) expect(said).toContain(`${url}${path}`);
      let person = 0;
      /** Counts what a person does; answers of the network are waited for apart. */
      const does = async (work: () => Promise<unknown>) => {
        const since = performance.now();
        await work();
        person += performance.now() - since;
      };
      const visitor = await visit(browser, url);
      const { page, open } = visitor;
      await does(async () => {
        await open('/cases');
        await signIn(page, { name: user, password });
      });
      const first = page.getByRole('article').filter({ hasText: 'access-4' });
      await first.waitFor({ timeout: CASE_MS });
      await does(async () => {
        await first.click({ position: { x: 8, y: 8 } });
        await page
          .getByText(/is unreachable behind access-4/)
          .first()
          .waitFor();
      });
      await picture(page, 'first-case-light');
      await does(async () => {
        await page.getByRole('link', { name: 'Break something' }).click();
        await page.getByRole('button', { name: /Switch a device off/ }).click();
        await page.getByText('dist-2 is off').waitFor();
      });
      const own = page.getByRole('region', { name: 'Cases' }).getByRole('link', { name: /dist-2/ });
      await own.waitFor({ timeout: CASE_MS });
      await picture(page, 'lab-broken-light');
      await does(async () => {
        await own.click();
        await page.getByRole('heading', { level: 1 }).filter({ hasText: 'dist-2' }).waitFor();
        await page
          .getByText(/behind dist-2/)
          .first()
          .waitFor();
        await page.getByRole('link', { name: 'Break something' }).click();
        await page.getByRole('button', { name: 'Put back' }).first().waitFor();
      });
      await settled(page);
      expect(visitor.trouble).toEqual([]);
      expect(person).toBeLessThan(PERSON_MS);
    },
    2 * CASE_MS + PERSON_MS,
  );

  it(
    'measures what charts show: a full uplink, a port with errors, a branch with loss and latency',
    async () => {
      const { url, token } = JSON.parse(readFileSync(join(folder, 'demo.json'), 'utf8'));
      const since = Math.floor(Date.now() / 1000) - 600;
      /** The highest value of the last minutes. */
      const most = async (box: string, metrics: string): Promise<number> => {
        const get = async <T>(path: string) => {
          const answer = await fetch(`${url}${path}`, { headers: { Authorization: `Bearer ${token}` } });
          return ((await answer.json()) as { data: T }).data;
        };
        const [device] = await get<{ id: string }[]>(`/api/devices?search=${box}`);
        const path = `/api/metrics?deviceId=${device?.id}&metrics=${metrics}&from=${since}&step=60`;
        const { series } = await get<{ series: { values: (number | null)[] }[] }>(path);
        return Math.max(...series.flatMap(({ values }) => values.map((value) => value ?? 0)));
      };
      await vi.waitFor(
        async () => {
          expect(await most('edge-1', 'outUtilisation')).toBeGreaterThan(95);
          expect(await most('access-2', 'inErrors')).toBeGreaterThan(0);
          expect(await most('branch-1', 'loss')).toBeGreaterThan(10);
          expect(await most('branch-1', 'rtt')).toBeGreaterThan(20);
        },
        { timeout: CASE_MS, interval: 2_000 },
      );
    },
    CASE_MS + PERSON_MS,
  );

  it(
    'has a week behind it: the rhythm of days, and what was down and is over',
    async () => {
      const { url, token } = JSON.parse(readFileSync(join(folder, 'demo.json'), 'utf8'));
      const api = async <T>(path: string) => {
        const answer = await fetch(`${url}${path}`, { headers: { Authorization: `Bearer ${token}` } });
        return ((await answer.json()) as { data: T }).data;
      };
      const [core] = await api<{ id: string }[]>('/api/devices?search=core-1');
      const now = Math.floor(Date.now() / 1000);
      const week = `/api/metrics?deviceId=${core?.id}&metrics=in&from=${now - 7 * DAY_S}&to=${now}&step=3600`;
      // The busiest of its interfaces, hour by hour.
      const hours = async () => {
        const { series } = await api<{ series: { values: (number | null)[] }[] }>(week);
        const sum = ({ values }: { values: (number | null)[] }) =>
          values.reduce<number>((all, one) => all + (one ?? 0), 0);
        return series.sort((a, b) => sum(b) - sum(a))[0]?.values ?? [];
      };
      await vi.waitFor(
        async () => expect((await hours()).filter((one) => one !== null).length).toBeGreaterThan(160),
        { timeout: CASE_MS, interval: 2_000 },
      );
      for (let day = 0; day < 6; day++) {
        const values = (await hours()).slice(day * 24, day * 24 + 24).filter((one) => one !== null);
        expect(Math.max(...values)).toBeGreaterThan(2 * Math.min(...values));
      }
      const events = await api<{ message: string; firstSeen: number; closedAt: number }[]>(
        '/api/events?Severity=4&Device=access-6',
      );
      const over = events.find(({ message }) => message === 'access-6 does not answer');
      expect(over?.firstSeen).toBeLessThan(now - DAY_S);
      expect((over?.closedAt ?? 0) - (over?.firstSeen ?? 0)).toBe(26 * 60);
    },
    CASE_MS + PERSON_MS,
  );
});
