#!/usr/bin/env bash
# An image in memory, on disk, from a server and cold.
# CPU and allocations. Fails if a step allocates more often than its limit.
source "$(dirname "$0")/../lib/common.sh"
setup
benchmarks bench-pipeline
record pipeline .build/benchmarks/release/bench-pipeline
