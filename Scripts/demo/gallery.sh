#!/usr/bin/env bash
# Photographs in a window, or as gallery.png without a display.
# PHOTOS (Examples/Photographs) is the folder.
source "$(dirname "$0")/../lib/common.sh"
setup
if [ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ]; then
  release vitrine-gallery vitrine-codecs
  exec .build/release/vitrine-gallery "$photographs" --cache-dir demo/cache
fi
release bench-gtk vitrine-codecs
echo "No display: a grid scrolls by itself, with Vitrine's cells, with everything in memory, and with naive cells."
# Repeats the images under different URLs, to have enough to scroll through.
exec Scripts/lib/headless.sh .build/release/bench-gtk cells "$photographs" --count 1000 --cache-dir demo/cache \
  --styles vitrine,memory,naive --fill --latency 80 --output gallery.png
