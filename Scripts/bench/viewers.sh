#!/usr/bin/env bash
# The gallery beside eog and geeqie: CPU and time until pictures are seen.
# On a virtual display, drawn in software: the first whole view of a photograph of 100 megapixels, and the next photograph of 12
# megapixels. ROUNDS (3) is how often each program is started with each file; PARTS (first next) narrows it.
source "$(dirname "$0")/../lib/common.sh"
setup
release vitrine-gallery vitrine-codecs
Scripts/lib/large-photographs.sh .build/large
[ -f .build/large/photo.webp ] || vips webpsave .build/large/photo.tif .build/large/photo.webp --Q 90 --effort 2
record viewers /usr/bin/python3 Scripts/bench/viewers.py .build/release/vitrine-gallery .build/large
