/**
 * The outbox's folder at start: is it ours, is it whole, may this version touch it? What cannot be used is moved
 * aside, never deleted, never followed out of the state folder.
 */
import { randomUUID } from 'node:crypto';
import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { replaceFile, syncFolder } from '@rollcall/host/synced-file';
import { STREAMS } from '@rollcall/shared/observation';
import { Refusal } from '../platform/refusal.ts';
import { PendingCommit } from './pending-commit.ts';
import { FORMAT, freshMeta, type Meta, Store } from './store.ts';
import { verify } from './verify.ts';

const DATA = 'data.mdb';
/** Says that the folder is an outbox, and of which format. */
const STAMP = 'FORMAT';
/** Damaged stores kept for people to look at. */
const KEPT = 3;
/** Free space without which no store is opened, bytes. */
const LEAST_FREE = 1024 * 1024;

/** The outbox cannot be used, and starting with another one would be wrong. The message says what to do. */
export class OutboxRefused extends Refusal {
  override name = 'OutboxRefused';
}

export interface OpenedStore {
  store: Store;
  meta: Meta;
  /** Where the old one lies and why, when there was one that could not be used. */
  damage: { movedTo: string; reason: string } | null;
}

/** Opens the store in `folder`, making one where none is, moving a damaged one aside. `now` in Unix ms. */
export async function openStore(folder: string, now: number): Promise<OpenedStore> {
  refuseFullDisk(dirname(folder));
  finishInterrupted(folder);
  const found = await inspect(folder);
  if (found.kind === 'ours') {
    // Before anything is written in it: an earlier version would not count the stream that it does not know.
    if (found.format < FORMAT) replaceFile(join(folder, STAMP), stampOf(FORMAT), 0o600);
    return { ...openOurs(folder), damage: null };
  }
  if (found.kind === 'damaged') return replaceStore(folder, now, found.held, found.reason);
  await make(folder, null);
  renameSync(`${folder}.new`, folder);
  syncFolder(dirname(folder));
  return { ...openOurs(folder), damage: null };
}

type Found =
  | { kind: 'none' }
  | { kind: 'ours'; format: number }
  | { kind: 'damaged'; reason: string; held: Meta | null };

async function inspect(folder: string): Promise<Found> {
  const damaged = (reason: string, held: Meta | null = null): Found => ({ kind: 'damaged', reason, held });
  const itself = lstatSync(folder, { throwIfNoEntry: false });
  if (!itself) return { kind: 'none' };
  if (!itself.isDirectory()) return damaged('is not a folder');
  const stamp = lstatSync(join(folder, STAMP), { throwIfNoEntry: false });
  const data = lstatSync(join(folder, DATA), { throwIfNoEntry: false });
  if (stamp && !stamp.isFile()) return damaged(`${STAMP} is not a plain file`);
  const format = stamp ? formatOf(readFileSync(join(folder, STAMP), 'utf8')) : undefined;
  if (format === null) return damaged(`${STAMP} is not ours`);
  if (format && format > FORMAT) {
    throw new OutboxRefused(
      `the outbox in ${folder} was written by a newer version (format ${format}, this one reads ${FORMAT}): ` +
        'install that version again, or move the folder away to start with an empty one',
    );
  }
  if (format === undefined) return damaged(`${STAMP} is missing`);
  if (!data?.isFile()) return damaged(`${DATA} is not a plain file`);
  const verdict = await verify(folder);
  if (!verdict.readable) return damaged('cannot be read to the end', verdict.meta);
  if (!verdict.meta) return damaged('has no valid meta row');
  const wrong = STREAMS.find((stream) => verdict.meta?.streams[stream].count !== verdict.counts?.[stream]);
  return wrong
    ? damaged(`holds another number of ${wrong} records than it says`, verdict.meta)
    : { kind: 'ours', format };
}

const stampOf = (format: number): string => `rollcall outbox ${format}\n`;
const formatOf = (text: string): number | null => {
  const match = /^rollcall outbox ([1-9]\d{0,8})\n$/.exec(text);
  return match ? Number(match[1]) : null;
};

function openOurs(folder: string): { store: Store; meta: Meta } {
  const store = new Store(folder);
  const meta = store.meta();
  if (!meta) throw new OutboxRefused(`the outbox in ${folder} changed while it was being opened`);
  return { store, meta };
}

/** Moves the store aside and begins a new one that reports the loss; `held` is the old one's meta where it is known. */
export async function replaceStore(
  folder: string,
  now: number,
  held: Meta | null,
  reason: string,
): Promise<OpenedStore> {
  await make(folder, { held, now });
  const movedTo = moveAside(folder, now);
  renameSync(`${folder}.new`, folder);
  syncFolder(dirname(folder));
  return { ...openOurs(folder), damage: { movedTo, reason } };
}

/** Makes a whole new store beside the place it will take, so that no half-made one is ever met. */
async function make(folder: string, loss: { held: Meta | null; now: number } | null): Promise<void> {
  const beside = `${folder}.new`;
  rmSync(beside, { recursive: true, force: true });
  mkdirSync(beside, { recursive: true, mode: 0o700 });
  const store = new Store(beside);
  const pending = new PendingCommit(freshMeta(randomUUID()), loss?.now ?? 0, 0);
  if (loss) recordLoss(pending, loss.held);
  await store.commit(pending);
  await store.close();
  writeFileSync(join(beside, STAMP), stampOf(FORMAT), { mode: 0o600, flush: true });
  syncFolder(beside);
}

/** LMDB maps its files: on a disk without a free page the first touch of a new one ends the process (SIGBUS). */
function refuseFullDisk(parent: string): void {
  const { bavail, bsize } = statfsSync(parent);
  if (bavail * bsize < LEAST_FREE)
    throw new OutboxRefused(`the disk of ${parent} is full: make room, then start again`);
}

/** A crash between the two renames of `replaceStore` leaves the finished new store beside an empty place. */
function finishInterrupted(folder: string): void {
  const absent = !lstatSync(folder, { throwIfNoEntry: false });
  const made = lstatSync(join(`${folder}.new`, STAMP), { throwIfNoEntry: false })?.isFile();
  if (absent && made) renameSync(`${folder}.new`, folder);
}

/** Reports what the damaged outbox held, as far as that is known; at least that there was one. */
function recordLoss(pending: PendingCommit, held: Meta | null): void {
  if (!held) pending.recordLoss('state', 0, 0, 0);
  for (const stream of held ? STREAMS : []) {
    const { acked, last, count } = held?.streams[stream] ?? { acked: -1, last: 0, count: 0 };
    if (count > 0) pending.recordLoss(stream, acked + 1, last, count);
  }
}

function moveAside(folder: string, now: number): string {
  const [parent, name] = [dirname(folder), `${basename(folder)}.damaged-`];
  const kept = readdirSync(parent)
    .filter((entry) => entry.startsWith(name))
    .sort();
  for (const entry of kept.slice(0, Math.max(0, kept.length - (KEPT - 1)))) {
    rmSync(join(parent, entry), { recursive: true, force: true });
  }
  const movedTo = join(parent, `${name}${new Date(now).toISOString().replace(/[-:.]/g, '')}`);
  renameSync(folder, movedTo);
  return movedTo;
}
