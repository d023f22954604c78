import { Resolver } from 'node:dns/promises';
import pLimit from 'p-limit';

const AT_ONCE = 64;
/** How long a name server may take to answer. */
const TIMEOUT_MS = 1000;
const HOSTNAME = /^[A-Za-z0-9_]([A-Za-z0-9_.-]{0,253}[A-Za-z0-9_])?$/;

/** Reverse DNS by the host's resolvers: the name of an address, or undefined when there is none in time. */
export function reverseDns(): (address: string) => Promise<string | undefined> {
  const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: 1 });
  const limit = pLimit(AT_ONCE);
  return (address) =>
    limit(async () => {
      const names = await resolver.reverse(address).catch((): string[] => []);
      return names.find((name) => HOSTNAME.test(name));
    });
}
