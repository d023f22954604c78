/** A network that works and is noisy: packets get lost, routers answer few pings, agents are slow. */
import type { Clock } from '@rollcall/shared/clock';
import type { SnmpEngine } from '@rollcall/snmp/engine/engine';
import type { Answer, AskOptions } from '@rollcall/snmp/engine/exchange';
import { failure } from '@rollcall/snmp/engine/failure';
import type { Query } from '@rollcall/snmp/engine/query';
import type { Value } from '@rollcall/snmp/message/pdu';
import { type Asked, honest } from '@rollcall/snmp/testing/fake-agent';
import type { OpenEcho } from '../icmp/echo.ts';
import { echoOf } from './fake-network.ts';

export interface NoisyBox {
  address: string;
  /** What its agent has; null: it has none. */
  agent: Record<string, Value> | null;
  /** It answers pings at most so often, milliseconds; 0: as often as it is asked. */
  pingEveryMs: number;
  /** Its agent takes up to so long for an answer, milliseconds. */
  slowMs: number;
  /** Whether it can be reached at a moment, in monotonic milliseconds. */
  isThere: (at: number) => boolean;
}

export interface Noise {
  clock: Clock;
  /** Numbers from 0 to below 1. */
  random: () => number;
  /** Share of packets that get lost on their way there or back. */
  loss: number;
}

export function noisyEcho(boxes: readonly NoisyBox[], { clock, random, loss }: Noise): OpenEcho {
  const known = new Map(boxes.map((box) => [box.address, { box, answeredAt: Number.NEGATIVE_INFINITY }]));
  return echoOf((address) => {
    const state = known.get(address);
    const now = clock.monotonic();
    if (!state?.box.isThere(now) || random() < loss) return undefined;
    // Others ping it as well: when it answers next is not up to the one who asks.
    if (now - state.answeredAt < state.box.pingEveryMs * 2 * random()) return undefined;
    state.answeredAt = now;
    return 1 + 5 * random();
  });
}

/** As much of an engine as a session uses. */
export function noisyEngine(boxes: readonly NoisyBox[], { clock, random, loss }: Noise): SnmpEngine {
  const known = new Map(
    boxes.map((box) => [box.address, { ...box, answer: box.agent && honest(box.agent) }]),
  );
  const ask = async (target: { address: string }, query: Query, options: AskOptions): Promise<Answer> => {
    const box = known.get(target.address);
    for (let sent = 0; sent < options.tries; sent++) {
      const takesMs = 2 + (box?.slowMs ?? 0) * random();
      const lost = !box?.answer || !box.isThere(clock.monotonic()) || random() < loss;
      await clock.sleep(Math.min(takesMs, options.timeoutMs));
      if (lost || !box?.answer || takesMs >= options.timeoutMs) {
        await clock.sleep(Math.max(0, options.timeoutMs - takesMs));
        continue;
      }
      const { varbinds } = box.answer(pduOf(query));
      return { ok: true, varbinds, bytes: 100, rttMs: takesMs };
    }
    return failure('timeout');
  };
  return { clock, ask } as unknown as SnmpEngine;
}

function pduOf({ question }: Query): Asked {
  const varbinds = question.oids.map((oid) => ({ oid, type: 'null' as const, value: null }));
  return question.type === 'getBulk'
    ? {
        ...{ type: question.type, requestId: 1, varbinds },
        ...{ nonRepeaters: question.nonRepeaters, maxRepetitions: question.maxRepetitions },
      }
    : { type: question.type, requestId: 1, errorStatus: 0, errorIndex: 0, varbinds };
}
