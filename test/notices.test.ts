import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
// @ts-expect-error the packages' build is plain JavaScript
import { billOf, billOfImage, componentsOf, noticesOf } from '../deploy/package/notices.mjs';

const home = mkdtempSync(join(tmpdir(), 'rollcall-notices-'));
afterAll(() => rmSync(home, { recursive: true }));

/** Folder of an installed package. */
function installed(name: string, about: object, files: Record<string, string> = {}): string {
  const folder = join(home, name);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name, version: '1.2.3', ...about }));
  for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text);
  return folder;
}

describe('notices of what packages carry of others', () => {
  const mit = installed('a-mit', { license: 'MIT' }, { LICENSE: 'MIT\nCopyright Ada', 'license.js': 'code' });
  const dual = installed('b-dual', { license: '(GPL-2.0 OR ISC)' }, { 'LICENSE.md': 'or', NOTICE: 'beside' });
  const bare = installed('@c/bare', { license: 'MIT', author: 'Bob <bob@example.net>' });

  it('hold the text that each brings, or that of its licence with its author', () => {
    const text = noticesOf(componentsOf([mit, dual, bare, mit]));
    expect(text).toContain('a-mit 1.2.3 (MIT)\n\nMIT\nCopyright Ada\n');
    expect(text).not.toContain('code');
    expect(text).toContain('b-dual 1.2.3 ((GPL-2.0 OR ISC))\n\nor\n\nbeside\n');
    expect(text).toMatch(/@c\/bare 1\.2\.3 \(MIT\)\n\nMIT License\s+Copyright \(c\) Bob/);
    expect(text.match(/a-mit 1\.2\.3/g), 'once').toHaveLength(1);
  });

  it('hold the licences of what a package has compiled in', () => {
    const [lmdb, pglite] = ['lmdb', '@electric-sql/pglite'].map((name) =>
      realpathSync(
        join(
          import.meta.dirname,
          `../packages/${name === 'lmdb' ? 'collector' : 'server'}/node_modules`,
          name,
        ),
      ),
    );
    const components = componentsOf([lmdb, pglite]);
    const text = noticesOf(components);
    expect(components.map(({ license }: { license: string }) => license)).toEqual([
      'Apache-2.0 AND PostgreSQL',
      'MIT AND OLDAP-2.8 AND BSD-2-Clause',
    ]);
    for (const words of [
      'The OpenLDAP Public License',
      'Yann Collet',
      'The PostgreSQL Global Development Group',
    ])
      expect(text).toContain(words);
  });

  it('hold each text of a licence that names several, where the package brings none', () => {
    const both = installed('d-both', { license: '(Apache-2.0 AND BSD-3-Clause)' });
    const text = noticesOf(componentsOf([both]));
    expect(text).toContain('Apache License');
    expect(text).toContain('Redistribution and use in source and binary forms');
  });

  it.each([
    ['no licence', {}],
    ['one that is none of SPDX', { license: 'SEE LICENSE IN terms.txt' }],
    ['one that nobody accepted', { license: 'GPL-3.0-only' }],
    ['one of two that both count', { license: 'MIT AND AGPL-3.0-only' }],
    ['nothing', { license: 'UNLICENSED' }],
  ])('refuse a package with %s, by name', (_what, about) => {
    const folder = installed('refused', about);
    expect(() => componentsOf([mit, folder])).toThrow(/refused 1\.2\.3: /);
  });

  it('list the same as a bill of materials, twice the same', () => {
    const about = { name: 'rollcall-server', version: '9.9.9', epoch: 1_700_000_000 };
    const bill = billOf(about, componentsOf([mit, dual, bare]));
    expect(billOf(about, componentsOf([bare, mit, dual]))).toBe(bill);
    const { bomFormat, metadata, components } = JSON.parse(bill);
    expect([bomFormat, metadata.component.name, metadata.component.version]).toEqual([
      'CycloneDX',
      'rollcall-server',
      '9.9.9',
    ]);
    expect(components.map(({ purl }: { purl: string }) => purl).sort()).toEqual([
      'pkg:npm/%40c/bare@1.2.3',
      'pkg:npm/a-mit@1.2.3',
      'pkg:npm/b-dual@1.2.3',
    ]);
  });

  it('list for an image what its base has installed, too', () => {
    const about = { name: 'rollcall-server', version: '9.9.9', epoch: 1_700_000_000 };
    const dpkg = `Package: libc6
Status: install ok installed
Architecture: amd64
Version: 2.36-9+deb12u10
Description: GNU C Library
 Version: of the text

Package: gone
Status: deinstall ok config-files
Architecture: amd64
Version: 1
`;
    const bill = billOf(about, componentsOf([mit]));
    const { metadata, components } = JSON.parse(billOfImage(bill, { dpkg }));
    expect([metadata.component.type, metadata.component.name]).toEqual(['container', 'rollcall-server']);
    expect(components.map(({ purl }: { purl: string }) => purl)).toEqual([
      'pkg:npm/a-mit@1.2.3',
      'pkg:deb/debian/libc6@2.36-9+deb12u10?arch=amd64',
    ]);
    expect(JSON.parse(billOfImage(bill, {})).components).toHaveLength(1);
  });
});
