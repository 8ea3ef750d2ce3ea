#!/bin/sh
# Installs the gateway from an archive that scripts/package made.
#
#     deploy/install.sh --from https://example.com/releases      a folder on a web server
#     deploy/install.sh --from target/packages                   a local folder
#     deploy/install.sh --from … --to ~/.local/bin               where the program goes (this is the default)
#     deploy/install.sh --from … --servers                       the capability servers, made by scripts/package --servers
#
# The folder holds powerstrip-OS-ARCH.tar.gz and SHA256SUMS. An archive whose digest is not listed there is refused.
set -eu

fail() { echo "install: $*" >&2; exit 1; }

from=
package=powerstrip
to="${HOME:?}/.local/bin"
while [ $# -gt 0 ]; do
  case "$1" in
    --from) [ $# -gt 1 ] || fail "--from needs a folder or an address"; from=$2; shift 2 ;;
    --servers) package=powerstrip-servers; shift ;;
    --to) [ $# -gt 1 ] || fail "--to needs a folder"; to=$2; shift 2 ;;
    *) fail "unknown argument $1; usage: install.sh --from FOLDER-OR-URL [--to FOLDER] [--servers]" ;;
  esac
done
[ -n "$from" ] || fail "say where the archive is: --from FOLDER-OR-URL"

case "$(uname -s)" in
  Linux) os=linux ;;
  *) fail "there is no binary for $(uname -s); build it: cargo install --path crates/powerstrip" ;;
esac
case "$(uname -m)" in
  x86_64 | amd64) arch=x64 ;;
  aarch64 | arm64) arch=arm64 ;;
  *) fail "there is no binary for $(uname -m); build it: cargo install --path crates/powerstrip" ;;
esac
archive="$package-$os-$arch.tar.gz"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fetch() {
  case "$from" in
    https://* | http://127.0.0.1:*)
      curl --fail --silent --show-error --location --output "$work/$1" "$from/$1" || fail "$from/$1 could not be fetched" ;;
    http://*) fail "$from is not encrypted; use https" ;;
    *) cp "$from/$1" "$work/$1" || fail "$from has no $1" ;;
  esac
}
fetch "$archive"
fetch SHA256SUMS
(cd "$work" && grep " [ *]\{0,1\}$archive\$" SHA256SUMS > expected && sha256sum --check --quiet expected) \
  || fail "the digest of $archive is not the one in SHA256SUMS; nothing was installed"

mkdir "$work/programs"
tar -xzf "$work/$archive" -C "$work/programs"
mkdir -p "$to"
for program in "$work"/programs/*; do
  name=${program##*/}
  install -m 0755 "$program" "$to/.$name.new"
  mv "$to/.$name.new" "$to/$name"
  "$to/$name" --version
done
next="powerstrip serve"
[ "$package" = powerstrip ] || next="powerstrip add --bundled"
case ":$PATH:" in
  *":$to:"*) ;;
  *) echo "Add $to to your PATH, then run: $next" ;;
esac
