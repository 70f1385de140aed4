#!/usr/bin/env bash
# Resizing, blurring, corners beside libvips, Pillow, OpenCV.
source "$(dirname "$0")/../lib/common.sh"
setup
benchmarks measure vips-processing bench-processing
record processing .build/benchmarks/release/bench-processing
