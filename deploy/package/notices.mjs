// What an artefact carries of others: their licence texts for people, and a bill of materials (CycloneDX) for programs.
// A package without a licence, or with one that nobody looked at, ends the build.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Enums, Models, Serialize, Spec } from '@cyclonedx/cyclonedx-library';
import { PackageURL } from 'packageurl-js';
import satisfies from 'spdx-satisfies';

/** They ask for their text to go along, and for no more: what links against them stays under its own licence. */
const ACCEPTED = [
  ...['0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'BlueOak-1.0.0', 'CC0-1.0', 'ISC', 'MIT'],
  ...['MIT-0', 'OFL-1.1', 'OLDAP-2.8', 'PostgreSQL', 'Unlicense'],
];
/** What packages have compiled in, of which their package.json says nothing: its licences, and where their texts stand. */
const COMPILED_IN = {
  argon2: { license: '(CC0-1.0 OR Apache-2.0)', texts: ['argon2/LICENSE'] },
  lmdb: {
    license: 'OLDAP-2.8 AND BSD-2-Clause',
    texts: [
      ...['LICENSE', 'COPYRIGHT'].map((file) => `dependencies/lmdb/libraries/liblmdb/${file}`),
      'dependencies/lz4/lib/LICENSE',
    ],
  },
  // No text of it comes along.
  '@electric-sql/pglite': { license: 'PostgreSQL' },
};
const TEXTS = /^(licen[cs]e|copying|notice)/i;

const readJson = (file) => JSON.parse(readFileSync(file, 'utf8'));
const authorOf = ({ author }) =>
  (typeof author === 'string' ? author : author?.name)?.replace(/\s*[<(].*/, '');

/**
 * Packages by name and version, from the folders that they are installed in.
 * @throws where a licence is missing, or not one of `ACCEPTED`
 */
export function componentsOf(folders) {
  const found = new Map();
  const refused = [];
  for (const folder of folders) {
    const about = readJson(join(folder, 'package.json'));
    const { name, version } = about;
    const within = COMPILED_IN[name];
    const license = within && about.license ? `${about.license} AND ${within.license}` : about.license;
    const texts = () => [textOf(folder, about), ...(within ? [textWithin(folder, within)] : [])].join('\n\n');
    if (!isAccepted(license)) refused.push(`${name} ${version}: ${license ?? 'no licence'}`);
    else found.set(`${name}@${version}`, { name, version, license, text: texts() });
  }
  if (refused.length > 0)
    throw new Error(`licences that nobody accepted (deploy/package/notices.mjs): ${refused.join('; ')}`);
  return [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, component]) => component);
}

function isAccepted(license) {
  try {
    return satisfies(license, ACCEPTED);
  } catch {
    // No expression of SPDX: "SEE LICENSE IN …", or nothing.
    return false;
  }
}

const textWithin = (folder, { license, texts }) =>
  texts?.map((file) => readFileSync(join(folder, file), 'utf8').trim()).join('\n\n') ?? standardText(license);

/** The texts that a package brings; where it brings none, that of its licence with its author. */
function textOf(folder, about) {
  const files = readdirSync(folder).filter((name) => TEXTS.test(name) && !/\.(js|ts|json)$/.test(name));
  if (files.length > 0)
    return files
      .sort()
      .map((name) => readFileSync(join(folder, name), 'utf8').trim())
      .join('\n\n');
  const holder = authorOf(about) ?? `the authors of ${about.name}`;
  // Of "(GPL-2.0-only OR ISC)" those that we accepted; of "Apache-2.0 AND BSD-3-Clause" both.
  const licences = about.license.split(/[()\s]+/).filter((word) => ACCEPTED.includes(word));
  return licences.map((licence) => standardText(licence, holder)).join('\n\n');
}

function standardText(licence, holder) {
  const { licenseText } = readJson(
    new URL(`../../node_modules/spdx-license-list/licenses/${licence}.json`, import.meta.url),
  );
  return licenseText
    .replace(/<year>\s*/g, '')
    .replace(/<(owner|copyright holders?)>/g, holder)
    .trim();
}

/** One text for people. */
export const noticesOf = (components) =>
  `${[
    'Rollcall contains the following software of others, each under its own licence.',
    ...components.map(
      ({ name, version, license, text }) => `${'='.repeat(80)}\n${name} ${version} (${license})\n\n${text}`,
    ),
  ].join('\n\n')}\n`;

/** A bill of materials as CycloneDX JSON; the same input gives the same bytes. */
export function billOf({ name, version, epoch }, components) {
  const bom = new Models.Bom({
    version: 1,
    metadata: new Models.Metadata({
      timestamp: new Date(epoch * 1000),
      component: new Models.Component(Enums.ComponentType.Application, name, {
        version,
        bomRef: name,
        licenses: new Models.LicenseRepository([new Models.SpdxLicense('MIT')]),
      }),
    }),
  });
  for (const { name, version, license } of components) {
    const [, group, base] = /^(?:(@[^/]+)\/)?(.+)$/.exec(name);
    const purl = new PackageURL('npm', group, base, version, undefined, undefined).toString();
    const terms = /[ ()]/.test(license)
      ? new Models.LicenseExpression(license)
      : new Models.SpdxLicense(license);
    bom.components.add(
      new Models.Component(Enums.ComponentType.Library, base, {
        ...(group && { group }),
        version,
        purl,
        bomRef: purl,
        licenses: new Models.LicenseRepository([terms]),
      }),
    );
  }
  const normalizer = new Serialize.JSON.Normalize.Factory(Spec.Spec1dot6);
  return `${new Serialize.JsonSerializer(normalizer).serialize(bom, { sortLists: true, space: 2 })}\n`;
}

/**
 * The bill of an image: that of the package in it, and the packages of the base under it, from dpkg's list of them. A base without
 * such a list adds nothing.
 */
export function billOfImage(bill, { dpkg = '', system = 'debian' }) {
  const { metadata, components, ...rest } = JSON.parse(bill);
  const installed = dpkg
    .split(/\n{2,}/)
    .map((text) =>
      Object.fromEntries([...text.matchAll(/^([A-Z][\w-]*): (.+)$/gm)].map(([, ...field]) => field)),
    )
    .filter(({ Status }) => Status?.endsWith(' installed'))
    .map(({ Package: name, Version: version, Architecture: arch }) => {
      const purl = new PackageURL('deb', system, name, version, { arch }, undefined).toString();
      return { type: 'library', name, version, 'bom-ref': purl, purl };
    });
  const image = { ...metadata.component, type: 'container' };
  const whole = {
    ...rest,
    metadata: { ...metadata, component: image },
    components: [...components, ...installed],
  };
  return `${JSON.stringify(whole, null, 2)}\n`;
}
