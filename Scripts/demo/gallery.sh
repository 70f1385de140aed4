#!/usr/bin/env bash
# Photographs in a window, or as gallery.png without a display.
# PHOTOS (Examples/Photographs) is the folder.
source "$(dirname "$0")/../lib/common.sh"
setup
release vitrine-gallery vitrine-codecs
gallery=.build/release/vitrine-gallery
if [ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ]; then
  exec "$gallery" "$photographs" --cache-dir demo/cache
fi
# Repeats the images under different URLs, to have enough to scroll through.
options=("$photographs" --count 1000 --cache-dir demo/cache)
echo "No display: the gallery scrolls by itself, with Vitrine's cells, with everything in memory, and with naive cells."
exec "$gallery" "${options[@]}" --compare --fill --latency 80 --output gallery.png
