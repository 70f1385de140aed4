#!/usr/bin/env bash
# 100 megapixels, a tile at a time, beside libvips' dzsave.
source "$(dirname "$0")/../lib/common.sh"
setup
benchmarks measure bench-tiles
Scripts/lib/large-photographs.sh .build/large
record tiles .build/benchmarks/release/bench-tiles .build/large/photo*.*
