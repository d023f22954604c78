/** Settings files: YAML, checked strictly; what is wrong is told with file and line. */
import { readFileSync, statSync } from 'node:fs';
import type { Document, LineCounter } from 'yaml';

/** What is wrong with a file. `message` begins with file and line: `/etc/rollcall/server.yaml:7: …`. */
export class SettingsError extends Error {
  override name = 'SettingsError';
}

export interface SettingsFile {
  /** The file as plain data; an empty file is an empty object. */
  value: Record<string, unknown>;
  /** An error that names the line where `path` stands, or the nearest above it. */
  wrong(path: readonly PropertyKey[], what: string): SettingsError;
}

/** Reads a file; null when it is not there and need not be. Throws a SettingsError. */
export async function readSettingsFile(file: string, needed: boolean): Promise<SettingsFile | null> {
  const text = readText(file, needed);
  if (text === null) return null;
  // Loaded only where there is a file: a sweep from the command line starts sooner.
  const { isMap, LineCounter, parseDocument } = await import('yaml');
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const at = (line: number, what: string) => new SettingsError(`${file}:${line}: ${what}`);
  const [syntax] = document.errors;
  if (syntax) throw at(lines.linePos(syntax.pos[0]).line, syntax.message);
  const value: unknown = document.toJS() ?? {};
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw at(1, 'settings are lines of "name: value"');
  return {
    value: value as Record<string, unknown>,
    wrong: (path, what) => at(lineOf(document, path, lines, isMap), what),
  };
}

function readText(file: string, needed: boolean): string | null {
  let text: string;
  let mode: number;
  try {
    text = readFileSync(file, 'utf8');
    mode = statSync(file).mode & 0o777;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (!needed && code === 'ENOENT') return null;
    throw new SettingsError(`cannot read the settings ${file}: ${REASONS[code ?? ''] ?? code}`);
  }
  if (mode & 0o002)
    throw new SettingsError(
      `${file} can be written by anyone (mode ${mode.toString(8)}): "chmod o-w ${file}"`,
    );
  return text;
}

const REASONS: Record<string, string> = {
  EACCES: 'permission denied (EACCES)',
  ENOENT: 'there is no such file or folder (ENOENT)',
  EISDIR: 'it is a folder (EISDIR)',
};

function lineOf(
  document: Document.Parsed,
  path: readonly PropertyKey[],
  lines: LineCounter,
  isMap: typeof import('yaml')['isMap'],
): number {
  for (let length = path.length; length > 0; length -= 1) {
    const parent: unknown =
      length === 1 ? document.contents : document.getIn(path.slice(0, length - 1), true);
    const key = path[length - 1];
    const pair = isMap(parent) && parent.items.find((item) => String(item.key) === String(key));
    const node = pair ? pair.key : document.getIn(path.slice(0, length), true);
    const range = (node as { range?: [number, number, number] | null } | null | undefined)?.range;
    if (range) return lines.linePos(range[0]).line;
  }
  return 1;
}
