#!/usr/bin/env bash
# Thumbnails that Debian's tumbler makes through Vitrine's entry.
# Through what make install installs. Of AVIF, JPEG XL, HEIC, QOI and WebP, and none of these without the entry. Then of
# all demanding files and COUNT (200) damaged ones: each may take 15 s; afterwards the same service still makes
# thumbnails, and nothing is left over. SEED (1) selects other damage; THUMBNAILS is a folder for the thumbnails.
source "$(dirname "$0")/../lib/common.sh"
source Scripts/lib/hostile.sh
setup
release vitrine vitrine-codecs
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$scratch"/{tmp,home,files,runtime}
chmod 700 "$scratch/runtime"

echo "thumbnailer: checking the files of the desktop"
for file in io.github.vitrine.Gallery.{desktop,metainfo.xml}; do filled "Desktop/$file.in" /usr/bin >"$scratch/$file"; done
desktop-file-validate "$scratch/io.github.vitrine.Gallery.desktop"
appstreamcli validate --no-net "$scratch/io.github.vitrine.Gallery.metainfo.xml" >"$scratch/said" || { cat "$scratch/said" >&2; exit 1; }

install=(env PREFIX="$scratch/prefix" PRODUCTS="vitrine vitrine-codecs" XDG_DATA_DIRS="$scratch/prefix/share" Scripts/install.sh)
"${install[@]}" install >/dev/null

fixtures=Tests/CodecTests/Fixtures
cp "$fixtures/lossy-420.avif" "$scratch/files/a.avif"
cp "$fixtures/lossy.jxl" "$scratch/files/b.jxl"
cp "$fixtures/lossy.heic" "$scratch/files/c.heic"
cp "$fixtures/lossy-420.avif" "$scratch/files/-100% of 'é' & \"\$x\".avif"
.build/release/vitrine thumbnail Examples/Photographs/waterfall-cliff-orientation-6.jpg -o "$scratch/files/d.qoi"
.build/release/vitrine thumbnail Examples/Photographs/waterfall-cliff-orientation-6.jpg -o "$scratch/files/e.webp"

demanding "$scratch/hostile" >/dev/null
damaged "${COUNT:-200}" "$scratch/damaged"

# Only the loaders of Debian's gdk-pixbuf itself, wherever others are installed: what the entry adds is to be seen.
for folder in /usr/lib/*/gdk-pixbuf-2.0; do
  loaders=()
  for name in ani bmp gif icns ico pnm qtif svg tga tiff xbm xpm; do
    [ -e "$folder/2.10.0/loaders/libpixbufloader-$name.so" ] && loaders+=("$folder/2.10.0/loaders/libpixbufloader-$name.so")
  done
  "$folder/gdk-pixbuf-query-loaders" "${loaders[@]}" >"$scratch/loaders.cache"
done

# The folders of the user that runs this are neither read nor written.
session() { # folders of data, script, arguments
  local folders=$1
  shift
  # The bus and the service say much that means nothing.
  env HOME="$scratch/home" TMPDIR="$scratch/tmp" XDG_RUNTIME_DIR="$scratch/runtime" XDG_DATA_HOME="$scratch/home/share" \
    XDG_CONFIG_HOME="$scratch/home/config" XDG_CACHE_HOME="$scratch/cache" XDG_DATA_DIRS="$folders" \
    GDK_PIXBUF_MODULE_FILE="$scratch/loaders.cache" GIO_USE_VFS=local GIO_USE_VOLUME_MONITOR=unix \
    SWIFT_BACKTRACE=enable=no LC_ALL=C.UTF-8 dbus-run-session -- /usr/bin/python3 Scripts/check/thumbnailer-session.py "$@" \
    2>"$scratch/said" || { cat "$scratch/said" >&2; return 1; }
}

echo "thumbnailer: without the entry"
session /usr/share none "$scratch/files"
rm -rf "$scratch/cache"
echo "thumbnailer: with the entry"
session "$scratch/prefix/share:/usr/share" all "$scratch/files" "$scratch/hostile" "$scratch/damaged"

[ -z "${THUMBNAILS:-}" ] || { mkdir -p "$THUMBNAILS" && cp -r "$scratch/cache/thumbnails/large/." "$THUMBNAILS/"; }
"${install[@]}" uninstall
left=$(find "$scratch/prefix" -type f -not -path '*/share/mime/*')
[ -z "$left" ] || { echo "thumbnailer: make uninstall left $left" >&2; exit 1; }
! find "$scratch/prefix/share/mime" -type f -exec grep -l qoi {} + || { echo "thumbnailer: QOI is still a type" >&2; exit 1; }
echo "thumbnailer: passed"
