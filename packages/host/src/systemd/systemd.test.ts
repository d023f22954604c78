import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Clock } from '@rollcall/shared/clock';
import { skipped } from '@rollcall/shared/testing/skipped';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openDatagrams } from './datagrams.ts';
import { entryOf, journal } from './journal.ts';
import { openServiceManager } from './service-manager.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rollcall-systemd-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const hasPython = await promisify(execFile)('python3', ['--version']).then(
  () => true,
  () => false,
);

/** Node cannot listen on such a socket; Python can. Answers what `count` datagrams held. */
async function listener(path: string, count: number): Promise<Promise<string[]>[]> {
  const script = `
import socket, sys, json
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); s.bind(sys.argv[1]); s.settimeout(10)
print("listening", flush=True)
print(json.dumps([s.recv(65536).decode("utf8", "replace") for _ in range(int(sys.argv[2]))]), flush=True)`;
  const child = spawn('python3', ['-c', script, path, String(count)]);
  let out = '';
  const ended = new Promise<string[]>((resolve) =>
    child.on('close', () => resolve(JSON.parse(out.split('\n')[1] ?? '[]'))),
  );
  await new Promise<void>((resolve) =>
    child.stdout.on('data', (chunk) => {
      out += chunk;
      if (out.includes('listening')) resolve();
    }),
  );
  return [ended];
}

/** A clock whose repeated work is called by hand. */
function handClock(): { clock: Clock; tick: () => void; everyMs: () => number } {
  let work: () => unknown = () => undefined;
  let every = 0;
  const clock = {
    every: (ms: number, call: () => unknown) => {
      every = ms;
      work = call;
      return () => {
        work = () => undefined;
      };
    },
  } as unknown as Clock;
  return { clock, tick: () => work(), everyMs: () => every };
}

if (!hasPython) skipped('the service manager: install python3');
describe('the service manager', () => {
  test.runIf(hasPython)('hears that the service is ready, lives, and what ails it', async () => {
    const socket = join(folder, 'notify');
    const [said] = await listener(socket, 5);
    const { clock, tick, everyMs } = handClock();
    const manager = await openServiceManager({ NOTIFY_SOCKET: socket, WATCHDOG_USEC: '60000000' }, clock);
    let unhealthyReason: string | null = null;
    manager.notify('READY=1', 'STATUS=two\nlines');
    const unwatch = manager.watch(() => unhealthyReason);
    expect(everyMs()).toBe(30_000);
    tick();
    unhealthyReason = 'the outbox is stuck';
    tick();
    tick();
    unhealthyReason = null;
    tick();
    unwatch();
    tick();
    expect(await said).toEqual([
      'READY=1\nSTATUS=two lines',
      'WATCHDOG=1',
      'STATUS=the outbox is stuck',
      'WATCHDOG=1',
      'STATUS=recovered',
    ]);
  });

  test('is not there, and nobody minds', async () => {
    const { clock } = handClock();
    const silent = await openServiceManager({}, clock);
    silent.notify('READY=1');
    silent.watch(() => null)();
    const gone = await openServiceManager({ NOTIFY_SOCKET: join(folder, 'none') }, clock);
    expect(() => gone.notify('READY=1')).not.toThrow();
    const datagrams = await openDatagrams();
    expect(datagrams?.send(join(folder, 'none'), Buffer.from('x')) ?? false).toBe(false);
    expect(datagrams?.send(`/${'x'.repeat(200)}`, Buffer.from('x')) ?? false).toBe(false);
  });
});

describe('the journal', () => {
  const fields = (entry: Buffer | null): Record<string, string> => {
    const found: Record<string, string> = {};
    for (let at = 0; entry && at < entry.length; ) {
      const end = entry.indexOf('\n', at);
      const length = Number(entry.readBigUInt64LE(end + 1));
      found[entry.toString('utf8', at, end)] = entry.toString('utf8', end + 9, end + 9 + length);
      at = end + 9 + length + 1;
    }
    return found;
  };

  test('gets fields of their own, a severity, and a message for people', () => {
    const line = JSON.stringify({
      level: 'warn',
      time: '2026-11-21T20:00:00Z',
      msg: 'a join token was refused',
      address: '10.0.0.1',
      clockOffsetMs: 12,
      reason: 'two\nlines',
      err: { type: 'Error', message: 'no', stack: 'Error: no\n  at x' },
    });
    expect(fields(entryOf(line, 'rollcall-server'))).toEqual({
      SYSLOG_IDENTIFIER: 'rollcall-server',
      PRIORITY: '4',
      ROLLCALL_ADDRESS: '10.0.0.1',
      ROLLCALL_CLOCK_OFFSET_MS: '12',
      ROLLCALL_REASON: 'two\nlines',
      ROLLCALL_ERROR: 'Error: no\n  at x',
      MESSAGE: 'a join token was refused (no) address=10.0.0.1 clockOffsetMs=12 reason="two\\nlines"',
    });
  });

  test('what it does not take goes elsewhere', () => {
    const kept: string[] = [];
    const sink = journal({ send: () => false }, 'x', { write: (line) => kept.push(line) });
    sink.write('{"msg":"full"}');
    sink.write('no JSON');
    expect(kept).toEqual(['{"msg":"full"}', 'no JSON']);
  });
});
