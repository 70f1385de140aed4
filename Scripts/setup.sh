#!/usr/bin/env bash
# Installs the system libraries that Vitrine is built on, where they are missing. `setup.sh test`, `bench`, `bench-http`,
# `bench-cache`, `bench-imaging`, `bombs`, `conformance` and `roots` install what make needs for these. `setup.sh packages PRODUCT`
# lists what a product is built on, and `packages brew` what Homebrew has of it: README and Package.swift are checked against
# that.
set -euo pipefail

# package : what tells that it is there : why : the product that is built on it
libraries=(
  "pkg-config:command pkg-config:finds libraries:"
  "libjpeg-dev:module libjpeg:reads and writes JPEG:VitrineImaging"
  "libpng-dev:module libpng:reads and writes PNG:VitrineImaging"
  "libwebp-dev:module libwebpdemux:reads and writes WebP:VitrineImaging"
  "libgif-dev:header gif_lib.h:reads GIF:VitrineImaging"
  "liblcms2-dev:module lcms2:reads colour profiles:VitrineImaging"
  "libcurl4-openssl-dev:module libcurl:loads from HTTP servers:VitrineHTTP"
  "libgtk-4-dev:module gtk4:shows windows:VitrineGTK"
  "xvfb:command xvfb-run:a display for tests and for the demo where there is none:"
  "xauth:command xauth:lets programs onto that display:"
  "libavif-dev:module libavif:reads AVIF:VitrineAVIF"
  "libheif-dev:module libheif:reads HEIC:VitrineHEIF"
  "libjxl-dev:module libjxl:reads JPEG XL:VitrineJXL"
  "libtiff-dev:module libtiff-4:reads TIFF:VitrineTIFF"
  "librsvg2-dev:module librsvg-2.0:draws SVG:VitrineSVG"
)
brew="pkg-config jpeg-turbo libpng webp giflib little-cms2"
programs=(
  "libvips-tools:command vipsthumbnail:compared with in make bench-imaging"
  "libgdk-pixbuf2.0-bin:command gdk-pixbuf-thumbnailer:compared with in make bench-imaging"
  "webp-pixbuf-loader:loader webp:reads WebP for gdk-pixbuf in make bench-imaging"
  "libavif-gdk-pixbuf:loader avif:reads AVIF for gdk-pixbuf in make bench-imaging"
  "heif-gdk-pixbuf:loader heif:reads HEIC for gdk-pixbuf in make bench-imaging"
  "python3-pil:python PIL:compared with in make bench-imaging"
  "python3-opencv:python cv2:compared with in make bench-imaging"
  "imagemagick:command convert:compared with in make bench-imaging"
  "libjpeg-turbo-progs:command jpegtran:makes progressive files for make bench-imaging"
  "webp:command cwebp:makes WebP for make bench-imaging"
  "libavif-bin:command avifenc:makes AVIF for make bench-imaging"
  "libheif-examples:command heif-enc:makes HEIC for make bench-imaging"
)
roots=("debootstrap:command debootstrap:makes the systems in which make roots builds")
timers=("time:command /usr/bin/time:measures the memory of each process in make bombs")
decoders=(
  "libjpeg-turbo-progs:command djpeg:compared with in make conformance"
  "webp:command dwebp:compared with in make conformance"
  "imagemagick:command convert:compared with in make conformance"
  "python3-pil:python PIL:compared with in make conformance"
  "libavif-bin:command avifdec:compared with in make conformance"
  "libheif-examples:command heif-convert:compared with in make conformance"
  "libjxl-tools:command djxl:compared with in make conformance"
  "libtiff-tools:command tiff2rgba:compared with in make conformance"
)
servers=(
  "nginx-light:command nginx:serves tests of VitrineHTTP, which are skipped without it, and the benchmarks"
  "openssl:command openssl:makes the certificates of that server"
)
databases=(
  "libsqlite3-dev:module sqlite3:compared with in make bench-cache"
  "liblmdb-dev:module lmdb:compared with in make bench-cache"
)

if [ "${1:-}" = packages ]; then
  if [ "$2" = brew ]; then
    echo "$brew"
  else
    for entry in "${libraries[@]}"; do [ "${entry##*:}" = "$2" ] && echo "${entry%%:*}"; done | xargs
  fi
  exit 0
fi

wanted=("${libraries[@]}")
case ${1:-} in test | bench | bench-http) wanted+=("${servers[@]}") ;; esac
[ "${1:-}" = bench-imaging ] && wanted=("${programs[@]}")
[ "${1:-}" = roots ] && wanted=("${roots[@]}")
[ "${1:-}" = bombs ] && wanted=("${timers[@]}")
[ "${1:-}" = bench-cache ] && wanted=("${databases[@]}")
[ "${1:-}" = conformance ] && wanted=("${decoders[@]}")

if ! command -v swift >/dev/null; then
  echo "setup: swift is missing; see https://www.swift.org/install" >&2
  exit 1
fi

if [ "$(uname)" = Darwin ]; then
  if ! pkg-config --exists libjpeg libpng libwebpdemux lcms2 2>/dev/null; then
    echo "setup: Vitrine is built on libraries that Homebrew brings: brew install $brew" >&2
    exit 1
  fi
  exit 0
fi

is_there() { # kind name
  case $1 in
    command) PATH=$PATH:/usr/sbin command -v "$2" >/dev/null ;;
    module) pkg-config --exists "$2" 2>/dev/null ;;
    # Debian's packages belong to Debian's Python, whichever else comes first.
    python) PATH=/usr/bin:$PATH python3 -c "import $2" 2>/dev/null ;;
    loader) compgen -G "/usr/lib/*/gdk-pixbuf-2.0/*/loaders/*[-_]$2.so" >/dev/null ;;
    header) echo "#include <stdio.h>
#include <$2>" | clang -x c -fsyntax-only - 2>/dev/null || [ -e "/usr/include/$2" ] ;;
  esac
}

missing=()
for entry in "${wanted[@]}"; do
  IFS=: read -r package test why product <<<"$entry"
  # shellcheck disable=SC2086
  if ! is_there $test; then
    echo "setup: $package is missing ($why${product:+, for $product})"
    missing+=("$package")
  fi
done
[ ${#missing[@]} -eq 0 ] && exit 0

if ! command -v apt-get >/dev/null; then
  echo "setup: this is neither Debian nor Ubuntu; install what these packages hold: ${missing[*]}" >&2
  exit 1
fi
sudo=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || { echo "setup: run as root: apt-get install ${missing[*]}" >&2; exit 1; }
  sudo=(sudo)
fi
echo "setup: installing ${missing[*]}${sudo:+ with sudo}"
"${sudo[@]}" apt-get update -qq
# From libheif 1.16 on the decoder and the encoder of HEVC are packages of their own, which libheif only recommends.
add_plugin() { # package that needs it, plugin, why
  if [[ " ${missing[*]} " == *" $1 "* ]] && apt-cache show "$2" >/dev/null 2>&1; then
    echo "setup: and $2 ($3)"
    missing+=("$2")
  fi
}
add_plugin libheif-dev libheif-plugin-libde265 "reads HEIC, for VitrineHEIF"
add_plugin libheif-examples libheif-plugin-x265 "makes HEIC for make bench-imaging"
"${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
# Debian starts a server as soon as it is installed; here only those that tests start themselves are wanted.
if [[ " ${missing[*]} " == *" nginx-light "* ]] && command -v systemctl >/dev/null; then
  "${sudo[@]}" systemctl disable --now nginx >/dev/null 2>&1 || true
fi
echo "setup: done"
