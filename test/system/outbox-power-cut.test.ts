import { spawn, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterCut, straceTo, traceOf } from '@rollcall/collector/testing/disk-trace';
import { contentOf } from '@rollcall/collector/testing/outbox-content';
import { skipped } from '@rollcall/shared/testing/skipped';
import { describe, expect, test } from 'vitest';
import { compiled } from './compiled.ts';

const possible = spawnSync('strace', ['-V']).status === 0;
if (!possible) skipped('what a power cut leaves of the outbox: install strace');

/** Park and Miller's minimal generator: the cuts are the same in every run. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 16_807) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}

describe.skipIf(!possible)('B27: a power cut drops what was not synced', () => {
  const folder = mkdtempSync(join(tmpdir(), 'rollcall-power-'));
  const at = (...names: string[]) => join(folder, ...names);
  const DATA = 'data.mdb';
  const CUTS = 40;

  test(`nothing that was told to be on disk is missing after any of ${CUTS} cuts`, async () => {
    const program = compiled('collector', 'testing/outbox-writer');
    // The file is there and whole before the run that is cut.
    await contentOf(at('outbox'));
    cpSync(at('outbox'), at('base'), { recursive: true });
    const child = spawn(
      'strace',
      [...straceTo(at('log')).slice(1), process.execPath, program, at('outbox'), '1e9', '3'],
      { stdio: ['ignore', 'pipe', 'ignore'], detached: true },
    );
    let commits = 0;
    await new Promise<void>((resolve) => {
      child.stdout.on('data', (data: Buffer) => {
        commits += data.toString().split('stored').length - 1;
        if (commits > 150) resolve();
      });
    });
    process.kill(-(child.pid ?? 0), 'SIGKILL');
    await new Promise((resolve) => child.on('exit', resolve));

    const files = spawnSync('find', [at('base'), '-name', DATA], { encoding: 'utf8' }).stdout.trim();
    const base = readFileSync(files);
    const trace = traceOf(at('log'), DATA);
    expect(trace.writes.length).toBeGreaterThan(100);
    expect(trace.syncs.length).toBeGreaterThan(20);
    const random = randomFrom(27);
    let dropped = 0;
    for (let cut = 0; cut < CUTS; cut++) {
      const when = Math.floor((0.1 + 0.9 * random()) * trace.length);
      const told = trace.said
        .filter((said) => said.at < when)
        .flatMap(({ text }) => [...text.matchAll(/stored ([\d,]+)\n/g)])
        .flatMap(([, numbers = '']) => numbers.split(',').map(Number));
      rmSync(at('cut'), { recursive: true, force: true });
      cpSync(at('base'), at('cut'), { recursive: true });
      const share = random();
      const image = afterCut(base, trace, when, () => {
        const kept = random() < share;
        if (!kept) dropped += 1;
        return kept;
      });
      writeFileSync(files.replace(at('base'), at('cut')), image);
      const { numbers, sequences, gaps } = await contentOf(at('cut'));
      const found = new Set(numbers);
      expect([cut, told.filter((n) => !found.has(n))]).toEqual([cut, []]);
      expect([cut, sequences]).toEqual([cut, sequences.map((_, i) => i)]);
      expect([cut, gaps]).toEqual([cut, []]);
    }
    // Were everything synced at once there would be nothing to try.
    expect(dropped).toBeGreaterThan(0);
    rmSync(folder, { recursive: true });
  }, 180_000);
});
