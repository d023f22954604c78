/**
 * The collector's packages that this server hands out, from its own disk: sites without a way to the Internet install
 * from here. The package for the server's own architecture is made at the first request: the collector's files came
 * with the server but for Node, which both carry, so the server puts its own into the gap. An administrator may lay
 * packages for other architectures into the same folder.
 */
import { createHash } from 'node:crypto';
import {
  closeSync,
  createReadStream,
  createWriteStream,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip, gzipSync } from 'node:zlib';
import type { Logger } from 'pino';
import { z } from 'zod';

/** What the build left beside the server (deploy/package/hand-out.mjs). */
const about = z.object({
  version: z.string(),
  architecture: z.string(),
  /** Seconds since 1970 that the files bear. */
  epoch: z.int(),
  node: z.object({ bytes: z.int(), sha256: z.string() }),
});
type About = z.infer<typeof about>;

/** A file to fetch: the whole package, or its files alone as a tar archive for hosts without dpkg. */
export interface Part {
  file: string;
  path: string;
  /** Bytes of `path` that are the file. */
  from: number;
  bytes: number;
  sha256: string;
}
export interface Offer {
  architecture: string;
  deb: Part;
  tar: Part;
}

export interface HandOut {
  version: string;
  /** What there is, by architecture; made and hashed at the first call. */
  offers(): Promise<Offer[]>;
}

const BLOCK = 512;
const AR_MAGIC = '!<arch>\n';
const AR_HEAD = 60;

/**
 * @param parts folder with the build's parts; null is answered where it is not there: in a checkout
 * @param folder where packages to hand out lie
 */
export function openHandOut(parts: string, folder: string, log: Logger): HandOut | null {
  const description = join(parts, 'hand-out.json');
  if (!existsSync(description)) return null;
  const own = about.parse(JSON.parse(readFileSync(description, 'utf8')));
  let offers: Promise<Offer[]> | undefined;
  return {
    version: own.version,
    offers: () => {
      offers ??= prepare(own, parts, folder, log).catch((error: unknown) => {
        offers = undefined;
        throw error;
      });
      return offers;
    },
  };
}

const nameOf = (version: string, architecture: string): string =>
  `rollcall-collector_${version}_${architecture}.deb`;

async function prepare(own: About, parts: string, folder: string, log: Logger): Promise<Offer[]> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const mine = join(folder, nameOf(own.version, own.architecture));
  if (!existsSync(mine)) {
    const begun = performance.now();
    await make(own, parts, mine);
    log.info(
      { file: mine, seconds: Math.round((performance.now() - begun) / 1000) },
      'collector package made',
    );
  }
  const offers: Offer[] = [];
  for (const file of readdirSync(folder)) {
    const [, version, architecture] = /^rollcall-collector_(.+)_([a-z0-9]+)\.deb$/.exec(file) ?? [];
    if (architecture === undefined) continue;
    // Of another version of the server: what is handed out is always its own.
    if (version !== own.version) rmSync(join(folder, file));
    else offers.push(await offerOf(join(folder, file), file, architecture));
  }
  return offers;
}

/** Writes the package, whole or not at all. */
async function make({ epoch, node }: About, parts: string, target: string): Promise<void> {
  const head = join(parts, 'data.head');
  const data = `${target}.data`;
  const padding = Math.ceil(node.bytes / BLOCK) * BLOCK - node.bytes;
  await pipeline(
    Readable.from(tarOf(head, node, padding), { objectMode: false }),
    createGzip({ level: 6 }),
    createWriteStream(data),
  );
  const control = gzipSync(readFileSync(join(parts, 'control.tar')));
  const draft = `${target}.new`;
  const start = Buffer.concat([
    Buffer.from(AR_MAGIC),
    member('debian-binary', Buffer.from('2.0\n'), epoch),
    member('control.tar.gz', control, epoch),
    headOf('data.tar.gz', statSync(data).size, epoch),
  ]);
  async function* whole() {
    yield start;
    yield* createReadStream(data);
    if (statSync(data).size % 2) yield Buffer.from('\n');
  }
  await pipeline(Readable.from(whole(), { objectMode: false }), createWriteStream(draft));
  rmSync(data);
  renameSync(draft, target);
}

/** The archive: what came with the server, our Node, and the zeros that end it. */
async function* tarOf(head: string, node: About['node'], padding: number) {
  yield* createReadStream(head);
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(process.execPath)) {
    hash.update(chunk as Buffer);
    yield chunk as Buffer;
  }
  if (hash.digest('hex') !== node.sha256)
    throw new Error('the Node that runs this server is not the one it was built with');
  yield Buffer.alloc(padding + 2 * BLOCK);
}

const headOf = (name: string, bytes: number, epoch: number): Buffer =>
  Buffer.from(
    `${name.padEnd(16)}${String(epoch).padEnd(12)}${'0'.padEnd(6)}${'0'.padEnd(6)}${'100644'.padEnd(8)}${String(bytes).padEnd(10)}\`\n`,
  );
const member = (name: string, content: Buffer, epoch: number): Buffer =>
  Buffer.concat([headOf(name, content.length, epoch), content, Buffer.from(content.length % 2 ? '\n' : '')]);

async function offerOf(path: string, file: string, architecture: string): Promise<Offer> {
  const { from, bytes } = dataOf(path);
  const whole = { from: 0, bytes: statSync(path).size };
  return {
    architecture,
    deb: { file, path, ...whole, sha256: await hashOf(path, whole) },
    tar: {
      file: file.replace(/deb$/, 'tar'),
      path,
      from,
      bytes,
      sha256: await hashOf(path, { from, bytes }),
    },
  };
}

/** Where the files of a package lie in it: the third member of the archive, deb(5). */
function dataOf(path: string): { from: number; bytes: number } {
  const handle = openSync(path, 'r');
  const head = Buffer.alloc(AR_HEAD);
  try {
    for (let at = AR_MAGIC.length; readSync(handle, head, 0, AR_HEAD, at) === AR_HEAD; ) {
      const bytes = Number(head.toString('latin1', 48, 58));
      if (head.toString('latin1', 0, 16).startsWith('data.tar')) return { from: at + AR_HEAD, bytes };
      at += AR_HEAD + bytes + (bytes % 2);
    }
  } finally {
    closeSync(handle);
  }
  throw new Error(`${path} is no Debian package`);
}

async function hashOf(path: string, { from, bytes }: { from: number; bytes: number }): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path, { start: from, end: from + bytes - 1 }), hash);
  return hash.digest('hex');
}
