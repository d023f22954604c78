// What the server needs to hand out the collector of its own version: the collector's package without Node. Both carry
// the same Node, and it is most of either: the server puts its own into the gap (gateway/enrolment/packages.ts).
import { createHash } from 'node:crypto';
import {
  closeSync,
  copyFileSync,
  mkdirSync,
  openSync,
  readSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { controlTar, writeData } from './deb.mjs';

const BLOCK = 512;
/** Two empty blocks end a tar archive. */
const END = 2 * BLOCK;

/** Writes `control.tar`, `data.head` and `hand-out.json` into a folder. */
export async function handOut(parts, folder) {
  mkdirSync(folder, { recursive: true });
  const whole = `${folder}.tar`;
  await writeData(parts, whole);
  const nodeBytes = statSync(join(parts.tree, parts.last)).size;
  const padded = Math.ceil(nodeBytes / BLOCK) * BLOCK;
  const headBytes = statSync(whole).size - END - padded;
  const sha256 = createHash('sha256')
    .update(slice(whole, headBytes, nodeBytes))
    .digest('hex');
  copyFileSync(whole, join(folder, 'data.head'));
  truncateSync(join(folder, 'data.head'), headBytes);
  rmSync(whole);
  writeFileSync(join(folder, 'control.tar'), await controlTar(parts));
  const { version, architecture, epoch } = parts;
  const about = { version, architecture, epoch, node: { bytes: nodeBytes, sha256 } };
  writeFileSync(join(folder, 'hand-out.json'), `${JSON.stringify(about, null, 2)}\n`);
}

function slice(file, from, length) {
  const bytes = Buffer.alloc(length);
  const handle = openSync(file, 'r');
  readSync(handle, bytes, 0, length, from);
  closeSync(handle);
  return bytes;
}
