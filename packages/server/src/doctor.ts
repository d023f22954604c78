/** Checks everything that a first start fails on, changes nothing, and says the remedy. */
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { accessSync, constants, existsSync, readFileSync, statfsSync } from 'node:fs';
import { get as httpGet, type IncomingMessage } from 'node:http';
import { get as httpsGet } from 'node:https';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { createSecureContext } from 'node:tls';
import { type Finding, failed, ok, type Result, warning } from '@rollcall/host/findings';
import type { Clock } from '@rollcall/shared/clock';
import { openProvider, Refused } from './accounts/oidc/provider.ts';
import { asStartError, takeFolder } from './data.ts';
import { type Database, openDatabase } from './platform/db/db.ts';
import { pending, readApplied, readMigrations } from './platform/db/migrate.ts';
import { ownFolder } from './platform/keys/certificate.ts';
import type { Config } from './platform/ops/config.ts';
import type { Logger } from './platform/ops/log.ts';

const GIB = 1024 ** 3;
const DAY_MS = 86_400_000;

/** Runs every check; none of them throws. */
export async function examine(config: Config, log: Logger, clock: Clock): Promise<Finding[]> {
  const checks: Record<string, () => Result | Promise<Result>> = {
    node,
    'data folder': () => dataFolder(config),
    disk: () => disk(config),
    database: () => database(config, log, clock),
    port: () => port(config),
    tls: () => tls(config, clock),
    'open files': openFiles,
    'sign-in': () => signIn(config, clock),
  };
  const findings: Finding[] = [];
  for (const [check, run] of Object.entries(checks)) {
    try {
      findings.push({ check, ...(await run()) });
    } catch (error) {
      findings.push({
        check,
        ...failed(error instanceof Error ? error.message : String(error), 'see above'),
      });
    }
  }
  return findings;
}

function node(): Result {
  const [major = 0] = process.versions.node.split('.').map(Number);
  return major < 22
    ? warning(`Node ${process.versions.node}, which gets no fixes any more`, 'install Node 24')
    : ok(`Node ${process.versions.node}`);
}

async function dataFolder({ dataFolder: folder, databaseUrl }: Config): Promise<Result> {
  const there = nearest(folder);
  try {
    accessSync(there, constants.W_OK);
    if (there !== folder) return ok(`${folder}; the first start makes it`);
    const release = await takeFolder(folder, databaseUrl === undefined);
    await release();
    return ok(folder);
  } catch (error) {
    const { message } = error as Error;
    return message.includes('in use by')
      ? ok(`${folder}, in use by a running server`)
      : failed(message, 'make the folder writable, or set ROLLCALL_DATA');
  }
}

/** The folder, or what of the way to it is there already. */
const nearest = (folder: string): string => {
  let there = folder;
  while (!existsSync(there)) there = dirname(there);
  return there;
};

function disk({ dataFolder: folder }: Config): Result {
  const there = nearest(folder);
  const { bavail, bsize } = statfsSync(there);
  const free = bavail * bsize;
  const found = `${(free / GIB).toFixed(1)} GiB free at ${there}`;
  if (free < GIB / 10) return failed(found, 'free some space, or set ROLLCALL_DATA to another disk');
  return free < GIB ? warning(found, 'free some space soon') : ok(found);
}

async function database(
  { databaseUrl, dataFolder: folder }: Config,
  log: Logger,
  clock: Clock,
): Promise<Result> {
  if (databaseUrl === undefined) {
    if (!existsSync(join(folder, 'database'))) return ok('embedded; the first start makes it');
    return warning(
      'embedded: for trials and small sites; a power cut may lose what was stored last',
      'set DATABASE_URL',
    );
  }
  let db: Database;
  try {
    db = await openDatabase({ url: databaseUrl.reveal() }, log);
  } catch (error) {
    const refusal = asStartError(error);
    return failed(refusal instanceof Error ? refusal.message : String(refusal), 'see DATABASE_URL');
  }
  try {
    return (await rights(db, clock)) ?? (await schema(db));
  } finally {
    await db.close();
  }
}

/** A server that holds the port must answer within this time. */
const ANSWER_MS = 2_000;
/** Clocks further apart than this confuse people who read times. */
const SKEW_MS = 5_000;

/** What stands in the way of a start, or of times that mean something; null: nothing. */
async function rights(db: Database, clock: Clock): Promise<Result | null> {
  const [row] = await db.query<{ user: string; may: boolean; now: number }>(
    `SELECT current_user AS user, extract(epoch FROM clock_timestamp())::float8 * 1000 AS now,
       has_schema_privilege(current_schema(), 'CREATE') AND has_database_privilege(current_database(), 'CREATE') AS may`,
  );
  if (!row?.may)
    return failed(
      `${row?.user} may not make tables`,
      'grant CREATE on the database and its schema to it, or make it their owner',
    );
  const skew = Math.round((row.now - clock.now()) / 1000);
  return Math.abs(skew) * 1000 <= SKEW_MS
    ? null
    : warning(
        `its clock is ${Math.abs(skew)} s ${skew > 0 ? 'ahead of' : 'behind'} this host's`,
        'let NTP set both: "timedatectl set-ntp true"',
      );
}

async function schema(db: Database): Promise<Result> {
  const [server] = await db.query<{ version: string; zone: string; fsync: string }>(
    `SELECT current_setting('server_version') AS version, current_setting('TimeZone') AS zone, current_setting('fsync') AS fsync`,
  );
  const found = `PostgreSQL ${server?.version}`;
  if (server?.zone !== 'UTC')
    return failed(`${found}, sessions in ${server?.zone}`, 'the session must be in UTC');
  if (server.fsync !== 'on')
    return warning(`${found}, fsync is off`, 'turn fsync on: a power cut destroys the database');
  const [book] = await db.query<{ there: boolean }>(
    `SELECT to_regclass('"_prisma_migrations"') IS NOT NULL AS there`,
  );
  const ran = book?.there ? await readApplied(db) : [];
  try {
    const missing = pending(ran, readMigrations()).length;
    return ok(
      missing === 0
        ? `${found}, schema up to date`
        : `${found}, the next start applies ${missing} migrations`,
    );
  } catch (error) {
    return failed((error as Error).message, 'install the version that wrote this database');
  }
}

async function port({ host, port: number, tls: secure }: Config): Promise<Result> {
  const problem = await new Promise<NodeJS.ErrnoException | undefined>((resolve) => {
    const probe = createServer();
    probe.once('error', (error: NodeJS.ErrnoException) => resolve(error));
    probe.listen(host === '::' ? { port: number } : { host, port: number }, () =>
      probe.close(() => resolve(undefined)),
    );
  });
  const at = `${host} port ${number}`;
  if (problem === undefined) {
    return secure || host === '127.0.0.1' || host === '::1'
      ? ok(`${at} is free`)
      : warning(
          `${at} is free, without TLS`,
          'only the proxies of ROLLCALL_TRUSTED_PROXIES are answered; see ROLLCALL_TLS_OWN for collectors without one',
        );
  }
  if (problem.code !== 'EADDRINUSE')
    return failed(`${at}: ${problem.code}`, 'set HOST and PORT to what this machine has');
  const answers = await answersLive(host, number, secure !== undefined);
  return answers
    ? ok(`${at}: a Rollcall server answers there`)
    : failed(`${at} is in use`, 'stop what uses it, or set PORT');
}

/** Whether a Rollcall server answers there: asked on this machine, where its certificate has another name. */
export async function answersLive(host: string, port: number, secure: boolean): Promise<boolean> {
  const hostname = host === '::' || host === '0.0.0.0' ? '127.0.0.1' : host;
  const options = { hostname, port, path: '/api/health/live', signal: AbortSignal.timeout(ANSWER_MS) };
  try {
    const request = secure ? httpsGet({ ...options, rejectUnauthorized: false }) : httpGet(options);
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    return (await text(response)).includes('"live"');
  } catch {
    return false;
  }
}

function tls({ tls: settings, dataFolder: folder }: Config, clock: Clock): Result {
  if (!settings) return ok('not used; only this machine, or a named proxy, reaches the server');
  const own = settings.kind === 'own';
  const files = own
    ? { certFile: join(ownFolder(folder), 'server.crt'), keyFile: join(ownFolder(folder), 'server.key') }
    : settings;
  if (own && !existsSync(files.certFile)) return ok('own certificate; the first start makes it');
  const [cert, key] = [readFileSync(files.certFile), readFileSync(files.keyFile)];
  createSecureContext({ cert, key });
  const { validTo, subjectAltName } = new X509Certificate(cert);
  const left = Math.floor((Date.parse(validTo) - clock.now()) / DAY_MS);
  const vouches = own ? `by an authority of its own, ${ownFolder(folder)}/authority.crt; ` : '';
  const found = `${vouches}${subjectAltName ?? 'no names'}, valid to ${validTo}`;
  if (left < 0) return failed(found, 'renew the certificate');
  return left < 14
    ? warning(found, left === 0 ? 'renew the certificate today' : `renew the certificate; days left: ${left}`)
    : ok(found);
}

/** Whether the provider of identities is there and knows this server by its settings. */
async function signIn({ oidc }: Config, clock: Clock): Promise<Result> {
  if (!oidc) return ok('by password; oidc is not set');
  const { issuer, redirectUri } = oidc;
  try {
    const { pkce } = await openProvider(oidc, clock).examine();
    const found = `${issuer} knows this server; it must lead back to ${redirectUri}`;
    return pkce
      ? ok(found)
      : warning(`${found}; it does not say that it knows PKCE`, 'turn PKCE (S256) on there');
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    const remedy =
      error.refusal === 'away'
        ? 'let this host reach it by HTTPS; for an authority of your own set NODE_EXTRA_CA_CERTS'
        : 'compare oidc.issuer, clientId and clientSecret with what the provider shows';
    return failed(`${issuer}: ${error.message}`, remedy);
  }
}

/** Each collector, browser and request takes a file descriptor. */
function openFiles(): Result {
  const limits = existsSync('/proc/self/limits') ? readFileSync('/proc/self/limits', 'utf8') : '';
  const soft = Number(/^Max open files\s+(\d+)/m.exec(limits)?.[1] ?? Number.NaN);
  if (Number.isNaN(soft)) return ok('no limit known');
  return soft < 4096
    ? warning(`${soft}`, 'raise LimitNOFILE (ulimit -n) to 65536 for many collectors')
    : ok(`${soft}`);
}
