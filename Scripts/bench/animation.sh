#!/usr/bin/env bash
# Animations: frame rate, ten views at once, memory of fifty.
source "$(dirname "$0")/../lib/common.sh"
setup
benchmarks bench-animation
record animation .build/benchmarks/release/bench-animation
