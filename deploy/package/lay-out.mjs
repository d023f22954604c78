// The files of a package as they stand on a host: Node, the bundled program, native parts, data.
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../scripts/bootstrap.mjs';
import { bundle } from './bundle.mjs';
import { followAll } from './loaded.mjs';
import { componentsOf, noticesOf } from './notices.mjs';
import { copyPackages, fetchNode, fetchPackage } from './vendor.mjs';

/** Debian's name of an architecture → npm's. */
export const ARCHITECTURES = { amd64: 'x64', arm64: 'arm64' };

/** What stands beside the bundle, as npm packages: native parts, and code that finds its files by itself. */
const BESIDE = {
  server: {
    from: 'packages/server',
    packages: [
      '@electric-sql/pglite',
      'argon2',
      // The list of passwords that are tried first is read when the first one is set.
      '@zxcvbn-ts/language-common',
      // ws looks for it: without, all that collectors send is unmasked byte by byte on the thread that answers people.
      'bufferutil',
      'koffi',
      'oui-data',
      'snmp-sysobjectid',
      'swagger-ui-dist',
    ],
    native: (arch) => [`@koromix/koffi-linux-${arch}`],
    data: ['rules', 'prisma/migrations', 'packages/web/dist/site'],
    threads: ['ingest-thread'],
  },
  collector: {
    from: 'packages/collector',
    packages: ['koffi', 'lmdb', 'net-snmp', 'ping'],
    native: (arch) => [`@lmdb/lmdb-linux-${arch}`, `@koromix/koffi-linux-${arch}`],
    data: [],
    threads: [],
  },
};

/** The folder of a package of ours, and those of ours that it depends on: any of them may need what stands beside. */
const withOwn = (folder) => {
  const own = join(folder, 'node_modules/@rollcall');
  return [folder, ...readdirSync(own).map((name) => join(own, name))];
};

/** The files of a package as they will stand on the host. @returns what is in it of others */
export async function layOut({ product, architecture, version }, tree) {
  const { from, packages, native, data, threads } = BESIDE[product];
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
  // A thread is a program of its own, found where it stands in a checkout.
  const threadFiles = threads.map((name) => join(from, 'dist', name));
  const entries = [['main', join(from, 'dist/main')], ...threadFiles.map((file) => [file, file])];
  const sources = Object.fromEntries(entries.map(([file, source]) => [file, join(root, `${source}.js`)]));
  const { folders: bundled, loaded } = await bundle({ entries: sources, beside: packages, home });
  for (const folder of data) cpSync(join(root, folder), join(home, folder), { recursive: true });
  const copied = copyPackages(packages, withOwn(join(root, from)), join(home, 'node_modules'), arch);
  const fetched = [await fetchNode(arch, join(home, 'bin/node'))];
  for (const name of native(arch)) fetched.push(await fetchPackage(name, join(home, 'node_modules', name)));
  await followAll(loaded, home);
  const page = data.some((folder) => folder.startsWith('packages/web/')) ? packagesOfWeb() : [];
  const components = componentsOf([...bundled, ...copied, ...fetched, ...page]);
  writeFileSync(join(home, 'THIRD-PARTY-NOTICES.txt'), noticesOf(components));
  const docs = join(tree, 'usr/share/doc', `rollcall-${product}`);
  mkdirSync(docs, { recursive: true });
  cpSync(join(root, 'deploy', product, 'DEBIAN/copyright'), join(docs, 'copyright'));
  return components;
}

/** Folders of the packages that the web application is built of, as its build wrote them down. */
const packagesOfWeb = () =>
  JSON.parse(readFileSync(join(root, 'packages/web/dist/packages.json'), 'utf8')).map((path) =>
    join(root, path),
  );
