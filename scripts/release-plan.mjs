// What a release decides before it writes anything: pure, so that a test can ask it.

const PARTS = /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)$/;

/**
 * Why `version` cannot be the next one, or undefined where it can. `current` is what package.json states: it may be
 * released itself as long as no tag of `released` has it.
 */
export function versionProblem(version, current, released) {
  // A pre-release has no place: dpkg sorts 1.0.0-rc.1 after 1.0.0, so no host would ever get from one to the other.
  if (!PARTS.test(version)) return `"${version}" is not MAJOR.MINOR.PATCH, such as 1.4.0`;
  const highest = released
    .filter((each) => PARTS.test(each))
    .sort(compare)
    .at(-1);
  if (highest !== undefined && compare(version, highest) <= 0)
    return `${version} is not higher than ${highest}, which is released`;
  if (compare(version, current) < 0) return `${version} is lower than ${current}, which package.json states`;
  return undefined;
}

/** Order of two versions, as `sort` wants it. */
function compare(a, b) {
  const [x, y] = [a, b].map((each) => each.split('.').map(Number));
  const place = x.findIndex((part, i) => part !== y[i]);
  return place < 0 ? 0 : x[place] - y[place];
}

const UNRELEASED = /^## Unreleased[ \t]*\n([\s\S]*?)(?=^## |$(?![\s\S]))/m;

/**
 * The changelog with its unreleased part under the version and its date (YYYY-MM-DD), and a new empty one above.
 * `notes` is the text of that part. Throws where there is nothing to release.
 */
export function rollChangelog(text, version, date) {
  const found = UNRELEASED.exec(text);
  if (!found) throw new Error('CHANGELOG.md has no part "## Unreleased"');
  const notes = found[1].trim();
  if (notes === '')
    throw new Error('the unreleased part of CHANGELOG.md is empty: there is nothing to release');
  const after = text.slice(found.index + found[0].length);
  const part = `## Unreleased\n\n## ${version} (${date})\n\n${notes}\n`;
  return { notes, text: `${text.slice(0, found.index)}${part}${after && `\n${after}`}` };
}

/** The text of a package.json with another version; everything else stays as it is formatted. */
export function withVersion(text, version) {
  const line = /^( {2}"version": )"[^"]*"/m;
  if (!line.test(text)) throw new Error('a package.json states no version');
  return text.replace(line, `$1"${version}"`);
}
