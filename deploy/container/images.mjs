// npm run images: dist/rollcall-{server,collector}_VERSION_ARCH.image.tar from the packages in dist/ (npm run package makes
// them), for `podman load` or `docker load`. Beside each its bill of materials (CycloneDX, .image.cdx.json): what the package
// has, and what the base has installed. Needs Buildah, and root or subordinate user ids.
//
//   npm run images [-- OPTIONS]
//
//   --arch LIST     amd64,arm64 (both)
//   --only LIST     server,collector (both)
//   --base IMAGE    what they stand on: any image with glibc and a shell (docker.io/library/debian:bookworm-slim)
//   --keep          leaves them in this machine's image store, as localhost/rollcall-…:VERSION, and writes no file
//   --out FOLDER    another folder than dist/ for the images
import '../../scripts/usage.mjs';
import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { root } from '../../scripts/bootstrap.mjs';
import { billOfImage } from '../package/notices.mjs';

const { values: flags } = parseArgs({
  options: {
    arch: { type: 'string', default: 'amd64,arm64' },
    only: { type: 'string', default: 'server,collector' },
    base: { type: 'string' },
    keep: { type: 'boolean', default: false },
    out: { type: 'string', default: join(root, 'dist') },
  },
});
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const here = join(root, 'deploy/container');
/** Seconds since 1970 that the files of an image bear, as those of a package do. */
const epoch =
  process.env.SOURCE_DATE_EPOCH ??
  execFileSync('git', ['log', '-1', '--format=%ct'], { cwd: root, encoding: 'utf8' }).trim();
const buildah = (...words) => execFileSync('buildah', words, { stdio: ['ignore', 'ignore', 'inherit'] });

for (const architecture of flags.arch.split(','))
  for (const product of flags.only.split(',')) {
    const deb = join(root, 'dist', `rollcall-${product}_${version}_${architecture}.deb`);
    if (!existsSync(deb)) {
      console.error(
        `rollcall: ${relative(root, deb)} is not there; this makes it: npm run package -- --arch ${architecture}`,
      );
      process.exit(1);
    }
    makeImage(product, architecture, deb);
  }

function makeImage(product, architecture, deb) {
  const context = mkdtempSync(join(tmpdir(), 'rollcall-image-'));
  const name = `localhost/rollcall-${product}:${version}`;
  try {
    for (const folder of ['tree', 'state'])
      mkdirSync(join(context, folder), { mode: folder === 'state' ? 0o700 : 0o755 });
    execFileSync('dpkg-deb', ['--extract', deb, join(context, 'tree')]);
    // Units and users are the host's; what is licensed how stands in the folder of the program.
    for (const folder of ['usr/lib/systemd', 'usr/lib/sysusers.d', 'usr/share/lintian'])
      rmSync(join(context, 'tree', folder), { recursive: true });
    cpSync(join(here, 'healthcheck.mjs'), join(context, 'healthcheck.mjs'));
    // Docker's format: that of the Open Container Initiative has no place for a health check.
    buildah(
      ...['build', '--quiet', '--format', 'docker', '--isolation', 'chroot', '--arch', architecture],
      ...['--timestamp', epoch, '--build-arg', `VERSION=${version}`, '--tag', name],
      ...(flags.base ? ['--build-arg', `BASE=${flags.base}`] : []),
      ...['--file', join(here, `${product}.Containerfile`), context],
    );
    if (flags.keep) return console.log(name);
    const file = join(flags.out, `rollcall-${product}_${version}_${architecture}.image.tar`);
    rmSync(file, { force: true });
    buildah('push', '--quiet', name, `docker-archive:${file}:${name}`);
    const [, system] = /^ID=(.*)$/m.exec(fileIn(file, 'usr/lib/os-release') ?? '') ?? [];
    const dpkg = fileIn(file, 'var/lib/dpkg/status');
    const bill = readFileSync(deb.replace(/deb$/, 'cdx.json'), 'utf8');
    writeFileSync(file.replace(/tar$/, 'cdx.json'), billOfImage(bill, { dpkg, system }));
    console.log(`${relative(root, file)}  ${(statSync(file).size / 1e6).toFixed(1)} MB`);
  } finally {
    rmSync(context, { recursive: true });
  }
}

/** Text of a file in an image: of the uppermost layer that has it. */
function fileIn(archive, path) {
  const unpack = 'tar -xOf "$0" "$1" | tar -xO --ignore-failed-read "$2" "./$2" 2>/dev/null || true';
  const [{ Layers }] = JSON.parse(
    execFileSync('tar', ['-xOf', archive, 'manifest.json'], { encoding: 'utf8' }),
  );
  for (const layer of Layers.reverse()) {
    const text = execFileSync('sh', ['-c', unpack, archive, layer, path], {
      encoding: 'utf8',
      maxBuffer: 2 ** 26,
    });
    if (text !== '') return text;
  }
  return undefined;
}
