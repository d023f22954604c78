/** `doctor`: everything a first run fails on, with what to do about it. Changes nothing. */
import { createSocket } from 'node:dgram';
import { accessSync, constants, readFileSync, statSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { createServer } from 'node:net';
import {
  describeFindings,
  type Finding,
  failed,
  isWell,
  ok,
  type Result,
  warning,
} from '@rollcall/host/findings';
import { lockFolder } from '@rollcall/host/lock';
import { systemClock } from '@rollcall/shared/clock';
import { request } from '../link/http.ts';
import { type Identity, loadIdentity } from '../link/identity.ts';
import { connectionProblem } from '../link/server-address.ts';
import { outboxSettings, readConfig, type Settings, stateFolder } from '../platform/config.ts';
import { ENGINES } from '../platform/engines.ts';
import { systemReason } from '../platform/refusal.ts';
import { openNetwork } from '../sweep/tools.ts';

export interface DoctorFlags {
  state?: string;
  config?: string;
  json: boolean;
}

/** The server must begin to answer within this time. */
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
    findings.push({ check: 'settings', ...ok('understood') });
  } catch (error) {
    findings.push({ check: 'settings', ...failed((error as Error).message, 'correct the file') });
  }
  findings.push(
    ...(await engines(settings)),
    { check: 'open files', ...descriptors() },
    { check: 'receive buffer', ...receiveBuffer() },
  );
  if (settings) {
    const folder = stateFolder(settings, process.env, flags.state);
    const kept = await state(folder, settings);
    findings.push(...kept.findings, ...(await ports(settings, kept.running)));
    const identity = identityIn(folder, findings);
    if (identity) findings.push(...(await server(identity)));
  }
  process.stdout.write(`${flags.json ? JSON.stringify({ findings }) : describeFindings(findings)}\n`);
  return isWell(findings) ? 0 : 1;
}

async function engines(settings: Settings | null): Promise<Finding[]> {
  const network = await openNetwork(systemClock, settings?.engines ?? ENGINES);
  await network.close();
  const { choices } = network.chosen;
  const alone = choices.some(({ engine }) => engine !== null);
  return choices.map(({ family, engine, refusals }): Finding => {
    const check = `ICMP IPv${family}`;
    const why = refusals.map(({ engine: name, reason }) => `${name}: ${reason}`).join(', ');
    const remedy = refusals[0]?.remedy;
    if (engine === null) {
      // A host with one family only is a usual thing.
      const none: Finding = { check, state: alone ? 'warning' : 'failed', found: `no way to send (${why})` };
      return remedy ? { ...none, remedy } : none;
    }
    const slow = engine === 'ping';
    const found = `by ${engine}${why ? ` (${why})` : ''}${slow ? ', which is slow' : ''}`;
    return { check, state: slow ? 'warning' : 'ok', found, ...(slow && remedy ? { remedy } : {}) };
  });
}

function descriptors(): Result {
  const limit = /^Max open files\s+(\d+)/m.exec(read('/proc/self/limits') ?? '')?.[1];
  if (limit === undefined) return ok('limit not known on this system');
  return Number(limit) >= FILES_ADVISED
    ? ok(`${limit} allowed`)
    : warning(`only ${limit} allowed`, `"ulimit -n ${FILES_ADVISED}", or LimitNOFILE= in the unit`);
}

function receiveBuffer(): Result {
  const most = Number(read('/proc/sys/net/core/rmem_max') ?? Number.NaN);
  if (Number.isNaN(most)) return ok('limit not known on this system');
  return most >= BUFFER_ADVISED
    ? ok(`${most} bytes allowed`)
    : warning(
        `only ${most} bytes allowed: fast sweeps may lose answers`,
        `"sysctl -w net.core.rmem_max=${BUFFER_ADVISED}", or run with CAP_NET_ADMIN`,
      );
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
  const look = (setting: string, port: number, take: () => Promise<void>): Promise<Result> => {
    if (port === 0) return Promise.resolve(ok('not used'));
    const name = `port ${port}`;
    return take().then(
      () => ok(`${name} is free`),
      (error: NodeJS.ErrnoException) => {
        const taken = error.code === 'EADDRINUSE';
        if (taken && running) return ok(`${name}, held by the running collector`);
        return failed(
          `${name}: ${systemReason(error)}`,
          taken
            ? `stop what uses it ("ss -lnp" names it), or set ${setting} to another, or to 0`
            : `as a service CAP_NET_BIND_SERVICE allows it; or set ${setting} above 1023, or to 0`,
        );
      },
    );
  };
  return [
    { check: 'trap port', ...(await look('traps.port', traps.port, udp)) },
    { check: 'metrics port', ...(await look('metrics.port', metrics.port, tcp)) },
  ];
}

async function state(folder: string, settings: Settings): Promise<{ findings: Finding[]; running: boolean }> {
  const check = 'state folder';
  try {
    if (!statSync(folder).isDirectory()) throw Object.assign(new Error(), { code: 'ENOTDIR' });
    accessSync(folder, constants.W_OK | constants.R_OK | constants.X_OK);
  } catch (error) {
    const absent = (error as NodeJS.ErrnoException).code === 'ENOENT';
    const finding = absent
      ? warning(`${folder} is not there yet`, '"rollcall-collector join URL TOKEN" makes it')
      : failed(`${folder}: ${systemReason(error)}`, 'run as its owner, or give another with --state');
    return { findings: [{ check, ...finding }], running: false };
  }
  const { bavail, bsize } = await statfs(folder);
  const free = bavail * bsize;
  const { minFreeBytes } = outboxSettings(settings);
  const lock = await lockFolder(folder, 'collector');
  if (lock.ok) await lock.release();
  const room =
    free > minFreeBytes
      ? ok(`${mib(free)} MiB free`)
      : failed(
          `${mib(free)} MiB free; below ${mib(minFreeBytes)} MiB collecting pauses`,
          'make room, or lower outbox.freeMegabytes',
        );
  const findings: Finding[] = [
    { check, ...ok(lock.ok ? `${folder}, free` : `${folder}, in use by ${lock.heldBy}`) },
    { check: 'disk', ...room },
  ];
  return { findings, running: !lock.ok };
}

const mib = (bytes: number): number => Math.floor(bytes / 1024 / 1024);

function identityIn(folder: string, findings: Finding[]): Identity | null {
  const check = 'identity';
  try {
    const identity = loadIdentity(folder)?.identity ?? null;
    findings.push({
      check,
      ...(identity
        ? ok(`"${identity.name}" of site "${identity.site.name}" at ${identity.server}`)
        : warning('not joined yet', '"rollcall-collector join URL TOKEN"')),
    });
    return identity;
  } catch (error) {
    findings.push({ check, state: 'failed', found: (error as Error).message });
    return null;
  }
}

async function server(identity: Identity): Promise<Finding[]> {
  const check = 'server';
  try {
    const asked = Date.now();
    const { ca } = identity;
    const { status, headers } = await request(`${identity.server}/api/health/live`, {
      ca,
      timeoutMs: ANSWER_MS,
    });
    const { date } = headers;
    const took = Date.now() - asked;
    const answered =
      status === 200
        ? ok(`${identity.server} answers in ${took} ms, ${vouchedBy(identity)}`)
        : warning(`${identity.server} answers with status ${status}`, 'look at the server');
    // `Date` has whole seconds.
    const skew = date === undefined ? 0 : Date.parse(date) + 500 - (asked + took / 2);
    const clock =
      Math.abs(skew) <= SKEW_MS
        ? ok('agrees with the server’s')
        : warning(
            `${Math.abs(Math.round(skew / 1000))} s ${skew > 0 ? 'behind' : 'ahead of'} the server’s`,
            'let NTP set it: "timedatectl set-ntp true"',
          );
    return [
      { check, ...answered },
      { check: 'clock', ...clock },
    ];
  } catch (error) {
    const found = `cannot reach ${identity.server}: ${connectionProblem(error) ?? systemReason(error)}`;
    const remedy = 'check address, port and firewall from this host; results wait in the outbox meanwhile';
    return [{ check, ...failed(found, remedy) }];
  }
}

/** What made sure that it is the server. */
const vouchedBy = ({ server, ca }: Identity): string => {
  if (!server.startsWith('https:')) return 'not encrypted, on this machine';
  return `its certificate verified by ${ca === undefined ? 'the authorities of this host' : 'the authority of the join token'}`;
};

function read(file: string): string | null {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    return null;
  }
}
