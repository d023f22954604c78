/** The command line. Everything that can go wrong ends in one line on stderr that says what to do. */
import { hostname } from 'node:os';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { describeFindings, isWell } from '@rollcall/host/findings';
import { openServiceManager } from '@rollcall/host/systemd/service-manager';
import { PASSWORD_LEAST, PASSWORD_MOST } from '@rollcall/shared/api/accounts';
import { type Clock, systemClock } from '@rollcall/shared/clock';
import { ROLES, type Role } from '@rollcall/shared/model';
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { audit } from './accounts/audit.ts';
import { addUser, issueToken, listUsers, resetSecondFactor, setPassword } from './accounts/command-line.ts';
import { generatePassword } from './accounts/password.ts';
import { openData, ruleFolders } from './data.ts';
import { examine } from './doctor.ts';
import type { Database } from './platform/db/db.ts';
import { certificateFiles, publishedPin } from './platform/keys/certificate.ts';
import {
  CONFIG_FILE,
  type Config,
  describeVariables,
  type Environment,
  loadConfig,
  StartError,
} from './platform/ops/config.ts';
import { openLog, openServiceLog } from './platform/ops/log.ts';
import { version } from './platform/ops/version.ts';
import { Problem } from './platform/problem.ts';
import { addSafetyCommands } from './program-safety.ts';

export interface Surroundings {
  env: Environment;
  stdin: Readable;
  stdout: (text: string) => void;
  /** Standard output for what is no text. */
  output: Writable;
  stderr: (text: string) => void;
  /** Resolves when the process is asked to end. */
  ended: Promise<unknown>;
  clock?: Clock;
  /** Calls back whenever the process is asked to read its settings again; the answer ends that. */
  onReload?: (reload: () => void) => () => void;
}

const NAME = 'rollcall-server';
/** Done; could not be done; was not asked rightly. */
const EXIT = { ok: 0, failed: 1, usage: 2 } as const;

/** Runs one command. Answers the exit code: 0 done, 1 it could not be done, 2 it was not asked rightly. */
export async function run(args: readonly string[], around: Surroundings): Promise<number> {
  const told = { failed: false };
  try {
    await program(around, told).parseAsync(args, { from: 'user' });
    return told.failed ? EXIT.failed : EXIT.ok;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    if (!(error instanceof StartError || error instanceof Problem)) throw error;
    around.stderr(`${NAME}: ${error.message}\n`);
    return EXIT.failed;
  }
}

function program(around: Surroundings, told: { failed: boolean }): Command {
  const { stdout, stderr } = around;
  const root = new Command(NAME)
    .description('The central server of Rollcall.')
    .version(version)
    .exitOverride()
    .configureOutput({
      writeOut: stdout,
      writeErr: stderr,
      outputError: (text, write) => write(`${NAME}: ${text.replace(/^error: /, '')}`),
    })
    .addHelpText(
      'after',
      `\nSettings: ${CONFIG_FILE} (or $ROLLCALL_CONFIG), and over it the environment:\n${describeVariables()}\n\n${EXITS}`,
    );
  const tools = toolsOf(around);
  addServe(root, tools);
  addSettings(root, tools);
  addMigrate(root, tools);
  addReclassify(root, tools);
  const errors = openLog({ logLevel: 'error' }, { destination: { write: stderr } });
  addSafetyCommands(root, { ...around, ...tools, log: errors });
  addUserCommands(root, tools);
  addTokenCommands(root, tools);
  addJoinTokenCommands(root, tools);
  addDoctor(root, tools, told);
  return root;
}

const EXITS = 'Exit codes: 0 done, 1 could not be done (stderr says why), 2 the command line is wrong.';

interface Flags {
  json?: boolean;
}

type Tools = ReturnType<typeof toolsOf>;

/** What commands share. */
function toolsOf(around: Surroundings) {
  const { env, stdout, stderr, clock = systemClock } = around;
  const config = (): Promise<Config> => loadConfig(env);
  /** Commands speak through their output; only what goes wrong underneath is logged. */
  const quiet = (settings: Config) =>
    openLog(
      { logLevel: settings.logLevel === 'info' ? 'error' : settings.logLevel },
      { destination: { write: stderr } },
    );
  const withDatabase = async <T>(
    work: (db: Database, applied: string[]) => Promise<T>,
    asItIs = false,
  ): Promise<T> => {
    const settings = await config();
    const data = await openData(settings, quiet(settings), asItIs);
    try {
      return await work(data.db, data.applied);
    } finally {
      await data.close();
    }
  };
  /** As JSON if that was asked for, else as people read it. */
  const answer = (json: boolean | undefined, value: unknown, text: string) =>
    stdout(json ? `${JSON.stringify(value)}\n` : `${text}\n`);
  return { around, clock, config, quiet, withDatabase, answer };
}

function addServe(root: Command, { around, clock, config }: Tools): void {
  root
    .command('serve')
    .description('run the server until it is told to stop')
    .action(async () => {
      const { startServer } = await import('./app.ts');
      const settings = await config();
      const manager = await openServiceManager(around.env, clock);
      const log = await openServiceLog(settings, around.env);
      const server = await startServer(settings, { log, clock });
      const unwatch = manager.watch(server.unhealthyReason);
      manager.notify('READY=1', `STATUS=answers at ${server.url}`);
      const unhook = around.onReload?.(() => {
        config().then(
          (changed) => log.info(server.apply(changed), 'settings were read again'),
          (error: Error) => log.error({ reason: error.message }, 'settings were not changed'),
        );
      });
      if (server.firstAdmin) {
        const { name, password } = server.firstAdmin;
        around.stderr(
          `${NAME}: first start: sign in at ${forPeople(settings, server.url)} as ${name} with the password ${password} (shown this once)\n`,
        );
      }
      await around.ended;
      manager.notify('STOPPING=1');
      unhook?.();
      unwatch();
      await server.stop();
    });
}

function addSettings(root: Command, { config, answer }: Tools): void {
  root
    .command('settings')
    .description('check the settings and print those in force; changes nothing')
    .option('--json', 'answer as JSON')
    .action(async ({ json }: Flags) => {
      const settings = await config();
      answer(json, settings, describeSettings(settings));
    });
}

function addMigrate(root: Command, { withDatabase, answer }: Tools): void {
  root
    .command('migrate')
    .description('bring the schema of the database up to date')
    .option('--json', 'answer as JSON')
    .action(({ json }: Flags) =>
      withDatabase(async (_db, applied) => {
        answer(json, { applied }, applied.length ? `applied: ${applied.join(', ')}` : 'nothing to do');
      }),
    );
}

function addReclassify(root: Command, { config, quiet, withDatabase, answer }: Tools): void {
  root
    .command('reclassify')
    .description('apply the rules, as they are now, to everything that is known; needs no scan')
    .option('--json', 'answer as JSON')
    .action(({ json }: Flags) =>
      withDatabase(async (db) => {
        const settings = await config();
        const { openRuleBook } = await import('./ingest/classification/rule-book.ts');
        const rules = openRuleBook({ db, log: quiet(settings), folders: ruleFolders(settings) });
        const result = await rules.reclassifyAll();
        const of = result.described === 1 ? '1 device' : `${result.described} devices`;
        answer(
          json,
          result,
          result.described === 0 ? 'nothing to do' : `${of} described anew, ${result.changed} changed`,
        );
      }),
    );
}

function addDoctor(root: Command, { config, quiet, clock, answer }: Tools, told: { failed: boolean }): void {
  root
    .command('doctor')
    .description('check everything that a start needs, and say the remedy')
    .option('--json', 'answer as JSON')
    .action(async ({ json }: Flags) => {
      const settings = await config();
      const findings = await examine(settings, quiet(settings), clock);
      answer(json, { findings }, describeFindings(findings));
      told.failed = !isWell(findings);
    });
}

function addUserCommands(root: Command, tools: Tools): void {
  const user = root.command('user').description('accounts of people');
  addUserAdd(user, tools);
  addUserList(user, tools);
  addUserPasswd(user, tools);
  addUserReset(user, tools);
}

function addUserAdd(user: Command, { withDatabase, answer, around }: Tools): void {
  user
    .command('add')
    .description('add an account; without --password-stdin a password is made and printed')
    .argument('<name>', 'sign-in name', signInName)
    .addOption(new Option('--role <role>', 'what it may do').choices([...ROLES]).default('viewer'))
    .option('--all-sites', 'it sees every site, future ones too')
    .option('--site <name...>', 'it sees these sites')
    .option('--display-name <text>', 'name for people', '')
    .option('--password-stdin', 'read the password from the first line of standard input')
    .option('--json', 'answer as JSON')
    .action(async (name: string, flags: Flags & NewUserFlags) => {
      const given = flags.passwordStdin ? await passwordFrom(around.stdin) : undefined;
      const password = given ?? generatePassword();
      const { role, displayName, allSites = false, site: sites = [] } = flags;
      const id = await withDatabase((db) =>
        addUser(db, { name, password, displayName, role, allSites, sites }),
      );
      const shown = given === undefined ? { password } : {};
      answer(
        flags.json,
        { id, name, ...shown },
        `added ${name}${given === undefined ? `, password ${password}` : ''}`,
      );
    });
}

function addUserList(user: Command, { withDatabase, answer }: Tools): void {
  user
    .command('list')
    .description('list accounts')
    .option('--json', 'answer as JSON')
    .action(async ({ json }: Flags) => {
      const users = await withDatabase(listUsers);
      const line = (u: (typeof users)[number]) =>
        [
          u.name.padEnd(20),
          u.role.padEnd(9),
          u.allSites ? 'all sites' : u.sites.join(', ') || 'no site',
          u.disabled ? 'disabled' : '',
        ]
          .join(' ')
          .trimEnd();
      answer(json, users, users.map(line).join('\n'));
    });
}

function addUserPasswd(user: Command, { withDatabase, answer, around }: Tools): void {
  user
    .command('passwd')
    .description('give an account a new password and sign it out everywhere')
    .argument('<name>', 'sign-in name', signInName)
    .option('--password-stdin', 'read the password from the first line of standard input')
    .option('--json', 'answer as JSON')
    .action(async (name: string, flags: Flags & { passwordStdin?: boolean }) => {
      const given = flags.passwordStdin ? await passwordFrom(around.stdin) : undefined;
      const password = given ?? generatePassword();
      await withDatabase((db) => setPassword(db, name, password));
      const shown = given === undefined ? { password } : {};
      answer(
        flags.json,
        { name, ...shown },
        `changed ${name}${given === undefined ? `, password ${password}` : ''}`,
      );
    });
}

function addUserReset(user: Command, { withDatabase, answer }: Tools): void {
  user
    .command('reset-second-factor')
    .description('let an account sign in with its password alone, and sign it out everywhere')
    .argument('<name>', 'sign-in name', signInName)
    .option('--json', 'answer as JSON')
    .action(async (name: string, { json }: Flags) => {
      const removed = await withDatabase((db) => resetSecondFactor(db, name));
      answer(json, { name, removed }, removed ? `reset ${name}` : `${name} has no second factor`);
    });
}

interface NewUserFlags {
  role: Role;
  displayName: string;
  allSites?: boolean;
  site?: string[];
  passwordStdin?: boolean;
}

function addTokenCommands(root: Command, { withDatabase, answer, clock }: Tools): void {
  root
    .command('token')
    .description('personal API tokens')
    .command('create')
    .description('make a token of an account; printed this once')
    .requiredOption('--user <name>', 'whose token', signInName)
    .option('--name <text>', 'what it is for', 'command line')
    .option('--days <n>', 'it expires after so many days; never without', days)
    .option('--json', 'answer as JSON')
    .action(async (flags: Flags & { user: string; name: string; days?: number }) => {
      const now = clock.now();
      const expiresAt = flags.days === undefined ? null : Math.floor(now / 1000) + flags.days * 86_400;
      const token = await withDatabase((db) =>
        issueToken(db, { user: flags.user, name: flags.name, expiresAt }, now),
      );
      answer(flags.json, { token, expiresAt }, token);
    });
}

function addJoinTokenCommands(root: Command, { withDatabase, answer, clock, config }: Tools): void {
  root
    .command('join-token')
    .description('tokens that let a collector join')
    .command('create')
    .description('make a token for one collector of a site; works once, for an hour')
    .requiredOption('--site <name>', 'the site it joins')
    .option('--json', 'answer as JSON')
    .action(async ({ json, site }: Flags & { site: string }) => {
      const { createEnrolment } = await import('./gateway/enrolment/enroll.ts');
      const log = openLog({ logLevel: 'silent' });
      const settings = await config();
      const token = await withDatabase(async (db) => {
        const files = await certificateFiles(settings, clock.now());
        const pin = () => publishedPin(settings, files);
        return createEnrolment({ db, clock, log, audit, pin }).tokenFor(site);
      });
      answer(json, { token, site }, token);
    });
}

/** Where people reach the server: of every address of this host the one with its name. */
function forPeople({ publicUrl, host }: Config, url: string): string {
  if (publicUrl !== undefined || !['::', '0.0.0.0'].includes(host)) return publicUrl ?? url;
  const named = new URL(url);
  named.hostname = hostname();
  return named.origin;
}

/** The settings in force, one a line; secrets as ***. */
const describeSettings = (settings: Config): string =>
  Object.entries(settings)
    .map(([name, value]) => `${name.padEnd(22)}${value === undefined ? '-' : JSON.stringify(value)}`)
    .join('\n');

const signInName = (text: string): string => {
  const name = text.trim().toLowerCase();
  if (!/^[a-z0-9][a-z0-9._@-]{0,63}$/.test(name))
    throw new InvalidArgumentError('letters, digits and . _ @ - only, at most 64.');
  return name;
};

const days = (text: string): number => {
  if (!/^[1-9]\d{0,4}$/.test(text)) throw new InvalidArgumentError('a number of days from 1 to 99999.');
  return Number(text);
};

/** A password never stands in the arguments: every process of the machine can read those. */
async function passwordFrom(stdin: Readable): Promise<string> {
  for await (const line of createInterface({ input: stdin })) {
    if (line.length >= PASSWORD_LEAST && line.length <= PASSWORD_MOST) return line;
    break;
  }
  throw new StartError(
    `the password must have ${PASSWORD_LEAST} to ${PASSWORD_MOST} characters, on the first line of standard input`,
  );
}
