// npm run package: dist/rollcall-{server,collector}_VERSION_ARCH.deb, with everything they need inside: Node, the bundled
// program, native parts, rules, migrations, web application. The same input gives the same bytes.
import '../../scripts/usage.mjs';
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { root } from '../../scripts/bootstrap.mjs';
import { build } from '../../scripts/build.mjs';
import { bundle } from './bundle.mjs';
import { writeDeb } from './deb.mjs';
import { handOut } from './hand-out.mjs';
import { copyPackages, fetchNode, fetchPackage } from './vendor.mjs';

const HELP = `npm run package [-- OPTIONS]: builds the Debian packages into dist/
  --arch LIST      amd64,arm64 (both)
  --only LIST      server,collector (both)
  --version TEXT   another version than package.json's, for trials of an upgrade
  --no-build       take the compiled packages and the web application as they are
  --out FOLDER     another folder than dist/
DEBFULLNAME and DEBEMAIL name who builds them, as for Debian's own tools.`;

/** Debian's name of an architecture → npm's. */
const ARCHITECTURES = { amd64: 'x64', arm64: 'arm64' };

const { values: flags } = parseArgs({
  options: {
    arch: { type: 'string', default: Object.keys(ARCHITECTURES).join() },
    only: { type: 'string', default: 'server,collector' },
    version: {
      type: 'string',
      default: JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version,
    },
    'no-build': { type: 'boolean', default: false },
    out: { type: 'string', default: join(root, 'dist') },
    help: { type: 'boolean', default: false },
  },
});
if (flags.help) {
  console.log(HELP);
  process.exit(0);
}
const chosen = (text, known) => {
  const names = text.split(',');
  const wrong = names.find((name) => !known.includes(name));
  if (wrong === undefined) return names;
  console.error(`rollcall: "${wrong}" is none of ${known.join(', ')}`);
  process.exit(2);
};
const architectures = chosen(flags.arch, Object.keys(ARCHITECTURES));
const products = chosen(flags.only, ['server', 'collector']);
const { version, out } = flags;

/** Who builds the packages answers for them; otherwise nobody can be written to, which the name says (RFC 2606). */
const { DEBFULLNAME = 'The Rollcall authors', DEBEMAIL = 'packages@rollcall.invalid' } = process.env;
const maintainer = `${DEBFULLNAME} <${DEBEMAIL}>`;

/** Seconds since 1970 that every file of a package bears: of the commit, so that a later build has the same bytes. */
const epoch = Number(
  process.env.SOURCE_DATE_EPOCH ??
    execFileSync('git', ['log', '-1', '--format=%ct'], { cwd: root, encoding: 'utf8' }),
);

/** What stands beside the bundle, as npm packages: native parts, and code that finds its files by itself. */
const BESIDE = {
  server: {
    from: 'packages/server',
    packages: [
      '@electric-sql/pglite',
      '@node-rs/argon2',
      'koffi',
      'oui-data',
      'snmp-sysobjectid',
      'swagger-ui-dist',
    ],
    native: (arch) => [`@node-rs/argon2-linux-${arch}-gnu`, `@koromix/koffi-linux-${arch}`],
    data: ['rules', 'prisma/migrations', 'packages/web/dist/site'],
  },
  collector: {
    from: 'packages/collector',
    packages: ['koffi', 'lmdb', 'net-snmp', 'ping'],
    native: (arch) => [`@lmdb/lmdb-linux-${arch}`, `@koromix/koffi-linux-${arch}`],
    data: [],
  },
};

if (!flags['no-build']) build();
mkdirSync(out, { recursive: true });
const work = join(out, '.work');
rmSync(work, { recursive: true, force: true });
for (const architecture of architectures) {
  // The collector first: the server hands it out.
  for (const product of ['collector', 'server']) {
    const tree = join(work, architecture, product);
    await layOut(product, architecture, tree);
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
    console.log(`${relative(root, file)}  ${(bytes / 1e6).toFixed(1)} MB`);
  }
}
rmSync(work, { recursive: true, force: true });

function describe(product, architecture, tree) {
  return {
    tree,
    epoch,
    version,
    maintainer,
    architecture,
    control: join(root, 'deploy', product, 'DEBIAN'),
    /** Last in the archive, so that the server can put its own there: see hand-out.mjs. */
    last: `usr/lib/rollcall-${product}/bin/node`,
  };
}

/** The files of a package as they will stand on the host. */
async function layOut(product, architecture, tree) {
  const { from, packages, native, data } = BESIDE[product];
  const arch = ARCHITECTURES[architecture];
  const home = join(tree, 'usr/lib', `rollcall-${product}`);
  mkdirSync(join(home, 'bin'), { recursive: true });
  cpSync(join(root, 'deploy', product, 'files'), tree, { recursive: true });
  writeFileSync(
    join(home, 'package.json'),
    `${JSON.stringify({ name: `rollcall-${product}`, version, private: true, type: 'module' }, null, 2)}\n`,
  );
  // The program believes it stands where it does in a checkout: one rule for finding files, here and there.
  mkdirSync(join(home, from), { recursive: true });
  cpSync(join(home, 'package.json'), join(home, from, 'package.json'));
  await bundle({ entry: join(root, from, 'dist/main.js'), beside: packages, home });
  for (const folder of data) cpSync(join(root, folder), join(home, folder), { recursive: true });
  copyPackages(packages, [join(root, from), join(root, 'packages/shared')], join(home, 'node_modules'));
  for (const name of native(arch)) await fetchPackage(name, join(home, 'node_modules', name));
  await fetchNode(arch, join(home, 'bin/node'));
  const docs = join(tree, 'usr/share/doc', `rollcall-${product}`);
  mkdirSync(docs, { recursive: true });
  cpSync(join(root, 'deploy', product, 'DEBIAN/copyright'), join(docs, 'copyright'));
}
