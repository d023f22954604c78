// npm run package: dist/rollcall-{server,collector}_VERSION_ARCH.deb, with everything they need inside: Node, the bundled
// program, native parts, rules, migrations, web application. Beside each its bill of materials (CycloneDX, .cdx.json).
// The same input gives the same bytes.
//
//   npm run package [-- OPTIONS]
//
//   --arch LIST             amd64,arm64 (both)
//   --only LIST             server,collector (both)
//   --version TEXT          another version than package.json's, for trials of an upgrade
//   --compression xz|none   none (not the default) is for trials: four times as large, ready in a sixth of the time
//   --no-build              take the compiled packages and the web application as they are
//   --out FOLDER            another folder than dist/
//   --maintainer "NAME <ADDRESS>"
//                           who answers for them; without it DEBFULLNAME and DEBEMAIL as for Debian's own tools, or the
//                           author in package.json
import '../../scripts/usage.mjs';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { root } from '../../scripts/bootstrap.mjs';
import { build } from '../../scripts/build.mjs';
import { writeDeb } from './deb.mjs';
import { handOut } from './hand-out.mjs';
import { ARCHITECTURES, layOut } from './lay-out.mjs';
import { fromEnvironment, maintainerOf } from './maintainer.mjs';
import { billOf } from './notices.mjs';

const about = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const { values: flags } = parseArgs({
  options: {
    arch: { type: 'string', default: Object.keys(ARCHITECTURES).join() },
    only: { type: 'string', default: 'server,collector' },
    version: { type: 'string', default: about.version },
    maintainer: { type: 'string' },
    compression: { type: 'string', default: 'xz' },
    'no-build': { type: 'boolean', default: false },
    out: { type: 'string', default: join(root, 'dist') },
  },
});
const chosen = (text, known) => {
  const names = text.split(',');
  const wrong = names.find((name) => !known.includes(name));
  if (wrong === undefined) return names;
  console.error(`rollcall: "${wrong}" is none of ${known.join(', ')}`);
  process.exit(2);
};
const architectures = chosen(flags.arch, Object.keys(ARCHITECTURES));
const products = chosen(flags.only, ['server', 'collector']);
const [compression] = chosen(flags.compression, ['xz', 'none']);
const { version, out } = flags;

const maintainer = maintainerOf(flags.maintainer ?? fromEnvironment(process.env) ?? about.author ?? '');

/** Seconds since 1970 that every file of a package bears: of the commit, so that a later build has the same bytes. */
const epoch = Number(
  process.env.SOURCE_DATE_EPOCH ??
    execFileSync('git', ['log', '-1', '--format=%ct'], { cwd: root, encoding: 'utf8' }),
);

if (!flags['no-build']) build();
mkdirSync(out, { recursive: true });
const work = join(out, '.work');
rmSync(work, { recursive: true, force: true });
for (const architecture of architectures) {
  // The collector first: the server hands it out.
  for (const product of ['collector', 'server']) {
    const tree = join(work, architecture, product);
    const components = await layOut({ product, architecture, version }, tree);
    if (!products.includes(product)) continue;
    if (product === 'server') {
      const collector = join(work, architecture, 'collector');
      await handOut(
        describe('collector', architecture, collector),
        join(tree, 'usr/lib/rollcall-server/collector'),
      );
    }
    const file = join(out, `rollcall-${product}_${version}_${architecture}.deb`);
    const { bytes } = await writeDeb(describe(product, architecture, tree), file);
    const bill = billOf({ name: `rollcall-${product}`, version, epoch }, components);
    writeFileSync(file.replace(/deb$/, 'cdx.json'), bill);
    console.log(
      `${relative(root, file)}  ${(bytes / 1e6).toFixed(1)} MB, ${components.length} packages of others`,
    );
  }
}
rmSync(work, { recursive: true, force: true });

function describe(product, architecture, tree) {
  return {
    tree,
    epoch,
    version,
    maintainer,
    compression,
    architecture,
    control: join(root, 'deploy', product, 'DEBIAN'),
    /** Last in the archive, so that the server can put its own there: see hand-out.mjs. */
    last: `usr/lib/rollcall-${product}/bin/node`,
  };
}
