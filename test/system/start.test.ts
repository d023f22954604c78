/** `npm start` ends with what it started, whoever is signalled: real processes, found by their environment. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const GONE_MS = 60_000;

let data: string;
let npm: ChildProcess;

beforeEach(() => {
  data = mkdtempSync(join(tmpdir(), 'rollcall-start-'));
});
afterEach(() => {
  for (const { pid } of processes()) process.kill(pid, 'SIGKILL');
  rmSync(data, { recursive: true, force: true, maxRetries: 5 });
});

/** Everything that runs for this data folder: whatever became of its parents, it has their environment. */
function processes(): { pid: number; command: string }[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        if (!readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0').includes(`ROLLCALL_DATA=${data}`))
          return [];
        const command = readFileSync(`/proc/${pid}/cmdline`, 'latin1').split('\0').join(' ').trim();
        return [{ pid: Number(pid), command }];
      } catch {
        return [];
      }
    });
}

/** Runs `npm start` until it prints `word`. */
async function start(word: string): Promise<void> {
  npm = spawn('npm', ['start'], {
    cwd: root,
    env: { ...process.env, PORT: '0', ROLLCALL_DATA: data },
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  let out = '';
  await new Promise<void>((resolve, reject) => {
    npm.stdout?.on('data', (text) => {
      out += text;
      if (out.includes(word)) resolve();
    });
    npm.once('exit', (code) => reject(new Error(`ended with ${code} before it said "${word}": ${out}`)));
  });
}

const WHO = {
  npm: /^npm start/,
  'the shell of npm': /^\S*sh -c/,
  'its node': /^node scripts\/start\.mjs/,
};

async function endOf(who: keyof typeof WHO, signal: NodeJS.Signals): Promise<void> {
  const target = processes().find(({ command }) => WHO[who].test(command));
  expect(target, `${who} among ${JSON.stringify(processes())}`).toBeDefined();
  process.kill(target!.pid, signal);
  await vi.waitFor(() => expect(processes()).toEqual([]), { timeout: GONE_MS, interval: 50 });
}

describe.runIf(process.platform === 'linux')('npm start', () => {
  it.each([
    ['npm', 'SIGTERM'],
    ['npm', 'SIGKILL'],
    ['the shell of npm', 'SIGTERM'],
    ['its node', 'SIGTERM'],
    ['its node', 'SIGKILL'],
  ] as const)('ends with its lab and its collector when %s gets %s', async (who, signal) => {
    await start('is online');
    const commands = processes().map(({ command }) => command);
    expect(commands.filter((command) => /lab\/dist|rollcall-collector\.js run/.test(command))).toHaveLength(
      2,
    );
    await endOf(who, signal);
  });

  it.each([
    ['npm', 'SIGTERM'],
    ['its node', 'SIGKILL'],
  ] as const)('ends during the build when %s gets %s', async (who, signal) => {
    npm = spawn('npm', ['start'], {
      cwd: root,
      env: { ...process.env, PORT: '0', ROLLCALL_DATA: data },
      stdio: 'ignore',
      detached: true,
    });
    const building = () => processes().some(({ command }) => /scripts\/build\.mjs/.test(command));
    await vi.waitFor(() => expect(building()).toBe(true), { timeout: 60_000, interval: 10 });
    await endOf(who, signal);
  });
});
