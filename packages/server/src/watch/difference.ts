/** From what a collector was told to what it should watch now, as the fewest messages. Pure. */
import {
  type ServerMessage,
  WATCH_TARGETS,
  type WatchTarget,
  type WireCredential,
} from '@rollcall/shared/protocol';

export type WatchMessage = Extract<ServerMessage, { type: 'watch' }>;

/** Everything one collector is to know. */
export interface Wanted {
  targets: readonly WatchTarget[];
  credentials: readonly WireCredential[];
  intervals: WatchMessage['intervals'];
  port: number;
}

/** What was told on one connection: short marks, no secret. */
export interface Told {
  revision: number;
  /** Device → addresses and credential. */
  targets: ReadonlyMap<string, string>;
  /** Credential → digest of its content. */
  credentials: ReadonlyMap<string, string>;
  settings: string;
}

/** Credentials of one message; a site that uses more gets them in several. */
const CREDENTIALS = 256;

/** @param digest of a credential's content: what differs is told again. */
export function differenceOf(
  told: Told | null,
  wanted: Wanted,
  digest: (credential: WireCredential) => string,
): { told: Told; messages: WatchMessage[] } {
  const targets = new Map(wanted.targets.map((target) => [target.deviceId, markOf(target)]));
  const credentials = new Map(wanted.credentials.map((each) => [each.id, digest(each)]));
  const settings = JSON.stringify([wanted.intervals, wanted.port]);
  const set = wanted.targets.filter(({ deviceId }) => told?.targets.get(deviceId) !== targets.get(deviceId));
  const remove = [...(told?.targets.keys() ?? [])].filter((id) => !targets.has(id));
  const secrets = wanted.credentials.filter(({ id }) => told?.credentials.get(id) !== credentials.get(id));
  const changed = set.length + remove.length + secrets.length > 0 || settings !== told?.settings;
  const count = changed
    ? Math.max(
        1,
        Math.ceil(set.length / WATCH_TARGETS),
        Math.ceil(remove.length / WATCH_TARGETS),
        Math.ceil(secrets.length / CREDENTIALS),
      )
    : 0;
  const first = (told?.revision ?? 0) + 1;
  const messages = Array.from({ length: count }, (_, i): WatchMessage => {
    const part = <T>(all: readonly T[], size: number) => all.slice(i * size, (i + 1) * size);
    return {
      type: 'watch',
      revision: first + i,
      full: told === null && i === 0,
      ...(i < count - 1 ? { more: true } : {}),
      set: part(set, WATCH_TARGETS),
      remove: part(remove, WATCH_TARGETS),
      credentials: part(secrets, CREDENTIALS),
      intervals: wanted.intervals,
      port: wanted.port,
    };
  });
  return { told: { revision: first + count - 1, targets, credentials, settings }, messages };
}

const markOf = ({ address, credentialId, elsewhere, tables }: WatchTarget): string =>
  JSON.stringify([address, credentialId, elsewhere, tables]);
