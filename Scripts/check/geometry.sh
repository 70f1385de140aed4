#!/usr/bin/env bash
# Sizes and places in a server's thumbnails against a second calculation, written after imgproxy's documentation.
# COUNT (5,000) random combinations of options, asked of vitrine-server on 127.0.0.1 for pictures whose pixels say where they
# were. Fails if a side or a place is off by more than a pixel. SEED (1) selects others; SERVER is another program.
source "$(dirname "$0")/../lib/common.sh"
setup
[ -n "${SERVER:-}" ] || release vitrine-server vitrine-codecs
python Scripts/check/geometry.py "${SERVER:-$PWD/.build/release/vitrine-server}" --count "${COUNT:-5000}" --seed "${SEED:-1}"
