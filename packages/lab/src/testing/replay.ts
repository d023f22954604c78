/** One recording (and its contexts) as an agent. */

import { readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { systemClock } from '@rollcall/shared/clock';
import { Agent, ETHERNET_PAYLOAD } from '../agent.ts';
import type { Access } from '../device.ts';
import type { Mib } from '../mib.ts';
import { engineIdOf } from '../product.ts';
import { digest, macPlus } from '../seed.ts';
import type { Responder, Wire } from '../wire.ts';
import { mibOf, type Recording, type RecordingFault, readRecording } from './recording.ts';

export interface Replay {
  /** The recording's name: its path in the folder without the ending. */
  name: string;
  /** The default context and, by what stands behind `@` in a file's name, the others. Changeable while it runs. */
  contexts: ReadonlyMap<string, Mib>;
  faults: RecordingFault[];
  responder: Responder;
}

const ENDING = /\.snmprec(\.gz)?$/;
export const PUBLIC: Access = { version: 'v2c', community: 'public' };

/**
 * Loads a recording as an agent that knows the community `public` and, where the recording has further contexts
 * (`NAME@10.snmprec.gz` beside it), `public@10`.
 */
export async function replay(path: string): Promise<Replay> {
  const started = systemClock.monotonic();
  const seconds = () => (systemClock.monotonic() - started) / 1000;
  const name = basename(path).replace(ENDING, '');
  const contexts = new Map<string, Mib>();
  const faults: RecordingFault[] = [];
  let largest = 0;
  for (const [context, file] of [['', path] as const, ...(await contextsOf(path))]) {
    const recording = await readRecording(file);
    faults.push(...recording.faults);
    largest = Math.max(largest, largestOf(recording));
    contexts.set(context, mibOf(recording, { uptime: seconds }));
  }
  const sysObjectId = contexts.get('')?.get('1.3.6.1.2.1.1.2.0');
  const agent = new Agent({
    contexts: () => contexts,
    access: [PUBLIC],
    engineId: Buffer.from(
      engineIdOf(
        sysObjectId?.type === 'oid' ? sysObjectId.value : '',
        macPlus('02:00:00:00:00:00', digest(name, 2 ** 31)),
      ),
      'hex',
    ),
    seconds,
    // One Ethernet frame, or as much as the device really sent.
    maxMessageSize: Math.max(ETHERNET_PAYLOAD, largest + MESSAGE_HEAD),
  });
  return { name, contexts, faults, responder: responderOf(agent) };
}

/** Room for all of a message but one value. */
const MESSAGE_HEAD = 256;

/** Length of the longest recorded value; written in hex it is half as long, so this is never too little. */
function largestOf({ entries }: Recording): number {
  let largest = 0;
  for (const [, cell] of entries) {
    if ('recorded' in cell && cell.recorded.length > largest) largest = Buffer.byteLength(cell.recorded);
  }
  return largest;
}

export const responderOf =
  (agent: Agent): Responder =>
  (datagram, send) => {
    const answer = agent.answer(datagram);
    if (answer) send(answer);
  };

/** Serves one recording on one address of `wire` until that stops or the address is given to another. */
export async function serveRecording(wire: Wire, address: string, path: string): Promise<Replay> {
  const loaded = await replay(path);
  await wire.attach(address, loaded.responder);
  return loaded;
}

/** The recordings of a folder and its sub-folders, sorted by name; contexts of another are not listed. */
export async function recordingsIn(folder: string): Promise<{ name: string; path: string }[]> {
  const files = await readdir(folder, { recursive: true });
  return files
    .filter((file) => ENDING.test(file) && !basename(file).includes('@'))
    .map((file) => ({ name: file.replaceAll('\\', '/').replace(ENDING, ''), path: join(folder, file) }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

async function contextsOf(path: string): Promise<[context: string, file: string][]> {
  const own = basename(path).replace(ENDING, '');
  const files = await readdir(dirname(path));
  return files
    .filter((file) => ENDING.test(file) && file.startsWith(`${own}@`))
    .map((file) => [file.replace(ENDING, '').slice(own.length + 1), join(dirname(path), file)]);
}
