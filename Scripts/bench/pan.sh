#!/usr/bin/env bash
# Panning a photograph of 100 megapixels in a window: frames, memory.
source "$(dirname "$0")/../lib/common.sh"
setup
release bench-gtk vitrine-codecs
Scripts/lib/large-photographs.sh .build/large
cache=$(mktemp -d)
trap 'rm -rf "$cache"' EXIT
record pan Scripts/lib/headless.sh .build/release/bench-gtk pan .build/large/photo.jpg --cache-dir "$cache"
