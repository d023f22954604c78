/**
 * Settings of a collector: the file of the site's administrator, then the environment. Strict: what is not understood is
 * refused, with the line. What stands here wins over whatever the server asks for.
 */
import { isIP } from 'node:net';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { readSettingsFile, SettingsError } from '@rollcall/host/settings-file';
import { parseAddress, parseCidr, Range } from '@rollcall/shared/ip';
import { z } from 'zod';
import { ENGINES } from './engines.ts';
import { Refusal } from './refusal.ts';

export const CONFIG_FILE = '/etc/rollcall/collector.yaml';
const MIB = 1024 * 1024;
const DAY_MS = 86_400_000;

export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

const blocks = z
  .array(
    z.string().transform((text, context): Range => {
      const parsed = text.includes('/') ? parseCidr(text) : parseAddress(text);
      if (parsed.ok) return 'range' in parsed.value ? parsed.value.range : Range.single(parsed.value);
      context.addIssue({ code: 'custom', message: `"${text.slice(0, 60)}": ${parsed.reason}` });
      return z.NEVER;
    }),
  )
  .max(10_000);

/** The file, key by key: meaning, unit, default. @setting collector */
export const settings = z.strictObject({
  /** Folder of identity and outbox. Default: $STATE_DIRECTORY, as root /var/lib/rollcall-collector, else below ~. */
  state: z.string().min(1).optional(),
  /** Least level of log lines. */
  log: z.enum(LOG_LEVELS).default('info'),
  /** Only these blocks are ever swept, whatever the server asks. Default: every block but special ones. */
  allow: blocks.optional(),
  /** These never. */
  deny: blocks.default([]),
  /** Packets per second of all jobs together, at most. */
  rate: z.int().min(1).max(1_000_000).optional(),
  /** Packets per second into one /24 (IPv6: /64), at most. */
  ratePerNet: z.int().min(1).max(1_000_000).optional(),
  /** Jobs worked on at once. */
  jobs: z.int().min(1).max(64).default(4),
  /** Ways to send ICMP that may be used, of datagram, raw, ping. */
  engines: z
    .array(z.enum(ENGINES))
    .min(1)
    .default([...ENGINES]),
  /** SNMP traps and informs that devices send here. */
  traps: z
    .strictObject({
      /** UDP port; below 1024 it needs CAP_NET_BIND_SERVICE. 0: none are received. */
      port: z.int().min(0).max(65_535).default(162),
      /** Traps of one source per second, at most; ten seconds' worth at once. */
      perSecond: z.number().min(0.1).max(1000).default(5),
    })
    .prefault({}),
  /** Figures of this collector for Prometheus, without encryption or sign-in. */
  metrics: z
    .strictObject({
      /** TCP port of /metrics. 0: none are served. */
      port: z.int().min(0).max(65_535).default(0),
      /** Address to serve them on. */
      host: z
        .string()
        .refine((text) => isIP(text) !== 0, 'must be an IPv4 or IPv6 address')
        .default('127.0.0.1'),
    })
    .prefault({}),
  outbox: z
    .strictObject({
      /** Most observations kept, MiB. */
      megabytes: z.int().min(16).max(1_048_576).default(1024),
      /** Longest an observation is kept, days of running time. */
      days: z.number().min(0.01).max(3650).default(30),
      /** Collecting pauses while less than this is free on the disk, MiB. */
      freeMegabytes: z.int().min(0).max(1_048_576).default(256),
    })
    .prefault({}),
});
export type Settings = z.infer<typeof settings>;

/** Environment variable → where it stands in the settings; lists are separated by commas. */
const VARIABLES: Record<string, { path: [string, ...string[]]; kind: 'text' | 'number' | 'list' }> = {
  ROLLCALL_COLLECTOR_STATE: { path: ['state'], kind: 'text' },
  ROLLCALL_COLLECTOR_ALLOW: { path: ['allow'], kind: 'list' },
  ROLLCALL_COLLECTOR_DENY: { path: ['deny'], kind: 'list' },
  ROLLCALL_COLLECTOR_RATE: { path: ['rate'], kind: 'number' },
  ROLLCALL_COLLECTOR_RATE_PER_NET: { path: ['ratePerNet'], kind: 'number' },
  ROLLCALL_COLLECTOR_JOBS: { path: ['jobs'], kind: 'number' },
  ROLLCALL_COLLECTOR_ENGINES: { path: ['engines'], kind: 'list' },
  ROLLCALL_COLLECTOR_TRAPS_PORT: { path: ['traps', 'port'], kind: 'number' },
  ROLLCALL_COLLECTOR_TRAPS_PER_SECOND: { path: ['traps', 'perSecond'], kind: 'number' },
  ROLLCALL_COLLECTOR_METRICS_PORT: { path: ['metrics', 'port'], kind: 'number' },
  ROLLCALL_COLLECTOR_METRICS_HOST: { path: ['metrics', 'host'], kind: 'text' },
  ROLLCALL_COLLECTOR_OUTBOX_MEGABYTES: { path: ['outbox', 'megabytes'], kind: 'number' },
  ROLLCALL_COLLECTOR_OUTBOX_DAYS: { path: ['outbox', 'days'], kind: 'number' },
  ROLLCALL_COLLECTOR_OUTBOX_FREE_MEGABYTES: { path: ['outbox', 'freeMegabytes'], kind: 'number' },
  LOG_LEVEL: { path: ['log'], kind: 'text' },
};

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads the settings: `file` (or $ROLLCALL_COLLECTOR_CONFIG, or /etc/rollcall/collector.yaml where it is there), then
 * the environment over it. Throws a Refusal that names file and line, or the variable.
 */
export async function readConfig(env: Environment, file?: string): Promise<Settings> {
  const named = file ?? env.ROLLCALL_COLLECTOR_CONFIG;
  const from = await fileSettings(named ?? CONFIG_FILE, named !== undefined);
  const merged = structuredClone(from) as Record<string, unknown>;
  for (const [variable, { path, kind }] of Object.entries(VARIABLES)) {
    const value = env[variable];
    if (value === undefined || value === '') continue;
    put(merged, path, parseValue(value, kind));
    const checked = settings.safeParse(nested(path, parseValue(value, kind)));
    if (!checked.success) throw new Refusal(`${variable}=${value}: ${wordsOf(checked.error)}`);
  }
  return settings.parse(merged);
}

/** The file as it stands, checked as a whole; the first error is reported with its line. */
async function fileSettings(path: string, needed: boolean): Promise<Record<string, unknown>> {
  try {
    const file = await readSettingsFile(path, needed);
    if (!file) return {};
    const checked = settings.safeParse(file.value);
    if (checked.success) return file.value;
    const [issue] = checked.error.issues;
    const where =
      issue?.code === 'unrecognized_keys' ? [...issue.path, issue.keys[0] ?? ''] : (issue?.path ?? []);
    throw file.wrong(where, wordsOf(checked.error));
  } catch (error) {
    throw error instanceof SettingsError ? new Refusal(error.message) : error;
  }
}

function wordsOf(error: z.ZodError): string {
  const [issue] = error.issues;
  if (issue?.code === 'unrecognized_keys') {
    const { outbox, traps, metrics } = settings.shape;
    const inner = { outbox, traps, metrics }[String(issue.path[0])];
    const known = Object.keys(inner ? inner.unwrap().shape : settings.shape);
    return `there is no setting "${issue.keys[0]}" here; there are: ${known.join(', ')}`;
  }
  const path = issue?.path.filter((part) => typeof part === 'string').join('.');
  return path ? `${path}: ${issue?.message}` : (issue?.message ?? 'not settings');
}

const parseValue = (text: string, kind: 'text' | 'number' | 'list'): unknown => {
  if (kind === 'list') return text.split(',').map((part) => part.trim());
  return kind === 'number' && /^\d+(\.\d+)?$/.test(text) ? Number(text) : text;
};

const nested = (path: readonly string[], value: unknown): unknown =>
  path.reduceRight<unknown>((inner, key) => ({ [key]: inner }), value);

function put(target: Record<string, unknown>, [key, ...rest]: [string, ...string[]], value: unknown): void {
  const [next, ...others] = rest;
  if (next === undefined) target[key] = value;
  else {
    const inner = { ...(target[key] as Record<string, unknown> | undefined) };
    put(inner, [next, ...others], value);
    target[key] = inner;
  }
}

/** The state folder: as given, set, or where a service (or a person) keeps such things. Absolute. */
export function stateFolder(config: Settings, env: Environment, given?: string, home = homedir): string {
  const service = env.STATE_DIRECTORY?.split(':')[0];
  return resolve(given ?? config.state ?? (service || usualFolder(env, home)));
}

function usualFolder(env: Environment, home: () => string): string {
  if (process.geteuid?.() === 0) return '/var/lib/rollcall-collector';
  try {
    return join(env.XDG_STATE_HOME ?? join(home(), '.local', 'state'), 'rollcall-collector');
  } catch {
    // A user of a container may be a number that no list of users has.
    throw new Refusal('this user has no home folder; say where the state is: --state FOLDER');
  }
}

/** The bounds of the outbox, in its own units. */
export const outboxSettings = ({ outbox }: Settings) => ({
  bytes: outbox.megabytes * MIB,
  ageMs: outbox.days * DAY_MS,
  minFreeBytes: outbox.freeMegabytes * MIB,
});
