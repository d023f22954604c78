// Imported first by a program, or loaded into one (`node --import`): it ends when what started it is gone, however that
// came about. Signals are not enough: npm's shell passes none on, and nobody hears of a SIGKILL. A thread of its own
// looks, so that a program that waits for a child (spawnSync) ends as well, with its process group where it leads one.
import { readFileSync } from 'node:fs';
import { isMainThread, Worker, workerData } from 'node:worker_threads';

const LOOK_MS = 250;
/** From SIGTERM to SIGKILL: an orphan, and a demonstration that stops others before itself. */
const GRACE_MS = { leader: 3_000, single: 6_000 };

if (isMainThread) {
  const leads = process.env.ROLLCALL_PARENT !== undefined;
  const parent = Number(process.env.ROLLCALL_PARENT ?? process.ppid);
  // A program that this one starts has another parent.
  delete process.env.ROLLCALL_PARENT;
  const watch = { leads, parent, npm: leads ? undefined : npmBehind(parent) };
  new Worker(new URL(import.meta.url), { execArgv: [], workerData: { watch } }).unref();
} else if (workerData?.watch) {
  const { leads, parent, npm } = workerData.watch;
  const looking = setInterval(() => {
    if (process.ppid === parent && (npm === undefined || parentOf(parent) === npm)) return;
    clearInterval(looking);
    const target = leads ? -process.pid : process.pid;
    process.kill(target, 'SIGTERM');
    setTimeout(() => process.kill(target, 'SIGKILL'), GRACE_MS[leads ? 'leader' : 'single']);
  }, LOOK_MS);
}

/** npm, where its shell stands between: that shell outlives a killed npm. (Shells that hand over to the last command do not stand there.) */
function npmBehind(shell) {
  const { npm_lifecycle_script: script } = process.env;
  const command = script && read(`/proc/${shell}/cmdline`)?.split('\0');
  return command?.[1] === '-c' && command.some((word) => word.startsWith(script))
    ? parentOf(shell)
    : undefined;
}

/** proc_pid_stat(5): the fourth field, where the second is a name in parentheses that may hold any character. */
function parentOf(pid) {
  const stat = read(`/proc/${pid}/stat`);
  return stat && Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
}

function read(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
