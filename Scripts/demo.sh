#!/usr/bin/env bash
# Shows the images of a folder in the gallery, in a window if there is a display. `make demo` builds the gallery first.
set -euo pipefail
gallery=.build/release/vitrine-gallery
if [ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ]; then
  exec "$gallery" "$1" --cache-dir demo/cache
fi
# Repeats the images under different URLs, to have enough to scroll through.
options=("$1" --count 1000 --cache-dir demo/cache)
echo "No display: the gallery scrolls by itself, with Vitrine's cells, with everything in memory, and with naive cells."
exec "$gallery" "${options[@]}" --compare --fill --latency 80 --output gallery.png
