/** `doctor`: everything a first run fails on, with what to do about it. Changes nothing. */
import { createSocket } from 'node:dgram';
import { accessSync, constants, readFileSync, statSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { createServer } from 'node:net';
import { systemClock } from '@rollcall/shared/clock';
import { lockFolder } from '@rollcall/shared/lock';
import { outboxSettings, readConfig, type Settings, stateFolder } from '../config.ts';
import { type Identity, loadIdentity } from '../identity.ts';
import { systemReason } from '../refusal.ts';
import { connectionProblem, trust } from '../server-address.ts';
import { openNetwork } from '../sweep/tools.ts';

export interface Finding {
  what: string;
  /** fail: it cannot work. warn: it works, but less well than it could. */
  state: 'ok' | 'warn' | 'fail';
  detail: string;
  remedy?: string;
}

export interface DoctorFlags {
  state?: string;
  config?: string;
  json: boolean;
}

const ANSWER_MS = 5000;
/** Clocks further apart than this confuse people who read times, milliseconds. */
const SKEW_MS = 5000;
const FILES_ADVISED = 4096;
const BUFFER_ADVISED = 4 * 1024 * 1024;

/** Checks and prints; answers 0 when nothing stands in the way, else 1. */
export async function runDoctor(flags: DoctorFlags): Promise<number> {
  const findings: Finding[] = [];
  let settings: Settings | null = null;
  try {
    settings = await readConfig(process.env, flags.config);
    findings.push({ what: 'settings', state: 'ok', detail: 'understood' });
  } catch (error) {
    findings.push({
      what: 'settings',
      state: 'fail',
      detail: (error as Error).message,
      remedy: 'correct the file',
    });
  }
  findings.push(...(await engines(settings)), descriptors(), receiveBuffer());
  if (settings) {
    const folder = stateFolder(settings, process.env, flags.state);
    const kept = await state(folder, settings);
    findings.push(...kept.findings, ...(await ports(settings, kept.running)));
    const identity = identityIn(folder, findings);
    if (identity) findings.push(...(await server(identity)));
  }
  for (const finding of findings) process.stdout.write(flags.json ? '' : `${line(finding)}\n`);
  if (flags.json) process.stdout.write(`${JSON.stringify({ findings })}\n`);
  return findings.some(({ state: how }) => how === 'fail') ? 1 : 0;
}

const line = ({ what, state: how, detail, remedy }: Finding): string =>
  `${how.toUpperCase().padEnd(5)} ${what.padEnd(16)} ${detail}${remedy ? `\n${' '.repeat(23)}→ ${remedy}` : ''}`;

async function engines(settings: Settings | null): Promise<Finding[]> {
  const network = await openNetwork(systemClock, settings?.engines ?? ['datagram', 'raw', 'ping']);
  await network.close();
  const { choices } = network.chosen;
  const none = choices.every(({ engine }) => engine === null);
  return choices.map(({ family, engine, refusals }): Finding => {
    const what = `ICMP IPv${family}`;
    const why = refusals.map(({ engine: name, reason }) => `${name}: ${reason}`).join(', ');
    const remedy = refusals[0]?.remedy;
    if (engine === null) {
      // A host with one family only is a usual thing.
      const found: Finding = { what, state: none ? 'fail' : 'warn', detail: `no way to send (${why})` };
      return remedy ? { ...found, remedy } : found;
    }
    const slow = engine === 'ping';
    const detail = `by ${engine}${why ? ` (${why})` : ''}${slow ? ', which is slow' : ''}`;
    return { what, state: slow ? 'warn' : 'ok', detail, ...(slow && remedy ? { remedy } : {}) };
  });
}

function descriptors(): Finding {
  const what = 'open files';
  const limit = /^Max open files\s+(\d+)/m.exec(read('/proc/self/limits') ?? '')?.[1];
  if (limit === undefined) return { what, state: 'ok', detail: 'limit not known on this system' };
  return Number(limit) >= FILES_ADVISED
    ? { what, state: 'ok', detail: `${limit} allowed` }
    : {
        what,
        state: 'warn',
        detail: `only ${limit} allowed`,
        remedy: `"ulimit -n ${FILES_ADVISED}", or LimitNOFILE= in the unit`,
      };
}

function receiveBuffer(): Finding {
  const what = 'receive buffer';
  const most = Number(read('/proc/sys/net/core/rmem_max') ?? Number.NaN);
  if (Number.isNaN(most)) return { what, state: 'ok', detail: 'limit not known on this system' };
  return most >= BUFFER_ADVISED
    ? { what, state: 'ok', detail: `${most} bytes allowed` }
    : {
        what,
        state: 'warn',
        detail: `only ${most} bytes allowed: fast sweeps may lose answers`,
        remedy: `"sysctl -w net.core.rmem_max=${BUFFER_ADVISED}", or run with CAP_NET_ADMIN`,
      };
}

/** The ports that the settings ask for; a running collector holds them itself. */
async function ports({ traps, metrics }: Settings, running: boolean): Promise<Finding[]> {
  const udp = () =>
    new Promise<void>((resolve, reject) => {
      const socket = createSocket('udp4').once('error', reject);
      socket.bind(traps.port, () => socket.close(() => resolve()));
    });
  const tcp = () =>
    new Promise<void>((resolve, reject) => {
      const probe = createServer().once('error', reject);
      probe.listen(metrics.port, metrics.host, () => probe.close(() => resolve()));
    });
  const check = async (what: string, setting: string, port: number, take: () => Promise<void>) => {
    if (port === 0) return { what, state: 'ok', detail: 'not used' } satisfies Finding;
    const name = `port ${port}`;
    return take().then(
      (): Finding => ({ what, state: 'ok', detail: `${name} is free` }),
      (error: NodeJS.ErrnoException): Finding => {
        const taken = error.code === 'EADDRINUSE';
        if (taken && running) return { what, state: 'ok', detail: `${name}, held by the running collector` };
        return {
          what,
          state: 'fail',
          detail: `${name}: ${systemReason(error)}`,
          remedy: taken
            ? `stop what uses it ("ss -lnp" names it), or set ${setting} to another, or to 0`
            : `as a service CAP_NET_BIND_SERVICE allows it; or set ${setting} above 1023, or to 0`,
        };
      },
    );
  };
  return [
    await check('trap port', 'traps.port', traps.port, udp),
    await check('metrics port', 'metrics.port', metrics.port, tcp),
  ];
}

async function state(folder: string, settings: Settings): Promise<{ findings: Finding[]; running: boolean }> {
  const what = 'state folder';
  try {
    if (!statSync(folder).isDirectory()) throw Object.assign(new Error(), { code: 'ENOTDIR' });
    accessSync(folder, constants.W_OK | constants.R_OK | constants.X_OK);
  } catch (error) {
    const absent = (error as NodeJS.ErrnoException).code === 'ENOENT';
    const finding: Finding = {
      what,
      state: absent ? 'warn' : 'fail',
      detail: absent ? `${folder} is not there yet` : `${folder}: ${systemReason(error)}`,
      remedy: absent
        ? '"rollcall-collector join URL TOKEN" makes it'
        : 'run as its owner, or give another with --state',
    };
    return { findings: [finding], running: false };
  }
  const { bavail, bsize } = await statfs(folder);
  const free = bavail * bsize;
  const { minFreeBytes } = outboxSettings(settings);
  const lock = await lockFolder(folder, 'collector');
  if (lock.ok) await lock.release();
  const findings: Finding[] = [
    { what, state: 'ok', detail: lock.ok ? `${folder}, free` : `${folder}, in use by ${lock.heldBy}` },
    free > minFreeBytes
      ? { what: 'disk', state: 'ok', detail: `${mib(free)} MiB free` }
      : {
          what: 'disk',
          state: 'fail',
          detail: `${mib(free)} MiB free; below ${mib(minFreeBytes)} MiB collecting pauses`,
          remedy: 'make room, or lower outbox.freeMegabytes',
        },
  ];
  return { findings, running: !lock.ok };
}

const mib = (bytes: number): number => Math.floor(bytes / 1024 / 1024);

function identityIn(folder: string, findings: Finding[]): Identity | null {
  const what = 'identity';
  try {
    const identity = loadIdentity(folder)?.identity ?? null;
    findings.push(
      identity
        ? {
            what,
            state: 'ok',
            detail: `"${identity.name}" of site "${identity.site.name}" at ${identity.server}`,
          }
        : { what, state: 'warn', detail: 'not joined yet', remedy: '"rollcall-collector join URL TOKEN"' },
    );
    return identity;
  } catch (error) {
    findings.push({ what, state: 'fail', detail: (error as Error).message });
    return null;
  }
}

async function server(identity: Identity): Promise<Finding[]> {
  const what = 'server';
  try {
    const asked = Date.now();
    const { status, date } = await head(`${identity.server}/api/health/live`, identity.ca);
    const took = Date.now() - asked;
    const found: Finding =
      status === 200
        ? { what, state: 'ok', detail: `${identity.server} answers in ${took} ms, ${vouchedBy(identity)}` }
        : {
            what,
            state: 'warn',
            detail: `${identity.server} answers with status ${status}`,
            remedy: 'look at the server',
          };
    // `Date` has whole seconds.
    const skew = date === undefined ? 0 : Date.parse(date) + 500 - (asked + took / 2);
    const clock: Finding =
      Math.abs(skew) <= SKEW_MS
        ? { what: 'clock', state: 'ok', detail: 'agrees with the server’s' }
        : {
            what: 'clock',
            state: 'warn',
            detail: `${Math.abs(Math.round(skew / 1000))} s ${skew > 0 ? 'behind' : 'ahead of'} the server’s`,
            remedy: 'let NTP set it: "timedatectl set-ntp true"',
          };
    return [found, clock];
  } catch (error) {
    return [
      {
        what,
        state: 'fail',
        detail: `cannot reach ${identity.server}: ${connectionProblem(error) ?? systemReason(error)}`,
        remedy: 'check address, port and firewall from this host; results wait in the outbox meanwhile',
      },
    ];
  }
}

/** What made sure that it is the server. */
const vouchedBy = ({ server, ca }: Identity): string => {
  if (!server.startsWith('https:')) return 'not encrypted, on this machine';
  return `its certificate verified by ${ca === undefined ? 'the authorities of this host' : 'the authority of the join token'}`;
};

async function head(
  address: string,
  ca: string | undefined,
): Promise<{ status: number; date: string | undefined }> {
  const { request } = address.startsWith('https:') ? await import('node:https') : await import('node:http');
  return new Promise((resolve, reject) => {
    const call = request(address, { timeout: ANSWER_MS, ...trust(ca) }, (response) => {
      response.resume();
      resolve({ status: response.statusCode ?? 0, date: response.headers.date });
    });
    call.on('timeout', () => call.destroy(Object.assign(new Error('timeout'), { code: 'ETIMEDOUT' })));
    call.on('error', reject);
    call.end();
  });
}

function read(file: string): string | null {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    return null;
  }
}
