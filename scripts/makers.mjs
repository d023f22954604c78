// npm run makers   derives rules/catalogue/makers.txt from the registry of the IEEE: which maker has which hardware addresses
//
// ROLLCALL_OUI names the folder of the registry's listings (oui.csv, mam.csv, oui36.csv, iab.csv), as the Debian package
// ieee-data installs them in /usr/share/ieee-data. Licence: the listings are public domain; IEEE asserts no copyright in them
// and restricts no distribution (debian/copyright of ieee-data). One line a maker: its name, a tab, its prefixes in hex.
import './usage.mjs';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './bootstrap.mjs';

const folder = process.env.ROLLCALL_OUI ?? '/usr/share/ieee-data';
const LISTINGS = ['oui.csv', 'mam.csv', 'oui36.csv', 'iab.csv'];

/** Holders that make nothing: of blocks that are divided further, and of those that nobody is told the holder of. */
const NO_MAKER = /^(ieee registration authority|private|reserved|)$/i;

/** Legal forms say nothing to who reads a list of ports. */
const LEGAL =
  /(?:[\s,.]+(?:incorporated|inc|corporation|corp|company|co|limited|ltd|l\.?l\.?c|gmbh|ag|kg|s\.?a\.?s?|s\.?r\.?[lo]|s\.?p\.?a|b\.?v|n\.?v|a\.?b|a\/s|oyj?|plc|pty|pte|k\.?k|sdn|bhd|& co))+[\s,.]*$/i;

/** Fields of one line of CSV (RFC 4180); no field of the listings has a line break. */
const fields = (line) =>
  [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(([, quoted, plain]) =>
    quoted === undefined ? plain : quoted.replaceAll('""', '"'),
  );

const short = (name) => {
  const clean = name
    .replace(/\p{Cc}/gu, ' ')
    .replace(/\s+/g, ' ')
    .trim();
  return clean.replace(LEGAL, '').trim() || clean;
};

/** Names that differ in their case alone are one maker; the first spelling stays. */
const makers = new Map();
for (const listing of LISTINGS) {
  for (const line of readFileSync(join(folder, listing), 'utf8').split(/\r?\n/).slice(1)) {
    const [, prefix = '', holder = ''] = fields(line);
    if (!/^[0-9A-F]{6,9}$/.test(prefix) || NO_MAKER.test(holder.trim())) continue;
    const name = short(holder);
    const maker = makers.get(name.toLowerCase()) ?? { name, prefixes: new Set() };
    makers.set(name.toLowerCase(), { ...maker, prefixes: maker.prefixes.add(prefix.toLowerCase()) });
  }
}
const lines = [...makers.entries()]
  .sort(([a], [b]) => (a < b ? -1 : 1))
  .map(([, { name, prefixes }]) => `${name}\t${[...prefixes].sort().join(' ')}\n`);
writeFileSync(join(root, 'rules/catalogue/makers.txt'), lines.join(''));
const prefixes = [...makers.values()].reduce((sum, maker) => sum + maker.prefixes.size, 0);
console.error(`rollcall: ${makers.size} makers with ${prefixes} prefixes`);
