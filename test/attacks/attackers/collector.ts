/** A collector of one site that keeps to no rule: real keys, and messages made after the protocol's schema, then bent. */
import { createPrivateKey, randomUUID } from 'node:crypto';
import {
  type Disk,
  hello,
  makeKey,
  newKey,
  type Talk,
  talkOver,
} from '@rollcall/server/testing/scripted-collector';
import { type Observation, observation, STREAMS, streamOf } from '@rollcall/shared/observation';
import { collectorMessage, WINDOW } from '@rollcall/shared/protocol';
import { bend, fromSchema, type Ground, pick, type Random, type Schema, TEXTS } from '../../api/hostile.ts';
import { type Attacker, FOREIGN, MARK, marked, pause, type Scene } from '../scene.ts';

/** Frames that no schema leads to. */
const RAW: readonly string[] = [
  '',
  'null',
  '[]',
  '{"type":"observations"}',
  '{"type":"heartbeat","time":1e999}',
  `{"type":"progress","job":${'['.repeat(50_000)}`,
  `{"type":"heartbeat","drops":${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}}`,
  `{"type":"hello","software":"\\u0000"}`,
  `"${'x'.repeat(300_000)}"`,
  '\ud800',
];
/** Between two frames: the attack is on what the server does with them, not on the attacker's processor. */
const PACE_MS = 4;
const FRAMES = 120;

const schemaOf = (given: unknown): Schema =>
  (given as { toJSONSchema(options: object): Schema }).toJSONSchema({
    io: 'input',
    unrepresentable: 'any',
  });
const MESSAGE = schemaOf(collectorMessage);
const OBSERVATION = schemaOf(observation);

export const attackAsCollector: Attacker = async (scene, { random, tally, until }) => {
  const ground = groundOf(scene.foreign);
  const disks = scene.collectors.map(diskOf);
  for (let turn = 0; !until.aborted; turn++) {
    const disk = disks[turn % disks.length];
    if (!disk) return;
    const { talk, host } = talkOver(scene.url.replace('http', 'ws'), {
      localAddress: `127.0.0.${100 + (turn % 20)}`,
    });
    tally.sent += 1;
    const admitted = await enter(talk, disk, host, { random, foreign: scene.foreign }).catch(() => false);
    let open = true;
    let batches = 0;
    const over = talk.closed.then(({ code, reason }) => {
      open = false;
      tally.answered(reason === '' ? code : `${code} ${reason}`);
    });
    if (admitted) {
      for (let i = 0; open && i < FRAMES && !until.aborted; i++) {
        // More batches than that without an ack end the link; that is tried too.
        for (let n = 0; n < 10 && open && batches - talk.of('ack').length >= WINDOW / 2; n++)
          await pause(20, until);
        if (batches - talk.of('ack').length >= WINDOW / 2 && random() < 0.9) break;
        talk.sayRaw(random() < 2 / FRAMES ? oddFrame(random, ground, disk) : batch(random, ground, disk));
        batches += 1;
        tally.sent += 1;
        await Promise.race([pause(PACE_MS, until), over]);
      }
      await pause(50, until);
    }
    if (FOREIGN.test(JSON.stringify(talk.heard)))
      tally.fault('a collector was told what belongs to another site');
    talk.hangUp();
    await over;
  }
};

const diskOf = ({ id, key, raw }: Scene['collectors'][number]): Disk => ({
  id,
  key: {
    secret: createPrivateKey({ key: Buffer.from(key, 'base64'), format: 'der', type: 'pkcs8' }),
    raw: Buffer.from(raw, 'base64'),
  },
  generation: 0,
  epoch: randomUUID(),
  last: { state: -1, event: -1 },
});

const groundOf = (ids: readonly string[]): Ground => ({
  path: '',
  method: '',
  operation: { operationId: '', security: [], responses: {} },
  schemas: {},
  ids: [...ids, randomUUID()],
  fit: undefined,
});

/** Says hello: rightly, or as somebody else, of another time, or badly signed. Answers whether it was let in. */
async function enter(
  talk: Talk,
  disk: Disk,
  host: string,
  { random, foreign }: { random: Random; foreign: readonly string[] },
): Promise<boolean> {
  const challenge = await talk.next('challenge');
  const dice = random();
  if (dice < 0.04) talk.say(hello({ ...disk, id: pick(random, foreign) }, challenge, host));
  else if (dice < 0.08) talk.say(hello(disk, challenge, host, { generation: 2_000_000_000 }));
  else if (dice < 0.1) talk.say(hello({ ...disk, key: makeKey() }, challenge, host));
  else if (dice < 0.12) talk.say(hello(disk, { nonce: 'a nonce of another day' }, host));
  else talk.say(hello(disk, challenge, host, { hostname: MARK, version: 4, capacity: 0 }));
  const welcome = await talk.next('welcome');
  disk.generation = welcome.generation;
  talk.say({ type: 'confirm', generation: welcome.generation });
  talk.say({ type: 'working', jobs: [] });
  return true;
}

/** Not always understood: the third of those ends the link. */
function oddFrame(random: Random, ground: Ground, disk: Disk): string {
  const dice = random();
  if (dice < 0.2) return pick(random, RAW);
  if (dice < 0.3) return JSON.stringify(newKey(disk, 'a nonce', makeKey()));
  let message = fromSchema(random, MESSAGE, ground, 0);
  for (let bends = Math.floor(random() * 2); bends > 0; bends--)
    message = bend(random, message, MESSAGE, ground);
  return JSON.stringify(marked(random, message)) ?? '';
}

/** Observations in their order, or out of it. */
function batch(random: Random, ground: Ground, disk: Disk): string {
  const items = Array.from({ length: Math.floor(random() * 20) }, () => {
    const made = random() < 0.5 ? sound(random) : fromSchema(random, OBSERVATION, ground, 0);
    return marked(random, random() < 0.4 ? bend(random, made, OBSERVATION, ground) : made);
  });
  const [first] = items as [Observation?];
  const stream =
    random() < 0.1 || !first || typeof first !== 'object' ? pick(random, STREAMS) : streamOf(first);
  const last = disk.last[stream] ?? -1;
  const from = random() < 0.85 ? last + 1 : pick(random, [0, last, last + 1000]);
  if (from > last) disk.last[stream] = Math.max(last, from + items.length - 1);
  const epoch = random() < 0.97 ? disk.epoch : pick(random, ground.ids);
  return JSON.stringify({ type: 'observations', epoch, stream, from, items });
}

/** What the server takes: the addresses, names and serial numbers are those of the other site's things. */
function sound(random: Random): Observation {
  const n = Math.floor(random() * 50);
  const at = Date.now();
  const address = `192.168.0.${n + 1}`;
  const text = pick(random, TEXTS);
  const system = { sysName: `d${n} ${MARK}`, sysDescr: text, sysObjectId: '1.3.6.1.4.1.32473.9' };
  const chassis = [{ index: 1, class: 'chassis' as const, serial: `CHAOS1X${n}`, model: MARK }];
  return random() < 0.5
    ? {
        kind: 'trap',
        at,
        address,
        snmpVersion: 'v2c',
        trapOid: `1.3.6.1.4.1.32473.7.${n}`,
        varbinds: [{ oid: '1.3.6.1.2.1.1.5.0', type: 'OctetString', value: `${MARK} ${text}` }],
      }
    : {
        kind: 'device',
        at,
        walk: randomUUID(),
        address,
        snmpVersion: 'v2c',
        system,
        addresses: [address],
        macs: [],
        chassis,
        vendor: {},
      };
}
