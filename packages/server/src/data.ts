/** The data folder and the database of a configuration: what the server runs on and the commands work on. */
import { accessSync, constants, existsSync, mkdirSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { lockFolder } from '@rollcall/host/lock';
import { type Database, openDatabase, sqlState } from './platform/db/db.ts';
import { MigrationError, migrate } from './platform/db/migrate.ts';
import { type Config, StartError } from './platform/ops/config.ts';
import type { Logger } from './platform/ops/log.ts';
import { Problem } from './platform/problem.ts';

export interface Data {
  db: Database;
  /** Migrations that were applied now. */
  applied: string[];
  close(): Promise<void>;
}

/**
 * Takes the data folder, opens the database and brings its schema up to date, or leaves it `asItIs`. The embedded database belongs to one
 * process; a PostgreSQL may be shared. Throws a StartError whose message is one line that says what to do.
 */
export async function openData(
  { dataFolder, databaseUrl }: Pick<Config, 'dataFolder' | 'databaseUrl'>,
  log: Logger,
  asItIs = false,
): Promise<Data> {
  const release = await takeFolder(dataFolder, databaseUrl === undefined);
  try {
    const source =
      databaseUrl === undefined ? { folder: join(dataFolder, 'database') } : { url: databaseUrl.reveal() };
    const db = await openDatabase(source, log);
    const close = async () => {
      await db.close();
      await release();
    };
    try {
      return { db, applied: asItIs ? [] : await migrate(db), close };
    } catch (error) {
      await close();
      throw error;
    }
  } catch (error) {
    await release();
    throw asStartError(error);
  }
}

/** SQLSTATE classes that say the settings are wrong, not the statement (PostgreSQL, appendix A). */
const REFUSED: Record<string, string> = {
  '28000': 'the database does not let the user of DATABASE_URL in: check its name and pg_hba.conf',
  '28P01': 'the database refuses the password of DATABASE_URL',
  '3D000': 'the database that DATABASE_URL names does not exist: create it, or name another',
  '42501': 'the user of DATABASE_URL may not make tables: grant CREATE on the database and its schema',
};

export function asStartError(error: unknown): unknown {
  if (error instanceof MigrationError) return new StartError(error.message, error);
  const refusal = REFUSED[sqlState(error) ?? ''];
  if (refusal !== undefined) return new StartError(refusal, error);
  if (error instanceof Problem && error.code === 'unavailable')
    return new StartError(
      'the database of DATABASE_URL cannot be reached: check the address and the port, and that it runs',
      error,
    );
  return error;
}

/** Makes the data folder, and locks it where this process alone may use it. */
export async function takeFolder(folder: string, alone: boolean): Promise<() => Promise<void>> {
  try {
    makeFolder(folder);
    if (!alone) return async () => undefined;
    const lock = await lockFolder(realpathSync(folder), 'server');
    if (lock.ok) return once(lock.release);
    throw new StartError(
      `the data folder ${folder} is in use by ${lock.heldBy}: stop it, or set ROLLCALL_DATA to another`,
    );
  } catch (error) {
    if (error instanceof StartError) throw error;
    const code = (error as NodeJS.ErrnoException).code ?? String(error);
    throw new StartError(
      `cannot use the data folder ${folder} (${code}): set ROLLCALL_DATA to one that this user may write`,
      error,
    );
  }
}

/** One level at a time: Node's own recursive way never ends where the kernel answers ENOENT, as under /proc. */
function makeFolder(folder: string): void {
  if (existsSync(folder)) {
    // Through `.`, so that a file of that name is refused as what it is.
    accessSync(join(folder, '.'), constants.W_OK);
    return;
  }
  const above = dirname(folder);
  if (above !== folder && !existsSync(above)) makeFolder(above);
  mkdirSync(folder, { mode: 0o700 });
}

const once = (work: () => Promise<void>): (() => Promise<void>) => {
  let done: Promise<void> | undefined;
  return () => {
    done ??= work();
    return done;
  };
};

/** Device knowledge of the product: beside the packages in a checkout, beside the bundle in an installation. */
const RULES = fileURLToPath(new URL('../../../rules/', import.meta.url));

/** The registry of makers of hardware addresses. */
export const MAKERS = join(RULES, 'catalogue/makers.txt');

/** Folders of rules; an operator's own, `rules` in the data folder, come before the product's. */
export function ruleFolders({ dataFolder }: Pick<Config, 'dataFolder'>): string[] {
  const own = join(dataFolder, 'rules');
  return existsSync(own) ? [own, RULES] : [RULES];
}
