/** What each generated client must be able to say and to ask: the same story, told in its own functions. */
declare const process: { env: Record<string, string | undefined>; stdout: { write(text: string): void } };

export const server = process.env.ROLLCALL ?? '';
export const authorization = `Bearer ${process.env.TOKEN}`;
export const site = process.env.SITE ?? '';
export const targets = process.env.TARGETS ?? '';
export const NOBODY = '019aa3c4-5b00-7000-8000-00000000dead';

/** What came of it; the test compares the clients by it. */
export interface Told {
  devices: number;
  /** Of the first of them, asked for by its id. */
  name: string | null;
  scan: string;
  events: number;
  commented: boolean;
  cases: number;
  /** Code of the error for a device that does not exist. */
  missing: string;
}

export const tell = (told: Told): void => process.stdout.write(JSON.stringify(told));

export function must<T>(value: T | null | undefined, what: string): T {
  if (value === null || value === undefined) throw new Error(`no ${what}`);
  return value;
}
