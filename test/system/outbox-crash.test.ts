import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { overran } from '@rollcall/collector/outbox/store';
import { contentOf } from '@rollcall/collector/testing/outbox-content';
import { systemClock } from '@rollcall/shared/clock';
import { skipped } from '@rollcall/shared/testing/skipped';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { compiled } from './compiled.ts';

const program = compiled('collector', 'testing/outbox-writer');

const traces = spawnSync('strace', ['-V']).status === 0;
if (!traces) skipped('a collector killed or refused at its system calls: install strace');
const mounts = spawnSync('unshare', ['-m', 'true']).status === 0;
if (!mounts) skipped('a full disk: be root');
let folder: string;
/** Those of the test: one that failed leaves none behind. */
const writers: Writer[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rollcall-crash-'));
});
afterEach(() => {
  for (const writer of writers.splice(0)) writer.kill();
  for (const each of [folder, folder.replace(/\.kept$/, '')]) rmSync(each, { recursive: true, force: true });
});

interface Writer {
  child: ChildProcess;
  /** Numbers whose append resolved. */
  stored: number[];
  lines: string[];
  ended: Promise<{ code: number | null; signal: string | null }>;
  until(line: RegExp): Promise<void>;
  /** What LMDB and the runtime printed. */
  errors(): string;
  /** Kills it and whatever traces it. */
  kill(): void;
}

const watch = (child: ChildProcess): Writer => {
  const stored: number[] = [];
  const lines: string[] = [];
  const waiters: { line: RegExp; resolve: () => void }[] = [];
  if (!child.stdout || !child.stderr) throw new Error('no output');
  const errors: Buffer[] = [];
  child.stderr.on('data', (data: Buffer) => errors.push(data));
  const reader = createInterface({ input: child.stdout });
  reader.on('line', (line) => {
    if (line.startsWith('stored ')) stored.push(...line.slice(7).split(',').map(Number));
    else lines.push(line);
    for (const { line: wanted, resolve } of waiters) if (wanted.test(line)) resolve();
  });
  const said = new Promise<void>((resolve) => reader.on('close', resolve));
  const ended = new Promise<{ code: number | null; signal: string | null }>((resolve) => {
    child.on('exit', (code, signal) => void said.then(() => resolve({ code, signal })));
  });
  return {
    child,
    kill: () => {
      if (child.pid && child.exitCode === null && child.signalCode === null)
        process.kill(-child.pid, 'SIGKILL');
    },
    stored,
    lines,
    ended,
    errors: () => Buffer.concat(errors).toString(),
    until: (line) => {
      if (lines.some((said) => line.test(said))) return Promise.resolve();
      return new Promise((resolve) => waiters.push({ line, resolve }));
    },
  };
};

const start = (args: (string | number)[] = [1e9, 1, 0], wrap: string[] = []): Writer => {
  const command = [...wrap, process.execPath, program, join(folder, 'outbox'), ...args.map(String)];
  const writer = watch(
    spawn(command[0] ?? '', command.slice(1), { stdio: ['ignore', 'pipe', 'pipe'], detached: true }),
  );
  writers.push(writer);
  return writer;
};

const read = () => contentOf(join(folder, 'outbox'));

/** Waits until a writer was told that so many are on disk: a busy machine gets there later, not never. */
const progress = async (run: Writer, count: number) => {
  await expect.poll(() => run.stored.length, { timeout: 60_000 }).toBeGreaterThanOrEqual(count);
};

describe('B25: kill -9 at any instant', () => {
  test('what was told to be on disk is there, once, in sequence, after each of 12 kills', async () => {
    const told = new Set<number>();
    let epoch = '';
    for (let round = 0; round < 12; round++) {
      const run = start([1e9, round % 3 === 0 ? 200 : 1, 0]);
      await run.until(/^open/);
      if (round % 2 === 0) await progress(run, 60);
      await systemClock.sleep(5 + Math.random() * 60);
      run.kill();
      expect((await run.ended).signal).toBe('SIGKILL');
      for (const n of run.stored) told.add(n);
      epoch ||= run.lines[0]?.split(' ')[1] ?? '';
    }
    const { numbers, sequences, epoch: now } = await read();
    expect(now).toBe(epoch);
    expect(sequences).toEqual(Array.from({ length: sequences.length }, (_, i) => i));
    const found = new Set(numbers);
    expect(told.size).toBeGreaterThan(100);
    expect([...told].filter((n) => !found.has(n))).toEqual([]);
  });

  test('B26, G4: also while a full outbox is dropping: holes are exactly what the gaps count', async () => {
    for (let round = 0; round < 6; round++) {
      const run = start([3_500_000, 400, 0]);
      await run.until(/^open/);
      // It takes about 25,000 to fill it; from then on everything that comes drives something out.
      await progress(run, round === 0 ? 60_000 : 2_000);
      await systemClock.sleep(Math.random() * 150);
      run.kill();
      await run.ended;
    }
    const { sequences, gaps, last } = await read();
    const lost = gaps.reduce((sum, gap) => sum + gap.count, 0);
    expect(lost).toBeGreaterThan(1000);
    expect(last.state + 1 - sequences.length).toBe(lost);
  });

  test.skipIf(!traces)(
    'SIGKILL at the n-th write, sync or rename: every start succeeds, nothing told is missing',
    async () => {
      const told = new Set<number>();
      // ROLLCALL_CRASH_POINTS=60 visits that many occurrences of each call; here a few of them.
      const most = Number(process.env.ROLLCALL_CRASH_POINTS ?? 3);
      const points = ['pwrite64', 'fdatasync', 'fsync', 'rename', 'ftruncate', 'write'].flatMap((call) =>
        Array.from({ length: most }, (_, i) => ({ call, when: 1 + i * (call === 'write' ? 7 : 2) })),
      );
      for (const { call, when } of points) {
        const trace = ['strace', '-f', '-qq', '-o', '/dev/null', '-e', `trace=${call}`];
        const run = start([1e9, 20, 0], [...trace, '-e', `inject=${call}:signal=SIGKILL:when=${when}`]);
        await Promise.race([run.ended, systemClock.sleep(1500)]);
        run.kill();
        await run.ended;
        for (const n of run.stored) told.add(n);
      }
      const { numbers } = await read();
      const found = new Set(numbers);
      expect(found.size).toBe(numbers.length);
      expect([...told].filter((n) => !found.has(n))).toEqual([]);
    },
    120_000,
  );
});

test.each([
  ['Attempting to write page at position 196608, size 4096, blocks 1, buffer sizes 4096 0 0', false],
  [
    'No space left on device: Attempting to write page at position 167936, size 4096, blocks 1, buffer sizes 4096 -988190240 -988190896',
    true,
  ],
  ['Input/output error', false],
])('knows when LMDB damaged its memory: %s', (words, damaged) => {
  expect(overran(words)).toBe(damaged);
});

describe('a disk that fails', () => {
  /** Runs the writer on a disk of 8 MiB of which 3 are taken; the disk's content is copied back at the end. */
  const onSmallDisk = (args: (string | number)[]) => {
    const script = [
      'mount -t tmpfs -o size=8m tmpfs "$0"',
      'head -c 3145728 /dev/zero >"$0/ballast"',
      'mkdir "$0.kept"; trap : TERM; "$@" & trap "kill -TERM $!" TERM; wait $!; wait $!',
      'cp -r "$0/outbox" "$0.kept/"',
    ].join('; ');
    return start(args, ['unshare', '-m', 'sh', '-c', script, folder]);
  };
  const freeSpace = (run: Writer) => rmSync(`/proc/${run.child.pid}/root${folder}/ballast`);

  test.skipIf(!mounts).each([
    ['ENOSPC', 0, /^paused the outbox cannot be written/],
    ['least free space', 2_000_000, /^paused less than 2000000 bytes are free/],
  ])(
    'B28: %s: pauses, loses nothing, goes on by itself when there is space',
    async (_name, minFree, pause) => {
      const run = onSmallDisk([1e9, 50, minFree]);
      await run.until(pause);
      const before = run.stored.length;
      await systemClock.sleep(1200);
      expect(run.stored.length).toBe(before);
      freeSpace(run);
      await run.until(/^goes on/);
      while (run.stored.length === before) await systemClock.sleep(10);
      process.kill(run.child.pid ?? 0, 'SIGTERM');
      await run.ended;
      folder = `${folder}.kept`;
      const { numbers, gaps, last } = await read();
      expect(gaps).toEqual([]);
      expect(last.state + 1).toBe(numbers.length);
      const found = new Set(numbers);
      expect(run.stored.filter((n) => !found.has(n))).toEqual([]);
    },
  );

  test.skipIf(!mounts)(
    'B28: a disk full again and again never reaches LMDB, which a page that it cannot write damages',
    async () => {
      const run = onSmallDisk([1e9, 50, 0]);
      for (let ballast = 2_400_000; ballast >= 0; ballast -= 600_000) {
        await run.until(/^paused/);
        run.lines.length = 0;
        const before = run.stored.length;
        truncateSync(`/proc/${run.child.pid}/root${folder}/ballast`, ballast);
        await run.until(/^goes on/);
        expect(run.stored.length).toBeGreaterThan(before);
      }
      run.kill();
      await run.ended;
      expect(run.errors()).toBe('');
    },
    60_000,
  );

  test.skipIf(!traces).each([
    ['fdatasync', 'EIO', '6..7'],
    ['pwrite64', 'EIO', '9'],
    ['pwrite64', 'ENOSPC', '10..11'],
  ])('B29: %s answers %s: written anew, not trusted, nothing told is missing', async (call, error, when) => {
    const run = start(
      [1e9, 20, 0],
      [
        'strace',
        '-f',
        '-qq',
        '-o',
        '/dev/null',
        '-e',
        `trace=${call}`,
        '-e',
        `inject=${call}:error=${error}:when=${when}`,
      ],
    );
    // A page that LMDB cannot write may damage its memory: then the process ends (by us, or by malloc), the next goes on.
    const over = run.ended.then(({ signal }) => expect(['SIGKILL', 'SIGABRT']).toContain(signal));
    await Promise.race([run.until(/^goes on/), over]);
    const before = run.stored.length;
    while (run.stored.length === before && run.child.signalCode === null) await systemClock.sleep(10);
    run.kill();
    await over;
    const { numbers, sequences, gaps } = await read();
    expect(gaps).toEqual([]);
    expect(sequences).toEqual(Array.from({ length: sequences.length }, (_, i) => i));
    const found = new Set(numbers);
    expect(run.stored.filter((n) => !found.has(n))).toEqual([]);
  });
});
