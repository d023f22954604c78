#!/usr/bin/env bash
# What the packages are held to: no lintian error, at most 60 MB, units that expose little.
set -euo pipefail
cd "$(dirname "$0")/.."
failed=0
complain() { echo "deploy: $*" >&2; failed=1; }

# The scale of --threshold is ten times the shown one.
security() {
  systemd-analyze security --offline=true --threshold="$2" "deploy/$1/files/usr/lib/systemd/system/rollcall-$1.service" >/tmp/rollcall-security.$$ ||
    complain "rollcall-$1.service is exposed more than $2/10: $(tail -n 1 /tmp/rollcall-security.$$)"
  tail -n 1 /tmp/rollcall-security.$$
  rm -f /tmp/rollcall-security.$$
}
security server 12
security collector 15
# `check.sh units`: no packages needed.
[ "${1:-}" != units ] || exit $failed

packages=(dist/rollcall-*.deb)
[ -e "${packages[0]}" ] || complain 'no packages in dist/: npm run package'
for package in "${packages[@]}"; do
  size=$(stat -c %s "$package")
  [ "$size" -le 60000000 ] || complain "$package has $size bytes, more than 60 MB"
  dpkg-deb --contents "$package" >/dev/null || complain "$package cannot be read"
  lintian --no-cfg --fail-on error "$package" || complain "lintian finds errors in $package"
done
exit $failed
