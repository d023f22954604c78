/** Files that are on the disk when the call returns, and whole whenever the host stops. */
import { closeSync, fsyncSync, linkSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';

/** Writes a file anew; one that is there goes first. */
export function writeNew(file: string, text: string, mode: number): void {
  rmSync(file, { force: true });
  const handle = openSync(file, 'wx', mode);
  try {
    writeSync(handle, text);
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

/** Writes a file in place of the one before: after a crash the old or the new one is there. */
export function replaceFile(file: string, text: string, mode: number, draft = `${file}.new`): void {
  writeNew(draft, text, mode);
  renameSync(draft, file);
  syncFolder(dirname(file));
}

/** Writes a file unless it is there: of two processes that start at once one makes it, both go on with it. */
export function makeOnce(file: string, text: string, mode: number): void {
  const draft = ownDraft(file);
  writeNew(draft, text, mode);
  try {
    linkSync(draft, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(draft);
  }
  syncFolder(dirname(file));
}

export function syncFolder(path: string): void {
  const folder = openSync(path, 'r');
  fsyncSync(folder);
  closeSync(folder);
}

/** A name that no other process writes to. */
export const ownDraft = (file: string): string => `${file}.${process.pid}.new`;
