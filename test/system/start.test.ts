/** `npm start` and `npm run dev` end with what they started, whoever is signalled: real processes, found by their environment. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync } from 'node:fs';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** Only end a hang. */
const GONE_MS = 60_000;
const LIMIT_MS = 480_000;

let data: string;
let npm: ChildProcess;
let out: string;

/** All share a folder: each start goes on with what the end of the one before left. */
beforeAll(() => {
  data = mkdtempSync(join(tmpdir(), 'rollcall-start-'));
});
afterEach(() => {
  for (const { pid } of processes()) process.kill(pid, 'SIGKILL');
});
afterAll(() => {
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

/** Runs `npm start`, or another script, until it prints `word`. */
async function start(word: string, script = 'start'): Promise<void> {
  npm = spawn('npm', ['run', script], {
    cwd: root,
    env: { ...process.env, PORT: '0', ROLLCALL_DATA: data, LOG_LEVEL: 'info' },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  out = '';
  await new Promise<void>((resolve, reject) => {
    const hear = (text: Buffer) => {
      out += text;
      if (out.includes(word)) resolve();
    };
    // The log as well: where something does not come, it says how far its program got.
    npm.stdout?.on('data', hear);
    npm.stderr?.on('data', hear);
    npm.once('exit', (code) => reject(new Error(`ended with ${code} before it said "${word}": ${out}`)));
  });
}

const WHO = {
  npm: /^npm (run \w+|start)/,
  'the shell of npm': /^\S*sh -c/,
  'its node': /^node scripts\/(start|dev)\.mjs/,
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
  ] as const)(
    'ends with its lab and its collector when %s gets %s',
    async (who, signal) => {
      await start('is online');
      const commands = processes().map(({ command }) => command);
      expect(commands.filter((command) => /lab\/dist|demo-collector\.mjs/.test(command))).toHaveLength(2);
      await endOf(who, signal);
    },
    LIMIT_MS,
  );

  it.each([
    ['npm', 'SIGTERM'],
    ['its node', 'SIGKILL'],
  ] as const)(
    'ends during the build when %s gets %s',
    async (who, signal) => {
      npm = spawn('npm', ['start'], {
        cwd: root,
        env: { ...process.env, PORT: '0', ROLLCALL_DATA: data },
        stdio: 'ignore',
        detached: true,
      });
      const building = () => processes().some(({ command }) => /scripts\/build\.mjs/.test(command));
      await vi.waitFor(() => expect(building()).toBe(true), { timeout: 60_000, interval: 10 });
      await endOf(who, signal);
    },
    LIMIT_MS,
  );
});

describe.runIf(process.platform === 'linux')('npm run dev', () => {
  /** Saved again, as it is: others read these sources as well. */
  const save = (path: string) => utimesSync(join(root, path), new Date(), new Date());
  const says = (words: RegExp) => vi.waitFor(() => expect(out).toMatch(words), { timeout: 120_000 });
  /** What Vite tells a page, as it comes from the socket: a server's frames hold their text as it is (RFC 6455, 5.1). */
  const follow = async (address: string): Promise<() => string> => {
    const headers = {
      Connection: 'Upgrade',
      Upgrade: 'websocket',
      'Sec-WebSocket-Version': 13,
      'Sec-WebSocket-Key': randomBytes(16).toString('base64'),
      'Sec-WebSocket-Protocol': 'vite-hmr',
    };
    const request = get(address, { headers });
    request.once('response', ({ statusCode }) => request.destroy(new Error(`no socket, but ${statusCode}`)));
    const [, socket] = await once(request, 'upgrade');
    let text = '';
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1');
    });
    socket.on('error', () => undefined);
    return () => text;
  };

  it(
    'restarts what an edit concerns, tells the page of its own, and ends with all of it',
    async () => {
      await start('Ctrl-C', 'dev');
      expect(processes().filter(({ command }) => /packages\/\w+\/dist\//.test(command))).toEqual([]);
      // The log names the server behind as well, at times first.
      const [, url = ''] = /^server +(http:\S+)/m.exec(out) ?? [];

      save('packages/server/src/ingest/queue/site-queue.ts');
      await says(/server restarts: packages\/server\/src\/ingest\/queue\/site-queue\.ts changed/);
      await says(/server is ready after \d+ ms/);
      expect(out).not.toMatch(/(lab|collector|web) restarts/);
      // The server behind answers at the address in front.
      expect((await fetch(`${url}/api/summary`)).status).toBe(401);

      const page = 'packages/web/src/components/show/time.tsx';
      // Vite follows what a page has loaded.
      await (await fetch(url + page.replace('packages/web', ''))).text();
      const client = await (await fetch(`${url}/@vite/client`)).text();
      const [, token = ''] = /wsToken = "([^"]+)"/.exec(client) ?? [];
      const told = await follow(`${url}/?token=${token}`);
      save(page);
      await vi.waitFor(() => expect(told()).toContain(page.replace('packages/web', '')));

      save('packages/shared/src/model.ts');
      for (const name of ['server', 'collector', 'lab', 'web'])
        await says(new RegExp(`${name} restarts: packages/shared/src/model\\.ts changed`));

      await endOf('npm', 'SIGTERM');
    },
    LIMIT_MS,
  );

  it(
    'ends when its node is killed',
    async () => {
      await start('is online', 'dev');
      await endOf('its node', 'SIGKILL');
    },
    LIMIT_MS,
  );
});
