/**
 * What a process did to one file, as strace saw it, and what of that a power cut leaves: what was synced before, and of
 * the rest any part, in any order (POSIX fdatasync; open's O_DSYNC).
 */
import { readFileSync } from 'node:fs';

/** Options of strace that give what `traceOf` reads; the command follows them. */
export const straceTo = (log: string): string[] => [
  'strace',
  ...['-f', '-qq', '-y', '-xx', '-s', '1048576', '-o', log],
  ...['-e', 'trace=openat,lseek,write,writev,pwrite64,pwritev,fdatasync,fsync'],
];

interface Span {
  begun: number;
  /** Infinity: the process died in it. */
  done: number;
}
export interface Write extends Span {
  offset: number;
  octets: Buffer;
  /** Durable by itself: the file was opened with O_DSYNC. */
  synced: boolean;
}
export interface Trace {
  writes: Write[];
  syncs: Span[];
  /** What the process wrote to standard output, in pieces. */
  said: { at: number; text: string }[];
  length: number;
}

/** Reads the log of strace; only what concerns files whose path ends with `name` counts. */
export function traceOf(log: string, name: string): Trace {
  const trace: Trace = { writes: [], syncs: [], said: [], length: 0 };
  const files = { dsync: new Set<string>(), position: new Map<string, number>() };
  const begun = new Map<string, { at: number; text: string }>();
  // Without the last one, which is empty, or torn where the process was killed.
  const lines = readFileSync(log, 'latin1').split('\n').slice(0, -1);
  trace.length = lines.length;
  for (const [at, line] of lines.entries()) {
    const [, pid = '', words = ''] = /^(\d+) +(.*)$/.exec(line) ?? [];
    const cut = words.indexOf(' <unfinished ...>');
    if (cut >= 0) {
      begun.set(pid, { at, text: words.slice(0, cut) });
      continue;
    }
    const resumed = /^<\.\.\. \w+ resumed>/.exec(words);
    const first = resumed ? begun.get(pid) : undefined;
    if (resumed && !first) continue;
    begun.delete(pid);
    take(trace, files, name, {
      text: first ? first.text + words.slice(resumed?.[0].length) : words,
      begun: first?.at ?? at,
      done: at,
    });
  }
  for (const { at, text } of begun.values())
    take(trace, files, name, { text, begun: at, done: Number.POSITIVE_INFINITY });
  return trace;
}

function take(
  trace: Trace,
  { dsync, position }: { dsync: Set<string>; position: Map<string, number> },
  name: string,
  { text, begun, done }: { text: string } & Span,
): void {
  const call = text.slice(0, text.indexOf('('));
  if (call === 'openat') {
    const fd = /= (\d+)<[^>]*$/.exec(text.replace(/>$/, ''))?.[1];
    if (fd && text.includes('O_DSYNC')) dsync.add(fd);
    else if (fd) dsync.delete(fd);
    return;
  }
  const [, fd = '', path = ''] = /^\w+\((\d+)<([^>]*)>/.exec(text) ?? [];
  if (call === 'write' && fd === '1')
    trace.said.push({ at: begun, text: Buffer.concat(stringsOf(text)).toString() });
  if (!unhex(path).endsWith(name) || / = -1 /.test(text)) return;
  if (call === 'fdatasync' || call === 'fsync') trace.syncs.push({ begun, done });
  // LMDB writes several pages at once by lseek and writev, under its lock of writers.
  if (call === 'lseek') position.set(fd, Number(/, (\d+), SEEK_SET\)/.exec(text)?.[1]));
  if (!/^p?writev?(64)?$/.test(call)) return;
  const offset = call.startsWith('p')
    ? Number(/, (\d+)(?:\)(?: += |$)|$)/.exec(text)?.[1])
    : position.get(fd);
  if (offset === undefined || !Number.isSafeInteger(offset))
    throw new Error(`no offset in: ${text.slice(-80)}`);
  trace.writes.push({ begun, done, offset, octets: Buffer.concat(stringsOf(text)), synced: dsync.has(fd) });
}

const unhex = (text: string): string =>
  text.replaceAll(/\\x([0-9a-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
const stringsOf = (text: string): Buffer[] =>
  [...text.matchAll(/"((?:\\x[0-9a-f]{2})*)"(?!\.\.\.)/g)].map(([, hex = '']) =>
    Buffer.from(hex.replaceAll('\\x', ''), 'hex'),
  );

/** The file after a power cut at line `at` of the log, from `base`, its content before. `luck` decides for each write. */
export function afterCut(base: Buffer, trace: Trace, at: number, luck: () => boolean): Buffer {
  const durable = (write: Write) =>
    (write.synced && write.done < at) ||
    trace.syncs.some((sync) => sync.begun >= write.done && sync.done < at);
  const kept = trace.writes.filter((write) => write.begun < at && (durable(write) || luck()));
  const size = Math.max(base.length, ...kept.map(({ offset, octets }) => offset + octets.length));
  const image = Buffer.alloc(size);
  base.copy(image);
  for (const { offset, octets } of kept) octets.copy(image, offset);
  return image;
}
