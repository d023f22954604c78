/** Agents on the network that answer what is none, too much, for ever or never; and traps from everywhere. */
import { createSocket, type Socket } from 'node:dgram';
import { Agent } from '@rollcall/lab/agent';
import { mibOf, parseRecording } from '@rollcall/lab/testing/recording';
import { PUBLIC } from '@rollcall/lab/testing/replay';
import { type Send, Wire } from '@rollcall/lab/wire';
import { BerError } from '@rollcall/snmp/message/ber';
import { decodeCommunityMessage, encodeCommunityMessage } from '@rollcall/snmp/message/message';
import type { PlainPdu, Varbind } from '@rollcall/snmp/message/pdu';
import { pick, type Random, TEXTS } from '../../api/hostile.ts';
import { type Attacker, judge, MARK, pause, type Scene, send } from '../scene.ts';

const AGENTS = 8;
const agentAddress = (i: number): string => `127.66.0.${i + 1}`;
/** Addresses that send traps. */
const TRAP_SOURCES = 60;

export const attackAsAgent: Attacker = async (scene, { random, tally, until }) => {
  const wire = new Wire(scene.snmpPort);
  const traps: Socket[] = [];
  try {
    for (let i = 0; i < AGENTS; i++) {
      const honest = agentOf(random, i);
      await wire.attach(agentAddress(i), (datagram, answer) =>
        misbehave(random, datagram, honest.answer(datagram), (bytes) => {
          tally.sent += 1;
          answer(bytes);
        }),
      );
    }
    await Promise.all([scans(scene, { tally, until }), sendTraps(scene, { random, tally, until }, traps)]);
  } finally {
    await wire.stop();
    for (const socket of traps) socket.close();
  }
};

/** The site's people scan on: that is how the agents come to speak. */
async function scans(
  { url, tokens, siteId }: Scene,
  { tally, until }: Pick<Parameters<Attacker>[1], 'tally' | 'until'>,
): Promise<void> {
  const headers = { authorization: `Bearer ${tokens[0]}`, 'content-type': 'application/json' };
  while (!until.aborted) {
    const body = JSON.stringify({
      targets: `${agentAddress(0)}-${agentAddress(AGENTS - 1)}`,
      profile: 'deep',
      site: siteId,
    });
    const heard = await send(url, { method: 'POST', path: '/api/discovery/scan', headers, body });
    judge(tally, 'a scan', heard);
    const id = heard === 'cut' ? undefined : JSON.parse(heard.text).scanId;
    while (id !== undefined && !until.aborted) {
      await pause(500, until);
      const seen = await send(url, { method: 'GET', path: `/api/discovery/scans/${id}`, headers });
      judge(tally, 'a scan is read', seen);
      if (seen !== 'cut' && !['queued', 'running'].includes(JSON.parse(seen.text).data?.status)) break;
    }
    await pause(100, until);
  }
}

async function sendTraps(
  scene: Scene,
  { random, tally, until }: Parameters<Attacker>[1],
  sockets: Socket[],
): Promise<void> {
  for (let i = 0; i < TRAP_SOURCES; i++) {
    const socket = createSocket('udp4');
    socket.on('error', () => undefined);
    await new Promise<void>((resolve) => socket.bind(0, `127.67.${i >> 8}.${(i & 255) + 1}`, resolve));
    sockets.push(socket);
  }
  while (!until.aborted) {
    for (let i = 0; i < 20; i++) {
      const datagram = random() < 0.3 ? noise(random, 300) : trapOf(random);
      pick(random, sockets).send(datagram, scene.trapPort, '127.0.0.1', () => undefined);
      tally.sent += 1;
    }
    await pause(20, until);
  }
}

const trapOf = (random: Random): Buffer =>
  bent(
    random,
    encodeCommunityMessage({
      version: 'v2c',
      community: Buffer.from('public'),
      pdu: {
        type: 'trap',
        requestId: Math.floor(random() * 2 ** 31),
        errorStatus: 0,
        errorIndex: 0,
        varbinds: [
          { oid: '1.3.6.1.2.1.1.3.0', type: 'timeticks', value: 1 },
          {
            oid: '1.3.6.1.6.3.1.1.4.1.0',
            type: 'oid',
            value: `1.3.6.1.4.1.32473.8.${Math.floor(random() * 1e6)}`,
          },
          { oid: '1.3.6.1.2.1.1.5.0', type: 'octets', value: Buffer.from(`${MARK} ${pick(random, TEXTS)}`) },
        ],
      },
    }),
    0.2,
  );

/** A box with hostile texts wherever a text is read. */
function agentOf(random: Random, i: number): Agent {
  const hex = (text: string) => Buffer.from(text).toString('hex');
  const text = () => hex(`${MARK} ${pick(random, TEXTS)}`);
  const lines = [
    `1.3.6.1.2.1.1.1.0|4x|${text()}`,
    `1.3.6.1.2.1.1.2.0|6|1.3.6.1.4.1.32473.9.${i}`,
    `1.3.6.1.2.1.1.5.0|4x|${text()}`,
    `1.3.6.1.2.1.1.6.0|4x|${text()}`,
    ...Array.from({ length: 20 }, (_, n) => `1.3.6.1.2.1.2.2.1.2.${n + 1}|4x|${text()}`),
    // The serial number of a box of the other site.
    `1.3.6.1.2.1.47.1.1.1.1.5.1|2|3`,
    `1.3.6.1.2.1.47.1.1.1.1.11.1|4|CHAOS1X${i}`,
  ];
  const mib = mibOf(parseRecording(lines.join('\n')), { uptime: () => 1 });
  return new Agent({
    contexts: () => new Map([['', mib]]),
    access: [PUBLIC],
    engineId: Buffer.from('80001f8804', 'hex'),
    seconds: () => 1,
  });
}

/** Honest often enough that the collector reads on. */
function misbehave(random: Random, datagram: Buffer, honest: Buffer | null, answer: Send): void {
  if (!honest) return;
  const dice = random();
  if (dice < 0.4) answer(honest);
  else if (dice < 0.55) answer(bent(random, honest, 1));
  else if (dice < 0.62) answer(noise(random, 1_400));
  else if (dice < 0.64) answer(noise(random, 60_000));
  else if (dice < 0.7) for (let i = 0; i < 100; i++) answer(honest);
  else if (dice < 0.75) answer(Buffer.concat(Array.from({ length: 30 }, () => honest)));
  // Nested as deep as a datagram is long.
  else if (dice < 0.78) answer(Buffer.from('3082ffff'.repeat(350), 'hex'));
  else if (dice < 0.95) endless(random, datagram, answer);
}

/** A walk that never ends, in order or out of it, with values of any length. */
function endless(random: Random, datagram: Buffer, answer: Send): void {
  try {
    const message = decodeCommunityMessage(datagram);
    if (message.pdu.type === 'trapV1') return;
    const { varbinds, requestId } = message.pdu;
    const next = (oid: string): Varbind => ({
      oid: random() < 0.8 ? `${oid}.${Math.floor(random() * 2 ** 32)}`.slice(0, 400) : oid,
      type: 'octets',
      value: Buffer.from(`${MARK} `.repeat(Math.floor(random() * 40))),
    });
    const pdu: PlainPdu = {
      type: 'response',
      requestId: random() < 0.9 ? requestId : requestId ^ 1,
      errorStatus: random() < 0.9 ? 0 : Math.floor(random() * 100),
      errorIndex: 0,
      varbinds: varbinds.map(({ oid }) => next(oid.replace(/\.$/, ''))),
    };
    answer(encodeCommunityMessage({ ...message, pdu }));
  } catch (error) {
    // An OID that grew past what BER holds, or a request of SNMPv3.
    if (!(error instanceof BerError) && !(error instanceof RangeError)) throw error;
  }
}

const noise = (random: Random, most: number): Buffer =>
  Buffer.from(Array.from({ length: Math.floor(random() * most) }, () => Math.floor(random() * 256)));

/** Some octets changed, or the end cut off. */
function bent(random: Random, bytes: Buffer, chance: number): Buffer {
  if (random() >= chance) return bytes;
  const copy = Buffer.from(bytes);
  if (random() < 0.3) return copy.subarray(0, Math.floor(random() * copy.length));
  for (let i = 1 + Math.floor(random() * 4); i > 0; i--)
    copy[Math.floor(random() * copy.length)] = Math.floor(random() * 256);
  return copy;
}
