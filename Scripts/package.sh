#!/usr/bin/env bash
# `package.sh deb` makes Debian packages of what `make build` has built, by Packaging/debian; `package.sh tarball` an archive of the
# same programs. Both are for the release of Debian or Ubuntu on which the programs were built, and need its libraries.
# PACKAGES (.build/packages) is the folder, BUILT (.build/release) that of the programs, and MAINTAINER who answers for the packages.
set -euo pipefail
cd "$(dirname "$0")/.."
source Scripts/lib/formats.sh
out=$(mkdir -p "${PACKAGES:-.build/packages}" && cd "${PACKAGES:-.build/packages}" && pwd)
BUILT=$(cd "${BUILT:-.build/release}" && pwd) || { echo "package: run 'make build' first" >&2; exit 1; }
export BUILT
version=$(version)
# shellcheck disable=SC1091
system=$(. /etc/os-release && echo "$ID${VERSION_ID:-}")
# Equal sources make equal packages.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export SOURCE_DATE_EPOCH
maintainer=${MAINTAINER:-The Vitrine authors <vitrine@packages.invalid>}
work=$(mktemp -d "$PWD/.build/package.XXXXXX")
trap 'rm -rf "$work"' EXIT

# The packages of a product's libraries, as a field names them.
packages() { Scripts/setup.sh packages "$1" | sed 's/ /, /g'; }

deb() {
  local folder=$work/vitrine log=$work/log
  mkdir "$folder"
  ln -s "$PWD" "$folder/project"
  cp -r Packaging/debian "$folder/"
  # A package of the next release is newer, and the distribution's own newer still.
  sed -i -e "s|@maintainer@|$maintainer|; s|@version@|$version~$system|; s|@upstream@|$version|" \
    -e "s|@date@|$(LC_ALL=C date -uRd "@$SOURCE_DATE_EPOCH")|" "$folder"/debian/{control,changelog}
  fill "$folder/debian/control"
  for file in Desktop/vitrine-server.*; do
    filled "$file" /usr/bin >"$folder/debian/$(basename "$file" .in)"
  done
  SWIFT_DEPENDS="pkg-config, $(packages VitrineImaging), $(packages VitrineHTTP)"
  SWIFT_SUGGESTS=$(for product in VitrineText VitrineGTK VitrineAVIF VitrineHEIF VitrineJXL VitrineTIFF VitrineSVG VitrineRedis \
    VitrineServing; do packages "$product"; done | paste -sd , | sed 's/, */, /g')
  export SWIFT_DEPENDS SWIFT_SUGGESTS
  (cd "$folder" && DEB_BUILD_OPTIONS=noautodbgsym dpkg-buildpackage --build=binary --no-sign --no-pre-clean --no-check-builddeps) \
    >"$log" 2>&1 || { tail -n 30 "$log" >&2; exit 1; }
  rm -f "$out"/vitrine*_"$version~$system"_*
  mv "$work"/*.deb "$work"/*.changes "$work"/*.buildinfo "$out/"
  ls "$out"/*_"$version~$system"_*.deb
}

# Says which formats are read, in lines of a description.
fill() {
  local text
  text=$(formats title reader: | listed and)
  sed -i "s|@formats@|$text|" "$1"
  # A description's lines are short.
  perl -pi -e 'if (/^ \S/ && length > 80) { s/(.{1,78})(?: |\n)/$1\n /g; s/\n $/\n/; s/\n  /\n /g }' "$1"
}

tarball() {
  local name=vitrine-$version-$system-$(uname -m)
  DESTDIR=$work/root PREFIX=/usr/local PRODUCTS="vitrine vitrine-codecs vitrine-gallery vitrine-server" Scripts/install.sh install \
    >/dev/null
  mv "$work/root/usr/local" "$work/$name"
  cp LICENSE CHANGELOG.md "$work/$name/"
  sed -e "s|@version@|$version|; s|@system@|$system|" Packaging/tarball.md >"$work/$name/README.md"
  tar -C "$work" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" -cf - "$name" |
    gzip -9n >"$out/$name.tar.gz"
  ls "$out/$name.tar.gz"
}

case ${1:-} in
  deb | tarball) "$1" ;;
  *) echo "package.sh deb | tarball" >&2; exit 64 ;;
esac
