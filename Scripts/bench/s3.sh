#!/usr/bin/env bash
# Requests of a cache in a bucket: latency, rate, CPU.
source "$(dirname "$0")/../lib/common.sh"
setup
benchmarks bench-s3
record s3 .build/benchmarks/release/bench-s3 "$(command -v weed || echo .build/weed/bin/weed)" .build/bench-s3
