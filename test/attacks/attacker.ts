/** All attackers as a process of its own, one after the other as its parent says; each answers with what it counted. */
import { systemClock } from '@rollcall/shared/clock';
import { randomOf } from '../api/hostile.ts';
import { attackAsAgent } from './attackers/agent.ts';
import { attackAnonymously } from './attackers/anonymous.ts';
import { attackInBrowser } from './attackers/browser.ts';
import { attackAsCollector } from './attackers/collector.ts';
import { attackAsNeighbour } from './attackers/neighbour.ts';
import { attackAsServer } from './attackers/server.ts';
import { type Attacker, type AttackerName, type Scene, Tally } from './scene.ts';

/** A short attack goes on until so much was sent: on a busy machine a collector needs seconds to start. */
const LEAST = 40;
const GRACE_SECONDS = 60;

const ATTACKS: Record<AttackerName, Attacker> = {
  browser: attackInBrowser,
  collector: attackAsCollector,
  server: attackAsServer,
  neighbour: attackAsNeighbour,
  agent: attackAsAgent,
  anonymous: attackAnonymously,
};

process.on('message', async (scene: Scene) => {
  const tally = new Tally();
  const from = systemClock.monotonic();
  const over = new AbortController();
  const stopLooking = systemClock.every(20, () => {
    const seconds = (systemClock.monotonic() - from) / 1000;
    if (seconds >= scene.seconds && (tally.sent >= LEAST || seconds >= scene.seconds + GRACE_SECONDS))
      over.abort();
  });
  await ATTACKS[scene.who](scene, { random: randomOf(scene.seed), tally, until: over.signal });
  stopLooking();
  process.send?.(tally);
});
process.on('disconnect', () => process.exit(0));
process.send?.('here');
