/**
 * Settings of a server process: its file, then its environment over it; the only place that reads either. Each setting
 * has a default that works on one machine, and is refused with its line or its name when it cannot be what it says.
 */

import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { readSettingsFile, SettingsError, type SettingsFile } from '@rollcall/host/settings-file';
import { SCAN_ADDRESSES } from '@rollcall/shared/model';
import { Secret } from '@rollcall/shared/secret';
import { z } from 'zod';
import { isOrigin } from '../access/cors.ts';
import { closest } from './hint.ts';
import { OIDC_KEYS, type OidcSettings, oidcOf, oidcVariables } from './oidc-settings.ts';
import { StartError } from './start-error.ts';
import { engine, file, list, secret, whole, yes } from './variables.ts';

export { StartError };

export interface Config {
  host: string;
  port: number;
  /** Absolute path. */
  dataFolder: string;
  /** PostgreSQL; absent: the embedded database in the data folder. Holds a password. */
  databaseUrl: Secret | undefined;
  /** Certificate and key files (PEM), or the server's own with further names in it; absent: plain HTTP. */
  tls: { kind: 'files'; certFile: string; keyFile: string } | { kind: 'own'; names: string[] } | undefined;
  /** Addresses and CIDRs of reverse proxies whose X-Forwarded-* headers count. */
  trustedProxies: string[];
  /** Origins whose pages may ask the API from a browser, with a token. */
  corsOrigins: string[];
  logLevel: (typeof LOG_LEVELS)[number];
  /** Requests per minute of one token or user; a tenth of it per address before that is known. 0: no limit. */
  ratePerMinute: number;
  /** Open connections, at most. */
  connections: number;
  /** Addresses in one scan, at most. */
  scanAddresses: number;
  /** Events and cases that ended so many days ago are deleted. 0: kept for ever. */
  eventDays: number;
  /** File with the key that seals SNMP credentials; absent: `credential.keys` in the data folder. */
  keyFile: string | undefined;
  /** Where people reach this server; absent: messages hold no links. No slash at the end. */
  publicUrl: string | undefined;
  /** Asked every minute while this server works. Holds a secret. */
  aliveUrl: Secret | undefined;
  /**
   * An engine for time series: where it takes remote write, and where it answers PromQL. Absent: measurements are kept in
   * the database. Both may hold a password.
   */
  metrics: { write: Secret; query: Secret } | undefined;
  /** Days that measurements are kept in the database, the finer never longer than the coarser. */
  metricDays: MetricDays;
  /** Whether who signs in with a password needs a code of an authenticator app as well. */
  secondFactor: (typeof SECOND_FACTOR)[number];
  /** A provider of identities (OpenID Connect) that people sign in with; absent: passwords only. */
  oidc: OidcSettings | undefined;
  /** Where systemd puts the unit's credentials (LoadCredential). */
  credentialsDirectory: string | undefined;
}

/** Of samples as they came, and of their summaries of 5 minutes and of an hour. */
export interface MetricDays {
  samples: number;
  fiveMinutes: number;
  hours: number;
}
/** How long measurements are kept in the database: as they came, as means of 5 minutes and of an hour. @setting server `metricDays` */
export const METRIC_DAYS: MetricDays = { samples: 14, fiveMinutes: 90, hours: 730 };

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

const SECOND_FACTOR = ['optional', 'required'] as const;

const HOST_NAME = /^(?=.{1,253}$)[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*$/i;

/** Every variable with its default and what it must be. @setting server */
const variables = {
  PORT: whole(0, 65_535, 8080).describe('Port to listen on; 0 takes a free one. Default: 8080.'),
  HOST: z
    .string()
    .refine((text) => isIP(text) !== 0)
    .optional()
    .meta({ need: 'an IPv4 or IPv6 address' })
    .describe('Address to listen on. Default: 127.0.0.1, and with TLS every address.'),
  ROLLCALL_DATA: z
    .string()
    .min(1)
    .optional()
    .meta({ need: 'the path of a folder' })
    .describe('Data folder. Default: ./data, as a service its StateDirectory.'),
  DATABASE_URL: z
    .string()
    .regex(/^postgres(ql)?:\/\/\S+$/)
    .optional()
    .meta({ need: 'postgres://user:password@host:port/database', secret: true })
    .describe(
      'PostgreSQL; with standbys all hosts, with commas between them. Default: the embedded database, in the data folder.',
    ),
  ROLLCALL_TLS_OWN: yes('false').describe(
    'true: HTTPS with a certificate of its own, which join tokens pin. Default: false.',
  ),
  ROLLCALL_TLS_NAMES: list
    .refine((names) => names.every((name) => HOST_NAME.test(name) || isIP(name) !== 0))
    .meta({ need: 'host names or addresses, separated by commas' })
    .describe('Names in the own certificate besides those of this host. Default: none.'),
  ROLLCALL_TLS_CERT: file
    .optional()
    .describe('Certificate chain, PEM, instead of an own one; read again when it changes.'),
  ROLLCALL_TLS_KEY: file.optional().describe('Its private key, PEM.'),
  ROLLCALL_TRUSTED_PROXIES: list
    .refine((blocks) => blocks.every(isBlock))
    .meta({ need: 'addresses or CIDRs, separated by commas' })
    .describe('Reverse proxies whose X-Forwarded-* headers count. Default: none.'),
  ROLLCALL_CORS_ORIGINS: list
    .refine((origins) => origins.every(isOrigin))
    .meta({ need: 'origins such as https://portal.example.net, separated by commas, without a path or *' })
    .describe('Origins whose pages may ask the API from a browser, with a token. Default: none.'),
  LOG_LEVEL: z
    .enum(LOG_LEVELS)
    .default('info')
    .meta({ need: `one of ${LOG_LEVELS.join(', ')}` })
    .describe('Least important line that is written. Default: info.'),
  ROLLCALL_RATE_LIMIT: whole(0, 100_000_000, 60_000).describe(
    'Requests per minute of one caller; 0: no limit. Default: 60000.',
  ),
  ROLLCALL_CONNECTIONS: whole(10, 1_000_000, 10_000).describe(
    'Open connections, at most; a tenth of them from one address. Default: 10000.',
  ),
  ROLLCALL_SCAN_ADDRESSES: whole(1, 16_777_216, SCAN_ADDRESSES).describe(
    'Addresses in one scan, at most. Default: 1048576.',
  ),
  ROLLCALL_EVENT_DAYS: whole(0, 36_500, 0).describe(
    'Days that events and cases are kept once they are over; 0: for ever. Default: 0.',
  ),
  ROLLCALL_KEY_FILE: file
    .optional()
    .describe('Key that seals SNMP credentials. Default: credential.keys in the data folder.'),
  ROLLCALL_PUBLIC_URL: z
    .string()
    .refine((text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol))
    .transform((text) => text.replace(/\/+$/, ''))
    .optional()
    .meta({ need: 'an address such as https://rollcall.example.net' })
    .describe('Where people reach this server: links in mails and webhooks.'),
  ROLLCALL_ALIVE_URL: z
    .string()
    .refine((text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol))
    .optional()
    .meta({ need: 'an address such as https://alarm.example.net/ping/4711', secret: true })
    .describe('Asked every minute while this server works: a service that raises the alarm when it is not.'),
  ROLLCALL_METRICS_WRITE: engine.describe(
    'Where an engine for time series takes Prometheus remote write. Default: measurements are kept in the database.',
  ),
  ROLLCALL_METRICS_QUERY: engine.describe('Where it answers PromQL: what /api/v1/query is appended to.'),
  // Two days: the summaries of a day are made after its end, out of its samples.
  ROLLCALL_METRIC_DAYS_SAMPLES: whole(2, 36_500, METRIC_DAYS.samples).describe(
    'Days that measurements are kept as they came. Default: 14.',
  ),
  ROLLCALL_METRIC_DAYS_5M: whole(2, 36_500, METRIC_DAYS.fiveMinutes).describe(
    'Days that their summaries of 5 minutes are kept. Default: 90.',
  ),
  ROLLCALL_METRIC_DAYS_1H: whole(2, 36_500, METRIC_DAYS.hours).describe(
    'Days that their summaries of an hour are kept. Default: 730.',
  ),
  ROLLCALL_SECOND_FACTOR: z
    .enum(SECOND_FACTOR)
    .default('optional')
    .meta({ need: `one of ${SECOND_FACTOR.join(', ')}` })
    .describe('required: passwords need a code of an authenticator app as well. Default: optional.'),
  ...oidcVariables,
  CREDENTIALS_DIRECTORY: file
    .optional()
    .describe('Set by systemd (LoadCredential): `credential.keys` in it seals SNMP credentials.'),
} as const;
type Variable = keyof typeof variables;

export type Environment = Readonly<Record<string, string | undefined>>;

/** Where a variable's setting stands in the file; CREDENTIALS_DIRECTORY is set by systemd only. */
export const FILE_KEYS = {
  PORT: ['port'],
  HOST: ['host'],
  ROLLCALL_DATA: ['data'],
  DATABASE_URL: ['database'],
  ROLLCALL_TLS_OWN: ['tls', 'own'],
  ROLLCALL_TLS_NAMES: ['tls', 'names'],
  ROLLCALL_TLS_CERT: ['tls', 'cert'],
  ROLLCALL_TLS_KEY: ['tls', 'key'],
  ROLLCALL_TRUSTED_PROXIES: ['trustedProxies'],
  ROLLCALL_CORS_ORIGINS: ['cors', 'origins'],
  LOG_LEVEL: ['log'],
  ROLLCALL_RATE_LIMIT: ['rateLimit'],
  ROLLCALL_CONNECTIONS: ['connections'],
  ROLLCALL_SCAN_ADDRESSES: ['scanAddresses'],
  ROLLCALL_EVENT_DAYS: ['eventDays'],
  ROLLCALL_KEY_FILE: ['keyFile'],
  ROLLCALL_PUBLIC_URL: ['publicUrl'],
  ROLLCALL_ALIVE_URL: ['aliveUrl'],
  ROLLCALL_METRICS_WRITE: ['metrics', 'write'],
  ROLLCALL_METRICS_QUERY: ['metrics', 'query'],
  ROLLCALL_METRIC_DAYS_SAMPLES: ['metricDays', 'samples'],
  ROLLCALL_METRIC_DAYS_5M: ['metricDays', 'fiveMinutes'],
  ROLLCALL_METRIC_DAYS_1H: ['metricDays', 'hours'],
  ROLLCALL_SECOND_FACTOR: ['secondFactor'],
  ...OIDC_KEYS,
} as const satisfies Record<Exclude<Variable, 'CREDENTIALS_DIRECTORY'>, readonly [string, ...string[]]>;

export const CONFIG_FILE = '/etc/rollcall/server.yaml';

/**
 * Reads the settings: $ROLLCALL_CONFIG (or /etc/rollcall/server.yaml where it is there), then the environment over it.
 * Throws a StartError that names file and line, or the variable.
 */
export async function loadConfig(env: Environment): Promise<Config> {
  const named = env.ROLLCALL_CONFIG || undefined;
  try {
    return readConfig(env, await readSettingsFile(named ?? CONFIG_FILE, named !== undefined));
  } catch (error) {
    throw error instanceof SettingsError ? new StartError(error.message, error) : error;
  }
}

/** The settings of an environment, over those of a file. Throws a StartError that names the first wrong one. */
export function readConfig(env: Environment, file: SettingsFile | null = null): Config {
  refuseMisspelt(env);
  const inFile = file ? valuesOf(file) : new Map<string, string>();
  const read = <V extends Variable>(name: V): z.output<(typeof variables)[V]> => {
    const schema: z.ZodType = variables[name];
    // An empty variable is an unset one: that is how a unit file or a compose file clears a default.
    const fromEnv = env[name] === '' ? undefined : env[name];
    const text = fromEnv ?? inFile.get(name);
    const result = schema.safeParse(text);
    if (result.success) return result.data as z.output<(typeof variables)[V]>;
    const { need, secret } = (schema.meta() ?? {}) as { need?: string; secret?: boolean };
    const is = secret ? '' : ` (it is ${JSON.stringify(String(text).slice(0, 60))})`;
    // A part of a list is named by its place in it.
    const [issue] = result.error.issues;
    const within = issue?.path ?? [];
    const must = within.length > 0 ? issue?.message : `must be ${need ?? 'something else'}${is}`;
    if (fromEnv !== undefined || !file) throw new StartError(`${[name, ...within].join('.')} ${must}`);
    const path = [...((FILE_KEYS as Partial<Record<Variable, readonly string[]>>)[name] ?? []), ...within];
    throw file.wrong(path, `${path.join('.')} ${must}`);
  };
  const certFile = read('ROLLCALL_TLS_CERT');
  const keyFile = read('ROLLCALL_TLS_KEY');
  if ((certFile === undefined) !== (keyFile === undefined))
    throw new StartError('ROLLCALL_TLS_CERT and ROLLCALL_TLS_KEY go together: set both or none');
  const names = read('ROLLCALL_TLS_NAMES');
  const own = read('ROLLCALL_TLS_OWN') ? { kind: 'own' as const, names } : undefined;
  const given = certFile !== undefined && keyFile !== undefined;
  const tls = given ? { kind: 'files' as const, certFile, keyFile } : own;
  const [write, query] = [secret(read('ROLLCALL_METRICS_WRITE')), secret(read('ROLLCALL_METRICS_QUERY'))];
  if ((write === undefined) !== (query === undefined))
    throw new StartError('ROLLCALL_METRICS_WRITE and ROLLCALL_METRICS_QUERY go together: set both or none');
  const metrics = write && query ? { write, query } : undefined;
  const metricDays: MetricDays = {
    samples: read('ROLLCALL_METRIC_DAYS_SAMPLES'),
    fiveMinutes: read('ROLLCALL_METRIC_DAYS_5M'),
    hours: read('ROLLCALL_METRIC_DAYS_1H'),
  };
  if (metricDays.samples > metricDays.fiveMinutes || metricDays.fiveMinutes > metricDays.hours)
    throw new StartError(
      `metricDays: samples ${metricDays.samples}, fiveMinutes ${metricDays.fiveMinutes} and hours ${metricDays.hours} must not fall: ` +
        'what is finer is kept no longer than what is coarser',
    );
  // Passwords and tokens must not cross a network in the clear by default: without TLS only this machine reaches us.
  const host = read('HOST') ?? (tls ? '::' : '127.0.0.1');
  const trustedProxies = read('ROLLCALL_TRUSTED_PROXIES');
  if (!tls && !isOwnHost(host) && trustedProxies.length === 0)
    throw new StartError(
      `HOST ${host} without TLS would send passwords and tokens over the network in the clear: set ROLLCALL_TLS_OWN=true ` +
        'or ROLLCALL_TLS_CERT and ROLLCALL_TLS_KEY, or name the reverse proxy in ROLLCALL_TRUSTED_PROXIES',
    );
  return {
    host,
    port: read('PORT'),
    // Under systemd it is the unit's StateDirectory, wherever the service was started from.
    dataFolder: resolve(read('ROLLCALL_DATA') ?? (env.STATE_DIRECTORY || './data')),
    databaseUrl: secret(read('DATABASE_URL')),
    tls,
    trustedProxies,
    corsOrigins: read('ROLLCALL_CORS_ORIGINS'),
    logLevel: read('LOG_LEVEL'),
    ratePerMinute: read('ROLLCALL_RATE_LIMIT'),
    connections: read('ROLLCALL_CONNECTIONS'),
    scanAddresses: read('ROLLCALL_SCAN_ADDRESSES'),
    eventDays: read('ROLLCALL_EVENT_DAYS'),
    keyFile: read('ROLLCALL_KEY_FILE'),
    publicUrl: read('ROLLCALL_PUBLIC_URL'),
    aliveUrl: secret(read('ROLLCALL_ALIVE_URL')),
    metrics,
    metricDays,
    secondFactor: read('ROLLCALL_SECOND_FACTOR'),
    oidc: oidcOf({
      issuer: read('ROLLCALL_OIDC_ISSUER'),
      clientId: read('ROLLCALL_OIDC_CLIENT_ID'),
      clientSecret: secret(read('ROLLCALL_OIDC_CLIENT_SECRET')),
      clientSecretFile: read('ROLLCALL_OIDC_CLIENT_SECRET_FILE'),
      publicUrl: read('ROLLCALL_PUBLIC_URL'),
      scopes: read('ROLLCALL_OIDC_SCOPES'),
      name: read('ROLLCALL_OIDC_NAME'),
      nameClaim: read('ROLLCALL_OIDC_NAME_CLAIM'),
      groupsClaim: read('ROLLCALL_OIDC_GROUPS_CLAIM'),
      createAccounts: read('ROLLCALL_OIDC_CREATE_ACCOUNTS'),
      rules: read('ROLLCALL_OIDC_RULES'),
    }),
    credentialsDirectory: read('CREDENTIALS_DIRECTORY'),
  };
}

/** What differs between two settings: taken over by a running server (`live`), or at its next start. */
export function changesOf(
  before: Config,
  after: Config,
  live: readonly (keyof Config)[],
): { changed: string[]; atNextStart: string[] } {
  const plain = (config: Config, key: keyof Config) => {
    const value = config[key];
    return value instanceof Secret
      ? value.reveal()
      : JSON.stringify(value, (_, part) => (part instanceof Secret ? part.reveal() : part));
  };
  const differ = (Object.keys(after) as (keyof Config)[]).filter(
    (key) => plain(before, key) !== plain(after, key),
  );
  return {
    changed: differ.filter((key) => live.includes(key)),
    atNextStart: differ.filter((key) => !live.includes(key)),
  };
}

/** The file's settings by the variable that would override each. Throws when there is one that does not exist. */
function valuesOf(file: SettingsFile): Map<string, string> {
  const values = new Map<string, string>();
  const visit = (node: Record<string, unknown>, above: string[]) => {
    const known = Object.entries(FILE_KEYS).filter(([, path]) => above.every((part, i) => path[i] === part));
    for (const [key, value] of Object.entries(node)) {
      const path = [...above, key];
      const [variable, whole] = known.find(([, each]) => each[above.length] === key) ?? [];
      if (variable === undefined || whole === undefined) {
        const names = [...new Set(known.map(([, each]) => each[above.length] ?? ''))];
        const meant = closest(key, names);
        const hint = meant === undefined ? `there are: ${names.join(', ')}` : `did you mean ${meant}?`;
        throw file.wrong(path, `there is no setting ${path.join('.')}; ${hint}`);
      }
      if (value === null) continue;
      if (whole.length > path.length) {
        if (typeof value !== 'object' || Array.isArray(value))
          throw file.wrong(path, `${path.join('.')} has settings of its own below it, indented`);
        visit(value as Record<string, unknown>, path);
      } else if (Array.isArray(value))
        values.set(variable, value.every(isScalar) ? value.join(',') : JSON.stringify(value));
      else if (typeof value === 'object') throw file.wrong(path, `${path.join('.')} is one value`);
      else values.set(variable, String(value));
    }
  };
  visit(file.value, []);
  return values;
}

const isScalar = (value: unknown): boolean => typeof value !== 'object' || value === null;

/** Each variable with what it is for, as `--help` shows them. */
export const describeVariables = (): string =>
  Object.entries(variables)
    .map(([name, schema]) => `  ${name.padEnd(34)}${schema.description ?? ''}`)
    .join('\n');

/** A setting with a slip in its name would be ignored without a word. Others with our prefix are the collector's. */
function refuseMisspelt(env: Environment): void {
  const known = [...Object.keys(variables), 'ROLLCALL_CONFIG'];
  for (const name of Object.keys(env)) {
    if (!name.startsWith('ROLLCALL_') || known.includes(name)) continue;
    const meant = closest(name, known);
    if (meant !== undefined) throw new StartError(`there is no setting ${name}; did you mean ${meant}?`);
  }
}

/** Whether only this machine reaches an address. */
export const isOwnHost = (host: string): boolean => host === '::1' || /^127\./.test(host);

function isBlock(text: string): boolean {
  const [address = '', length, ...rest] = text.split('/');
  const family = isIP(address);
  if (family === 0 || rest.length > 0) return false;
  return length === undefined || (/^\d{1,3}$/.test(length) && Number(length) <= (family === 4 ? 32 : 128));
}
