/** `curl … | sh`: the script that installs the collector on a host and joins it, and its routes. */
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import type { Handlers } from '../../platform/http/handler.ts';
import type { Pin } from '../../platform/keys/certificate.ts';
import { version } from '../../platform/ops/version.ts';
import { notFound, Problem } from '../../platform/problem.ts';
import type { CollectorDeps } from '../deps.ts';
import type { HandOut, Offer } from './packages.ts';

/** The host of a request as it may stand in a line for a shell; null for what is no name, address or port. */
export const hostOf = (header: string | undefined): string | null =>
  header !== undefined && /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:\d{1,5})?$/i.test(header) ? header : null;

/**
 * The line for a host; null where this server has nothing to hand out (it runs from a checkout). Where nobody vouches for
 * the server's certificate curl knows it by its key, and asks no authority (-k).
 */
export const installLine = (
  handOut: HandOut | null,
  url: string | null,
  token: string,
  pin: Pin | undefined,
): string | null =>
  handOut && url
    ? `curl ${curlFlags(pin)} ${url}/api/collectors/install.sh | sh -s -- ${url} ${token}`
    : null;

/** The line that starts a collector in a container, for Podman and, with its name, Docker: `deploy/container`. */
export const containerLine = (url: string | null, token: string): string | null =>
  url === null
    ? null
    : [
        'podman run --detach --name rollcall-collector --restart always --network host --read-only --tmpfs /tmp',
        '--volume rollcall-collector:/var/lib/rollcall-collector',
        `localhost/rollcall-collector:${version} run --join ${url} --token ${token}`,
      ].join(' ');

const curlFlags = (pin: Pin | undefined): string =>
  pin ? `-fsSk --pinnedpubkey '${pin.publicKey}'` : '-fsS';

type Ids = 'collectors.installer' | 'collectors.package';

export function installerHandlers({
  handOut = null,
  pin,
}: Pick<CollectorDeps, 'handOut' | 'pin'>): Handlers<Ids> {
  const offers = async (): Promise<Offer[]> => {
    if (handOut) return handOut.offers();
    throw new Problem('not_found', 'this server was not installed from its package and has none to hand out');
  };
  return {
    'collectors.installer': async () => {
      const script = installer(handOut?.version ?? '', await offers(), pin?.());
      return {
        raw: (response) => {
          response.setHeader('Cache-Control', 'no-store');
          response.type('text/x-shellscript').end(script);
        },
      };
    },
    'collectors.package': async ({ params }) => {
      const parts = (await offers()).flatMap(({ deb, tar }) => [deb, tar]);
      const part = parts.find(({ file }) => file === params.file);
      if (!part) throw notFound('package');
      const { path, from, bytes, sha256 } = part;
      return {
        raw: async (response) => {
          response.setHeader('Content-Type', 'application/octet-stream');
          response.setHeader('Content-Length', bytes);
          response.setHeader('ETag', `"${sha256}"`);
          // A reader that goes away ends it; there is nobody left to tell.
          await pipeline(createReadStream(path, { start: from, end: from + bytes - 1 }), response).catch(
            () => undefined,
          );
        },
      };
    },
  };
}

/** The script; it does nothing before its last line has arrived. */
export function installer(version: string, offers: readonly Offer[], pin: Pin | undefined): string {
  const cases = offers.flatMap(({ architecture, deb, tar }) =>
    [deb, tar].map(
      ({ file, sha256 }) => `    ${architecture}.${file.split('.').at(-1)}) file=${file} sum=${sha256} ;;`,
    ),
  );
  return `#!/bin/sh
# Installs the Rollcall collector ${version} from this server and joins it. Arguments: URL TOKEN
set -eu

fail() {
  echo "rollcall: $*" >&2
  exit 1
}

main() {
  [ $# -eq 2 ] || fail 'usage: take the line that Collectors → Add shows'
  url=$1
  token=$2
  root=
  [ "$(id -u)" = 0 ] || root=sudo
  [ -z "$root" ] || command -v sudo >/dev/null || fail 'run it as root'
  [ -d /run/systemd/system ] || fail 'this host does not run systemd'
  case $(uname -m) in
    x86_64) architecture=amd64 ;;
    aarch64) architecture=arm64 ;;
    *) fail "there is no collector for $(uname -m)" ;;
  esac
  kind=tar
  ! command -v dpkg >/dev/null || kind=deb
  case $architecture.$kind in
${cases.join('\n')}
    *) fail "the server has no collector for $architecture: put rollcall-collector_${version}_$architecture.deb into its folder collectors/ and start it again" ;;
  esac

  folder=$(mktemp -d)
  trap 'rm -rf "$folder"' EXIT
  echo "rollcall: fetching $file"
  curl ${curlFlags(pin)} -o "$folder/$file" "$url/api/collectors/packages/$file"
  echo "$sum  $folder/$file" | sha256sum -c --status - || fail "$file is not what the server said: its SHA-256 differs"
  if [ $kind = deb ]; then
    $root dpkg -i "$folder/$file"
  else
    $root tar -xf "$folder/$file" -C / --no-same-owner --no-overwrite-dir
    $root sh /usr/share/rollcall-collector/set-up.sh
  fi
  $root rollcall-collector join "$url" "$token"
}

main "$@"
`;
}
