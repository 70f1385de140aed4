#!/usr/bin/env bash
# Panning a photograph of 100 megapixels in a window: frames, memory.
source "$(dirname "$0")/../lib/common.sh"
setup
release vitrine-gallery vitrine-codecs
Scripts/lib/large-photographs.sh .build/large
cache=$(mktemp -d)
trap 'rm -rf "$cache"' EXIT
record pan .build/release/vitrine-gallery .build/large/photo.jpg --pan --cache-dir "$cache"
