#!/usr/bin/env bash
# Encoders beside libvips, Pillow, cjpeg, cwebp, and others.
# Others are avifenc and cjxl. CPU time, bytes and PSNR.
source "$(dirname "$0")/../lib/common.sh"
setup
benchmarks measure vips-encoding bench-encoding
record encoding .build/benchmarks/release/bench-encoding
