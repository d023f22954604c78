/** `backup`, `restore` and `rotate-key` of the command line: what one does to keep data safe. */
import { createReadStream, existsSync, renameSync, rmSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import type { Clock } from '@rollcall/shared/clock';
import type { Command } from 'commander';
import type { Logger } from 'pino';
import { answersLive } from './doctor.ts';
import { backup, restore, type Told, withoutServers } from './platform/db/backup.ts';
import type { Database } from './platform/db/db.ts';
import { rotate } from './platform/keys/reseal.ts';
import { type Config, StartError } from './platform/ops/config.ts';

export interface SafetyTools {
  /** With the schema as it is when `asItIs`, else brought up to date first. */
  withDatabase: <T>(work: (db: Database) => Promise<T>, asItIs: true) => Promise<T>;
  config: () => Promise<Config>;
  clock: Clock;
  log: Logger;
  stdin: Readable;
  output: Writable;
  stderr: (text: string) => void;
}

export function addSafetyCommands(root: Command, tools: SafetyTools): void {
  const { withDatabase, config, clock, log, stdin, output, stderr } = tools;
  root
    .command('backup')
    .description('write the whole database to a file, or to standard output; PostgreSQL goes on meanwhile')
    .argument('[file]', 'without it: standard output')
    .addHelpText(
      'after',
      '\nThe key of the SNMP credentials is not in it: keep /etc/rollcall and the folder tls of the data folder besides.',
    )
    .action(async (file: string | undefined) => {
      if (file === undefined && (output as { isTTY?: boolean }).isTTY)
        throw new StartError('a backup is no text: name a file, or send it on with > or |');
      const told = await withDatabase(
        (db) => (file === undefined ? backup(db, output, clock.now()) : toFile(db, file, clock.now())),
        true,
      );
      stderr(`rollcall-server: ${summary(told)}${file === undefined ? '' : ` in ${file}`}\n`);
    });
  root
    .command('restore')
    .description('fill the database from a backup, of PostgreSQL or embedded; the server must not run')
    .argument('[file]', 'without it: standard input')
    .option('--replace', 'throw away what the database holds')
    .action(async (file: string | undefined, { replace = false }: { replace?: boolean }) => {
      await refuseWhileItRuns(await config());
      if (file !== undefined && !existsSync(file)) throw new StartError(`there is no file ${file}`);
      const from = file === undefined ? stdin : createReadStream(file);
      const told = await withDatabase((db) => restore(db, from, { replace }), true);
      const made = new Date(told.at * 1000).toISOString();
      stderr(`rollcall-server: ${summary(told)}, of version ${told.version}, made ${made}\n`);
    });
  root
    .command('rotate-key')
    .description('change the key that seals SNMP credentials and other secrets; the server must not run')
    .option(
      '--file <file>',
      `key file; default: keyFile of the settings, ${SERVICE_KEYS}, or of the data folder`,
    )
    .addHelpText('after', '\nStopped half-way nothing is lost: run it again, or start the server.')
    .action(async ({ file }: { file?: string }) => {
      const settings = await config();
      await refuseWhileItRuns(settings);
      const known = [SERVICE_KEYS, join(settings.dataFolder, 'credential.keys')].find(existsSync);
      const keys = file ?? settings.keyFile ?? known;
      if (keys === undefined || !existsSync(keys))
        throw new StartError(`there is no key file ${keys ?? SERVICE_KEYS}: name it with --file`);
      const { resealed, left } = await asService(settings, () =>
        withDatabase(
          (db) =>
            withoutServers(db, () =>
              asWhoCalled(() => rotate(keys, (work) => asService(settings, () => work(db)), log)),
            ),
          true,
        ),
      );
      if (left > 0)
        throw new StartError(
          `${left} secrets cannot be opened (see above): the old key stays in ${keys}; delete what they belong to, or enter it anew, and run this again`,
        );
      stderr(`rollcall-server: ${resealed} secrets are sealed with a new key, the only one in ${keys} now\n`);
    });
}

/** Where the package keeps the keys; the service gets them from systemd. */
const SERVICE_KEYS = '/etc/rollcall/credential.keys';

async function refuseWhileItRuns({ host, port, tls }: Config): Promise<void> {
  if (port !== 0 && (await answersLive(host, port, tls !== undefined)))
    throw new StartError('the server runs: stop it first (systemctl stop rollcall-server)');
}

/** As root the database is the service's: it knows the user by the name, and its files belong to that user. */
async function asService<T>({ dataFolder }: Config, work: () => Promise<T>): Promise<T> {
  if (process.geteuid?.() !== 0) return work();
  const { uid, gid } = statSync(dataFolder);
  return as({ uid, gid }, work);
}

/** Within `asService`, as the user whose command it is: the key file is theirs. */
const asWhoCalled = <T>(work: () => Promise<T>): Promise<T> =>
  as({ uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 }, work);

/** Changes of the effective user are for root alone, so the group changes while it is. */
async function as<T>({ uid, gid }: { uid: number; gid: number }, work: () => Promise<T>): Promise<T> {
  const before = { uid: process.geteuid?.() ?? 0, gid: process.getegid?.() ?? 0 };
  if (before.uid === uid) return work();
  const become = (who: { uid: number; gid: number }) => {
    process.seteuid?.(0);
    process.setegid?.(who.gid);
    process.seteuid?.(who.uid);
  };
  become({ uid, gid });
  try {
    return await work();
  } finally {
    become(before);
  }
}

const summary = ({ tables, rows }: Told): string => `${rows} rows of ${tables} tables`;

/** For the owner alone, whole or not at all, and on the disk when it is said to be. */
async function toFile(db: Database, file: string, now: number): Promise<Told> {
  const draft = `${file}.new`;
  const handle = await open(draft, 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
    throw new StartError(`cannot write ${draft} (${error.code}): name another file`, error);
  });
  try {
    const told = await backup(db, handle.createWriteStream({ flush: true }), now);
    renameSync(draft, file);
    return told;
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}
