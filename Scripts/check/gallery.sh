#!/usr/bin/env bash
# The gallery by keyboard and pointer: its pixels, and what it does to files.
# On a virtual display. Screenshots are in .build/gallery-session. PHOTOS is the folder of pictures.
source "$(dirname "$0")/../lib/common.sh"
setup
release vitrine-gallery vitrine-codecs
python Scripts/check/gallery-session.py .build/release/vitrine-gallery "$photographs"
