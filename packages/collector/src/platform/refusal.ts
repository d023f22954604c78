/** What a person did or set cannot work. The message is one line that says what is wrong and what to do. */
export class Refusal extends Error {
  override name = 'Refusal';
}

/** The words of a system error for people: what was not possible, without its stack. */
export function systemReason(error: unknown): string {
  const { code } = (error ?? {}) as { code?: unknown };
  if (typeof code === 'string' && Object.hasOwn(REASONS, code)) return `${REASONS[code]} (${code})`;
  return typeof code === 'string' ? code : error instanceof Error ? error.message : String(error);
}

const REASONS: Record<string, string> = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  ENOENT: 'there is no such file or folder',
  ENOTDIR: 'a part of the path is a file',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the quota of the disk is used up',
  EIO: 'the disk reports an error',
  EADDRINUSE: 'the port is in use',
  EADDRNOTAVAIL: 'this host has no such address',
  ECONNREFUSED: 'nobody listens there',
  ECONNRESET: 'the connection was cut',
  ETIMEDOUT: 'no answer in time',
  EHOSTUNREACH: 'there is no route to that host',
  ENETUNREACH: 'there is no route to that network',
  ENOTFOUND: 'there is no such host name',
  EAI_AGAIN: 'the host name could not be looked up',
};

/** The command line itself is wrong. */
export class Misuse extends Refusal {
  override name = 'Misuse';
}
