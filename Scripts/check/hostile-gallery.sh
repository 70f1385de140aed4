#!/usr/bin/env bash
# The gallery in a folder of hostile files, with 20 photographs among them.
# The files are COUNT (10,000) damaged images and all that ask for gigabytes or for ever. Fails if a photograph is not drawn
# within 15 s, or if the window does not live through all of the folder. SEED (1) selects other damage. Screenshots are in
# .build/hostile-gallery.
source "$(dirname "$0")/../lib/common.sh"
source Scripts/lib/hostile.sh
setup
release vitrine-gallery vitrine-codecs
work=$PWD/.build/hostile-gallery
rm -rf "$work"
mkdir -p "$work/home"
damaged "${COUNT:-10000}" "$work/photos"
demanding "$work/demanding" >/dev/null
python Scripts/check/hostile-gallery.py .build/release/vitrine-gallery "$photographs" "$work"
