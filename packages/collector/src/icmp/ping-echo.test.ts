import { execFileSync } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '@rollcall/host/testing/folder';
import { AddressSpace } from '@rollcall/shared/address-space';
import { Range } from '@rollcall/shared/ip';
import { skipped } from '@rollcall/shared/testing/skipped';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PingEcho, pingOnce, readPing } from './ping-echo.ts';

const ANSWERED = `PING 192.0.2.7 (192.0.2.7) 56(84) bytes of data.
64 bytes from 192.0.2.7: icmp_seq=1 ttl=64 time=0.045 ms

--- 192.0.2.7 ping statistics ---
1 packets transmitted, 1 received, 0% packet loss, time 0ms
rtt min/avg/max/mdev = 0.045/0.045/0.045/0.000 ms
`;

describe('the output of ping', () => {
  it('gives the round trip of an answer', () => {
    expect(readPing('192.0.2.7', 4, ANSWERED)).toEqual({ alive: true, rttMs: 0.045 });
  });

  it('is no answer when somebody else replied', () => {
    expect(readPing('192.0.2.9', 4, ANSWERED)).toEqual({ alive: false });
    const stranger = ANSWERED.replace('from 192.0.2.7', 'from 192.0.2.8');
    expect(readPing('192.0.2.7', 4, stranger)).toEqual({ alive: false });
  });

  it('may be anything: what throws inside the package is a value here', () => {
    expect(readPing('192.0.2.7', 4, 'garbage\n')).toEqual({ alive: false, code: 'EOUTPUT' });
    expect(readPing('192.0.2.7', 4, '')).toEqual({ alive: false });
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.string(), fc.constantFrom(...ANSWERED.split('\n')))), (lines) => {
        readPing('192.0.2.7', 4, lines.join('\n'));
      }),
    );
  });
});

describe('running ping', () => {
  const script = (body: string) => {
    const path = join(temporaryFolder(), 'ping');
    writeFileSync(path, `#!/bin/sh\n${body}\n`);
    chmodSync(path, 0o755);
    return path;
  };

  it('F103: nothing but a literal address in canonical form reaches the command line', async () => {
    const touched = script('touch "$0.ran"');
    for (const target of [
      '-iL',
      '--help',
      'router',
      '10.0.0.1;reboot',
      '$(reboot)',
      '010.0.0.1',
      '',
      '10.0.0.1 -f',
    ]) {
      expect(await pingOnce(target, 4, 1000, touched)).toEqual({ alive: false, code: 'EADDRESS' });
    }
    expect(() => execFileSync('ls', [`${touched}.ran`], { stdio: 'ignore' })).toThrow();
  });

  it('asks in the C locale, with an argument list, leaving our own environment alone', async () => {
    const before = { ...process.env };
    const echo = script(
      'printf "PING 1 (1)\\n64 bytes from 192.0.2.7: a=1 b=2 time=3 ms %s\\n" "$LC_ALL $*" >&1',
    );
    expect(await pingOnce('192.0.2.7', 4, 1500, echo)).toEqual({ alive: true, rttMs: 3 });
    const show = script('test "$LC_ALL" = C && test "$*" = "-n -W 2 -c 1 -s 56 192.0.2.7" && exit 1; exit 9');
    expect(await pingOnce('192.0.2.7', 4, 1500, show)).toEqual({ alive: false });
    expect({ ...process.env }).toEqual(before);
  });

  it('has a value for every way to fail', async () => {
    expect(await pingOnce('192.0.2.7', 4, 1000, script('exit 1'))).toEqual({ alive: false });
    expect(await pingOnce('192.0.2.7', 4, 1000, script('exit 2'))).toEqual({ alive: false, code: 'exit 2' });
    expect(await pingOnce('192.0.2.7', 4, 1000, '/nonexistent/ping')).toEqual({
      alive: false,
      code: 'ENOENT',
    });
    expect(await pingOnce('192.0.2.7', 4, 1000, script('yes'))).toMatchObject({
      alive: false,
      code: expect.any(String),
    });
    expect(await pingOnce('192.0.2.7', 4, 1000, script('echo odd; exit 0'))).toEqual({
      alive: false,
      code: 'EOUTPUT',
    });
  });
});

const hasPing = () => {
  try {
    execFileSync('ping', ['-V'], { stdio: 'ignore' });
    return true;
  } catch {
    skipped('sweeps by the ping program: install iputils-ping');
    return false;
  }
};

describe.skipIf(!hasPing())('PingEcho', () => {
  it('takes as many as it has processes, and hears loopback', async () => {
    const heard = new Map<number, number>();
    const space = new AddressSpace([new Range(4, 0x7f00_0001n, 0x7f00_00ffn)]);
    const events = {
      heard: (index: number, rttMs: number) => heard.set(index, rttMs),
      failed: () => undefined,
    };
    // A busy machine may take seconds to start 32 programs.
    const echo = new PingEcho(space, events, { timeoutMs: 60_000 });
    const indexes = Uint32Array.from({ length: 64 }, (_, i) => i);
    const attempts = new Uint8Array(64).fill(1);
    expect(echo.send(indexes, attempts)).toBe(32);
    expect(echo.send(indexes, attempts)).toBe(0);
    const answered = () => {
      echo.receive();
      return heard.size;
    };
    await expect.poll(answered, { timeout: 60_000, interval: 10 }).toBe(32);
    expect([...heard.keys()].sort((a, b) => a - b)).toEqual(Array.from({ length: 32 }, (_, i) => i));
    echo.close();
  }, 90_000);
});
