import { readFileSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';

export type FolderLock = { ok: true; release(): Promise<void> } | { ok: false; heldBy: string };

/**
 * Exclusive use of a data folder for the life of this process.
 *
 * The lock is an abstract Unix socket (unix(7)) named after the folder's device and inode: the kernel grants it to one
 * process and drops it with the process, also on kill -9, so a stale lock cannot exist. `NAME.pid` inside the folder
 * only serves the message. Two containers with separate network namespaces do not see each other's lock.
 */
export async function lockFolder(folder: string, name: string): Promise<FolderLock> {
  const { dev, ino } = statSync(realpathSync(folder));
  const pidFile = join(folder, `${name}.pid`);
  const server = createServer((socket) => socket.destroy());
  const granted = await listen(server, `\0rollcall-${name}-${dev}-${ino}`);
  if (!granted) return { ok: false, heldBy: readHolder(pidFile) };
  server.unref();
  writeFileSync(pidFile, `${process.pid}\n`);
  return {
    ok: true,
    release: () =>
      new Promise((resolve) => {
        rmSync(pidFile, { force: true });
        server.close(() => resolve());
      }),
  };
}

function listen(server: Server, path: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' ? resolve(false) : reject(error),
    );
    server.listen(path, () => resolve(true));
  });
}

function readHolder(pidFile: string): string {
  try {
    return `process ${readFileSync(pidFile, 'utf8').trim()}`;
  } catch {
    return 'another process';
  }
}
