#!/usr/bin/env bash
# The start of a small program with Vitrine: CPU, clock and size.
# An image from the disk cache, and the first transfer, with Swift's libraries linked in and beside the program: the median
# and the least of ROUNDS (21). BEFORE is an older clone to compare with, in which this benchmark has run.
source "$(dirname "$0")/../lib/common.sh"
setup
benchmarks --static-swift-stdlib measure bench-start start-hit start-bare
products Benchmarks .build/dynamic start-hit start-bare
record start .build/benchmarks/release/bench-start
