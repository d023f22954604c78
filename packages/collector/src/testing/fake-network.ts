/** A network in memory on the far side of the `Echo` seam, and facts of devices on that of the inventory. */
import { EchoRefused, noCounts, type OpenEcho } from '../icmp/echo.ts';
import type { DeviceFact, Subject } from '../walk/inventory.ts';

/** Addresses that answer ICMP, with their round trip in milliseconds. */
export const echoOf =
  (
    alive: ReadonlyMap<string, number> | ((address: string) => number | undefined),
    asked?: string[],
  ): OpenEcho =>
  (space, events) => {
    const rtt = typeof alive === 'function' ? alive : (address: string) => alive.get(address);
    let answers: { index: number; ms: number; attempt: number }[] = [];
    return {
      counts: noCounts(),
      batch: 64,
      send: (indexes, attempts) => {
        for (const [i, index] of indexes.entries()) {
          const address = space.at(index);
          asked?.push(address);
          const ms = rtt(address);
          if (ms !== undefined) answers.push({ index, ms, attempt: attempts[i] ?? 1 });
        }
        return indexes.length;
      },
      receive: () => {
        const now = answers;
        answers = [];
        for (const { index, ms, attempt } of now) events.heard(index, ms, attempt);
        return false;
      },
      close: () => undefined,
    };
  };

export const noEcho: OpenEcho = () => {
  throw new EchoRefused({ engine: 'ping', family: 4, code: 'ENOENT', reason: 'no engine', remedy: 'none' });
};

/** What an agent at an address tells: the addresses that it lists, and a table. */
export const factsOf = (
  { session, system, job, rttMs, now }: Subject,
  listed: readonly string[] = [],
  more: { reason?: string; failed?: Record<string, string> } = {},
): DeviceFact[] => {
  const { address } = session.target;
  const walk = `0192f0c0-0000-7000-8000-${address
    .split('.')
    .map((part) => Number(part).toString(16).padStart(2, '0'))
    .join('')}0000`;
  const base = { ...(job === undefined ? {} : { job }), at: now(), walk, address };
  return [
    {
      kind: 'device',
      ...base,
      ...(rttMs === undefined ? {} : { rttMs }),
      snmpVersion: session.credential.version,
      system: { sysName: system.sysName?.toString() ?? '' },
      addresses: [...listed],
      macs: [],
      chassis: [],
      vendor: {},
      ...(more.failed ? { failed: more.failed } : {}),
    },
    {
      kind: 'rows',
      ...base,
      table: 'interfaces',
      part: 0,
      last: true,
      complete: more.reason === undefined,
      ...(more.reason === undefined ? {} : { reason: more.reason }),
      rows: [{ ifIndex: 1 }],
    },
  ];
};
