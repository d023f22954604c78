// npm run release VERSION [-- --dry-run]: sets the version everywhere, rolls the changelog, builds the packages with their
// checksums, commits and tags. It pushes nothing; where something fails, the checkout is as it was.
//
//   VERSION     MAJOR.MINOR.PATCH, higher than every release before
//   --dry-run   checks, and says what it would do
//
// docs/releasing.md has the steps around it.
import './usage.mjs';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { root } from './bootstrap.mjs';
import { rollChangelog, versionProblem, withVersion } from './release-plan.mjs';

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: { 'dry-run': { type: 'boolean', default: false } },
});
// Without `--` in front npm keeps the option for itself and passes it on like this only.
const dryRun = flags['dry-run'] || process.env.npm_config_dry_run === 'true';
const [version, ...more] = positionals;
if (version === undefined || more.length > 0) refuse('say which version: npm run release 1.4.0');

const git = (...words) => execFileSync('git', words, { cwd: root, encoding: 'utf8' }).trim();
const path = (name) => join(root, name);
const textOf = (name) => readFileSync(path(name), 'utf8');
/** Runs a script of the project; its output is ours. */
const script = (words, env = {}) =>
  execFileSync(process.execPath, words, { cwd: root, stdio: 'inherit', env: { ...process.env, ...env } });

const tag = `v${version}`;
/** Every file of a release bears this time, the commit as well: so the tag gives the same bytes whenever it is built. */
const epoch = Math.floor(Date.now() / 1000);
const changelog = check();

const manifests = git('ls-files', 'package.json', '*/package.json').split('\n');
if (dryRun) {
  console.log(`Would set ${version} in ${manifests.join(', ')} and docs/openapi.json, roll CHANGELOG.md,
build dist/rollcall-{server,collector}_${version}_{amd64,arm64}.{deb,cdx.json} with dist/SHA256SUMS, commit, and tag ${tag} with:

${changelog.notes}`);
  process.exit(0);
}

const before = git('rev-parse', 'HEAD');
try {
  for (const name of manifests) writeFileSync(path(name), withVersion(textOf(name), version));
  writeFileSync(path('CHANGELOG.md'), changelog.text);
  script(['scripts/gen.mjs']);
  script(['deploy/package/package.mjs'], { SOURCE_DATE_EPOCH: String(epoch) });
  const sums = writeSums();
  commit(sums);
} catch (error) {
  // The tree was clean: all that differs is what was just written.
  git('reset', '--quiet', '--hard', before);
  refuse(`${error.message}\nThe checkout is as it was before.`);
}
console.log(`
Committed and tagged ${tag}; nothing is pushed. Look at it: git show ${tag}
Then push both:                     git push origin ${git('branch', '--show-current')} ${tag}
and publish out of dist/:           SHA256SUMS and the packages it lists
To take it back before the push:    git tag -d ${tag} && git reset --hard HEAD~1`);

/** The rolled changelog, once nothing speaks against the release. */
function check() {
  if (git('status', '--porcelain') !== '') refuse('the checkout has changes: commit them or put them away');
  if (git('branch', '--show-current') === '') refuse('no branch is checked out');
  const released = git('tag', '--list', 'v*')
    .split('\n')
    .map((name) => name.slice(1));
  const problem = versionProblem(version, JSON.parse(textOf('package.json')).version, released);
  if (problem) refuse(problem);
  try {
    git('var', 'GIT_COMMITTER_IDENT');
    return rollChangelog(textOf('CHANGELOG.md'), version, new Date(epoch * 1000).toISOString().slice(0, 10));
  } catch (error) {
    return refuse(error.message);
  }
}

/** Writes dist/SHA256SUMS, as `sha256sum --check` reads it. */
function writeSums() {
  const packages = readdirSync(path('dist')).filter(
    (name) => name.includes(`_${version}_`) && /\.(deb|cdx\.json)$/.test(name),
  );
  const sums = packages
    .sort()
    .map(
      (name) =>
        `${createHash('sha256')
          .update(readFileSync(path(`dist/${name}`)))
          .digest('hex')}  ${name}\n`,
    )
    .join('');
  writeFileSync(path('dist/SHA256SUMS'), sums);
  return sums;
}

/** The tag contains the checksums, so that a package can be checked with the repository alone. */
function commit(sums) {
  const date = `${epoch} +0000`;
  const options = { cwd: root, env: { ...process.env, GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date } };
  execFileSync('git', ['commit', '--quiet', '--all', '-m', `release: version ${version}`], options);
  const message = `Rollcall ${version}\n\n${changelog.notes}\n\nSHA-256 of the packages:\n${sums}`;
  execFileSync('git', ['tag', '--annotate', '--cleanup=whitespace', '--file=-', tag], {
    ...options,
    input: message,
  });
}

function refuse(message) {
  console.error(`rollcall: ${message}`);
  process.exit(1);
}
