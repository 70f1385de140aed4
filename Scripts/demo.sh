#!/usr/bin/env bash
# Shows the pictures of a folder in the gallery, in a window where there is a display. `make demo` has built it.
set -euo pipefail
gallery=.build/release/vitrine-gallery
# The pictures are repeated, each time under another address, so that there is something to scroll through.
options=("$1" --count 1000 --cache-dir demo/cache)
if [ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ]; then
  exec "$gallery" "${options[@]}"
fi
echo "There is no display: the gallery scrolls by itself, once with Vitrine's cells and once with naive ones."
exec "$gallery" "${options[@]}" --compare --fill --latency 80 --output gallery.png
