import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Clock, systemClock } from '@rollcall/shared/clock';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { CrashQuarantine } from './crash-quarantine.ts';

const DAY_MS = 86_400_000;
let stateFolder: string;
let now: number;
const clock: Clock = { ...systemClock, now: () => now };
const open = (boot = 'one') => CrashQuarantine.open({ stateFolder, clock, boot });
const never = () => new Promise<never>(() => undefined);

/** A process that dies while it reads these. */
const dieOver = (...addresses: string[]) => {
  const quarantine = open();
  for (const address of addresses) void quarantine.whileReading(address, never);
  quarantine.close();
};

beforeEach(() => {
  stateFolder = mkdtempSync(join(tmpdir(), 'rollcall-quarantine-'));
  now = Date.UTC(2026, 0, 1);
});
afterEach(() => rmSync(stateFolder, { recursive: true, force: true }));

describe('B37: devices whose reading ends the process', () => {
  test('the third time it is not read any more, for a day', () => {
    dieOver('10.0.0.1');
    dieOver('10.0.0.1');
    expect(open().refusal('10.0.0.1')).toBeNull();
    dieOver('10.0.0.1');
    const quarantine = open();
    expect(quarantine.refusal('10.0.0.1')).toBe(
      'reading it ended the collector 3 times; not read until 2026-01-02T00:00:00.000Z',
    );
    expect(quarantine.refusal('10.0.0.2')).toBeNull();
    now += DAY_MS;
    expect(quarantine.refusal('10.0.0.1')).toBeNull();
    expect(open().known.size).toBe(0);
  });

  test('crashes are forgotten once a device was read to its end', async () => {
    dieOver('10.0.0.1', '10.0.0.2');
    const next = open();
    expect([...next.known.keys()]).toEqual(['10.0.0.1', '10.0.0.2']);
    await next.whileReading('10.0.0.2', async () => undefined);
    expect([...open().known.keys()]).toEqual(['10.0.0.1']);
  });

  test('devices with crashes are read one at a time, others beside them', async () => {
    dieOver('10.0.0.1', '10.0.0.2');
    const quarantine = open();
    const reading: string[] = [];
    const turns = ['10.0.0.1', '10.0.0.2', '10.0.0.3'].map((address) =>
      quarantine.inTurn(address, async () => {
        reading.push(address);
        await systemClock.sleep(20);
      }),
    );
    await systemClock.sleep(5);
    expect(reading.sort()).toEqual(['10.0.0.1', '10.0.0.3']);
    await Promise.all(turns);
    expect(reading).toHaveLength(3);
  });

  test('a power cut is nobody’s fault', () => {
    dieOver('10.0.0.1');
    expect(open('two').known.size).toBe(0);
  });

  test('what is no such file says nothing, and a torn last line costs that line', () => {
    writeFileSync(
      join(stateFolder, 'in-hand'),
      'boot one\n!10.0.0.9 2 1767225600000\n+10.0.0.1\n+10.0.0.2\n-10.0.',
    );
    expect([...open().known.keys()].sort()).toEqual(['10.0.0.1', '10.0.0.2', '10.0.0.9']);
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => {
        writeFileSync(join(stateFolder, 'in-hand'), bytes);
        open().close();
      }),
    );
  });

  test('the file stays small however much is read', async () => {
    const quarantine = open();
    void quarantine.whileReading('10.9.9.9', never);
    for (let i = 0; i < 20_000; i++)
      await quarantine.whileReading(`10.0.${i >> 8}.${i & 255}`, async () => undefined);
    expect(statSync(join(stateFolder, 'in-hand')).size).toBeLessThan(80_000);
    expect([...open().known.keys()]).toEqual(['10.9.9.9']);
  });

  test('a state folder that cannot be written stops nobody', async () => {
    rmSync(stateFolder, { recursive: true });
    expect(await open().whileReading('10.0.0.1', async () => 'read')).toBe('read');
  });
});
