/** Settings files: YAML, checked strictly; errors name file and line. */
import { readFileSync, statSync } from 'node:fs';

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
  const { readYaml } = await import('./settings-yaml.ts');
  const { value, problem, lineOf } = readYaml(text);
  const at = (line: number, what: string) => new SettingsError(`${file}:${line}: ${what}`);
  if (problem) throw at(problem.line, problem.message);
  const settings = value ?? {};
  if (typeof settings !== 'object' || Array.isArray(settings))
    throw at(1, 'settings are lines of "name: value"');
  return {
    value: settings as Record<string, unknown>,
    wrong: (path, what) => at(lineOf(path), what),
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
