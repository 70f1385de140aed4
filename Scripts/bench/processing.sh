#!/usr/bin/env bash
# Resizing, blurring, corners beside libvips, Pillow, OpenCV.
# PARTS=cancelling only measures how long each takes to stop.
source "$(dirname "$0")/../lib/common.sh"
setup
benchmarks measure vips-processing bench-processing
# shellcheck disable=SC2086
record "processing${PARTS:+-$PARTS}" .build/benchmarks/release/bench-processing ${PARTS:-}
