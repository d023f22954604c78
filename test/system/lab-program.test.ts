import { spawn, spawnSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { exchange, get, readReply } from '@rollcall/lab/testing/client';
import { describe, expect, it } from 'vitest';
import { compiled } from './compiled.ts';

const main = compiled('lab', 'main');
const PORT = 26_000 + (process.pid % 5_000);

/** Starts the program; resolves with its first line. */
async function start(...args: string[]) {
  const child = spawn(process.execPath, [main, '--port', String(PORT), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let out = '';
  const line = await new Promise<string>((resolve, reject) => {
    child.stdout.on('data', (chunk) => {
      out += chunk;
      if (out.includes('\n')) resolve(out.slice(0, out.indexOf('\n')));
    });
    child.on('exit', (code) => reject(new Error(`ended with ${code}`)));
  });
  const stop = () =>
    new Promise<number | null>((resolve) => {
      child.on('exit', resolve);
      child.kill('SIGTERM');
    });
  return { truth: JSON.parse(line), stop };
}

describe('the command line', () => {
  it('serves the demonstration, prints the truth and stops on SIGTERM', async () => {
    const { truth, stop } = await start();
    expect(truth).toMatchObject({ site: 'demo', targets: expect.any(String), devices: expect.any(Array) });
    const { addresses, name } = truth.devices.find((d: { name: string }) => d.name === 'web-1');
    const [answer] = await exchange(addresses[0], PORT, get('1.3.6.1.2.1.1.5.0'));
    expect(String(readReply(answer?.bytes ?? null).varbinds[0]?.value)).toBe(name);
    expect(await stop()).toBe(0);
    // The port is free again.
    const socket = createSocket('udp4');
    await new Promise<void>((resolve, reject) =>
      socket.on('error', reject).bind(PORT, addresses[0], resolve),
    );
    socket.close();
  });

  it.each([
    [['--port', 'x'], /--port x is no UDP port/],
    [['--prt'], /Unknown option '--prt'/],
  ])('refuses %j in one line with exit code 2', (args, complaint) => {
    const { status, stderr, stdout } = spawnSync(process.execPath, [main, ...args]);
    expect([status, String(stdout)]).toEqual([2, '']);
    expect(String(stderr)).toMatch(complaint);
    expect(String(stderr).trimEnd().split('\n')).toHaveLength(1);
  });
});
