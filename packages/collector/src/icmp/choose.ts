import { endianness } from 'node:os';
import { type Libc, loadLibc } from '@rollcall/host/libc';
import type { AddressSpace } from '@rollcall/shared/address-space';
import type { Family } from '@rollcall/shared/ip';
import { ENGINES, type EngineName } from '../platform/engines.ts';
import { BothFamilies } from './both-families.ts';
import {
  type Echo,
  type EchoEvents,
  type EchoOptions,
  EchoRefused,
  type OpenEcho,
  type Refusal,
} from './echo.ts';
import { refusalOf } from './refusal.ts';

/** What this host allows for one family: the engine to use (null: none), and why those before it are not. */
export interface Choice {
  family: Family;
  engine: EngineName | null;
  refusals: Refusal[];
}

export interface Chosen {
  /** IPv4, then IPv6. */
  choices: readonly [Choice, Choice];
  /** Opens the chosen engines for the families in a space; throws `EchoRefused` when one of them has none. */
  open: OpenEcho;
}

type OpenFamily = (family: Family, space: AddressSpace, events: EchoEvents, options?: EchoOptions) => Echo;

/** Loads an engine and tries it once; throws `EchoRefused`. The modules are loaded only when their turn comes. */
const prepare = async (engine: EngineName, family: Family, space: AddressSpace): Promise<OpenFamily> => {
  if (engine === 'ping') {
    const { PingEcho, tryPing } = await import('./ping-echo.ts');
    await tryPing(family);
    return (_family, ...rest) => new PingEcho(...rest);
  }
  const libc = await loadLibc()
    .then(knownLayout)
    .catch((error: unknown) => {
      throw new EchoRefused(
        refusalOf(engine, family, 'ENOSYS', error instanceof Error ? error.message : String(error)),
      );
    });
  const { SocketEcho } = await import('./socket/socket-echo.ts');
  new SocketEcho({ libc, kind: engine, family }, space, DEAF).close();
  return (of, ...rest) => new SocketEcho({ libc, kind: engine, family: of }, ...rest);
};

/** `messages.ts` lays out messages in memory as 64-bit little-endian Linux does. */
const knownLayout = (libc: Libc): Libc => {
  if (endianness() === 'LE' && ['x64', 'arm64', 'riscv64'].includes(process.arch)) return libc;
  throw new Error(`message layout not known for ${process.arch}`);
};

const DEAF: EchoEvents = { heard: () => undefined, failed: () => undefined };

/**
 * Finds out which engine this host allows, in order: datagram socket, raw socket, `ping` program. Each refusal is kept
 * with reason and remedy, for `doctor` and the line printed at start. `only` restricts the engines tried.
 */
export const chooseEcho = async (only: readonly EngineName[] = ENGINES): Promise<Chosen> => {
  const { AddressSpace } = await import('@rollcall/shared/address-space');
  const nowhere = new AddressSpace([]);
  const openers = new Map<Family, OpenFamily>();
  const choose = async (family: Family): Promise<Choice> => {
    const refusals: Refusal[] = [];
    for (const engine of ENGINES.filter((name) => only.includes(name))) {
      try {
        openers.set(family, await prepare(engine, family, nowhere));
        return { family, engine, refusals };
      } catch (error) {
        if (!(error instanceof EchoRefused)) throw error;
        refusals.push(error.refusal);
      }
    }
    return { family, engine: null, refusals };
  };
  const choices = await Promise.all([choose(4), choose(6)]);
  const open: OpenEcho = (space, events, options) => {
    const echoes = new Map<Family, Echo>();
    for (const family of new Set(space.ranges.map((range) => range.family))) {
      const opener = openers.get(family);
      const last = choices[family === 4 ? 0 : 1].refusals.at(-1);
      try {
        if (!opener)
          throw new EchoRefused(last ?? refusalOf('ping', family, 'ENOSYS', 'no engine was tried'));
        echoes.set(family, opener(family, space, events, options));
      } catch (error) {
        for (const echo of echoes.values()) echo.close();
        throw error;
      }
    }
    const [first] = echoes.values();
    return echoes.size === 1 && first ? first : new BothFamilies(space, echoes);
  };
  return { choices, open };
};

/** One line for people: which engine answers for which family, and why not a better one. */
export const describeChoice = ({ family, engine, refusals }: Choice): string => {
  const why = refusals.map(({ engine: name, reason, remedy }) => `${name}: ${reason}; ${remedy}`).join(' · ');
  return `ICMP IPv${family}: ${engine ?? 'none'}${why ? ` (${why})` : ''}`;
};
