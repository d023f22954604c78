// Writes a Debian package, deb(5): an ar archive of two tar archives. Our own writer, because every byte is to follow
// from the input: names in order, no time but the commit's, root as owner, one thread of xz.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createWriteStream, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { finished } from 'node:stream/promises';
import { gzipSync } from 'node:zlib';
import { pack } from 'tar-stream';

/** Node is 120 MB of it: level 1 takes 14 s of processor time for 35 MB, level 6 takes 70 s for 30 MB. */
const XZ_LEVEL = '-1';
const SCRIPTS = ['postinst', 'prerm', 'postrm'];

/** @returns what was written: `bytes` of it */
export async function writeDeb(parts, file) {
  const data = `${file}.data.tar`;
  await writeData(parts, data);
  const members = [
    ['debian-binary', Buffer.from('2.0\n')],
    member('control', await controlTar(parts), parts),
    member('data', readFileSync(data), parts),
  ];
  rmSync(data);
  const bytes = ar(members, parts.epoch);
  writeFileSync(file, bytes);
  return { bytes: bytes.length };
}

/** The files of the package as a tar archive. */
export async function writeData({ tree, epoch, version, last, control, maintainer }, file) {
  writeChangelog({ tree, epoch, version, control, maintainer });
  const archive = pack();
  const out = createWriteStream(file);
  archive.pipe(out);
  for (const { path, type } of listing(tree, last)) {
    const entry = {
      name: `./${path}${type === 'directory' ? '/' : ''}`,
      mtime: new Date(epoch * 1000),
      type,
    };
    const owner = { uid: 0, gid: 0, uname: 'root', gname: 'root' };
    if (type === 'directory') archive.entry({ ...entry, ...owner, mode: 0o755 });
    else archive.entry({ ...entry, ...owner, mode: modeOf(path) }, readFileSync(join(tree, path)));
  }
  archive.finalize();
  await finished(out);
}

/** The package's own description and scripts as a tar archive. */
export async function controlTar({ tree, control, version, architecture, epoch, maintainer }) {
  const installed = listing(tree).filter(({ type }) => type === 'file');
  const size = installed.reduce(
    (sum, { path }) => sum + Math.ceil(statSync(join(tree, path)).size / 1024),
    0,
  );
  const text = readFileSync(join(control, 'control'), 'utf8')
    .replace('@VERSION@', version)
    .replace('@MAINTAINER@', maintainer)
    .replace('@ARCHITECTURE@', architecture)
    .replace('@SIZE@', String(size));
  const sums = installed.map(({ path }) => {
    const hash = createHash('md5')
      .update(readFileSync(join(tree, path)))
      .digest('hex');
    return `${hash}  ${path}\n`;
  });
  const archive = pack();
  const add = (name, content, mode) =>
    archive.entry(
      {
        name: `./${name}`,
        mode,
        mtime: new Date(epoch * 1000),
        uid: 0,
        gid: 0,
        uname: 'root',
        gname: 'root',
      },
      content,
    );
  add('control', text, 0o644);
  add('md5sums', sums.join(''), 0o644);
  for (const script of SCRIPTS) add(script, readFileSync(join(control, script)), 0o755);
  archive.finalize();
  const chunks = [];
  for await (const chunk of archive) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** Debian wants a changelog in its own form; ours is CHANGELOG.md. */
function writeChangelog({ tree, epoch, version, control, maintainer }) {
  const source = readFileSync(join(control, 'control'), 'utf8');
  const [, name] = /^Package: (.*)$/m.exec(source) ?? [];
  const date = new Date(epoch * 1000).toUTCString().replace('GMT', '+0000');
  writeFileSync(
    join(tree, 'usr/share/doc', name, 'changelog.gz'),
    gzipSync(
      `${name} (${version}) stable; urgency=medium\n\n  * What changed: see CHANGELOG.md of the project.\n\n -- ${maintainer}  ${date}\n`,
      { level: 9 },
    ),
  );
}

/** Folders and files in order, `last` behind all others. */
function listing(tree, last) {
  return readdirSync(tree, { recursive: true, withFileTypes: true })
    .map((entry) => ({
      path: relative(tree, join(entry.parentPath ?? entry.path, entry.name)),
      type: entry.isDirectory() ? 'directory' : 'file',
    }))
    .filter(({ path }) => path !== last)
    .sort((a, b) => (a.path < b.path ? -1 : 1))
    .concat(last === undefined ? [] : [{ path: last, type: 'file' }]);
}

const modeOf = (path) => (/(^|\/)bin\/[^/]+$/.test(path) ? 0o755 : 0o644);

const member = (name, bytes, { compression }) =>
  compression === 'none' ? [`${name}.tar`, bytes] : [`${name}.tar.xz`, xz(bytes)];

const xz = (bytes) =>
  execFileSync('xz', [XZ_LEVEL, '--threads=1', '--check=crc32', '-c'], { input: bytes, maxBuffer: 2 ** 30 });

/** The common ar format, as dpkg reads it. */
export function ar(members, epoch) {
  const parts = [Buffer.from('!<arch>\n')];
  for (const [name, content] of members) {
    const head = [
      basename(name).padEnd(16),
      String(epoch).padEnd(12),
      '0'.padEnd(6),
      '0'.padEnd(6),
      '100644'.padEnd(8),
      String(content.length).padEnd(10),
      '`\n',
    ];
    parts.push(Buffer.from(head.join('')), content, Buffer.from(content.length % 2 ? '\n' : ''));
  }
  return Buffer.concat(parts);
}
