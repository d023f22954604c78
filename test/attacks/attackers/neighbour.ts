/** People of one site, its administrator among them, who ask for what belongs to another. */
import { Agent } from 'node:http';
import { type Attack, attack, type Document, groundsOf, pick } from '../../api/hostile.ts';
import { type Attacker, FOREIGN, HONEST, judge, MARK, pause, send } from '../scene.ts';

/** A stream has no end; an own session that is ended asks nothing more. */
const LEFT_OUT = new Set(['stream.open', 'session.create', 'session.password', 'session.delete']);
const AT_ONCE = 3;
const STREAMS = 100;
/** The neighbour's address: failures from it are not those of others. */
const FROM = '127.0.0.66';

export const attackAsNeighbour: Attacker = async (scene, { random, tally, until }) => {
  const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });
  const described = await send(scene.url, { method: 'GET', path: '/api/openapi.json' }, { from: FROM });
  if (described === 'cut') throw new Error('the server does not answer');
  const grounds = groundsOf(JSON.parse(described.text) as Document, LEFT_OUT);
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
  // Its own site is its own affair: what it takes away from itself ends the attack.
  const spared = (path: string) => /^\/api\/(tokens|sessions)/.test(path) || path.includes(scene.siteId);

  const openStreams = () => {
    for (let i = 0; i < STREAMS; i++) {
      const headers = bearer(pick(random, scene.tokens));
      void send(scene.url, { method: 'GET', path: '/api/stream', headers }, { from: FROM }).then((heard) => {
        if (heard !== 'cut' && FOREIGN.test(heard.text))
          tally.fault('a stream told what belongs to another site');
      });
      tally.sent += 1;
    }
  };
  const guess = async () => {
    const body = JSON.stringify({ name: HONEST.name, password: `guess ${random()}` });
    const headers = { 'content-type': 'application/json', origin: scene.url };
    const heard = await send(
      scene.url,
      { method: 'POST', path: '/api/session', headers, body },
      { from: FROM },
    );
    judge(tally, 'a guess at a password', heard);
    if (heard !== 'cut' && heard.status === 200) tally.fault('a guessed password was let in');
  };
  const worker = async () => {
    while (!until.aborted) {
      const ground = pick(random, grounds);
      ground.ids = random() < 0.8 ? scene.foreign : [...scene.foreign, scene.siteId];
      ground.fit = pick(random, scene.foreign);
      const made = marked(attack(random, ground), random() < 0.3);
      if (spared(made.path)) continue;
      const headers = { ...bearer(pick(random, scene.tokens)), ...made.headers };
      judge(
        tally,
        `${made.method} ${made.path.slice(0, 200)}`,
        await send(scene.url, { ...made, headers }, { agent }),
      );
      if (random() < 0.01) await guess();
      await pause(2, until);
    }
  };
  openStreams();
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  agent.destroy();
};

/** Texts of a body that are anybody's become the mark. */
const marked = (made: Attack, now: boolean): Attack =>
  now && made.body !== undefined ? { ...made, body: made.body.replaceAll('"text"', `"${MARK}"`) } : made;
