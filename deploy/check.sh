#!/usr/bin/env bash
# What the packages are held to: no lintian error, at most 60 MB, units that expose little, a bill of materials beside each, as
# beside each image.
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

# Machine code in a package is for its architecture, Node's among it: a foreign one would fail on the site's host only.
machine_code() {
  local tree machine file found=0
  case $1 in *_amd64.deb) machine=3e00 ;; *_arm64.deb) machine=b700 ;; *) complain "$1 is for no known architecture" ;; esac
  tree=$(mktemp -d)
  dpkg-deb --extract "$1" "$tree"
  while IFS= read -r -d '' file; do
    # ELF: magic in the first four bytes, e_machine in the 18th and 19th.
    [ "$(od -An -tx1 -N4 "$file" | tr -d ' ')" = 7f454c46 ] || continue
    found=$((found + 1))
    [ "$(od -An -tx1 -j18 -N2 "$file" | tr -d ' ')" = "$machine" ] || complain "$1: ${file#"$tree"} is for another machine"
  done < <(find "$tree" -type f -size +16k -print0)
  rm -rf "$tree"
  [ "$found" -ge 3 ] || complain "$1 has $found files of machine code, less than Node and two native parts"
}

# `check.sh machine FOLDER`: the machine code of the packages there alone.
if [ "${1:-}" = machine ]; then
  for package in "$2"/rollcall-*.deb; do machine_code "$package"; done
  exit $failed
fi

# billed ARTEFACT WHAT PURL: the bill of materials beside it names a package whose purl starts so.
billed() {
  local bill=${1%.*}.cdx.json
  { [ -e "$bill" ] && grep -q "\"purl\": \"$3" "$bill"; } || complain "$1 has no bill of materials that names $2: $bill"
}
# An image has what its package has, and the Debian packages of its base.
images() {
  local image
  for image in "$1"/rollcall-*.image.tar; do
    [ -e "$image" ] || continue
    billed "$image" Node pkg:npm/node-linux-
    billed "$image" 'Debian packages' pkg:deb/
  done
}
# `check.sh images FOLDER`: the images of both products, that are there alone.
if [ "${1:-}" = images ]; then
  for product in server collector; do
    compgen -G "$2/rollcall-${product}_*.image.tar" >/dev/null || complain "no image of the $product in $2"
  done
  images "$2"
  exit $failed
fi

packages=(dist/rollcall-*.deb)
[ -e "${packages[0]}" ] || complain 'no packages in dist/: npm run package'
for package in "${packages[@]}"; do billed "$package" Node pkg:npm/node-linux-; done
images dist
for package in "${packages[@]}"; do
  size=$(stat -c %s "$package")
  [ "$size" -le 60000000 ] || complain "$package has $size bytes, more than 60 MB"
  machine_code "$package"
  lintian --no-cfg --fail-on error "$package" || complain "lintian finds errors in $package"
done
exit $failed
